/**
 * Interface from the realm of an action to the surrounding process: four functions, captured before other code runs.
 *
 * Strings are encoded as JSON, which preserves unpaired surrogates. Operations that the process cannot perform exactly
 * are traps, which end the run immediately and bypass every `catch` and `finally`.
 */
interface HostFunctions {
  /** Calls a function of the process by name. The function takes strings and returns JSON text. */
  ask(name: string, ...texts: unknown[]): string | undefined;
  /** Curve and hash operation in the mailbox. Returns the length of the result in bytes, or -1 on failure. */
  compute(operation: number, length: number): number;
  /** Converts a string to UTF-8 bytes, or bytes to a string. */
  encode(text: string): Uint8Array<ArrayBuffer>;
  decode(bytes: Uint8Array, label: string, fatal: boolean, ignoreBOM: boolean): string;
  /** Returns the engine's internal name for the kind of an object, which an action cannot change. */
  brand(value: object): string;
}

// deno-lint-ignore no-explicit-any
const realm = globalThis as any;

/** The process sets this object when it creates the image. An action cannot access the object. */
export const host: HostFunctions = realm.__host;
delete realm.__host;

const { parse, stringify } = JSON;
const { apply } = Reflect;
const askHost = host.ask;

/** Calls a function of the process. Returns the parsed result, or throws its error. */
// deno-lint-ignore no-explicit-any
export function ask(...texts: unknown[]): any {
  const answer = apply(askHost, undefined, texts) as string | undefined;
  if (answer === undefined) return undefined;
  const { value, error } = parse(answer);
  if (error !== undefined) throw new realm[error.name](error.message);
  return value;
}

/** Returns a string as JSON text. */
export const quote = stringify as (text: string) => string;

/** Ends the run, because this engine cannot perform the operation exactly. */
export function trap(what: string): never {
  host.ask("trap", what);
  throw new Error("unreachable");
}

/** Shared buffer for small curve and hash operations. */
export const mailbox: Uint8Array<ArrayBuffer> = new Uint8Array(realm.__mailbox);
delete realm.__mailbox;
