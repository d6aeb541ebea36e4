/** The parser, asleep until a source needs it: most never do. */
import type * as Acorn from "acorn";

declare function require(name: "acorn"): typeof Acorn;

let loaded: typeof Acorn | null = null;

export function parser(): typeof Acorn {
  return loaded ??= require("acorn");
}
