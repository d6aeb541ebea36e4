/**
 * Errors as V8 has them: `stack` with its first line, and the action's own frames in V8's words and columns.
 *
 * What the engine itself throws has other words than in V8. The few that can be worded exactly are; any other is a
 * trap at the moment it is made, whether somebody catches it or not.
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
  /** Whether the columns can be found out. */
  readonly exact: boolean;
  /** Name of the class that was constructed or called, "" for an error of the engine. */
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

const LATER = ["message", "cause", "errors"];
const traces = new WeakMap<object, Trace>();
const { apply, construct, getOwnPropertyDescriptor, deleteProperty, defineProperty } = Reflect;
const traceOf = (error: object) => apply(WeakMap.prototype.get, traces, [error]) as Trace | undefined;
const remember = WeakMap.prototype.set;
const match = RegExp.prototype.exec;
/** Built-ins that V8 leaves no trace of. */
const PASSING = ["apply", "call", "construct", "evaluate"];
/** Frames of this engine on the way from `new Error` to where it is made. */
const MAKING = ["made", "construct", "apply"];
/** Built-ins that V8 shows where they call back, as `Array.forEach (<anonymous>)`. */
const CALLBACKS: readonly unknown[] = ["every", "filter", "forEach", "map", "reduce", "some"]
  .map((name) => (Array.prototype as unknown as Record<string, unknown>)[name]);
/** The classes whose constructors are at work, innermost last. */
const making: string[] = [];
let main: unknown = null;

/** Tells which function is the action's `main`: nothing awaits it, so nothing stands below it in a stack. */
export function setMain(f: unknown): void {
  main = f;
}

/** Messages of the engine that can be put as V8 puts them. Where V8 sees the error in a line cannot be known. */
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

/** Gives an error that the engine made V8's message. */
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
  // V8 has `stack` first, then these in this order.
  for (let i = 0; i < LATER.length; i++) {
    const member = getOwnPropertyDescriptor(error, LATER[i]!);
    if (member === undefined) continue;
    deleteProperty(error, LATER[i]!);
    defineProperty(error, LATER[i]!, member);
  }
}

/** Gives the error of `Promise.any` what V8's has: words, and a stack in which nothing stands. */
export function completeAggregate(error: unknown): void {
  if (!isError(error) || traceOf(error as Error) !== undefined) return; // whatever else it may be rejected with
  const value = "All promises were rejected";
  defineProperty(error as Error, "message", { value, writable: true, enumerable: false, configurable: true });
  note(error as Error, [], true);
}

function readStack(this: object): string {
  const trace = traceOf(this);
  if (trace === undefined) return trap("the stack of an object that inherits from an error");
  return trace.text ??= textOf(this as Error, trace);
}

function writeStack(this: object, value: unknown): void {
  defineProperty(this, "stack", { value, writable: true, enumerable: false, configurable: true });
}

function textOf(error: Error, { frames, exact, made }: Trace): string {
  let json = "";
  let own = 0;
  let making = exact;
  for (let i = 0; i < frames.length; i++) {
    const frame = frames[i]!;
    const file = frame.getFileName();
    const kind = frame.isNative() ? "native" : file === OWN_FILE ? "ours" : "action";
    let name = frame.getFunctionName() ?? "";
    // How an error is made takes no frame in V8.
    making &&= kind !== "action" && MAKING.includes(name);
    if (making) continue;
    if (kind === "action") own++;
    if (kind === "native") {
      if (PASSING.includes(name)) continue;
      if (!CALLBACKS.includes(frame.getFunction())) trap(`a stack through ${name}`);
      name = `Array.${name}`;
    }
    json += `${json === "" ? "" : ","}[${quote(kind)},${quote(name)},` +
      `${frame.getLineNumber() ?? 0},${frame.getColumnNumber() ?? 0}]`;
  }
  if (own > 0) {
    if (!exact && !(own === 1 && isLookUp(frames[0]!))) trap("the stack of an error of the engine");
    const last = frames[frames.length - 1]!;
    const resumed = last.getFileName() !== OWN_FILE && last.getFunctionName() !== "<eval>";
    if (resumed && last.getFunction() !== main) trap("the stack of an error after an await");
  }
  return headline(error) + ask("stack", `[${json}]`, made);
}

/** Whether it is the look-up of `main`, a script of its own: there is only one place to be at. */
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
  // Asked again when an error is thrown on, and for thrown values that are no errors.
  if (isError(error) && traceOf(error) === undefined) {
    const exact = making.length > 0;
    if (!exact) reword(error);
    note(error, frames, exact);
  }
  return "";
};
