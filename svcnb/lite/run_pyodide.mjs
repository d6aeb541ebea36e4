/** Runs a Python program in Pyodide, with a folder as `/wheels`. `svcnb.lite.packages` starts this file in Deno. */
const [path, folder, program] = Deno.args;
const { loadPyodide } = await import(new URL("pyodide.mjs", folder));
// With a fixed hash seed, the same sources give the same bytecode.
const python = await loadPyodide({ indexURL: path, env: { PYTHONHASHSEED: "0" } });
python.mountNodeFS("/wheels", path);
python.runPython(program);
