/**
 * `console` and the inspector: the process receives descriptions of values, builds equivalent values, and formats them
 * with the same code as the other engine.
 */
import { ask, host, quote, trap } from "./host.ts";
import { functionText, isOwn } from "./mend.ts";
import { isTimeout } from "./timers.ts";

const { apply, ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const symbolText = Symbol.prototype.toString;
const mapEach = Map.prototype.forEach;
const setEach = Set.prototype.forEach;
const dateTime = Date.prototype.getTime;
const valueOf = {
  Number: Number.prototype.valueOf,
  String: String.prototype.valueOf,
  Boolean: Boolean.prototype.valueOf,
  Symbol: Symbol.prototype.valueOf,
  BigInt: BigInt.prototype.valueOf,
};
const keyFor = Symbol.keyFor;
const description = Object.getOwnPropertyDescriptor(Symbol.prototype, "description")!.get!;
const test = RegExp.prototype.test;
const WELL_KNOWN = ownKeys(Symbol).map((key) => (Symbol as never)[key] as unknown).filter((one) =>
  typeof one === "symbol"
);
/** Format specifiers that consume a value, and those that only show it. */
const CONVERSION = /[sdifjoOc]/;
const SHOWN = /[joO]/;
const ARRAY_INDEX = /^(0|[1-9]\d{0,9})$/;

/** Prototypes that the process also has, with their names. */
const KNOWN = new Map<object, string>();
for (
  const name of [
    "Object",
    "Array",
    "Map",
    "Set",
    "Date",
    "RegExp",
    "Error",
    "EvalError",
    "RangeError",
    "ReferenceError",
    "SyntaxError",
    "TypeError",
    "URIError",
    "Number",
    "String",
    "Boolean",
    "Symbol",
    "BigInt",
    "Function",
    "ArrayBuffer",
    "Uint8Array",
    "Uint8ClampedArray",
    "Int8Array",
    "Uint16Array",
    "Int16Array",
    "Uint32Array",
    "Int32Array",
    "Float32Array",
    "Float64Array",
    "BigInt64Array",
    "BigUint64Array",
  ]
) {
  // deno-lint-ignore no-explicit-any
  KNOWN.set((globalThis as any)[name].prototype, name);
}
KNOWN.set(getPrototypeOf(async () => {})!, "AsyncFunction");
KNOWN.set(getPrototypeOf(function* () {})!, "GeneratorFunction");
KNOWN.set(getPrototypeOf(async function* () {})!, "AsyncGeneratorFunction");
const nameOf = (prototype: object) => apply(Map.prototype.get, KNOWN, [prototype]) as string | undefined;
const mapGet = Map.prototype.get;
const mapSet = Map.prototype.set;

/** Description of values as JSON: a list of nodes, and references to nodes. */
class Description {
  #nodes = "";
  #count = 0;
  #symbols = 0;
  readonly #seen = new Map<unknown, number>();

  /** Returns the text of one value: a primitive value itself, or `["#", number of its node]` for an object. */
  value(value: unknown): string {
    switch (typeof value) {
      case "string":
        return quote(value);
      case "number":
        return value === value && value !== Infinity && value !== -Infinity && !(value === 0 && 1 / value < 0)
          ? `${value}`
          : `["n",${quote(value === 0 ? "-0" : `${value}`)}]`;
      case "boolean":
        return value ? "true" : "false";
      case "undefined":
        return `["u"]`;
      case "bigint":
        return `["b",${quote(`${value}`)}]`;
      case "symbol":
        return `["s",${quote(apply(symbolText, value, []))},${symbolKind(value)},${this.#symbol(value)}]`;
      case "object":
        if (value === null) return "null";
    }
    return `["#",${this.#node(value as object)}]`;
  }

  /** Returns a number that distinguishes symbols with the same description. Negative without a description. */
  #symbol(symbol: symbol): number {
    let id = apply(mapGet, this.#seen, [symbol]) as number | undefined;
    if (id === undefined) {
      id = ++this.#symbols;
      if (apply(description, symbol, []) === undefined) id = -id;
      apply(mapSet, this.#seen, [symbol, id]);
    }
    return id;
  }

  get nodes(): string {
    return `[${this.#nodes}]`;
  }

  #node(object: object): number {
    const known = apply(mapGet, this.#seen, [object]) as number | undefined;
    if (known !== undefined) return known;
    const id = this.#count++;
    apply(mapSet, this.#seen, [object, id]);
    if (isTimeout(object)) trap("console output of a timer");
    const brand = typeof object === "function" ? "Function" : host.brand(object);
    const parts = this.#parts(object, brand);
    const text = `[${id},${quote(brand)},${this.#chain(object)},${parts},${this.#members(object, brand)}]`;
    this.#nodes += `${this.#nodes === "" ? "" : ","}${text}`;
    return id;
  }

  /** Returns the data that is specific to a kind of object. */
  #parts(object: object, brand: string): string {
    switch (brand) {
      case "Object":
        return "null";
      case "Array":
        return `${(object as unknown[]).length}`;
      case "Error":
        return this.value((object as Error).stack);
      case "Date":
        return this.value(apply(dateTime, object, []));
      case "RegExp":
        return `[${quote((object as RegExp).source)},${quote((object as RegExp).flags)}]`;
      case "Map": {
        let text = "";
        apply(mapEach, object, [(item: unknown, key: unknown) => {
          text += `${text === "" ? "" : ","}${this.value(key)},${this.value(item)}`;
        }]);
        return `[${text}]`;
      }
      case "Set": {
        let text = "";
        apply(setEach, object, [(item: unknown) => {
          text += `${text === "" ? "" : ","}${this.value(item)}`;
        }]);
        return `[${text}]`;
      }
      case "Number":
      case "String":
      case "Boolean":
      case "Symbol":
      case "BigInt":
        return this.value(apply(valueOf[brand], object, []) as unknown);
      case "Function":
        return quote(isOwnClass(object) ? "class" : functionKind(apply(functionText, object, [])));
    }
    if (ArrayBuffer.isView(object) && brand !== "DataView") {
      let text = "";
      const view = object as unknown as unknown[];
      for (let i = 0; i < view.length; i++) text += `${i === 0 ? "" : ","}${this.value(view[i])}`;
      return `[${text}]`;
    }
    if (brand === "ArrayBuffer") {
      let text = "";
      const view = new Uint8Array(object as ArrayBuffer);
      for (let i = 0; i < view.length; i++) text += `${i === 0 ? "" : ","}${view[i]}`;
      return `[${text}]`;
    }
    return trap(`console output of an object of the class ${brand}`);
  }

  /** Returns the class names up to a prototype that the process also has, or null if there is no prototype. */
  #chain(object: object): string {
    let text = "";
    for (let at = getPrototypeOf(object); at !== null; at = getPrototypeOf(at)) {
      const known = nameOf(at);
      if (known !== undefined) return `[${text}${quote(known)}]`;
      const constructor = getOwnPropertyDescriptor(at, "constructor")?.value;
      const tag = getOwnPropertyDescriptor(at, Symbol.toStringTag);
      if (typeof constructor !== "function" || tag !== undefined) {
        return typeof object === "function"
          ? this.#functionChain(at)
          : trap("console output of an object with an unusual prototype");
      }
      text += `${quote(`${constructor.name}`)},`;
    }
    if (text !== "") trap("console output of an object with an unusual prototype");
    return "null";
  }

  /** Returns the chain of a function. If a class extends another class, its prototype is the other class. */
  #functionChain(parent: object): string {
    if (typeof parent !== "function" && host.brand(parent) !== "Function") {
      trap("console output of an object with an unusual prototype");
    }
    return `[${quote(`${(parent as { name: unknown }).name}`)},"Function"]`;
  }

  #members(object: object, brand: string): string {
    let text = "";
    const view = ArrayBuffer.isView(object) || brand === "String";
    const keys = ownKeys(object);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      if (view && typeof key === "string" && apply(test, ARRAY_INDEX, [key])) continue;
      if (typeof object === "function" && (key === "prototype" || key === "length")) continue;
      if ((brand === "Array" || brand === "String") && key === "length") continue;
      if (brand === "Error" && key === "stack") continue;
      if (brand === "RegExp" && key === "lastIndex") continue;
      const member = getOwnPropertyDescriptor(object, key)!;
      const name = typeof key === "symbol" ? this.value(key) : quote(key);
      const get = "get" in member || "set" in member;
      const what = get ? `${member.get ? 1 : 0},${member.set ? 1 : 0}` : this.value(member.value);
      text += `${text === "" ? "" : ","}[${name},${member.enumerable ? 1 : 0},${get ? 1 : 0},${what}]`;
    }
    return `[${text}]`;
  }
}

