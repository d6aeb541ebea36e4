/** `TextEncoder` and `TextDecoder`, implemented with the original classes in the process. */
import { ask, host, trap } from "./host.ts";
import { define } from "./define.ts";

const wellFormed = String.prototype.toWellFormed;
const { apply } = Reflect;

export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return host.encode(apply(wellFormed, text, []));
}

/** Returns a view of any object that contains bytes. */
export function viewOf(source: unknown): Uint8Array<ArrayBuffer> {
  if (source === undefined) return new Uint8Array(0);
  if (ArrayBuffer.isView(source)) {
    return new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength);
  }
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  return trap("the bytes of a value that is not a buffer");
}

class TextEncoder {
  get encoding(): string {
    return "utf-8";
  }

  encode(text: unknown = ""): Uint8Array<ArrayBuffer> {
    return bytesOf(`${text}`);
  }

  encodeInto(_text: string, _into: Uint8Array): never {
    return trap("TextEncoder.encodeInto");
  }
}

class TextDecoder {
  readonly #label: string;
  readonly #fatal: boolean;
  readonly #ignoreBOM: boolean;

  constructor(label: unknown = "utf-8", options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    this.#label = label === "utf-8" ? label : ask("label", `${label}`);
    this.#fatal = Boolean(options?.fatal);
    this.#ignoreBOM = Boolean(options?.ignoreBOM);
  }

  get encoding(): string {
    return this.#label;
  }

  get fatal(): boolean {
    return this.#fatal;
  }

  get ignoreBOM(): boolean {
    return this.#ignoreBOM;
  }

  decode(source?: unknown, options?: { stream?: boolean }): string {
    if (options?.stream) trap("TextDecoder with stream");
    return host.decode(viewOf(source), this.#label, this.#fatal, this.#ignoreBOM);
  }
}

define({ TextEncoder, TextDecoder });
