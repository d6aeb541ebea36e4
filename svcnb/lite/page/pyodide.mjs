/**
 * Starts Python when this module is imported, and imports the modules that the kernel, the emulator and its client need.
 * JupyterLite's kernel receives the interpreter from `loadPyodide`.
 */
import * as runtime from "./pyodide-runtime.mjs";

export const version = runtime.version;

// Imports modules from bytecode in the archive: to search for a module in folders and to decompress it takes longer.
const FINDER = `
import marshal, sys
from importlib.machinery import ModuleSpec, SourceFileLoader, SourcelessFileLoader

class Archived:
    def get_code(self, fullname):
        _, begin, end = modules[fullname]
        return marshal.loads(archive.subarray(begin, end).to_bytes())

class ArchivedModule(Archived, SourcelessFileLoader): pass
class ArchivedSource(Archived, SourceFileLoader): pass

class Finder:
    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if fullname in modules:
            origin = modules[fullname][0]
            loader = (ArchivedSource if origin.endswith(".py") else ArchivedModule)(fullname, origin)
            folder, _, file = origin.rpartition("/")
            spec = ModuleSpec(fullname, loader, origin=origin, is_package=file.startswith("__init__."))
            spec.has_location = True
            if spec.submodule_search_locations is not None:
                spec.submodule_search_locations.append(folder)
            return spec

sys.meta_path.insert(0, Finder)
`;

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
  const modules = unpack(python.FS, packages);
  const globals = python.toPy({ modules });
  globals.set("archive", packages);
  await python.runPythonAsync(FINDER, { globals });
  await python.runPythonAsync(PREPARE, { globals: python.toPy({}) });
  return python;
}

async function decompress(url) {
  const response = await fetch(url);
  const content = new Uint8Array(await response.arrayBuffer());
  if (content[0] !== 0x1f) return content; // the service worker stores the decompressed archive
  const plain = new Response(content).body.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/**
 * Writes the files of the archive, without a copy of their bytes. The archive's first line is JSON with the sizes of its
 * files and of the bytecode of its modules.
 *
 * Returns the file name of each module, and the places where its bytecode begins and ends in the archive.
 */
function unpack(system, archive) {
  let end = archive.indexOf(10);
  const { files, modules } = JSON.parse(new TextDecoder().decode(archive.subarray(0, end)));
  end += 1;
  let last;
  for (const [name, size] of Object.entries(files)) {
    const path = PACKAGES + name;
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (folder !== last) system.mkdirTree(last = folder);
    system.writeFile(path, archive.subarray(end, end += size), { canOwn: true });
  }
  return Object.fromEntries(Object.entries(modules).map(([name, [origin, size]]) => [name, [origin, end, end += size]]));
}

export function loadPyodide({ stdout, stderr }) {
  Object.assign(output, { stdout, stderr });
  return started;
}
