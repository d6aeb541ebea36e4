/**
 * Built-in functions whose results differ from those of V8. Their results come from V8 itself.
 *
 * Transcendental functions differ in the last digit between mathematical libraries. Dates differ in their text, and
 * numbers in other bases differ in their digits.
 */
import { OWN_FILE } from "../../own_file.ts";
import { getParsed, setParsed } from "./parsed.ts";
import { INSERTED } from "../spread_name.ts";
import { NEWER } from "../unicode.ts";
import { ask, quote, trap } from "./host.ts";

const { apply } = Reflect;
const { isSafeInteger, isFinite } = Number;

const standIns = new WeakSet<object>();
const isStandIn = WeakSet.prototype.has;

/** Sets the source text of a function to that of the built-in function that it replaces. */
export function standIn(made: object): void {
  standIns.add(made);
}

/** Replaces a member with a function that looks identical. */
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
const exec = RegExp.prototype.exec;
/** Unlike `RegExp.prototype.test`, this calls no function that an action can replace. */
const matches = (pattern: RegExp, text: string) => apply(exec, pattern, [text]) !== null;
const NativeDate = Date;
const nativeParse = Date.parse;

/** Parses a date. QuickJS and V8 parse only one format identically, so V8 parses all other formats. */
function parse(written: string): number {
  if (matches(ISO, written)) return nativeParse(written);
  return Number(ask("date", quote(written)));
}

/**
 * Implements the abstract operation ToPrimitive (ECMA-262) without a preferred type, for objects without
 * `Symbol.toPrimitive`.
 */
