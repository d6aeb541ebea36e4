/**
 * esbuild plugin that reduces the start-up time of ethers v5. The namespace and all results remain the same.
 *
 * ethers spends two thirds of its load time on the ENS name sets and the IDNA (nameprep) tables. With this plugin,
 * ethers decodes them when it first normalises a name. Curve and hash primitives come from `curve.ts` and
 * `keccak256.ts`. Built-in methods replace the loops over digits that convert between bytes and hexadecimal text.
 *
 * The edits require the exact source text. With a different version of ethers, the build fails.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));

function replaceOnce(text: string, from: string, to: string): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`expected one occurrence in ethers, found ${parts.length - 1}: ${from}`);
  return parts.join(to);
}

/** Replaces `const r = getData(); const VALID = ...` with one table object, which the code creates on first use. */
function lazyEnsTables(text: string): string {
  const tables = {
    VALID: "new Set(read_member_array(r))",
    IGNORED: "new Set(read_member_array(r))",
    MAPPED: "read_mapped_map(r)",
    EMOJI_ROOT: "read_emoji_trie(r)",
  };
  let fields = "";
  for (const [name, decode] of Object.entries(tables)) {
    text = replaceOnce(text, `const ${name} = ${decode};`, "");
    text = text.replace(new RegExp(`(?<![\\w.])${name}\\b`, "g"), `ensTables().${name}`);
    fields += `    ${name}: ${decode},\n`; // the order matters, because the decoder reads a stream
  }
  return replaceOnce(
    text,
    "const r = getData();",
    `let decoded = null;
function ensTables() {
  if (decoded === null) {
    const r = getData();
    decoded = {
${fields}    };
  }
  return decoded;
}`,
  );
}

/** Replaces each `const Table_X = <expression>;` with a function that evaluates the expression once. */
function lazyNameprepTables(text: string): string {
  const names: string[] = [];
  text = text.replace(/^const (Table_\w+) = ([\s\S]*?);$/gm, (_, name: string, value: string) => {
    names.push(name);
    return `let ${name}$;\nfunction get${name}() { return ${name}$ ??= ${value}; }`;
  });
  if (names.length !== 7) throw new Error(`expected 7 nameprep tables in ethers, found ${names.length}`);
  for (const name of names) text = text.replace(new RegExp(`(?<!\\w)${name}(?![\\w$])`, "g"), `get${name}()`);
  return text;
}

/** Replaces `arrayify` and `hexlify` with versions without loops, because almost all code of ethers calls them. */
function nativeHex(text: string): string {
  text = replaceOnce(
    text,
    `const result = [];
        for (let i = 0; i < hex.length; i += 2) {
            result.push(parseInt(hex.substring(i, i + 2), 16));
        }
        return addSlice(new Uint8Array(result));`,
    "return fromHex(hex);",
  );
  text = replaceOnce(
    text,
    `let result = "0x";
        for (let i = 0;`,
    `if (apply(kindOf, value, []) === "Uint8Array") return "0x" + apply(toHex, value, []);
        let result = "0x";
        for (let i = 0;`,
  );
  // Capture these functions before an action can replace them. `kindOf` detects objects that only imitate a Uint8Array.
  return text + `
const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const fromHex = Uint8Array.fromHex.bind(Uint8Array);
const { toHex } = Uint8Array.prototype;
const kindOf = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
`;
}

/**
 * Removes the attempt to define a global variable of a page. Without `window`, the attempt throws an error, and V8
 * reads the whole bundle again to find the line number.
 */
function withoutPage(text: string): string {
  return replaceOnce(
    text,
    `try {
    const anyGlobal = window;
    if (anyGlobal._ethers == null) {
        anyGlobal._ethers = ethers;
    }
}
catch (error) { }
`,
    "",
  );
}

export function leanEthers(): Plugin {
  return {
    name: "lean-ethers",
    setup(build) {
      build.onLoad({ filter: /hash[\\/]lib\.esm[\\/]ens-normalize[\\/]lib\.js$/ }, async ({ path }) => {
        return { contents: lazyEnsTables(await Deno.readTextFile(path)), loader: "js" };
      });
      build.onLoad({ filter: /strings[\\/]lib\.esm[\\/]idna\.js$/ }, async ({ path }) => {
        return { contents: lazyNameprepTables(await Deno.readTextFile(path)), loader: "js" };
      });
      build.onLoad({ filter: /@ethersproject[\\/]bytes[\\/]lib\.esm[\\/]index\.js$/ }, async ({ path }) => {
        return { contents: nativeHex(await Deno.readTextFile(path)), loader: "js" };
      });
      build.onLoad({ filter: /[\\/]ethers[\\/]lib\.esm[\\/]index\.js$/ }, async ({ path }) => {
        return { contents: withoutPage(await Deno.readTextFile(path)), loader: "js" };
      });
      let stock: string | null = null;
      build.onResolve({ filter: /^\.\/elliptic$/ }, ({ importer, resolveDir }) => {
        if (!/signing-key[\\/]lib\.esm[\\/]index\.js$/.test(importer)) return null;
        stock = join(resolveDir, "elliptic.js");
        return { path: join(here, "curve.ts") };
      });
      build.onResolve({ filter: /^stock-elliptic$/ }, () => {
        if (stock === null) {
          throw new Error(
            "cannot find elliptic.js of @ethersproject/signing-key: bundle curve.ts only together with ethers",
          );
        }
        return { path: stock };
      });
      build.onResolve({ filter: /^@ethersproject\/keccak256$/ }, () => ({ path: join(here, "keccak256.ts") }));
    },
  };
}
