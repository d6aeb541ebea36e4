/** Builds the script of the payment processor's hosted pages. */
import * as esbuild from "esbuild";
import { fileURLToPath } from "node:url";

export async function build(outDir: string): Promise<void> {
  await esbuild.build({
    entryPoints: [fileURLToPath(new URL("page.ts", import.meta.url))],
    outfile: `${outDir}/page.js`,
    bundle: true,
    minify: true,
    format: "esm",
    target: ["es2022"],
    legalComments: "none",
    logLevel: "warning",
  });
}
