/**
 * Writes a snapshot of Python's memory for the page, and moves the WebAssembly libraries of the snapshot from the archive
 * of the packages into separate files. `svcnb.lite.packages` starts this file in Deno.
 */
import { contents, IMPORTS, makeSnapshot, PACKAGES, startPython } from "./page/snapshot.mjs";

const [path, folder, packages, memory] = Deno.args;
const runtime = await import(new URL("pyodide.mjs", folder));
const archive = await through(Deno.readFileSync(`${path}/${packages}`), new DecompressionStream("gzip"));

async function imported(libraries) {
  const python = await startPython(runtime, { archive, folder, libraries, indexURL: path });
  python.runPython(IMPORTS, { globals: python.toPy({}) });
  return python;
}

// A library must load before Python starts, so an additional start finds out which libraries Python imports.
const first = await imported({});
const libraries = {};
for (const name of Object.keys(first._module.LDSO.loadedLibsByName).filter((each) => each.endsWith(".so"))) {
  // The whole path makes the name unique: several packages can contain a library with the same file name.
  libraries[name] = `${name.replace(PACKAGES, "").replaceAll("/", "~")}.wasm`;
  Deno.writeFileSync(`${path}/${libraries[name]}`, first.FS.readFile(name));
}
await write(memory, makeSnapshot(await imported(libraries)));

const { files, begin } = contents(archive);
let end = begin;
const parts = Object.entries(files).map(([name, size]) => [name, archive.subarray(end, end += size)]);
const kept = parts.filter(([name]) => !(PACKAGES + name in libraries));
const sizes = Object.fromEntries(kept.map(([name, content]) => [name, content.length]));
await write(packages, JSON.stringify({ files: sizes, libraries }), "\n", ...kept.map(([, content]) => content));

async function write(name, ...content) {
  Deno.writeFileSync(`${path}/${name}`, await through(new Blob(content), new CompressionStream("gzip")));
}

async function through(content, stream) {
  return new Uint8Array(await new Response(new Blob([content]).stream().pipeThrough(stream)).arrayBuffer());
}
