/** Runs a Python program in Pyodide, with a folder as `/wheels`. `svcnb.lite.packages` starts this file in Deno. */
const [path, folder, program] = Deno.args;
const { loadPyodide } = await import(new URL("pyodide.mjs", folder));
const python = await loadPyodide({ indexURL: path });
python.mountNodeFS("/wheels", path);
python.runPython(program);
