/**
 * Errors in the format of V8: `stack` with its first line, and the action's own frames with V8's names and columns.
 *
 * The engine's error messages differ from those of V8. This module uses the exact text where possible. The creation of
 * any other error is a trap, even if an action would catch it.
 */
import { OWN_FILE } from "../../own_file.ts";
import { ask, quote, trap } from "./host.ts";
import { getParsed } from "./parsed.ts";

interface CallSite {
  getFileName(): string | null;
  getFunction(): unknown;
  getFunctionName(): string | null;
  getLineNumber(): number | null;
  getColumnNumber(): number | null;
  isNative(): boolean;
}

interface Trace {
  readonly frames: readonly CallSite[];
  /** Whether the columns are known. */
  readonly exact: boolean;
  /** Name of the class that code constructed or called, or "" for an error of the engine. */
  readonly made: string;
  text: string | null;
}

const NAMES = [
  "Error",
  "EvalError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "TypeError",
  "URIError",
  "AggregateError",
  "SuppressedError",
  "DOMException",
] as const;

const LATER = ["message", "cause", "errors", "error", "suppressed"];
const traces = new WeakMap<object, Trace>();
const { apply, construct, getOwnPropertyDescriptor, deleteProperty, defineProperty } = Reflect;
const traceOf = (error: object) => apply(WeakMap.prototype.get, traces, [error]) as Trace | undefined;
const remember = WeakMap.prototype.set;
const match = RegExp.prototype.exec;
/** Built-in functions that do not appear in V8's stacks. */
const PASSING = ["apply", "call", "construct", "evaluate"];
/** Frames of this engine between `new Error` and the creation of the error. */
const MAKING = ["made", "construct", "apply"];
/** Built-in functions that V8 shows if they call a callback, for example `Array.forEach (<anonymous>)`. */
const CALLBACKS: readonly unknown[] = ["every", "filter", "forEach", "map", "reduce", "some"]
  .map((name) => (Array.prototype as unknown as Record<string, unknown>)[name]);
/** Classes whose constructors are running, innermost last. */
const making: string[] = [];
let main: unknown = null;

/** Sets the action's `main` function. No code awaits it, so it is the last line of a stack. */
export function setMain(f: unknown): void {
  main = f;
}

/** Engine messages that have an exact equivalent in V8. The column that V8 reports for the error is unknown. */
const WORDS: readonly [RegExp, (found: string[]) => string][] = [
  [/^([\w$]+) is not defined$/, ([text]) => text!],
  [
    /^cannot read property '([\w$]+)' of (undefined|null)$/,
    ([, name, of]) => `Cannot read properties of ${of} (reading '${name}')`,
  ],
  [
    /^cannot set property '([\w$]+)' of (undefined|null)$/,
    ([, name, of]) => `Cannot set properties of ${of} (setting '${name}')`,
  ],
];

/** Replaces the message of an error of the engine with V8's message. */
function reword(error: Error): void {
  const message = `${error.message}`;
  for (let i = 0; i < WORDS.length; i++) {
    const [pattern, words] = WORDS[i]!;
    const found = apply(match, pattern, [message]) as string[] | null;
    if (found === null) continue;
    defineProperty(error, "message", { value: words(found), writable: true, enumerable: false, configurable: true });
    return;
  }
  const parsed = getParsed();
  if (parsed !== null && error.name === "SyntaxError") {
    const value = ask("jsonError", quote(parsed)) as string;
    defineProperty(error, "message", { value, writable: true, enumerable: false, configurable: true });
    if (value !== "") return;
  }
  if (message === "out of memory") ask("memory");
  trap(`an error of the engine (${error.name}: ${message})`);
}

function note(error: Error, frames: readonly CallSite[], exact: boolean): void {
  const made = making.length === 0 ? "" : making[making.length - 1]!;
  apply(remember, traces, [error, { frames, exact, made, text: null }]);
  defineProperty(error, "stack", { get: readStack, set: writeStack, enumerable: false, configurable: true });
  // In V8, `stack` comes first, followed by these members in this order.
  for (let i = 0; i < LATER.length; i++) {
    const member = getOwnPropertyDescriptor(error, LATER[i]!);
    if (member === undefined) continue;
    deleteProperty(error, LATER[i]!);
    defineProperty(error, LATER[i]!, member);
  }
}

