/**
 * Writes a snapshot of Python's memory for the page, and moves the WebAssembly libraries of the snapshot from the archive
 * of the packages into separate files. `svcnb.lite.packages` starts this file in Deno.
 */
import { contents, makeSnapshot, PACKAGES, startPython } from "./page/snapshot.mjs";

const PREPARE = `
import sys
sys.path.append(sys.path.pop(sys.path.index("")))
import IPython.core.logger, bdb, encodings.idna, pyodide_kernel, piplite.piplite
import svcnb.emulator.http.openapi
`;
// The emulator, its client and a run import their modules and fill their caches. At the end, Python must not refer to objects
// of this process. Overwriting the free memory with zeros makes the snapshot smaller.
const REHEARSE = `
import asyncio, gc, svcnb
from svcnb.protocol import curve, in_page, keccak
with svcnb.Emulator(seed="rehearsal", starter_credits=1000) as emulator:
    client = emulator.client()
    me = client.with_key(client.accounts.create("rehearsal"))
    assert me.run("async function main() { return 42; }").response == 42
del emulator, client, me
while len(asyncio.all_tasks()) > 1:
    await asyncio.sleep(0.01)
curve.library.cache_clear()
in_page.load_script.cache_clear()
keccak._native = None
gc.collect()
for size in (4_000, 60_000, 1_000_000):
    zeros = [bytearray(size) for _ in range(16_000_000 // size)]
    del zeros
`;

const [path, folder, packages, memory] = Deno.args;
const runtime = await import(new URL("pyodide.mjs", folder));
const archive = await through(Deno.readFileSync(`${path}/${packages}`), new DecompressionStream("gzip"));

async function rehearsed(libraries) {
  const python = await startPython(runtime, { archive, folder, libraries, indexURL: path });
  const globals = python.toPy({});
  python.runPython(PREPARE, { globals });
  await python.runPythonAsync(REHEARSE, { globals });
  globals.destroy();
  return python;
}

// A library must load before Python starts, so an additional start finds out which libraries Python imports.
const first = await rehearsed({});
const libraries = {};
for (const name of Object.keys(first._module.LDSO.loadedLibsByName).filter((each) => each.endsWith(".so"))) {
  // The whole path makes the name unique: several packages can contain a library with the same file name.
  libraries[name] = `${name.replace(PACKAGES, "").replaceAll("/", "~")}.wasm`;
  Deno.writeFileSync(`${path}/${libraries[name]}`, first.FS.readFile(name));
}
await write(memory, ...makeSnapshot(await rehearsed(libraries)));

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
Deno.exit(); // the emulators' workers do not end at once
