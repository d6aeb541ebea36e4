/**
 * The lines of a stack as V8 would write them, from the frames that QuickJS saw.
 *
 * Both engines agree where a plain call stands; a constructor is placed at `new` by V8. What V8 says beyond that (the
 * class of a receiver, functions that await) cannot be seen from here: such a stack is not written at all.
 */
import type { Node } from "acorn";
import { parser } from "../runtime/parser.ts";
import { SCRIPT_NAME } from "../runtime/failure.ts";

/** Where the frame comes from, function, line and column. */
export type StackFrame = [kind: "ours" | "action", name: string, line: number, column: number];

type Tree = Node & Record<string, unknown>;

const MOST = 8; // V8 shows ten, counting frames that are not shown here
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

interface Places {
  /** Calls by where QuickJS places them: where V8 does, and whether the function gets no receiver. */
  readonly calls: Map<number, { at: number; toplevel: boolean }>;
  readonly names: Set<number>;
  readonly functions: { node: Tree; plain: boolean; anonymousArgument: boolean }[];
}

function survey(source: string): Places {
  const places: Places = { calls: new Map(), names: new Set(), functions: [] };
  const visit = (node: Tree, parent: Tree | null) => {
    if (node.type === "NewExpression" || node.type === "CallExpression") {
      const callee = node.callee as Tree;
      const isNew = node.type === "NewExpression";
      if (callee.type === "Identifier") {
        places.calls.set(callee.start, { at: isNew ? node.start : callee.start, toplevel: !isNew });
      }
    }
    if (node.type === "Identifier") places.names.add(node.start);
    if (FUNCTIONS.has(node.type)) {
      const argument = parent !== null && (parent.type === "CallExpression" || parent.type === "NewExpression") &&
        parent.callee !== node;
      const owner = parent?.type ?? "";
      const plain = !node.generator && owner !== "MethodDefinition" && owner !== "PropertyDefinition" &&
        !(owner === "Property" && (parent!.method || parent!.kind !== "init" || parent!.computed));
      places.functions.push({ node, plain, anonymousArgument: argument });
    } else if (node.type === "StaticBlock" || node.type === "PropertyDefinition") {
      places.functions.push({ node, plain: false, anonymousArgument: false });
    }
    for (const key of Object.keys(node)) {
      const child = node[key];
      for (const one of Array.isArray(child) ? child : [child]) {
        if (typeof one === "object" && one !== null && typeof one.type === "string") visit(one as Tree, node);
      }
    }
  };
  visit(parser().parse(source, { ecmaVersion: "latest", sourceType: "script" }) as unknown as Tree, null);
  return places;
}

/**
 * Writes the lines.
 *
 * @returns Null when V8's lines cannot be known.
 */
export function stackLines(source: string, frames: readonly StackFrame[]): string | null {
  if (frames.length === 0 || frames.every(([kind]) => kind === "ours")) return "";
  if (frames.length > MOST) return null;
  if (frames.length === 1 && frames[0]![1] === "<eval>" && frames[0]![2] === 1 && frames[0]![3] === 1) {
    return `\n    at ${SCRIPT_NAME}:1:1`; // the look-up of `main`
  }
  // deno-lint-ignore no-control-regex
  if (/[^\x00-\x7f]/.test(source)) return null; // columns are counted otherwise
  const starts = [0];
  for (let i = 0; i < source.length; i++) if (source[i] === "\n") starts.push(i + 1);
  const places = survey(source);
  let text = "";
  for (let i = 0; i < frames.length; i++) {
    const [kind, name, line, column] = frames[i]!;
    if (kind === "ours") continue;
    const offset = (starts[line - 1] ?? 0) + column - 1;
    const call = places.calls.get(offset);
    const isTop = i === 0;
    if (call === undefined && !(isTop && places.names.has(offset))) return null;
    const at = call?.at ?? offset;
    const where = `${SCRIPT_NAME}:${line}:${column - (offset - at)}`;
    if (name === "<eval>") {
      text += `\n    at ${where}`;
      continue;
    }
    const inside = places.functions.filter(({ node }) => node.start <= offset && offset < node.end).at(-1);
    if (inside === undefined || !inside.plain || (name === "" && !inside.anonymousArgument)) return null;
    const below = frames[i + 1];
    if (below !== undefined && below[0] === "action") {
      const from = places.calls.get((starts[below[2] - 1] ?? 0) + below[3] - 1);
      if (from === undefined || !from.toplevel) return null; // a method, or a constructor: V8 names its class
    }
    text += name === "" ? `\n    at ${where}` : `\n    at ${name} (${where})`;
  }
  return text;
}
