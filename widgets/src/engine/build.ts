/** Bundles the bootstrap of the `v8` action engine: one module and the curve's binary beside it. */
import * as esbuild from "esbuild";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { leanEthers } from "./ethers/lean.ts";

const here = dirname(fileURLToPath(import.meta.url));

/** Writes `engine.js` and `secp256k1.wasm` into `outDir`. */
export async function build(outDir: string): Promise<void> {
  await esbuild.build({
    entryPoints: [join(here, "main.ts")],
    outfile: join(outDir, "engine.js"),
    bundle: true,
    format: "esm",
    platform: "browser",
    mainFields: ["module", "browser", "main"],
    target: "esnext",
    minify: true,
    legalComments: "none",
    define: { global: "globalThis" },
    plugins: [leanEthers(), wasmBeside(outDir)],
    logLevel: "warning",
  });
}

/** Deno compiles the binary itself (`import source`), so the bundle only names it. */
function wasmBeside(outDir: string): esbuild.Plugin {
  return {
    name: "wasm-beside",
    setup(build) {
      build.onResolve({ filter: /^tiny-secp256k1\/.*\.wasm$/ }, async () => {
        const library = await build.resolve("tiny-secp256k1", { kind: "import-statement", resolveDir: here });
        if (library.errors.length > 0) return { errors: library.errors };
        await Deno.copyFile(join(dirname(library.path), "secp256k1.wasm"), join(outDir, "secp256k1.wasm"));
        return { path: "./secp256k1.wasm", external: true };
      });
    },
  };
}

if (import.meta.main) {
  const outDir = Deno.args[0];
  if (outDir === undefined) throw new Error("name the folder to write to");
  await Deno.mkdir(outDir, { recursive: true });
  await build(outDir);
  await esbuild.stop();
}