/** Adds the members of V8 to the error of `Promise.any`: a message, and a stack without frames. */
export function completeAggregate(error: unknown): void {
  if (!isError(error) || traceOf(error as Error) !== undefined) return; // a rejection can also have other values
  const value = "All promises were rejected";
  defineProperty(error as Error, "message", { value, writable: true, enumerable: false, configurable: true });
  note(error as Error, [], true);
}

function readStack(this: object): string {
  const trace = traceOf(this);
  if (trace === undefined) return trap("the stack trace of an object that inherits from an error");
  return trace.text ??= textOf(this as Error, trace);
}

function writeStack(this: object, value: unknown): void {
  defineProperty(this, "stack", { value, writable: true, enumerable: false, configurable: true });
}

function textOf(error: Error, { frames, exact, made }: Trace): string {
  let json = "";
  let unsure = "";
  let own = 0;
  let making = exact;
  for (let i = 0; i < frames.length; i++) {
    const frame = frames[i]!;
    const file = frame.getFileName();
    const kind = frame.isNative() ? "native" : file === OWN_FILE ? "ours" : "action";
    let name = frame.getFunctionName() ?? "";
    // In V8, the creation of an error adds no frame.
    making &&= kind !== "action" && MAKING.includes(name);
    if (making) continue;
    if (kind === "action") own++;
    if (kind === "native") {
      if (PASSING.includes(name)) continue;
      if (!CALLBACKS.includes(frame.getFunction())) trap(`a stack trace that contains ${name}`);
      name = `Array.${name}`;
    }
    json += `${json === "" ? "" : ","}[${quote(kind)},${quote(name)},` +
      `${frame.getLineNumber() ?? 0},${frame.getColumnNumber() ?? 0}]`;
  }
  if (own > 0) {
    if (!exact && !(own === 1 && isLookUp(frames[0]!))) unsure = "the stack trace of an error of the engine";
    const last = frames[frames.length - 1]!;
    const resumed = last.getFileName() !== OWN_FILE && last.getFunctionName() !== "<eval>";
    if (resumed && last.getFunction() !== main) unsure ||= "the stack trace of an error after an await";
  }
  return headline(error) + ask("stack", `[${json}]`, made, unsure);
}

/** Returns whether a frame is the lookup of `main`, which is a separate script with only one possible position. */
function isLookUp(frame: CallSite): boolean {
  return frame.getFunctionName() === "<eval>" && frame.getLineNumber() === 1 && frame.getColumnNumber() === 1;
}

function headline(error: Error): string {
  const name = error.name === undefined ? "Error" : `${error.name}`;
  const message = error.message === undefined ? "" : `${error.message}`;
  return name === "" ? message : message === "" ? name : `${name}: ${message}`;
}

// deno-lint-ignore no-explicit-any
const realm = globalThis as any;
const NativeError = realm.Error;
const isError: (value: unknown) => boolean = NativeError.isError;

for (const name of NAMES) {
  const Native = realm[name];
  const made = (args: unknown[], target: unknown): object => {
    const own = getOwnPropertyDescriptor(target as object, "name")?.value;
    making[making.length] = typeof own === "string" ? own : "";
    try {
      return construct(Native, args, target as new () => object);
    } finally {
      making.length--;
    }
  };
  const Seen = new Proxy(Native, {
    apply: (_target, _self, args) => made(args, Seen),
    construct: (_target, args, target) => made(args, target),
    get: (target, key) => {
      if (key === "prepareStackTrace" || key === "captureStackTrace") trap(`Error.${key}`);
      return target[key];
    },
    set: (target, key, value) => {
      if (key === "prepareStackTrace" || key === "stackTraceLimit") trap(`Error.${String(key)}`);
      target[key] = value;
      return true;
    },
  });
  Native.prototype.constructor = Seen;
  Object.defineProperty(Native.prototype, "constructor", { enumerable: false });
  if (Native !== NativeError && name !== "DOMException") Object.setPrototypeOf(Native, realm.Error);
  Object.defineProperty(realm, name, { value: Seen, writable: true, enumerable: false, configurable: true });
}

const stack = Object.getOwnPropertyDescriptor(NativeError.prototype, "stack");
if (stack !== undefined) Reflect.deleteProperty(NativeError.prototype, "stack");
NativeError.stackTraceLimit = 50;
NativeError.prepareStackTrace = (error: Error, frames: CallSite[]) => {
  // The engine also calls this when code rethrows an error, and for thrown values that are not errors.
  if (isError(error) && traceOf(error) === undefined) {
    const exact = making.length > 0;
    if (!exact) reword(error);
    note(error, frames, exact);
  }
  return "";
};
