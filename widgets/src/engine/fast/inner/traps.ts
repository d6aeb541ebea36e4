/**
 * Traps for everything that V8 has and this realm does not have. The module also removes members that V8 does not have.
 */
import { TYPED_ARRAY } from "../typed_array.ts";
import { trap } from "./host.ts";
import { standIn } from "./mend.ts";

/** Member in V8: its name, whether it is enumerable, and the `length` of a function or -1 for other values. */
type Member = readonly [name: string, enumerable: 0 | 1, length: number];

/** Members of a built-in object and of its prototype, in V8's order. */
export interface Shape {
  readonly statics: readonly Member[];
  readonly members: readonly Member[] | null;
}

/** Members that exist here but behave differently from V8. */
const OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  Array: ["toLocaleString"],
  BigInt: ["toLocaleString"],
  Date: ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"],
  Function: ["arguments", "caller"],
  Number: ["toLocaleString"],
  Object: ["toLocaleString"],
  RegExp: ["compile"],
  String: ["localeCompare", "toLocaleLowerCase", "toLocaleUpperCase"],
};

/** Enumerable members that the global object of V8 inherits. */
const INHERITED = ["addEventListener", "removeEventListener", "dispatchEvent", "getParent"];

/**
 * Globals that exist here but behave differently from V8. They reveal when the engine frees memory, the effect of
 * threads, or the order in which built-ins read an object.
 */
const GLOBALS = ["WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Atomics", "Proxy"];

// Capture these functions, because a built-in object temporarily has no members while this module changes it.
const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { getOwnPropertyNames } = Object;
const has = WeakSet.prototype.has;
const add = WeakSet.prototype.add;
/** Objects whose members differ from V8's in order or kind. */
const builtIns = new WeakSet<object>();
/** Getters of traps, which a descriptor would reveal. */
const laid = new WeakSet<object>();

function lay(owner: object, name: string | symbol, what: string, enumerable = false): void {
  const get = () => trap(what);
  apply(add, laid, [get]);
  defineProperty(owner, name, { get, set: get, enumerable, configurable: true });
}

// deno-lint-ignore no-explicit-any
function builtIn(name: string): any {
  // deno-lint-ignore no-explicit-any
  return name === TYPED_ARRAY ? getPrototypeOf(Uint8Array) : (globalThis as any)[name];
}

/** Returns a member that is higher in the prototype chain here than in V8. */
function inherited(owner: object, name: string): PropertyDescriptor | undefined {
  for (let at = getPrototypeOf(owner); at !== null && at !== Object.prototype; at = getPrototypeOf(at)) {
    const member = getOwnPropertyDescriptor(at, name);
    if (member !== undefined) return member;
  }
  return undefined;
}

/** Defines the members of an object that exist both in V8 and here, in V8's order. */
function liken(owner: object, members: readonly Member[], what: string, otherwise: readonly string[] = []): void {
  builtIns.add(owner);
  const known = members.map(([name]) => name);
  for (const name of getOwnPropertyNames(owner)) if (!known.includes(name)) deleteProperty(owner, name);
  for (const [name, enumerable, length] of members) {
    const member = getOwnPropertyDescriptor(owner, name) ??
      (what.endsWith(".prototype") ? inherited(owner, name) : undefined);
    if (member === undefined || otherwise.includes(name)) {
      lay(owner, name, `${what}.${name}`, enumerable === 1);
      continue;
    }
    if (!member.configurable) continue;
    if (typeof member.value === "function" && length >= 0 && member.value.length !== length) {
      defineProperty(member.value, "length", { value: length });
    }
    deleteProperty(owner, name);
    defineProperty(owner, name, { ...member, enumerable: enumerable === 1 });
  }
}

/** Creates a trap for each missing global in `globals` and each missing member in `shapes`. */
export function layTraps(globals: readonly string[], shapes: Readonly<Record<string, Shape>>): void {
  // deno-lint-ignore no-explicit-any
  const realm = globalThis as any;
  for (const name of Object.keys(shapes)) {
    const found = builtIn(name);
    if (found === undefined || found === null) continue;
    const { statics, members } = shapes[name]!;
    liken(found, statics, name);
    if (members !== null) liken(found.prototype, members, `${name}.prototype`, OTHERWISE[name]);
  }
  layIterators();
  for (const sample of [() => {}, async () => {}, function* () {}, async function* () {}]) refuseText(sample);
  refuseLists();
  refuseDescriptors();
  for (const name of globals) if (!(name in realm)) lay(realm, name, name);
  for (const name of GLOBALS) lay(realm, name, name);
  const ancestor = Object.create(Object.prototype);
  for (const name of INHERITED) {
    deleteProperty(realm, name);
    lay(ancestor, name, name, true);
  }
  Object.setPrototypeOf(realm, ancestor);
}

