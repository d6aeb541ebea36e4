/**
 * Starts Python when this module is imported, and imports the modules that the first cell needs. JupyterLite's kernel
 * receives the interpreter from `loadPyodide`.
 */
import * as runtime from "./pyodide-runtime.mjs";

export const version = runtime.version;

const output = { stdout: console.log, stderr: console.error };
const started = start();
started.catch(() => undefined); // the caller of loadPyodide receives the error

async function start() {
  const python = await runtime.loadPyodide({
    indexURL: new URL("./", import.meta.url).href,
    packages: ["svcnb", "micropip"],
    stdout: (line) => output.stdout(line),
    stderr: (line) => output.stderr(line),
  });
  await python.runPythonAsync("import pyodide_kernel, piplite.piplite, svcnb.emulator.in_page");
  return python;
}

export function loadPyodide({ stdout, stderr }) {
  Object.assign(output, { stdout, stderr });
  return started;
}
