/** Size limits of a call to the host. The host ends a run that exceeds these limits. */
import { bytesLength, encode, RangeError, TypeError } from "./primordials.ts";

let maxCallBytes = Infinity;
let maxRequestBytes = Infinity;

/** Sets the limits of the run. Call this function before the action runs. */
export function openCalls(callBytes: number, requestBytes: number): void {
  maxCallBytes = callBytes;
  maxRequestBytes = requestBytes;
}

/** Returns the JSON members of a call. Throws an error for members that are too long. */
export function bounded(members: string, what: string): string {
  // A string has at most three UTF-8 bytes per unit, so most strings need no encoding for the measurement. The
  // remaining bytes are for the call.
  const max = maxCallBytes - 256;
  if (members.length > max || (members.length * 3 > max && bytesLength(encode(members)) > max)) {
    throw new RangeError(`${what}: the arguments are too long: at most ${max} bytes are allowed`);
  }
  return members;
}

/** Returns a request body. Throws an error if the body is too long. */
export function boundedBody(body: Uint8Array): Uint8Array {
  if (bytesLength(body) > maxRequestBytes) {
    throw new TypeError(`fetch failed: the request body is too long: at most ${maxRequestBytes} bytes are allowed`);
  }
  return body;
}
