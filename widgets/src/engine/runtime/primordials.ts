/**
 * Built-in functions that the bootstrap uses after the code of an action. The bootstrap captures these functions before
 * that code runs.
 *
 * An action shares the realm with the bootstrap, and can replace any global or prototype member. Code that runs after
 * an action therefore calls these functions. It also avoids implicit member lookups: `for…of`, spread and destructuring
 * of arrays, `toJSON`, `Symbol.species`, and getters of typed arrays (`length`, `buffer`).
 */

const { apply } = Reflect;
const { bind, call } = Function.prototype;

/** `uncurryThis(f)(self, ...args)` equals `f.call(self, ...args)`, but an action cannot intercept it. */
// deno-lint-ignore no-explicit-any
export const uncurryThis: <T, A extends any[], R>(f: (this: T, ...args: A) => R) => (self: T, ...args: A) => R =
  // deno-lint-ignore no-explicit-any
  (bind as any).bind(call);

export const reflectApply = apply;
export const jsonStringify = JSON.stringify;
export const jsonParse = JSON.parse;
export const PromiseConstructor = Promise;
export const promiseThen = uncurryThis(Promise.prototype.then) as <T>(
  self: Promise<T>,
  done: (value: T) => void,
  failed?: (error: unknown) => void,
) => Promise<void>;
export const createObject = Object.create;
export const defineProperty = Object.defineProperty;
export const freeze = Object.freeze;
const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
const getterOf = <T>(of: object, name: string) =>
  uncurryThis(Object.getOwnPropertyDescriptor(of, name)!.get as (this: object) => T);
export const bytesSet = uncurryThis(Uint8Array.prototype.set);
export const bytesLength = getterOf<number>(typedArray, "length");
/** Replaces `subarray` and `slice`, whose result class an action can set (`Symbol.species`). */
export const Bytes = Uint8Array;
export const Buffer = ArrayBuffer;
export const View = DataView;
export const viewGet = uncurryThis(DataView.prototype.getUint32);
export const viewPut = uncurryThis(DataView.prototype.setUint32);
export const stringIncludes = uncurryThis(String.prototype.includes);
export const stringIndexOf = uncurryThis(String.prototype.indexOf);
export const stringSlice = uncurryThis(String.prototype.slice);
export const stringStartsWith = uncurryThis(String.prototype.startsWith);
export const stringTrim = uncurryThis(String.prototype.trim);
export const toText = String;
export const { TypeError, RangeError, Error, SyntaxError } = globalThis;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const encodeText = uncurryThis(TextEncoder.prototype.encode);
const decodeText = uncurryThis(TextDecoder.prototype.decode);

export function encode(text: string): Uint8Array {
  return encodeText(encoder, text);
}

export function decode(bytes: Uint8Array): string {
  return decodeText(decoder, bytes as Uint8Array<ArrayBuffer>);
}
