/** Builds the code editor as a bundle that a page loads once. */
import * as esbuild from "esbuild";
import * as library from "ethers";
import { fileURLToPath } from "node:url";
import type { Name, Names } from "./interface.ts";

/** Returns the names of ethers, the library that actions use, including the functions of `ethers.utils`. */
function ethersNames(): Names {
  const whole = { ...library.ethers } as Record<string, unknown>;
  return {
    "ethers": members(whole),
    "ethers.utils": members(library.utils as unknown as Record<string, unknown>),
    "ethers.constants": members(library.constants as unknown as Record<string, unknown>),
    "ethers.providers": members(library.providers as unknown as Record<string, unknown>),
    "ethers.BigNumber": statics(library.BigNumber),
    "ethers.Wallet": statics(library.Wallet),
  };
}

function members(owner: Record<string, unknown>): Name[] {
  return Object.keys(owner).sort().map((name) => ({ name, kind: kindOf(name, owner[name]) }));
}

function statics(owner: object): Name[] {
  const hidden = new Set(["length", "name", "prototype"]);
  return Object.getOwnPropertyNames(owner).filter((name) => !hidden.has(name)).map((name) => ({
    name,
    kind: "function",
  }));
}

function kindOf(name: string, value: unknown): Name["kind"] {
  if (typeof value === "function") return /^[A-Z]/.test(name) ? "class" : "function";
  return typeof value === "object" ? "namespace" : "variable";
}

export async function build(outDir: string): Promise<void> {
  await esbuild.build({
    entryPoints: [fileURLToPath(new URL("index.ts", import.meta.url))],
    outfile: `${outDir}/codemirror.js`,
    bundle: true,
    minify: true,
    charset: "utf8",
    format: "esm",
    target: ["es2022"],
    define: { __ETHERS_NAMES__: JSON.stringify(ethersNames()) },
    legalComments: "none",
    logLevel: "warning",
  });
}