/** Returns 1 for a registered symbol, 2 for a well-known symbol and 0 for other symbols. */
function symbolKind(symbol: symbol): number {
  if (keyFor(symbol) !== undefined) return 1;
  return WELL_KNOWN.includes(symbol) ? 2 : 0;
}

/** Returns whether a function is a class of the image. Such classes have no source text that identifies them. */
function isOwnClass(f: object): boolean {
  return isOwn(f) && getOwnPropertyDescriptor(f, "prototype")?.writable === false;
}

function functionKind(source: string): string {
  if (source.startsWith("class")) return "class";
  if (source.startsWith("async")) return /^async(?:\s*function)?\s*\*/.test(source) ? "async generator" : "async";
  return /^(function\s*)?\*/.test(source) ? "generator" : "plain";
}

function describe(values: readonly unknown[]): [values: string, nodes: string] {
  if ("toJSON" in Object.prototype || "toJSON" in String.prototype) trap("toJSON on a built-in prototype");
  const description = new Description();
  let text = "";
  for (let i = 0; i < values.length; i++) text += `${i === 0 ? "" : ","}${description.value(values[i])}`;
  return [`[${text}]`, description.nodes];
}

/** Rejects objects for format specifiers that convert them, because the process cannot call an object's conversion. */
function refuseConversion(values: readonly unknown[]): void {
  const [format] = values;
  if (typeof format !== "string") return;
  let next = 1;
  for (let i = 0; i + 1 < format.length && next < values.length; i++) {
    if (format[i] !== "%") continue;
    const kind = format[++i]!;
    if (!apply(test, CONVERSION, [kind])) continue;
    const value = values[next++];
    const own = (typeof value === "object" && value !== null) || typeof value === "function";
    if (own && !apply(test, SHOWN, [kind])) trap("a console format that converts an object");
  }
}

