/** Parser that is only loaded when a source needs it. Most sources do not. */
import type * as Acorn from "acorn";

declare function require(name: "acorn"): typeof Acorn;

let loaded: typeof Acorn | null = null;

export function parser(): typeof Acorn {
  return loaded ??= require("acorn");
}
