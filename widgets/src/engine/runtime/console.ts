/** `console` as actions see it: every line goes to one log, formatted as the inspector does. */
import { bytesLength, encode, Error, jsonStringify } from "./primordials.ts";
import { send } from "./channel.ts";
import type { Internals } from "./internals.ts";

/**
 * Makes the console of one run.
 *
 * @param maxBytes All lines together; the line that would exceed it throws inside the action and is not kept.
 */
export function makeConsole(internals: Internals, maxBytes: number): Console {
  let used = 0;
  return new internals.Console((text) => {
    const bytes = text.length > maxBytes ? text.length : bytesLength(encode(text));
    if (used + bytes > maxBytes) throw new Error(`Console log is too long, maximum ${maxBytes} bytes`);
    used += bytes;
    send(`{"kind":"log","text":${jsonStringify(text)}}`);
  });
}