export function inspect(value: unknown): string {
  const [values, nodes] = describe([value]);
  return ask("inspect", values, nodes);
}

const METHODS = [
  "log",
  "debug",
  "info",
  "warn",
  "error",
  "dir",
  "table",
  "group",
  "groupCollapsed",
  "groupEnd",
  "count",
];
const MORE = ["countReset", "assert", "clear"];
const TRAPPED = ["time", "timeEnd", "timeLog", "timeStamp", "trace", "dirxml", "profile", "profileEnd", "indentLevel"];

/** Replaces the console class of the other engine. This class has the same methods and passes lines to `print`. */
export class InnerConsole {
  constructor(print: (text: string) => void) {
    for (const name of [...METHODS, ...MORE]) {
      const method = {
        [name](...values: unknown[]) {
          refuseConversion(values);
          const [described, nodes] = describe(values);
          const lines = ask("console", name, described, nodes) as string[];
          for (let i = 0; i < lines.length; i++) print(lines[i]!);
        },
      };
      Object.defineProperty(this, name, { value: method[name], writable: true, enumerable: true, configurable: true });
    }
    Object.defineProperty(this, Symbol.toStringTag, { value: "console", configurable: true });
    for (const name of TRAPPED) {
      Object.defineProperty(this, name, { get: () => trap(`console.${name}`), configurable: true });
    }
  }
}