function toPrimitive(value: object): unknown {
  if ((value as { [Symbol.toPrimitive]?: unknown })[Symbol.toPrimitive] !== undefined) {
    trap("a Date that is created from an object");
  }
  for (const name of ["valueOf", "toString"] as const) {
    const method: unknown = value[name];
    if (typeof method !== "function") continue;
    const found: unknown = apply(method as () => unknown, value, []);
    if ((typeof found !== "object" || found === null) && typeof found !== "function") return found;
  }
  throw new TypeError("Cannot convert object to primitive value");
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
replace(NativeDate.prototype, "toGMTString", () => NativeDate.prototype.toUTCString); // one function with two names
replace(NativeDate, "parse", () => (written: unknown) => parse(`${written}`));
/** Converts the parts of a date. QuickJS does not convert the parts after one that is not finite. */
function toNumbers(parts: unknown[]): number[] {
  for (let i = 0; i < parts.length && i < 7; i++) parts[i] = +(parts[i] as number);
  return parts as number[];
}

replace(NativeDate, "UTC", (original) => (...parts: unknown[]) => apply(original, NativeDate, toNumbers(parts)));
const SeenDate: DateConstructor = new Proxy(NativeDate, {
  apply: () => new SeenDate().toString(),
  construct(target, args, as) {
    if (args.length === 1) {
      let value = args[0];
      const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
      if (isObject && !(value instanceof NativeDate)) value = toPrimitive(value);
      if (typeof value === "string") value = parse(value);
      return Reflect.construct(target, [value], as);
    }
    return Reflect.construct(target, toNumbers(args), as);
  },
});
Object.defineProperty(NativeDate.prototype, "constructor", { value: SeenDate });
Object.defineProperty(globalThis, "Date", { value: SeenDate, writable: true, enumerable: false, configurable: true });

// --- functions ------------------------------------------------------------------------------------------------------

/** Functions that are built into this engine, but not into V8. */
const THEIRS: readonly unknown[] = [queueMicrotask, DOMException];

/** QuickJS's source text of any function. Functions of the image have no source text. */
export const functionText = Function.prototype.toString;
const fileName = Object.getOwnPropertyDescriptor(Function.prototype, "fileName")!.get!;

/** Returns whether a function belongs to the image, and not to the action or the language. */
export function isOwn(f: unknown): boolean {
  return apply(fileName, f, []) === OWN_FILE;
}

replace(Function.prototype, "toString", (original) =>
  ({
    f(this: unknown) {
      const source = apply(original, this, []) as string;
      for (let i = 0; i < THEIRS.length; i++) if (this === THEIRS[i]) trap("the source text of a web API");
      if (!apply(isStandIn, standIns, [this])) {
        if (isOwn(this)) trap("the source text of a function outside the action");
        if (!source.endsWith("{\n    [native code]\n}")) return written(source);
      }
      return `function ${nameOf(this)}() { [native code] }`;
    },
  }).f);

function written(source: string): string {
  let own = source;
  for (let i = 0; i < INSERTED.length; i++) own = without(own, INSERTED[i]!);
  return apply(includes, script, [own]) ? own : trap("the source text of a function outside the action");
}

const includes = String.prototype.includes;
let script = "";

/** Sets the source of the action. Functions whose text is not part of the source have a different text in V8. */
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

/** As in Deno, an object has no `__proto__` unless the action sets it. */
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

/** The third argument of a reviver contains the source text, unless the reviver has changed the value. */
replace(JSON, "parse", (original) =>
  ({
    f(text: unknown, reviver?: unknown) {
      if (typeof reviver === "function" && looksAtContext(reviver)) trap("a reviver with three parameters");
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
  return matches(CONTEXT, source);
}

// --- text -----------------------------------------------------------------------------------------------------------

function refuseNewer(text: string): void {
  if (matches(NEWER, text)) trap("a character of a newer Unicode version");
}

for (const name of ["toLowerCase", "toUpperCase", "normalize"]) {
  replace(String.prototype, name, (original) =>
    ({
      f(this: unknown, ...args: unknown[]): unknown {
        if (this === undefined || this === null) return apply(original, this, args);
        const text = typeof this === "string" ? this : `${this}`;
        refuseNewer(text);
        return apply(original, text, args);
      },
    }).f);
}

// --- regular expressions --------------------------------------------------------------------------------------------

/** Escapes line terminators in the source of a pattern, as V8 does. */
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

/** QuickJS has a newer Unicode version than V8, so some characters have other properties. */
const PROPERTIES = /\\[pP]\{/;
const NativeRegExp = RegExp;
function judged(args: unknown[]): unknown[] {
  const [pattern] = args;
  const text = typeof pattern === "string" ? pattern : "";
  if (matches(PROPERTIES, text)) trap("a regular expression with Unicode properties");
  refuseNewer(text);
  return args;
}
/**
 * Returns whether `RegExp(pattern)` returns the pattern itself, because it is a regular expression of this constructor.
 */
function isKept([pattern, flags]: unknown[]): boolean {
  // deno-lint-ignore no-explicit-any
  const of = pattern as any;
  if (typeof of !== "object" || of === null || flags !== undefined) return false;
  return Boolean(of[Symbol.match]) && of.constructor === SeenRegExp;
}

const SeenRegExp: RegExpConstructor = new Proxy(NativeRegExp, {
  apply: (target, _self, args) => isKept(args) ? args[0] : apply(target, undefined, judged(args)),
  construct(target, args, as) {
    if (as === SeenRegExp) return Reflect.construct(target, judged(args), target);
    // V8 reads the prototype of the subclass first, and QuickJS converts the flags first.
    if (typeof args[1] === "object" || typeof args[1] === "function") {
      trap("a RegExp subclass whose flags are an object");
    }
    return Reflect.construct(target, judged(args), as);
  },
});
definePropertyOf(NativeRegExp.prototype, "constructor", { value: SeenRegExp });
definePropertyOf(globalThis, "RegExp", { value: SeenRegExp, writable: true, enumerable: false, configurable: true });

/** V8 does not escape characters above U+FFFF, but QuickJS escapes their surrogates. */
const codeAt = String.prototype.charCodeAt;
const isHalf = (text: string, at: number, first: number) => (apply(codeAt, text, [at]) & 0xfc00) === first;
replace(NativeRegExp, "escape", (original) =>
  ({
    escape(text: unknown): unknown {
      if (typeof text !== "string") return apply(original, NativeRegExp, [text]);
      // V8 escapes only the first character of a string if it is a letter or digit, so later parts get a prefix.
      const part = (from: number, to: number) =>
        from === 0
          ? apply(original, NativeRegExp, [apply(slice, text, [0, to])])
          : apply(slice, apply(original, NativeRegExp, [`^${apply(slice, text, [from, to])}`]), ["\\^".length]);
      let escaped = "";
      let done = 0;
      for (let at = 0; at + 1 < text.length; at++) {
        if (!isHalf(text, at, 0xd800) || !isHalf(text, at + 1, 0xdc00)) continue;
        escaped += `${part(done, at)}${apply(slice, text, [at, at + 2])}`;
        done = ++at + 1;
      }
      return `${escaped}${part(done, text.length)}`;
    },
  }).escape);

// --- base64 ---------------------------------------------------------------------------------------------------------

for (const name of ["atob", "btoa"]) {
  replace(globalThis, name, (original) =>
    ({
      f(...args: unknown[]) {
        try {
          return apply(original, undefined, args);
        } catch {
          return trap(`${name} with an invalid argument`); // the errors have different messages and no stack
        }
      },
    }).f);
}
