/**
 * Builds everything that runs as JavaScript, room by room, into the Python package.
 *
 * A room is a folder `src/<room>/` whose `build.ts` exports `build(outDir)`. Rooms are built one after another: esbuild
 * uses all cores by itself. Run by `hatch_build.py`, never by hand: `python hatch_build.py`.
 */
import * as esbuild from "esbuild";
import { fileURLToPath } from "node:url";

/** Where each room's bundles land, relative to the repository. */
const ROOMS: Readonly<Record<string, string>> = {
  action_cells: "svcnb/magics/static",
  chain: "svcnb/emulator/chain/static",
  engine: "svcnb/emulator/sandbox/static",
  processor_page: "svcnb/emulator/billing/static",
  primitives: "svcnb/protocol/static",
  swagger: "svcnb/emulator/static/swagger",
  panels: "svcnb/panels/static",
  codemirror: "svcnb/panels/static/codemirror", // after the panels, whose folder is emptied first
};

interface Room {
  /** Writes the room's bundles into `outDir`, an absolute path to an existing, empty folder. */
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
  throw new Error(`no output folder is set for ${strays.join(", ")}: add it to ROOMS in widgets/build.ts`);
}
try {
  for (const [name, outDir] of Object.entries(ROOMS)) {
    const entry = new URL(`src/${name}/build.ts`, widgets);
    if (!await isFile(entry)) continue;
    const room: Room = await import(entry.href);
    await room.build(await emptyFolder(new URL(`${outDir}/`, repository)));
  }
} finally {
  await esbuild.stop();
}
