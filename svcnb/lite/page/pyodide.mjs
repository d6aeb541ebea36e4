/**
 * Starts Python when this module is imported, and imports the modules that the kernel, the emulator and its client need.
 * JupyterLite's kernel receives the interpreter from `loadPyodide`.
 */
import * as runtime from "./pyodide-runtime.mjs";

export const version = runtime.version;

// Search the notebook's folder last, because each access to this folder needs the main thread of the page, which is busy.
const PREPARE = `
import importlib, sys
importlib.invalidate_caches()
sys.path.append(sys.path.pop(sys.path.index("")))
import IPython.core.logger, bdb, pyodide_kernel, piplite.piplite
import svcnb.client.client, svcnb.client.in_page, svcnb.control, svcnb.emulator.in_page, svcnb.launch
import svcnb.emulator.accounts.accounts, svcnb.emulator.accounts.config, svcnb.emulator.accounts.routes
import svcnb.emulator.actions.routes, svcnb.emulator.areas, svcnb.emulator.billing.processor_routes
import svcnb.emulator.billing.routes, svcnb.emulator.control.routes, svcnb.emulator.http.rpc
import svcnb.emulator.sandbox.page_engine, svcnb.emulator.triggers.routes, svcnb.emulator.triggers.webhook_routes
from svcnb.emulator.chain.page_node import BUNDLE
from svcnb.protocol import curve, in_page, keccak
curve.library()
keccak.keccak256(b"")
in_page.load_script(BUNDLE)
`;
const PACKAGES = "/lib/python3.14/site-packages/";
const output = { stdout: console.log, stderr: console.error };
const started = start();
started.catch(() => undefined); // the caller of loadPyodide receives the error

async function start() {
  const [python, packages] = await Promise.all([
    runtime.loadPyodide({
      indexURL: new URL("./", import.meta.url).href,
      env: { PYDANTIC_DISABLE_PLUGINS: "__all__" }, // the search for plug-ins reads the metadata of each package
      stdout: (line) => output.stdout(line),
      stderr: (line) => output.stderr(line),
    }),
    decompress(new URL("@PACKAGES@", import.meta.url)),
  ]);
  unpack(python.FS, packages);
  await python.runPythonAsync(PREPARE, { globals: python.toPy({}) });
  return python;
}

async function decompress(url) {
  const { body } = await fetch(url);
  return new Uint8Array(await new Response(body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

/** Writes the files of the archive, without a copy of their bytes. The archive's first line is JSON with their sizes. */
function unpack(files, archive) {
  let end = archive.indexOf(10);
  const sizes = JSON.parse(new TextDecoder().decode(archive.subarray(0, end)));
  end += 1;
  let last;
  for (const [name, size] of Object.entries(sizes)) {
    const path = PACKAGES + name;
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (folder !== last) files.mkdirTree(last = folder);
    files.writeFile(path, archive.subarray(end, end += size), { canOwn: true });
  }
}

export function loadPyodide({ stdout, stderr }) {
  Object.assign(output, { stdout, stderr });
  return started;
}
