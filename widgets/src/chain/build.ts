/** Bundles the development chain as a script, and the code that runs this script in a Deno process. */
import * as esbuild from "esbuild";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

const SHARED: esbuild.BuildOptions = {
  bundle: true,
  platform: "browser",
  mainFields: ["module", "browser", "main"],
  target: "esnext",
  minify: true,
  legalComments: "none",
  // Libraries read their debug flags from `process`.
  define: {
    global: "globalThis",
    process: "undefined",
    "globalThis.process": "undefined",
    "window.process": "undefined",
  },
  logLevel: "warning",
};

/**
 * Writes `chain.js` and `chain_process.js` into `outDir`. The value of `chain.js` is an object with its exports. The
 * process is a module that consists of `const chain =`, `chain.js` and `chain_process.js`.
 */
export async function build(outDir: string): Promise<void> {
  const [script, process] = [join(outDir, "chain.js"), join(outDir, "chain_process.js")];
  const value = { banner: { js: "(() => {" }, footer: { js: "return found; })()" } };
  await esbuild.build({
    ...SHARED,
    ...value,
    entryPoints: [join(here, "main.ts")],
    outfile: script,
    format: "iife",
    globalName: "found",
  });
  await esbuild.build({ ...SHARED, entryPoints: [join(here, "process.ts")], outfile: process, format: "esm" });
}
