/** `console` as actions see it: every line goes to one log, formatted as the inspector does. */
import { bytesLength, encode, Error, jsonStringify } from "./primordials.ts";
import { send } from "./channel.ts";
import type { Internals } from "./internals.ts";

/** The console of one run, made while the spare warms up. */
export class Log {
  readonly console: Console;
  #maxBytes = 0;
  #used = 0;

  constructor(internals: Internals) {
    this.console = new internals.Console((text) => this.#print(text));
  }

  /** Allows `maxBytes` for all lines together; the line that would exceed them throws inside the action. */
  open(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  #print(text: string): void {
    const max = this.#maxBytes;
    const bytes = text.length > max ? text.length : bytesLength(encode(text));
    if (this.#used + bytes > max) throw new Error(`Console log is too long, maximum ${max} bytes`);
    this.#used += bytes;
    send(`{"kind":"log","text":${jsonStringify(text)}}`);
  }
}
