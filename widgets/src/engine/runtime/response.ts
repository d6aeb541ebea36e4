/** Response of an action: the return value of `main`, or otherwise the value passed to `setResponse`. */
import { bytesLength, encode, Error, jsonStringify } from "./primordials.ts";

export class Responses {
  #maxBytes = 0;
  #stored: string | null = null;

  /** Sets the maximum length of the text in bytes. */
  open(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  /** Text to send to the host, or "" if there is no response. */
  get text(): string {
    return this.#stored ?? "";
  }

  /**
   * Stores `value`: a string unchanged, other values as JSON, and `undefined` as null.
   *
   * @throws {TypeError} The value is a BigInt or contains itself.
   * @throws {Error} The text is too long.
   */
  store(value: unknown): void {
    // A function or a symbol has no JSON form, so the response is null, as for undefined.
    const text = typeof value === "string" ? value : jsonStringify(value) ?? "null";
    // A string has one to three UTF-8 bytes per UTF-16 unit, so most strings need no encoding.
    if (
      text.length > this.#maxBytes || (text.length * 3 > this.#maxBytes && bytesLength(encode(text)) > this.#maxBytes)
    ) {
      throw new Error(`Response is too long, maximum ${this.#maxBytes} bytes`);
    }
    this.#stored = text;
  }
}
