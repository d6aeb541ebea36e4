/** Bundles the development chain: a module for browsers, and a process for Deno. */
import * as esbuild from "esbuild";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** Writes `chain.js` and `chain_process.js` into `outDir`. */
export async function build(outDir: string): Promise<void> {
  await esbuild.build({
    entryPoints: [
      { in: join(here, "main.ts"), out: "chain" },
      { in: join(here, "process.ts"), out: "chain_process" },
    ],
    outdir: outDir,
    bundle: true,
    format: "esm",
    platform: "browser",
    mainFields: ["module", "browser", "main"],
    target: "esnext",
    minify: true,
    legalComments: "none",
    define: {
      global: "globalThis",
      process: "undefined",
      "globalThis.process": "undefined",
      "window.process": "undefined",
    }, // libraries ask it for their debug flags
    logLevel: "warning",
  });
}
