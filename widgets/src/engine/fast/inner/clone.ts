/** `structuredClone` (HTML standard) for the types of the language itself. All other types are traps. */
import { define } from "./define.ts";
import { host, trap } from "./host.ts";

const BOXED = ["Number", "String", "Boolean"];

function clone(value: unknown, seen: Map<object, object>): unknown {
  if (typeof value === "symbol" || typeof value === "function") trap("structuredClone of a symbol or a function");
  if (typeof value !== "object" || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  const brand = host.brand(value);
  let made: object;
  if (brand === "Date") made = new Date((value as Date).getTime());
  else if (brand === "RegExp") made = new RegExp((value as RegExp).source, (value as RegExp).flags);
  else if (BOXED.includes(brand)) made = Object((value as { valueOf(): unknown }).valueOf());
  else if (brand === "ArrayBuffer") made = (value as ArrayBuffer).slice(0);
  else if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const view = value as Uint8Array;
    const buffer = clone(view.buffer, seen) as ArrayBuffer;
    made = new (view.constructor as typeof Uint8Array)(buffer, view.byteOffset, view.length);
  } else if (brand === "Map") {
    made = new Map();
    seen.set(value, made);
    for (const [key, item] of [...(value as Map<unknown, unknown>)]) {
      (made as Map<unknown, unknown>).set(clone(key, seen), clone(item, seen));
    }
  } else if (brand === "Set") {
    made = new Set();
    seen.set(value, made);
    for (const item of [...(value as Set<unknown>)]) (made as Set<unknown>).add(clone(item, seen));
  } else if (brand === "Array" || brand === "Object") {
    made = brand === "Array" ? new Array((value as unknown[]).length) : {};
    seen.set(value, made);
    for (const key of Object.keys(value)) {
      const item = clone((value as Record<string, unknown>)[key], seen);
      Object.defineProperty(made, key, { value: item, writable: true, enumerable: true, configurable: true });
    }
  } else return trap(`structuredClone of ${brand}`);
  seen.set(value, made);
  return made;
}

define({
  structuredClone: (value: unknown, options?: { transfer?: unknown }): unknown => {
    if (options?.transfer !== undefined) trap("structuredClone with transfer");
    return clone(value, new Map());
  },
}, true);
