/** Position of a syntax error. V8's error object contains a message, but no position. */
import { parser } from "./parser.ts";
import { SCRIPT_NAME } from "./failure.ts";

/** Returns a stack line with the position of the first syntax error, or "" if this parser finds none. */
export function locateSyntaxError(source: string): string {
  try {
    parser().parse(source, { ecmaVersion: "latest", sourceType: "script" });
  } catch (error) {
    const { loc } = error as { loc?: { line: number; column: number } };
    if (loc !== undefined) return `\n    at ${SCRIPT_NAME}:${loc.line}:${loc.column + 1}`;
  }
  return "";
}
