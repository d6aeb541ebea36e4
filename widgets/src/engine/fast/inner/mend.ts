/**
 * Built-ins whose results differ from V8's in some bit or word: V8 itself is asked.
 *
 * Transcendental functions differ in the last place between mathematical libraries, dates in their words, numbers in
 * other bases in their digits.
 */
import { OWN_FILE } from "../../own_file.ts";
import { getParsed, setParsed } from "./parsed.ts";
import { BEFORE, BEHIND } from "../spread_name.ts";
import { ask, quote, trap } from "./host.ts";

const { apply } = Reflect;
const { isSafeInteger, isFinite } = Number;

const standIns = new WeakSet<object>();
const isStandIn = WeakSet.prototype.has;

/** Lets a function show itself as the built-in that it stands for. */
export function standIn(made: object): void {
  standIns.add(made);
}

/** Replaces a member by a function that looks like it. */
function replace(owner: object, name: string, make: (original: (...args: unknown[]) => unknown) => unknown): void {
  const member = Object.getOwnPropertyDescriptor(owner, name)!;
  const made = make(member.value) as object;
  Object.defineProperty(made, "name", { value: member.value.name, configurable: true });
  Object.defineProperty(made, "length", { value: member.value.length, configurable: true });
  if (owner !== globalThis) standIn(made);
  Object.defineProperty(owner, name, { ...member, value: made });
}

const text = (value: number) => value === 0 && 1 / value < 0 ? "-0" : `${value}`;
const MATH =
  "acos acosh asin asinh atan atanh atan2 cbrt cos cosh exp expm1 hypot log log10 log1p log2 pow sin sinh tan tanh";

for (const name of MATH.split(" ")) {
  replace(Math, name, (original) =>
    ({
      f(...args: unknown[]) {
        let list = "";
        const fewest = name === "hypot" ? 0 : original.length;
        for (let i = 0; i < Math.max(args.length, fewest); i++) {
          list += `${i === 0 ? "" : ","}${quote(text(Number(args[i])))}`;
        }
        return Number(ask("math", name, `[${list}]`));
      },
    }).f);
}

replace(Number.prototype, "toString", (original) =>
  ({
    f(this: unknown, radix?: unknown): unknown {
      const plain = radix === undefined || radix === 10 || (typeof this === "number" && isSafeInteger(this));
      if (plain || typeof this !== "number" || !isFinite(this)) return apply(original, this, [radix]);
      return ask("radix", text(this), `${Number(radix)}`);
    },
  }).f);

// --- dates ----------------------------------------------------------------------------------------------------------

const { getTime } = Date.prototype;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/;
const test = RegExp.prototype.test;
const NativeDate = Date;
const nativeParse = Date.parse;

/** Only one form is read alike everywhere; V8 reads the others. */
function parse(written: string): number {
  if (apply(test, ISO, [written])) return nativeParse(written);
  return Number(ask("date", quote(written)));
}

for (const name of ["toString", "toDateString", "toTimeString", "toUTCString"]) {
  replace(NativeDate.prototype, name, (original) =>
    ({
      f(this: Date) {
        const time = apply(getTime, this, []);
        return time === time ? ask("dateText", name, `${time}`) : apply(original, this, []);
      },
    }).f);
}
replace(NativeDate.prototype, "toGMTString", () => NativeDate.prototype.toUTCString); // one function of two names
replace(NativeDate, "parse", () => (written: unknown) => parse(`${written}`));
const SeenDate: DateConstructor = new Proxy(NativeDate, {
  apply: () => new SeenDate().toString(),
  construct(target, args, as) {
    if (args.length === 1) {
      let value = args[0];
      if (typeof value === "object" && value !== null && !(value instanceof NativeDate)) {
        value = value[Symbol.toPrimitive] === undefined ? `${value}` : trap("Date of an object");
      }
      if (typeof value === "string") value = parse(value);
      return Reflect.construct(target, [value], as);
    }
    return Reflect.construct(target, args, as);
  },
});
Object.defineProperty(NativeDate.prototype, "constructor", { value: SeenDate });
Object.defineProperty(globalThis, "Date", { value: SeenDate, writable: true, enumerable: false, configurable: true });

// --- functions ------------------------------------------------------------------------------------------------------

/** Built in here, but not in V8. */
const THEIRS: readonly unknown[] = [queueMicrotask, DOMException];

/** As QuickJS has it, of whatever function: those of the image have no text of their own. */
export const functionText = Function.prototype.toString;
const fileName = Object.getOwnPropertyDescriptor(Function.prototype, "fileName")!.get!;

/** Whether a function is of the image, neither the action's nor the language's. */
export function isOwn(f: unknown): boolean {
  return apply(fileName, f, []) === OWN_FILE;
}

replace(Function.prototype, "toString", (original) =>
  ({
    f(this: unknown) {
      const source = apply(original, this, []) as string;
      for (let i = 0; i < THEIRS.length; i++) if (this === THEIRS[i]) trap("the text of a function of the web");
      if (!apply(isStandIn, standIns, [this])) {
        if (isOwn(this)) trap("the text of a function that is not the action's");
        if (!source.endsWith("{\n    [native code]\n}")) return written(source);
      }
      return `function ${nameOf(this)}() { [native code] }`;
    },
  }).f);

