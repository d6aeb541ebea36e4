/**
 * Starts Python when this module is imported, and imports the modules that the kernel, the emulator and its client need.
 * JupyterLite's kernel receives the interpreter from `loadPyodide`.
 */
import * as runtime from "./pyodide-runtime.mjs";

export const version = runtime.version;

// The notebook's folder comes last in the search path, because each look into it goes through the page, which is busy.
const PREPARE = `
import sys
sys.path.append(sys.path.pop(sys.path.index("")))
import IPython.core.logger, bdb, pyodide_kernel, piplite.piplite
import svcnb.client.client, svcnb.client.in_page, svcnb.control, svcnb.emulator.in_page, svcnb.launch
import svcnb.emulator.accounts.accounts, svcnb.emulator.accounts.config, svcnb.emulator.accounts.routes
import svcnb.emulator.actions.routes, svcnb.emulator.areas, svcnb.emulator.billing.processor_routes
import svcnb.emulator.billing.routes, svcnb.emulator.control.routes, svcnb.emulator.http.rpc
import svcnb.emulator.sandbox.page_engine, svcnb.emulator.triggers.routes, svcnb.emulator.triggers.webhook_routes
from svcnb.emulator.chain.page_node import BUNDLE
from svcnb.protocol import curve, in_page
curve.library()
in_page.load_script(BUNDLE)
`;
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
  await python.runPythonAsync(PREPARE, { globals: python.toPy({}) });
  return python;
}

export function loadPyodide({ stdout, stderr }) {
  Object.assign(output, { stdout, stderr });
  return started;
}
