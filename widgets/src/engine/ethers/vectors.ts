/**
 * Writes `tests/vectors/ethers5.json`: the results of the original ethers 5.8.0 for
 * `tests/emulator/sandbox/ethers_program.js`.
 *
 * Run it manually when the program changes: `deno run --allow-all src/engine/ethers/vectors.ts` in `widgets/`.
 */
import * as esbuild from "esbuild";

const program = new URL("../../../../tests/emulator/sandbox/ethers_program.js", import.meta.url);
const vectors = new URL("../../../../tests/vectors/ethers5.json", import.meta.url);

// The same modules as in the engine's bundle, without replacements.
const { outputFiles } = await esbuild.build({
  stdin: { contents: `export { ethers } from "ethers";`, resolveDir: import.meta.dirname! },
  bundle: true,
  write: false,
  format: "iife",
  globalName: "stock",
  platform: "browser",
  mainFields: ["module", "browser", "main"],
  target: "esnext",
  define: { global: "globalThis" },
});
await esbuild.stop();

const source = `${outputFiles[0]!.text}; const { ethers } = stock; ${await Deno.readTextFile(program)}; return main();`;
const answer = await new Function(source)();
await Deno.writeTextFile(vectors, JSON.stringify(answer, null, 1) + "\n");
