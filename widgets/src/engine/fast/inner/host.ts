/**
 * The way from the realm of an action to the process around it: four functions, captured before anything else runs.
 *
 * Texts go over as JSON, so that half surrogates survive. Whatever the process cannot do exactly is a trap: it ends the
 * run on the spot, past every `catch` and `finally`.
 */
interface HostFunctions {
  /** Asks a question by name; texts in, JSON text out. */
  ask(name: string, ...texts: unknown[]): string | undefined;
  /** Curve and hash over the mailbox; answers how many bytes it put there, -1 when it refuses. */
  compute(operation: number, length: number): number;
  /** Bytes of a text, or the text of bytes. */
  encode(text: string): Uint8Array<ArrayBuffer>;
  decode(bytes: Uint8Array, label: string, fatal: boolean, ignoreBOM: boolean): string;
  /** The engine's own name for the kind of an object: nobody can forge it. */
  brand(value: object): string;
}

// deno-lint-ignore no-explicit-any
const realm = globalThis as any;

/** Put there by the process when the image is made; out of reach before an action runs. */
export const host: HostFunctions = realm.__host;
delete realm.__host;

const { parse, stringify } = JSON;
const { apply } = Reflect;
const askHost = host.ask;

/** Asks the process by name; its answer is parsed, its refusal thrown. */
// deno-lint-ignore no-explicit-any
export function ask(...texts: unknown[]): any {
  const answer = apply(askHost, undefined, texts) as string | undefined;
  if (answer === undefined) return undefined;
  const { value, error } = parse(answer);
  if (error !== undefined) throw new realm[error.name](error.message);
  return value;
}

/** A string as JSON text. */
export const quote = stringify as (text: string) => string;

/** Ends the run here: what was touched cannot be done exactly. */
export function trap(what: string): never {
  host.ask("trap", what);
  throw new Error("unreachable");
}

/** Shared bytes: small questions about curve and hash go through them. */
export const mailbox: Uint8Array<ArrayBuffer> = new Uint8Array(realm.__mailbox);
delete realm.__mailbox;