/** Sorts the enumerable globals into V8's order. */
export function orderGlobals(names: readonly string[]): void {
  const mine = Object.keys(globalThis);
  const wanted = names.filter((name) => Object.hasOwn(globalThis, name) && name !== "Deno" && name !== "global");
  const last = ["localStorage", "sessionStorage"];
  const others = mine.filter((name) => !wanted.includes(name) && !last.includes(name));
  for (const name of [...wanted.filter((name) => !last.includes(name)), ...others, ...last]) {
    const member = getOwnPropertyDescriptor(globalThis, name);
    if (member === undefined) continue;
    deleteProperty(globalThis, name);
    defineProperty(globalThis, name, { ...member, enumerable: true });
  }
}

/** Rejects lists of the members of built-in objects, which would reveal this realm's order and the traps. */
function refuseLists(): void {
  builtIns.add(globalThis);
  const names = ["getOwnPropertyNames", "getOwnPropertyDescriptors", "getOwnPropertySymbols"];
  for (const [owner, name] of [...names.map((name) => [Object, name] as const), [Reflect, "ownKeys"] as const]) {
    const member = getOwnPropertyDescriptor(owner, name)!;
    const list = member.value;
    const value = {
      [name](of: unknown, ...rest: unknown[]) {
        if (apply(has, builtIns, [of])) trap(`${name} of a built-in object`);
        if (isOldFunction(of)) trap(`${name} of a function`);
        return apply(list, owner, [of, ...rest]);
      },
    }[name]!;
    standIn(value);
    defineProperty(value, "length", { value: 1, configurable: true });
    defineProperty(owner, name, { ...member, value });
  }
}

/**
 * Returns whether a function is sloppy and uses the `function` keyword. In V8, such a function has two additional
 * members.
 */
function isOldFunction(of: unknown): boolean {
  return typeof of === "function" && getOwnPropertyDescriptor(of, "prototype")?.writable === true;
}

/** Rejects descriptors of traps, which would reveal the traps. */
function refuseDescriptors(): void {
  for (const owner of [Object, Reflect]) {
    const name = "getOwnPropertyDescriptor";
    const member = getOwnPropertyDescriptor(owner, name)!;
    const describe = member.value as (of: unknown, key: unknown) => PropertyDescriptor | undefined;
    const value = {
      [name](of: unknown, key: unknown) {
        const found = apply(describe, owner, [of, key]) as PropertyDescriptor | undefined;
        if (found?.get !== undefined && apply(has, laid, [found.get])) {
          trap("the descriptor of a property that differs in V8");
        }
        return found;
      },
    }[name]!;
    standIn(value);
    defineProperty(owner, name, { ...member, value });
  }
}

/**
 * Creates traps for iterators. V8 reads `return` of a wrapped iterator when it closes the iterator. Async iterators
 * also differ.
 */
function layIterators(): void {
  // deno-lint-ignore no-explicit-any
  const iterators = (globalThis as any).Iterator;
  const { from } = iterators;
  const wrapped = getPrototypeOf(from({ next() {} }) as object);
  const value = {
    from(of: unknown): unknown {
      const made = apply(from, iterators, [of]) as object;
      return getPrototypeOf(made) === wrapped ? trap("Iterator.from of an object that is not an iterator") : made;
    },
  }.from;
  standIn(value);
  defineProperty(iterators, "from", { value, writable: true, enumerable: false, configurable: true });
  const asynchronous = getPrototypeOf(getPrototypeOf(getPrototypeOf(async function* () {}()) as object) as object);
  // deno-lint-ignore no-explicit-any
  lay(asynchronous as object, (Symbol as any).asyncDispose, "Symbol.asyncDispose of an asynchronous iterator");
}

/** Rejects code generation from strings with V8's own error message. */
function refuseText(sample: object): void {
  const prototype = Object.getPrototypeOf(sample);
  const refuse = () => trap("code that is created from text");
  if (prototype !== Function.prototype) Object.setPrototypeOf(prototype.constructor, Function);
  const constructor = new Proxy(prototype.constructor, { apply: refuse, construct: refuse });
  const { enumerable, configurable, writable } = Object.getOwnPropertyDescriptor(prototype, "constructor")!;
  defineProperty(prototype, "constructor", { value: constructor, enumerable, configurable, writable });
  if (prototype === Function.prototype) {
    defineProperty(globalThis, "Function", { value: constructor, writable: true, configurable: true });
  }
}
