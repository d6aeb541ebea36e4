/**
 * Bundles the engines: the start and bootstrap scripts of `v8`, the process of `fast` with its image, and the binaries
 * of libsecp256k1 and QuickJS.
 */
import * as esbuild from "esbuild";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { leanEthers } from "./ethers/lean.ts";
import { makeImage } from "./fast/image.ts";
import { denoQuotes } from "./page/quotes.ts";

const here = dirname(fileURLToPath(import.meta.url));

const SHARED: esbuild.BuildOptions = {
  bundle: true,
  platform: "browser",
  mainFields: ["module", "browser", "main"],
  target: "esnext",
  minifySyntax: true,
  minifyWhitespace: true,
  keepNames: true, // actions can see the names of ethers' classes
  legalComments: "none",
  define: { global: "globalThis" },
  external: ["node:process", "node:vm"],
  logLevel: "warning",
};

/** Parameter of the function that `bootstrap.js` defines. */
const BINARY = "__secp256k1";

/**
 * Writes `engine.js` with `bootstrap.js`, `fast.js` with `fast.image`, `fast_page.js` for web workers, `quickjs.wasm`
 * and `secp256k1.wasm` to `outDir`.
 */
export async function build(outDir: string): Promise<void> {
  const binaries = [binaryBeside("tiny-secp256k1", "secp256k1.wasm"), binaryBeside("quickjs-wasi", "quickjs.wasm")];
  for (const [entry, name] of [["start.js", "engine.js"], ["fast/main.ts", "fast.js"]] as const) {
    await esbuild.build({
      ...SHARED,
      entryPoints: [join(here, entry)],
      outfile: join(outDir, name),
      format: "esm",
      external: [...SHARED.external!, "./bootstrap.js"],
      plugins: [leanEthers(), ...binaries.map((binary) => binary(outDir))],
    });
  }
  await esbuild.build({
    ...SHARED,
    entryPoints: [join(here, "main.ts")],
    outfile: join(outDir, "bootstrap.js"),
    format: "esm", // without imports and exports: the body of a function
    banner: { js: `(function (${BINARY}) {"use strict";` },
    footer: { js: "})" },
    plugins: [leanEthers(), givenBinary()],
  });
  await esbuild.build({
    ...SHARED,
    entryPoints: [join(here, "fast/main.ts")],
    outfile: join(outDir, "fast_page.js"),
    format: "esm",
    external: [],
    plugins: [leanEthers(), denoQuotes(), elsewhere("in-page", IN_PAGE)],
  });
  const realm = await esbuild.build({
    ...SHARED,
    entryPoints: [join(here, "fast/inner/main.ts")],
    write: false,
    format: "iife",
    banner: { js: '"use strict";' },
    plugins: [elsewhere("inside-image", INSIDE), leanEthers()],
  });
  const engine = new WebAssembly.Module(await Deno.readFile(join(outDir, "quickjs.wasm")));
  await Deno.writeFile(join(outDir, "fast.image"), makeImage(engine, realm.outputFiles[0]!.text));
}

/** Deno compiles a binary itself (`import source`), so the bundle only contains its file name. */
function binaryBeside(library: string, file: string): (outDir: string) => esbuild.Plugin {
  return (outDir) => ({
    name: file,
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${library}/.*\\.wasm$`) }, async () => {
        const found = await build.resolve(library, { kind: "import-statement", resolveDir: here });
        if (found.errors.length > 0) return { errors: found.errors };
        const folders = [dirname(found.path), dirname(dirname(found.path))];
        for (const folder of folders) {
          const source = join(folder, file);
          if (await Deno.stat(source).then(() => true, () => false)) await Deno.copyFile(source, join(outDir, file));
        }
        return { path: `./${file}`, external: true };
      });
    },
  });
}

/** The bootstrap script has no imports. The program that runs it provides the binary. */
function givenBinary(): esbuild.Plugin {
  return {
    name: "given-binary",
    setup(build) {
      build.onLoad({ filter: /\/ethers\/binary\.js$/ }, () => ({ contents: `export default ${BINARY};` }));
    },
  };
}

/** Modules of the `fast` engine that need a replacement in web workers, because a worker is not a process. */
const IN_PAGE: readonly [filter: RegExp, path: string][] = [
  [/(^|\/)channel\.ts$/, "page/channel.ts"],
  [/(^|\/)internals\.ts$/, "page/internals.ts"],
  [/^\.\/shipped\.ts$/, "page/shipped.ts"],
  [/^\.\.\/ethers\/binary\.js$/, "page/secp256k1.ts"],
  [/^\.\/binary\.js$/, "page/quickjs.ts"],
  [/^node:vm$/, "page/vm.ts"],
  [/^node:process$/, "page/process.ts"],
];

/** Bootstrap modules that need a replacement in the image, because the surrounding process implements them. */
const INSIDE: readonly [filter: RegExp, path: string][] = [
  [/(^|\/)channel\.ts$/, "fast/inner/channel.ts"],
  [/(^|\/)secp256k1\.ts$/, "fast/inner/secp256k1.ts"],
  [/(^|\/)imports\.ts$/, "fast/inner/imports.ts"],
  [/(^|\/)syntax\.ts$/, "fast/inner/syntax.ts"],
  [/^@ethersproject\/keccak256$/, "fast/inner/keccak256.ts"],
];

function elsewhere(name: string, modules: typeof INSIDE): esbuild.Plugin {
  return {
    name,
    setup(build) {
      for (const [filter, path] of modules) build.onResolve({ filter }, () => ({ path: join(here, path) }));
    },
  };
}

if (import.meta.main) {
  const outDir = Deno.args[0];
  if (outDir === undefined) throw new Error("the output folder is missing: pass it as the first argument");
  await Deno.mkdir(outDir, { recursive: true });
  await build(outDir);
  await esbuild.stop();
}
