/** Replaces `node:vm`: checks that a source is a script, with the browser's own error message. */
import { parser } from "../runtime/parser.ts";

export class Script {
  /** @throws {SyntaxError} The source is not a script. The constructor never runs code. */
  constructor(source: string) {
    // Unlike a script, a function body can contain `return` and `new.target`. The parser rejects both.
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
