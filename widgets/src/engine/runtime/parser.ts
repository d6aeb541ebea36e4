/** Parser that the bootstrap loads only if a source needs it. Most sources do not need it. */
import type * as Acorn from "acorn";

declare function require(name: "acorn"): typeof Acorn;

let loaded: typeof Acorn | null = null;

export function parser(): typeof Acorn {
  return loaded ??= require("acorn");
}
