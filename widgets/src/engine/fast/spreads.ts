/**
 * Object spreads as V8 does them.
 *
 * `{...value}` copies the characters of a string; QuickJS copies none. So each such value is passed through a function
 * of the image, `{...$$spread(value,$$spread)}`, which boxes strings and answers anything else as it is. No line
 * becomes two: columns are counted back for stacks, and both halves are taken out of the text of functions again.
 */
import type { Node } from "acorn";
import { parser } from "../runtime/parser.ts";
import { BEFORE, BEHIND, SPREAD } from "./spread_name.ts";

type Tree = Node & Record<string, unknown>;

interface Insertion {
  readonly at: number;
  readonly text: string;
}

export interface Rewritten {
  readonly text: string;
  /** Column of the source, from 1, that a column of the text stands for; lines count from 1. */
  column(line: number, column: number): number;
}

const KEPT = 64;
const KEPT_LENGTH = 1 << 16;
const known = new Map<string, Rewritten>();

function insertions(source: string): Insertion[] {
  const found: Insertion[] = [];
  const visit = (node: Tree, inObject: boolean) => {
    if (node.type === "SpreadElement" && inObject) {
      found.push({ at: node.start + "...".length, text: BEFORE }, { at: node.end, text: BEHIND });
    }
    for (const key of Object.keys(node)) {
      const child = node[key];
      for (const one of Array.isArray(child) ? child : [child]) {
        if (typeof one === "object" && one !== null && typeof one.type === "string") {
          visit(one as Tree, node.type === "ObjectExpression");
        }
      }
    }
  };
  visit(parser().parse(source, { ecmaVersion: "latest", sourceType: "script" }) as unknown as Tree, false);
  return found.sort((a, b) => a.at - b.at);
}

/** Column by column, from what was inserted into each line. */
function columns(source: string, inserted: readonly Insertion[]): Rewritten["column"] {
  const lines = new Map<number, { at: number; length: number }[]>();
  let [line, start, next] = [1, 0, 0];
  for (const { at, text } of inserted) {
    for (next = source.indexOf("\n", start); next !== -1 && next < at; next = source.indexOf("\n", start)) {
      line++;
      start = next + 1;
    }
    const known = lines.get(line) ?? [];
    lines.set(line, [...known, { at: at - start + 1, length: text.length }]);
  }
  return (line, column) => {
    let back = column;
    for (const { at, length } of lines.get(line) ?? []) {
      if (back <= at) break;
      back = Math.max(at, back - length);
    }
    return back;
  };
}

function rewrite(source: string): Rewritten {
  const inserted = insertions(source);
  let text = "";
  let done = 0;
  for (const one of inserted) {
    text += source.slice(done, one.at) + one.text;
    done = one.at;
  }
  return { text: text + source.slice(done), column: columns(source, inserted) };
}

/**
 * Rewrites the object spreads of a source.
 *
 * @returns Null when there is nothing to rewrite.
 * @throws {SyntaxError} V8 parses it, but the parser does not; or it uses the name that is ours.
 */
export function rewriteSpreads(source: string): Rewritten | null {
  if (source.includes(SPREAD)) throw new SyntaxError(`the name ${SPREAD}`);
  if (!source.includes("...")) return null;
  const kept = known.get(source);
  if (kept !== undefined) return kept;
  const made = rewrite(source);
  if (source.length <= KEPT_LENGTH) {
    const [oldest] = known.keys();
    if (known.size >= KEPT && oldest !== undefined) known.delete(oldest);
    known.set(source, made);
  }
  return made;
}
