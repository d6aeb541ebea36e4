/** Runs Python programs in Pyodide, with a folder as `/wheels`. `svcnb.lite.packages` starts this file in Deno. */
const [folder, address, ...programs] = Deno.args;
const { loadPyodide } = await import(`${address}/pyodide.mjs`);
const python = await loadPyodide({ indexURL: folder, env: { PYTHONHASHSEED: "0" } });
python.runPython("import sys; before = set(sys.modules)");
python.mountNodeFS("/wheels", folder);
for (const program of programs) python.runPython(program);