function written(source: string): string {
  const own = without(without(source, BEFORE), BEHIND);
  return apply(includes, script, [own]) ? own : trap("the text of a function that is not the action's");
}

const includes = String.prototype.includes;
let script = "";

/** Tells what the action is: functions whose text is none of it are others in V8. */
export function setScript(source: string): void {
  script = source;
}

const indexOf = String.prototype.indexOf;
const slice = String.prototype.slice;

function without(text: string, part: string): string {
  let rest = text;
  for (;;) {
    const at = apply(indexOf, rest, [part]) as number;
    if (at === -1) return rest;
    rest = `${apply(slice, rest, [0, at])}${apply(slice, rest, [at + part.length])}`;
  }
}

const startsWith = String.prototype.startsWith;

function nameOf(f: unknown): string {
  const name = (f as { name: unknown }).name;
  return typeof name === "string" && !apply(startsWith, name, ["bound "]) ? name : "";
}

// --- objects --------------------------------------------------------------------------------------------------------

const definePropertyOf = Object.defineProperty;

/** Deno's own: an object has no `__proto__` unless it is given one. */
const { get, set } = Object.getOwnPropertyDescriptor(
  {
    get __proto__() {
      return undefined;
    },
    set __proto__(value: unknown) {
      // deno-lint-ignore no-this-alias
      const self: unknown = this;
      if ((typeof self !== "object" && typeof self !== "function") || self === null) return;
      definePropertyOf(self, "__proto__", { value, writable: true, enumerable: true, configurable: true });
    },
  },
  "__proto__",
)!;
for (const f of [get!, set!]) definePropertyOf(f, "name", { value: "__proto__", configurable: true });
definePropertyOf(Object.prototype, "__proto__", { get, set, enumerable: false, configurable: true });

// --- JSON -----------------------------------------------------------------------------------------------------------

/** The third argument of a reviver says what stood in the text, unless the value was changed meanwhile. */
replace(JSON, "parse", (original) =>
  ({
    f(text: unknown, reviver?: unknown) {
      if (typeof reviver === "function" && looksAtContext(reviver)) trap("a reviver with three arguments");
      const before = getParsed();
      const convertsItself = (typeof text === "object" && text !== null) || typeof text === "function";
      setParsed(convertsItself || typeof text === "symbol" ? null : `${text}`);
      try {
        return apply(original, JSON, [text, reviver]);
      } finally {
        setParsed(before);
      }
    },
  }).f);

const CONTEXT = /\barguments\b|\.\.\.|native code/;

// deno-lint-ignore ban-types
function looksAtContext(f: Function): boolean {
  if (f.length > 2) return true;
  const source = apply(functionText, f, []) as string;
  return apply(test, CONTEXT, [source]);
}

// --- regular expressions --------------------------------------------------------------------------------------------

/** Escapes in the source what ends a line, as V8 does. */
const sourceOf = Object.getOwnPropertyDescriptor(RegExp.prototype, "source")!;
const readSource = sourceOf.get!;
const LINES = /[\u2028\u2029]/g;
const replaceIn = RegExp.prototype[Symbol.replace];
const readable = {
  get source() {
    const source = apply(readSource, this, []) as string;
    if (apply(indexOf, source, ["\u2028"]) === -1 && apply(indexOf, source, ["\u2029"]) === -1) return source;
    return apply(replaceIn, LINES, [source, (found: string) => found === "\u2028" ? "\\u2028" : "\\u2029"]);
  },
};
const escapedSource = Object.getOwnPropertyDescriptor(readable, "source")!.get!;
standIn(escapedSource);
definePropertyOf(RegExp.prototype, "source", { ...sourceOf, get: escapedSource });

/** QuickJS has a newer Unicode than V8, so some characters have other properties. */
const PROPERTIES = /\\[pP]\{/;
const NativeRegExp = RegExp;
function judged(args: unknown[]): unknown[] {
  const [pattern] = args;
  const text = typeof pattern === "string" ? pattern : "";
  if (apply(test, PROPERTIES, [text])) trap("a regular expression with properties of Unicode");
  return args;
}
/** `RegExp(pattern)` is the pattern itself if that is a regular expression of this constructor. */
function isKept([pattern, flags]: unknown[]): boolean {
  // deno-lint-ignore no-explicit-any
  const of = pattern as any;
  if (typeof of !== "object" || of === null || flags !== undefined) return false;
  return Boolean(of[Symbol.match]) && of.constructor === SeenRegExp;
}

const SeenRegExp: RegExpConstructor = new Proxy(NativeRegExp, {
  apply: (target, _self, args) => isKept(args) ? args[0] : apply(target, undefined, judged(args)),
  construct: (target, args, as) => Reflect.construct(target, judged(args), as === SeenRegExp ? target : as),
});
definePropertyOf(NativeRegExp.prototype, "constructor", { value: SeenRegExp });
definePropertyOf(globalThis, "RegExp", { value: SeenRegExp, writable: true, enumerable: false, configurable: true });

// --- base64 ---------------------------------------------------------------------------------------------------------

for (const name of ["atob", "btoa"]) {
  replace(globalThis, name, (original) =>
    ({
      f(...args: unknown[]) {
        try {
          return apply(original, undefined, args);
        } catch {
          return trap(`${name} of that`); // the errors have other words, and no stack
        }
      },
    }).f);
}
