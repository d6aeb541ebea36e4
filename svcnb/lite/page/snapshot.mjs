/**
 * Starts Python to make a snapshot of its memory, or from such a snapshot. The build makes the snapshot after Python has
 * run an emulator, so that a page does not have to repeat this work.
 */

export const PACKAGES = "/lib/python3.14/site-packages/";
const PAGE = 4096; // bytes
const FILE = 0o100644;

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
  // The functions below exist as long as Python, so they must not refer to the snapshot.
  let memory = snapshot && unpacked(snapshot);
  const { default: create } = await import(new URL("pyodide.asm.mjs", folder));
  let module;
  const python = await runtime.loadPyodide({
    ...options,
    env: { PYDANTIC_DISABLE_PLUGINS: "__all__" }, // the search for plug-ins reads the metadata of each package
    _makeSnapshot: snapshot === undefined,
    _loadSnapshot: memory?.header,
    _snapshotDeserializer: (name) => name === "" ? module.API.public_api : module.API.public_api[name],
    createPyodideModule: async (settings) => {
      settings.thisProgram = "python"; // the default is the path of this script on the computer of the build
      settings.preRun = [...settings.preRun, ({ FS }) => unpack(FS, archive, files, begin)];
      // The addresses of the libraries are the same in every process if they load before Python starts.
      settings.dynamicLibraries = Object.keys(found);
      settings.locateFile = (path) => new URL(found[path], folder).href;
      module = await create(settings);
      if (memory) restore(module, memory);
      memory = undefined;
      return module;
    },
  });
  python._api.config._loadSnapshot = undefined;
  return python;
}

/**
 * Returns a snapshot of Python's memory. JavaScript objects in it are attributes of Pyodide's interface.
 *
 * The first line is JSON. It contains the sizes of Pyodide's header and of the memory, and the places of the parts that
 * are not zero. The header and the parts follow. All sizes and places are in bytes.
 */
export function makeSnapshot(python) {
  // Pyodide makes no snapshot after packages were loaded. It counts the packages of the archive as loaded.
  for (const name of Object.keys(python.loadedPackages)) delete python.loadedPackages[name];
  const whole = python.makeMemorySnapshot({
    serializer: (object) => {
      if (isLeaked(object)) return "";
      const name = object === python ? "" : Object.getOwnPropertyNames(python).find((each) => python[each] === object);
      if (name === undefined) throw new Error(`Python refers to a JavaScript object: ${object}`);
      return name;
    },
  });
  const header = new Uint32Array(whole.buffer)[1];
  const memory = whole.subarray(header);
  const places = [];
  for (let start = 0; start < memory.length; start += PAGE) {
    if (isZero(memory.subarray(start, start + PAGE))) continue;
    if (places.at(-1) === start) places.pop();
    else places.push(start);
    places.push(start + PAGE);
  }
  const parts = [];
  for (let at = 0; at < places.length; at += 2) parts.push(memory.subarray(places[at], places[at + 1]));
  return [JSON.stringify({ header, size: memory.length, places }), "\n", whole.subarray(0, header), ...parts];
}

/** Pyodide never releases the last destroyed proxy and its method. Code in Python can no longer use them. */
function isLeaked(object) {
  try {
    return object.name === "destroy";
  } catch { // a destroyed proxy has no attributes
    return true;
  }
}

/** Returns the parts of a snapshot. */
function unpacked(snapshot) {
  const { header, size, places, begin } = contents(snapshot);
  return { header: snapshot.slice(begin, begin + header), size, places, content: snapshot.subarray(begin + header) };
}

/** Writes a snapshot into the memory of a new process. A page of zeros needs no memory if nothing writes to the page. */
function restore(module, { size, places, content }) {
  if (size > module.HEAP8.length) module.growMemory(size);
  const memory = new Uint8Array(module.HEAP8.buffer, 0, size);
  let used = 0;
  let last = 0;
  for (let at = 0; at <= places.length; at += 2) {
    const [start = size, end = size] = places.slice(at, at + 2);
    const zeros = memory.subarray(last, start);
    if (!isZero(zeros)) zeros.fill(0);
    memory.set(content.subarray(used, used += end - start), start);
    last = end;
  }
}

function isZero(bytes) {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  for (let at = 0; at < words.length; at++) if (words[at] !== 0) return false;
  return true;
}

/**
 * Reads the first line of an archive or a snapshot, which is JSON.
 *
 * @returns The values of this line, and the place where the other content begins.
 */
export function contents(archive) {
  const end = archive.indexOf(10);
  return { ...JSON.parse(new TextDecoder().decode(archive.subarray(0, end))), begin: end + 1 };
}

/** Adds the files of an archive to the file system, without a copy of their bytes. */
function unpack(system, archive, files, begin) {
  let end = begin;
  let last;
  let folder;
  for (const [name, size] of Object.entries(files)) {
    const path = PACKAGES + name;
    const cut = path.lastIndexOf("/");
    if (path.slice(0, cut) !== last) {
      last = path.slice(0, cut);
      system.mkdirTree(last);
      folder = system.lookupPath(last).node;
    }
    // `writeFile` looks up each part of the path and checks permissions, which takes much longer for 2,000 files.
    const file = folder.node_ops.mknod(folder, path.slice(cut + 1), FILE, 0);
    file.contents = archive.subarray(end, end += size);
    file.usedBytes = size;
  }
}
