/** Everything that V8 has and this realm lacks: touching it is a trap. */
import { trap } from "./host.ts";

/** Members of a built-in, or of its prototype, by the name of the built-in. */
export interface Shape {
  readonly statics: readonly string[];
  readonly members: readonly string[] | null;
}

/** Members that exist here but answer otherwise than V8. */
const OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  Array: ["toLocaleString"],
  BigInt: ["toLocaleString"],
  Date: ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"],
  Number: ["toLocaleString"],
  Object: ["toLocaleString"],
  String: ["localeCompare", "toLocaleLowerCase", "toLocaleUpperCase"],
};

/** What the global object of V8 inherits. */
const INHERITED = ["addEventListener", "removeEventListener", "dispatchEvent"];

/** Globals that exist here but answer otherwise than V8: when memory is freed shows, or threads do. */
const GLOBALS = [...INHERITED, "WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Atomics"];

function lay(owner: object, name: string, what: string): void {
  Object.defineProperty(owner, name, {
    get: () => trap(what),
    set: () => trap(what),
    enumerable: false,
    configurable: true,
  });
}

/** Makes a trap of every global in `globals` and every member in `shapes` that is missing. */
export function layTraps(globals: readonly string[], shapes: Readonly<Record<string, Shape>>): void {
  // deno-lint-ignore no-explicit-any
  const realm = globalThis as any;
  for (const name of Object.keys(shapes)) {
    const found = realm[name];
    if (found === undefined || found === null) continue;
    const { statics, members } = shapes[name]!;
    for (const member of statics) if (!Object.hasOwn(found, member)) lay(found, member, `${name}.${member}`);
    if (members === null) continue;
    const otherwise = OTHERWISE[name] ?? [];
    for (const member of members) {
      if (!Object.hasOwn(found.prototype, member) || otherwise.includes(member)) {
        lay(found.prototype, member, `${name}.prototype.${member}`);
      }
    }
  }
  for (const sample of [() => {}, async () => {}, function* () {}, async function* () {}]) refuseText(sample);
  for (const name of globals) if (!(name in realm)) lay(realm, name, name);
  for (const name of GLOBALS) lay(realm, name, name);
}

/** Code from text is refused by V8 in its own words. */
function refuseText(sample: object): void {
  const prototype = Object.getPrototypeOf(sample);
  const refuse = () => trap("code from text");
  const constructor = new Proxy(prototype.constructor, { apply: refuse, construct: refuse });
  const { enumerable, configurable, writable } = Object.getOwnPropertyDescriptor(prototype, "constructor")!;
  Object.defineProperty(prototype, "constructor", { value: constructor, enumerable, configurable, writable });
  if (prototype === Function.prototype) {
    Object.defineProperty(globalThis, "Function", { value: constructor, writable: true, configurable: true });
  }
}
