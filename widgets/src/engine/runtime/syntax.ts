/** Where a source is not JavaScript: V8 says what is wrong, but its error object does not say where. */
import { parser } from "./parser.ts";
import { SCRIPT_NAME } from "./failure.ts";

/** A stack line with the position of the first syntax error, or "" when this parser sees none. */
export function locateSyntaxError(source: string): string {
  try {
    parser().parse(source, { ecmaVersion: "latest", sourceType: "script" });
  } catch (error) {
    const { loc } = error as { loc?: { line: number; column: number } };
    if (loc !== undefined) return `\n    at ${SCRIPT_NAME}:${loc.line}:${loc.column + 1}`;
  }
  return "";
}
