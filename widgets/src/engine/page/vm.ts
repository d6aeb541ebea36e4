/** Looks whether a source is a script, in place of `node:vm`: the browser's own words for what is wrong. */
import { parser } from "../runtime/parser.ts";

export class Script {
  /** @throws {SyntaxError} The source is no script. Nothing of it is run. */
  constructor(source: string) {
    // The body of a function may hold `return` and `new.target`, a script may not; the parser sees those.
    new Function(source);
    try {
      parser().parse(source, { ecmaVersion: "latest", sourceType: "script" });
    } catch (error) {
      if (/'return' outside/.test((error as Error).message)) throw new SyntaxError("Illegal return statement");
      if (/new\.target/.test((error as Error).message)) {
        throw new SyntaxError("new.target expression is not allowed here");
      }
    }
  }
}
