/**
 * Object spreads and computed keys as V8 evaluates them.
 *
 * `{...value}` copies the characters of a string, but QuickJS copies none. The rewritten source therefore passes each
 * such value to a function of the image, `{...$$spread(value,$$spread)}`, which boxes strings and returns anything else
 * unchanged.
 *
 * In `{[key]: value()}`, V8 converts the key to text before it evaluates the value, and in `list[key] = value()`
 * afterwards. QuickJS does the opposite. The difference is visible only if the key is an object. The rewritten source
 * passes such a key to a function that traps on objects, `{[$$key(key,$$key)]: value()}`. The engines also differ in
 * how often they convert a key, which is visible if the conversion has effects. In a source with such a conversion,
 * that function receives all keys.
 *
 * The lines of the source do not change. The columns in stacks are those of the original source, and the source text of
 * functions does not contain the inserted code.
 */
import { converts, mayConvert } from "./conversions.ts";
import { around, KEY, SPREAD } from "./spread_name.ts";
import { children, hasEffects, parse } from "./tree.ts";
import type { Tree } from "./tree.ts";

interface Insertion {
  readonly at: number;
  readonly text: string;
}

export interface Rewritten {
  readonly text: string;
  /** Returns the column in the source for a column in the rewritten text. Lines and columns are counted from 1. */
  column(line: number, column: number): number;
}

const KEPT = 64;
const KEPT_LENGTH = 1 << 16;
const known = new Map<string, Rewritten>();

/** Node types of keys that are never objects. */
const PRIMITIVE = new Set(["BinaryExpression", "Literal", "TemplateLiteral", "UnaryExpression", "UpdateExpression"]);
/** Pattern for a computed key in a literal, or an assignment to a computed member. Comments can hide both. */
const HAS_KEYS = /[{,]\s*\[|\]\s*(?:[-+*/%&|^]|\*\*|<<|>>>?|&&|\|\||\?\?)?=(?![=>])/;
const HAS_COMMENTS = /\/[/*]/;

/** Returns the computed key of a member, or of a part of a literal, pattern or class. */
function computedKey(node: Tree): Tree | null {
  if (node.computed !== true) return null;
  return (node.type === "MemberExpression" ? node.property : node.key) as Tree;
}

/** Returns a key that QuickJS converts at a different time than V8, relative to its value. */
function keyBesideValue(node: Tree): Tree | null {
  if (node.type === "Property") {
    const hasValue = node.kind === "init" && node.method !== true;
    return hasValue && hasEffects(node.value as Tree) ? computedKey(node) : null;
  }
  if (node.type !== "AssignmentExpression" || !hasEffects(node.right as Tree)) return null;
  return (node.left as Tree).type === "MemberExpression" ? computedKey(node.left as Tree) : null;
}

/** Returns the expression that determines the value of a key: the last one of `a, b`. */
function valueOfKey(key: Tree): Tree {
  return key.type === "SequenceExpression" ? valueOfKey((key.expressions as Tree[]).at(-1)!) : key;
}

function isPrimitive({ type, regex }: Tree): boolean {
  return PRIMITIVE.has(type) && regex === undefined;
}

function insertions(source: string): Insertion[] {
  const found: Insertion[] = [];
  const surround = (name: string, from: number, to: number) => {
    const [before, behind] = around(name);
    found.push({ at: from, text: before }, { at: to, text: behind });
  };
  const visit = (node: Tree, inObject: boolean) => {
    if (node.type === "SpreadElement" && inObject) surround(SPREAD, node.start + "...".length, node.end);
    const key = everyKey ? computedKey(node) : keyBesideValue(node);
    const value = key === null ? null : valueOfKey(key);
    if (value !== null && !isPrimitive(value)) surround(KEY, value.start, value.end);
    for (const child of children(node)) visit(child, node.type === "ObjectExpression");
  };
  const tree = parse(source);
  const everyKey = converts(source, tree);
  visit(tree, false);
  return found.sort((a, b) => a.at - b.at);
}

/** Returns the conversion of columns, from the insertions in each line. */
function columns(source: string, inserted: readonly Insertion[]): Rewritten["column"] {
  const lines = new Map<number, { at: number; length: number }[]>();
  let [line, start, next] = [1, 0, 0];
  for (const { at, text } of inserted) {
    for (next = source.indexOf("\n", start); next !== -1 && next < at; next = source.indexOf("\n", start)) {
      line++;
      start = next + 1;
    }
    const known = lines.get(line) ?? [];
    known.push({ at: at - start + 1, length: text.length });
    lines.set(line, known);
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
 * Rewrites the object spreads and the computed keys of a source.
 *
 * @returns Null if there is nothing to rewrite.
 * @throws {SyntaxError} The parser rejects a source that V8 accepts, or the source uses a reserved name.
 */
export function rewriteSpreads(source: string): Rewritten | null {
  for (const name of [SPREAD, KEY]) if (source.includes(name)) throw new SyntaxError(`the name ${name}`);
  const mayHaveKeys = source.includes("[") &&
    (HAS_KEYS.test(source) || HAS_COMMENTS.test(source) || mayConvert(source));
  if (!source.includes("...") && !mayHaveKeys) return null;
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
