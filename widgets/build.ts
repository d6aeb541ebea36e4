/**
 * Builds all JavaScript of the Python package.
 *
 * A bundle is built from a folder `src/<name>/` whose `build.ts` exports `build(outDir)`. Bundles are
 * built one after another, because esbuild uses all cores. To run it, use `python hatch_build.py`.
 */
import * as esbuild from "esbuild";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** Output folder of each bundle, relative to the repository. */
const ROOMS: Readonly<Record<string, string>> = {
  action_cells: "svcnb/magics/static",
  chain: "svcnb/emulator/chain/static",
  charts: "svcnb/charts/static",
  engine: "svcnb/emulator/sandbox/static",
  processor_page: "svcnb/emulator/billing/static",
  primitives: "svcnb/protocol/static",
  swagger: "svcnb/emulator/static/swagger",
  panels: "svcnb/panels/static",
  codemirror: "svcnb/panels/static/codemirror", // after the panels, because their build empties the folder
};

/** Files of this many bytes or more are stored compressed if that saves a quarter. `svcnb/bundles.py` reads them. */
const LARGE = 10_000;

interface Room {
  /** Writes the files of the bundle into `outDir`, an absolute path to an existing, empty folder. */
  build(outDir: string): Promise<void>;
}

const widgets = new URL(".", import.meta.url);
const repository = new URL("../", widgets);

async function isFile(url: URL): Promise<boolean> {
  try {
    return (await Deno.stat(url)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function emptyFolder(folder: URL): Promise<string> {
  await Deno.remove(folder, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  await Deno.mkdir(folder, { recursive: true });
  return fileURLToPath(folder);
}

async function compressLarge(folder: string): Promise<void> {
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}${entry.name}`;
    if (!entry.isFile || (await Deno.stat(path)).size < LARGE) continue;
    const plain = await Deno.readFile(path);
    const compressed = gzipSync(plain, { level: 9 });
    if (compressed.length > 0.75 * plain.length) continue;
    await Deno.writeFile(`${path}.gz`, compressed);
    await Deno.remove(path);
  }
}

async function unknownRooms(): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of Deno.readDir(new URL("src/", widgets))) {
    const isRoom = entry.isDirectory && await isFile(new URL(`src/${entry.name}/build.ts`, widgets));
    if (isRoom && !(entry.name in ROOMS)) names.push(entry.name);
  }
  return names;
}

const strays = await unknownRooms();
if (strays.length > 0) {
  throw new Error(`no output folder is set for ${strays.join(", ")}: add each folder to ROOMS in widgets/build.ts`);
}
try {
  for (const [name, outDir] of Object.entries(ROOMS)) {
    const entry = new URL(`src/${name}/build.ts`, widgets);
    if (!await isFile(entry)) continue;
    const room: Room = await import(entry.href);
    const folder = await emptyFolder(new URL(`${outDir}/`, repository));
    await room.build(folder);
    await compressLarge(folder);
  }
} finally {
  await esbuild.stop();
}
