/**
 * The lines of a stack as V8 would write them, from the frames that QuickJS saw.
 *
 * QuickJS says where it was when a call was made, which is the callee or something inside the arguments; V8 says the
 * callee, or `new`. So the call is looked up in the source. What V8 says beyond that (the class of a receiver, functions
 * that await) cannot be seen from here: such a stack is not written at all.
 */
import type { Node } from "acorn";
import { parser } from "../runtime/parser.ts";
import { SCRIPT_NAME } from "../runtime/failure.ts";

/** Whose frame it is, its function, line and column. */
export type StackFrame = [kind: "ours" | "action" | "native", name: string, line: number, column: number];

type Tree = Node & Record<string, unknown>;

interface Call {
  readonly node: Tree;
  /** Where V8 places it; null when that is somewhere else than at a name. */
  readonly at: number | null;
  /** Where the callee's name begins. */
  readonly callee: number;
  readonly name: string;
  /** Whether the function gets no receiver and is not constructed. */
  readonly plain: boolean;
  readonly inside: Tree | null;
}

interface Function {
  readonly node: Tree;
  /** Whether V8 shows it by its own name alone. */
  readonly plain: boolean;
  /** Whether it has no name to V8 either. */
  readonly nameless: boolean;
}

interface Survey {
  readonly calls: Call[];
  readonly functions: Function[];
  readonly names: Set<number>;
  readonly lines: number[];
}

/** Where QuickJS was. On the first line it sees calls one column too early. */
interface Place {
  readonly offset: number;
  readonly slack: 0 | 1;
}

const SHOWN = 10; // by V8, counting frames that are not shown here
/** More frames than this are only certain to be V8's if the first is the action's, or of code that is the same there. */
const SURE = 8;
const MAKERS_OF_ETHERS = "makeError";
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
/** Own functions that call one of the action, of which V8 names the receiver: timers, listeners. */
const CALLING = new Set(["fire", "dispatchEvent"]);
const SCOPES = new Set([...FUNCTIONS, "StaticBlock", "PropertyDefinition"]);

function callOf(node: Tree, inside: Tree | null): Call | null {
  const callee = node.callee as Tree;
  const isNew = node.type === "NewExpression";
  if (callee.type === "Identifier") {
    const name = callee.name as string;
    const odd = node.optional === true || (!isNew && callee.start !== node.start); // f?.() and (f)()
    const at = odd ? null : node.start;
    return { node, at, callee: callee.start, name, plain: !isNew, inside };
  }
  if (isNew || callee.type !== "MemberExpression" || callee.computed) return null;
  const property = callee.property as Tree;
  return { node, at: property.start, callee: property.start, name: "", plain: false, inside };
}

function functionOf(node: Tree, parent: Tree | null): Function {
  const kind = parent?.type ?? "";
  const own = FUNCTIONS.has(node.type) && !node.generator;
  const member = kind === "MethodDefinition" || kind === "PropertyDefinition" ||
    (kind === "Property" && (parent!.method || parent!.kind !== "init" || parent!.computed));
  const nameless = (kind === "CallExpression" || kind === "NewExpression") && parent!.callee !== node;
  return { node, plain: own && !member, nameless };
}

function survey(source: string): Survey {
  const lines = [0];
  for (let i = 0; i < source.length; i++) if (source[i] === "\n") lines.push(i + 1);
  const found: Survey = { calls: [], functions: [], names: new Set(), lines };
  const visit = (node: Tree, parent: Tree | null, inside: Tree | null) => {
    if (node.type === "NewExpression" || node.type === "CallExpression") {
      const call = callOf(node, inside);
      if (call !== null) found.calls.push(call);
    } else if (node.type === "Identifier") {
      found.names.add(node.start);
    } else if (SCOPES.has(node.type)) {
      found.functions.push(functionOf(node, parent));
      inside = node;
    }
    for (const key of Object.keys(node)) {
      const child = node[key];
      for (const one of Array.isArray(child) ? child : [child]) {
        if (typeof one === "object" && one !== null && typeof one.type === "string") visit(one as Tree, node, inside);
      }
    }
  };
  visit(parser().parse(source, { ecmaVersion: "latest", sourceType: "script" }) as unknown as Tree, null, null);
  return found;
}

