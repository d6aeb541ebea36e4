/**
 * Builds the panels. Every folder next to this file with an `index.ts` is a panel and becomes `<folder>.js` and
 * `<folder>.css`. The style consists of `lib/panel.css` and the folder's `style.css`.
 */
import * as esbuild from "esbuild";
import { fileURLToPath } from "node:url";

const here = new URL(".", import.meta.url);

async function text(url: URL): Promise<string> {
  try {
    return await Deno.readTextFile(url);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

export async function build(outDir: string): Promise<void> {
  const shared = await text(new URL("../lib/panel.css", here));
  const names: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(here)) if (isDirectory) names.push(name);
  for (const name of names.sort()) {
    const entry = new URL(`${name}/index.ts`, here);
    if (!await text(entry)) continue;
    await esbuild.build({
      entryPoints: [fileURLToPath(entry)],
      outfile: `${outDir}/${name}.js`,
      bundle: true,
      minify: true,
      charset: "utf8",
      format: "esm",
      target: ["es2022"],
      legalComments: "none",
      logLevel: "warning",
    });
    const style = shared + await text(new URL(`${name}/style.css`, here));
    const { code } = await esbuild.transform(style, {
      loader: "css",
      minify: true,
      target: ["chrome123", "firefox120", "safari17.5"],
    });
    await Deno.writeTextFile(`${outDir}/${name}.css`, code);
  }
}
