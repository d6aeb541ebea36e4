/** `console` of actions. The console writes all lines to one log, in the format of the inspector. */
import { bytesLength, encode, Error, jsonStringify } from "./primordials.ts";
import { send } from "./channel.ts";
import type { Internals } from "./internals.ts";

/** Console of one run, created during the warm-up of the spare. */
export class Log {
  readonly console: Console;
  #maxBytes = 0;
  #used = 0;

  constructor(internals: Internals) {
    this.console = new internals.Console((text) => this.#print(text));
  }

  /** Sets the maximum total size of all lines. A line above the maximum throws an error inside the action. */
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
