/** What an action answers with: the value of `main`, else what `setResponse` was given. */
import { bytesLength, encode, Error, jsonStringify } from "./primordials.ts";

export class Responses {
  #maxBytes = 0;
  #stored: string | null = null;

  /** Allows `maxBytes` for the text. */
  open(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  /** The text to send to the host, "" when nothing was ever set. */
  get text(): string {
    return this.#stored ?? "";
  }

  /**
   * Stores `value`: a string as it is, anything else as JSON, `undefined` as null.
   *
   * @throws {TypeError} A BigInt, or a value that contains itself.
   * @throws {Error} The text is too long.
   */
  store(value: unknown): void {
    // A function or a symbol has no JSON text; like undefined it is stored as null.
    const text = typeof value === "string" ? value : jsonStringify(value) ?? "null";
    // No UTF-8 text has fewer bytes than UTF-16 units, so most need no count.
    if (
      text.length > this.#maxBytes || (text.length * 3 > this.#maxBytes && bytesLength(encode(text)) > this.#maxBytes)
    ) {
      throw new Error(`Response is too long, maximum ${this.#maxBytes} bytes`);
    }
    this.#stored = text;
  }
}
