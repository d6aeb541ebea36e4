/** Bundles Vega, which draws charts in the browser and in a Deno process, and the program of the process. */
import * as esbuild from "esbuild";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import opentype from "opentype.js";

const here = dirname(fileURLToPath(import.meta.url));
const packages = new URL("../../node_modules/", import.meta.url);
const STYLES = ["400Regular/Arimo_400Regular.ttf", "700Bold/Arimo_700Bold.ttf"];
const PACKAGE = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/;

/** Returns the widths of all characters of a font in thousandths of the font size. */
async function widths(file: string): Promise<Record<string, number>> {
  const font = opentype.parse((await Deno.readFile(new URL(`@expo-google-fonts/arimo/${file}`, packages))).buffer);
  const glyphs: Record<string, number> = font.tables.cmap!.glyphIndexMap;
  return Object.fromEntries(
    Object.entries(glyphs).map(([code, glyph]) => [
      String.fromCodePoint(Number(code)),
      Math.round(1000 * font.glyphs.get(glyph).advanceWidth! / font.unitsPerEm),
    ]),
  );
}

/** Returns the licences of the packages that contain these files. */
async function licences(files: string[]): Promise<string> {
  const found = files.map((file) => PACKAGE.exec(file)).filter((match) => match !== null);
  const folders = new Map(found.map(([folder, name]) => [name!, folder]));
  const texts: string[] = [];
  for (const [name, folder] of [...folders].sort()) {
    for (const { name: file } of Deno.readDirSync(folder)) {
      if (/^licen[cs]e/i.test(file)) texts.push(`${name}\n\n${await Deno.readTextFile(join(folder, file))}`);
    }
  }
  return texts.join("\n");
}

/**
 * Writes `vega.js` and `renderer.js` into `outDir`. `vega.js` declares the object `found` with the libraries of live
 * charts. In a worker of Deno, it draws charts.
 */
export async function build(outDir: string): Promise<void> {
  const { metafile } = await esbuild.build({
    entryPoints: { vega: join(here, "vega.ts"), renderer: join(here, "renderer.ts") },
    outdir: outDir,
    bundle: true,
    format: "iife",
    globalName: "found",
    alias: { "vega-canvas": join(here, "canvas.ts") },
    define: { WIDTHS: JSON.stringify(await Promise.all(STYLES.map(widths))) },
    mainFields: ["module", "browser", "main"],
    target: "es2022",
    minify: true,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  await Deno.writeTextFile(join(outDir, "LICENSES"), await licences(Object.keys(metafile.inputs)));
}
