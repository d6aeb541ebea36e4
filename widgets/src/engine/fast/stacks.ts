/**
 * Stack lines in the format of V8, from the frames of QuickJS.
 *
 * For a call, QuickJS reports the position of the callee or a position inside the arguments. V8 reports the position of
 * the callee or of `new`. This module therefore finds the call in the source. Other details of V8 (the class of a
 * receiver, and functions that await) are not available here. Stacks that need them are traps.
 */
import { SCRIPT_NAME } from "../runtime/failure.ts";
import { children, parse } from "./tree.ts";
import type { Tree } from "./tree.ts";

/** Owner of the frame, function name, line and column. */
export type StackFrame = [kind: "ours" | "action" | "native", name: string, line: number, column: number];

interface Call {
  readonly node: Tree;
  /** Position in V8, or null if that is not the position of a name. */
  readonly at: number | null;
  /** Position where the callee's name begins. */
  readonly callee: number;
  readonly name: string;
  /** Whether the code calls the function without a receiver and not as a constructor. */
  readonly plain: boolean;
  readonly inside: Tree | null;
}

interface Function {
  readonly node: Tree;
  /** Whether V8 shows only the name of the function. */
  readonly plain: boolean;
  /** Whether the function has no name in V8 either. */
  readonly nameless: boolean;
}

interface Survey {
  readonly calls: Call[];
  readonly functions: Function[];
  readonly names: Set<number>;
  readonly lines: number[];
}

/** Position that QuickJS reports. In the first line, the position of a call is one column too early. */
interface Place {
  readonly offset: number;
  readonly slack: 0 | 1;
}

const SHOWN = 10; // number of frames that V8 shows, including frames that this module hides
/** With more frames, V8's stack is known only if the first frame belongs to the action or to identical code. */
const SURE = 8;
const MAKERS_OF_ETHERS = "makeError";
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
/** Own functions that call functions of the action with a receiver that V8 shows: timers and listeners. */
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
    for (const child of children(node)) visit(child, node, inside);
  };
  visit(parse(source), null, null);
  return found;
}

/** Returns the call at a frame's position, given the name of the callee, or null if the call is ambiguous. */
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
 * Returns stack lines with QuickJS's columns. V8 has other columns, and names the receiver of a function that built-ins
 * call.
 */
export function nearLines(frames: readonly StackFrame[]): string {
  let text = "";
  for (const frame of frames.slice(0, SHOWN)) {
    const [kind, name, line, column] = frame;
    if (kind === "native") text += linesOfBuiltIns([frame]);
    if (kind !== "action") continue;
    const where = `${SCRIPT_NAME}:${line}:${column}`;
    text += name === "" || name === "<eval>" ? `\n    at ${where}` : `\n    at ${name} (${where})`;
  }
  return text;
}

/**
 * Returns the lines of a stack.
 *
 * @param made Class whose constructor created the error, or "" for the engine.
 * @returns The lines, or null if V8's lines are unknown.
 */
export function stackLines(source: string, frames: readonly StackFrame[], made: string): string | null {
  if (frames.every(([kind]) => kind === "ours")) return "";
  if (frames.length > SURE && frames[0]![0] !== "action" && frames[0]![1] !== MAKERS_OF_ETHERS) return null;
  // deno-lint-ignore no-control-regex
  if (/[^\x00-\x7f]/.test(source)) return null; // the engines count columns differently
  const found = survey(source);
  const start = frames.findIndex(([kind]) => kind === "action");
  if (start === -1 || start >= SHOWN) return linesOfBuiltIns(frames.slice(0, SHOWN));
  if (frames.some(([kind, name]) => kind === "ours" && CALLING.has(name))) return null;
  // Calls through code around the action. The name of the callee differs from the name in the frame above.
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
      // The stack does not show the service's caller of `main`. It shows a built-in function with a callback, with its
      // receiver.
      if (frames.slice(i).some(([below]) => below === "action")) return null;
      break;
    }
    const place: Place = { offset: (found.lines[line - 1] ?? 0) + column - 1, slack: line === 1 ? 1 : 0 };
    const probe = place.offset + place.slack;
    const scope = found.functions.filter(({ node }) => node.start <= probe && probe < node.end).at(-1);
    let at: number | null;
    if (called === "" && i === start) {
      at = nameAt(found, place);
      // The lookup of `main` is a separate script.
      if (at === null && name === "<eval>" && line === 1 && column === 1) at = 0;
    } else {
      const call = callAt(found, scope?.node ?? null, place, called);
      // For a method or a constructor, V8 shows the class.
      const refused = call === null || (i > start && frames[i - 1]![0] === "action" && !call.plain);
      at = refused ? null : call.at;
    }
    if (at === null) return null;
    const where = `${SCRIPT_NAME}:${line}:${at - (found.lines[line - 1] ?? 0) + 1}`;
    if (at < (found.lines[line - 1] ?? 0)) return null; // the call began on an earlier line
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
