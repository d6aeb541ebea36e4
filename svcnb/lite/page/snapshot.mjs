/**
 * Starts Python to make a snapshot of its memory, or from such a snapshot. The build makes the snapshot after the imports
 * of the kernel, the emulator and its client, so that a page does not have to repeat them.
 */

export const IMPORTS = `
import sys
sys.path.append(sys.path.pop(sys.path.index("")))
import IPython.core.logger, bdb, encodings.idna, pyodide_kernel, piplite.piplite
import svcnb.client.client, svcnb.client.in_page, svcnb.control, svcnb.emulator.in_page, svcnb.launch
import svcnb.emulator.accounts.accounts, svcnb.emulator.accounts.config, svcnb.emulator.accounts.routes
import svcnb.emulator.actions.routes, svcnb.emulator.areas, svcnb.emulator.billing.processor_routes
import svcnb.emulator.billing.routes, svcnb.emulator.chain.page_node, svcnb.emulator.control.guards
import svcnb.emulator.control.routes, svcnb.emulator.http.openapi, svcnb.emulator.http.pages
import svcnb.emulator.http.rpc, svcnb.emulator.sandbox.page_engine, svcnb.emulator.triggers.pages
import svcnb.emulator.triggers.routes, svcnb.emulator.triggers.webhook_routes
import svcnb.protocol.curve, svcnb.protocol.in_page, svcnb.protocol.keccak
`;
export const PACKAGES = "/lib/python3.14/site-packages/";

/**
 * Starts Python with the packages of an archive.
 *
 * @param runtime Pyodide's module.
 * @param options Options of Pyodide, and `archive`: content of the archive with the packages; `folder`: address of
 *   Pyodide's folder; `libraries`: names of files with WebAssembly libraries by path, by default from the archive;
 *   `snapshot`: snapshot from `makeSnapshot`, or undefined to make one.
 */
export async function startPython(runtime, { archive, folder, libraries, snapshot, ...options }) {
  const { files, libraries: listed, begin } = contents(archive);
  const found = libraries ?? listed;
  const size = snapshot?.length ?? 0; // the functions below exist as long as Python, so they must not refer to the snapshot
  const { default: create } = await import(new URL("pyodide.asm.mjs", folder));
  let module;
  const python = await runtime.loadPyodide({
    ...options,
    env: { PYDANTIC_DISABLE_PLUGINS: "__all__" }, // the search for plug-ins reads the metadata of each package
    _makeSnapshot: snapshot === undefined,
    _loadSnapshot: snapshot,
    _snapshotDeserializer: (name) => name === "" ? module.API.public_api : module.API.public_api[name],
    createPyodideModule: async (settings) => {
      settings.thisProgram = "python"; // the default is the path of this script on the computer of the build
      settings.preRun = [...settings.preRun, ({ FS }) => unpack(FS, archive, files, begin)];
      // The addresses of the libraries are the same in every process if they load before Python starts.
      settings.dynamicLibraries = Object.keys(found);
      settings.locateFile = (path) => new URL(found[path], folder).href;
      module = await create(settings);
      if (size > module.HEAP8.length) module.growMemory(size);
      return module;
    },
  });
  python._api.config._loadSnapshot = undefined; // nothing needs these 50 MB any more
  return python;
}

/** Returns a snapshot of Python's memory. JavaScript objects in it are attributes of Pyodide's interface. */
export function makeSnapshot(python) {
  // Pyodide makes no snapshot after packages were loaded. It counts the packages of the archive as loaded.
  for (const name of Object.keys(python.loadedPackages)) delete python.loadedPackages[name];
  return python.makeMemorySnapshot({
    serializer: (object) => {
      const name = object === python ? "" : Object.getOwnPropertyNames(python).find((each) => python[each] === object);
      if (name === undefined) throw new Error(`Python refers to a JavaScript object: ${object}`);
      return name;
    },
  });
}

/**
 * Reads the first line of an archive, which is JSON.
 *
 * @returns Sizes of the files, names of files with WebAssembly libraries by path, and the place where the files begin.
 */
export function contents(archive) {
  const end = archive.indexOf(10);
  return { ...JSON.parse(new TextDecoder().decode(archive.subarray(0, end))), begin: end + 1 };
}

/** Writes the files of an archive, without a copy of their bytes. */
function unpack(system, archive, files, begin) {
  let end = begin;
  let last;
  for (const [name, size] of Object.entries(files)) {
    const path = PACKAGES + name;
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (folder !== last) system.mkdirTree(last = folder);
    system.writeFile(path, archive.subarray(end, end += size), { canOwn: true });
  }
}