/** The call that a frame is in, given the name of what it called; null when that is not certain. */
function callAt(
  { calls }: Survey,
  inside: Tree | null,
  { offset, slack }: Place,
  called: string | null,
): Call | null {
  const around = calls.filter((call) =>
    call.inside === inside && call.callee <= offset + slack && offset < call.node.end &&
    (called === null ? call.callee === offset || call.callee === offset + slack : call.name === called)
  );
  return around.length === 1 ? around[0]! : null;
}

function nameAt({ names }: Survey, { offset, slack }: Place): number | null {
  if (names.has(offset)) return offset;
  return names.has(offset + slack) ? offset + slack : null;
}

function linesOfBuiltIns(frames: readonly StackFrame[]): string {
  return frames.filter(([kind]) => kind === "native").map(([, name]) => `\n    at ${name} (<anonymous>)`).join("");
}

/**
 * Writes the lines.
 *
 * @param made Name of the class whose constructor made the error; "" when the engine made it.
 * @returns Null when V8's lines cannot be known.
 */
export function stackLines(source: string, frames: readonly StackFrame[], made: string): string | null {
  if (frames.every(([kind]) => kind === "ours")) return "";
  if (frames.length > SURE && frames[0]![0] !== "action" && frames[0]![1] !== MAKERS_OF_ETHERS) return null;
  // deno-lint-ignore no-control-regex
  if (/[^\x00-\x7f]/.test(source)) return null; // columns are counted otherwise
  const found = survey(source);
  const start = frames.findIndex(([kind]) => kind === "action");
  if (start === -1 || start >= SHOWN) return linesOfBuiltIns(frames.slice(0, SHOWN));
  if (frames.some(([kind, name]) => kind === "ours" && CALLING.has(name))) return null;
  // Calls that code around the action stands between: the name of what was called is not that of the frame above.
  let called: string | null = made;
  if (frames.slice(0, start).some(([, name]) => name !== "construct" && name !== "apply" && name !== "made")) {
    called = null;
  }
  let text = linesOfBuiltIns(frames.slice(0, start));
  for (let i = start; i < frames.length && i < SHOWN; i++) {
    const [kind, name, line, column] = frames[i]!;
    if (kind === "native") {
      text += linesOfBuiltIns([frames[i]!]);
      called = null;
      continue;
    }
    if (kind === "ours") {
      // What the service calls `main` from is hidden; a built-in that calls back is not, and V8 names its receiver.
      if (frames.slice(i).some(([below]) => below === "action")) return null;
      break;
    }
    const place: Place = { offset: (found.lines[line - 1] ?? 0) + column - 1, slack: line === 1 ? 1 : 0 };
    const probe = place.offset + place.slack;
    const scope = found.functions.filter(({ node }) => node.start <= probe && probe < node.end).at(-1);
    let at: number | null;
    if (called === "" && i === start) {
      at = nameAt(found, place);
      // The look-up of `main` is a script of its own.
      if (at === null && name === "<eval>" && line === 1 && column === 1) at = 0;
    } else {
      const call = callAt(found, scope?.node ?? null, place, called);
      // A method or a constructor: V8 names its class.
      const refused = call === null || (i > start && frames[i - 1]![0] === "action" && !call.plain);
      at = refused ? null : call.at;
    }
    if (at === null) return null;
    const where = `${SCRIPT_NAME}:${line}:${at - (found.lines[line - 1] ?? 0) + 1}`;
    if (at < (found.lines[line - 1] ?? 0)) return null; // the call began on a line before
    if (name === "<eval>") {
      text += `\n    at ${where}`;
    } else {
      if (scope === undefined || !scope.plain || (name === "" && !scope.nameless)) return null;
      text += name === "" ? `\n    at ${where}` : `\n    at ${name} (${where})`;
    }
    called = name;
  }
  return text;
}
