/** Bundles hashes, signatures and encryption for Python in a browser. */
import * as esbuild from "esbuild";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Writes `primitives.js` into `outDir`: a script whose value is the object `primitives`. */
export async function build(outDir: string): Promise<void> {
  await esbuild.build({
    entryPoints: [join(dirname(fileURLToPath(import.meta.url)), "main.ts")],
    outfile: join(outDir, "primitives.js"),
    bundle: true,
    format: "iife",
    globalName: "found",
    platform: "browser",
    target: "esnext",
    minify: true,
    legalComments: "none",
    banner: { js: "(() => {" },
    footer: { js: "return found.primitives; })()" },
    logLevel: "warning",
  });
}
