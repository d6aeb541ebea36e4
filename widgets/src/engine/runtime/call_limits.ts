/** How much one call may send to the host, which ends a run that sends more. */
import { bytesLength, encode, RangeError, TypeError } from "./primordials.ts";

let maxCallBytes = Infinity;
let maxRequestBytes = Infinity;

/** Sets the limits of the run; to be called before the action runs. */
export function openCalls(callBytes: number, requestBytes: number): void {
  maxCallBytes = callBytes;
  maxRequestBytes = requestBytes;
}

/** JSON members of a call, refused where they are too long. */
export function bounded(members: string, what: string): string {
  // No text takes more than three bytes a unit, so most need not be encoded to be measured. The rest is for the call.
  const max = maxCallBytes - 256;
  if (members.length > max || (members.length * 3 > max && bytesLength(encode(members)) > max)) {
    throw new RangeError(`${what}: the arguments are too long, maximum ${max} bytes`);
  }
  return members;
}

/** A request body, refused where it is too long. */
export function boundedBody(body: Uint8Array): Uint8Array {
  if (bytesLength(body) > maxRequestBytes) {
    throw new TypeError(`fetch failed: the request body is too long, maximum ${maxRequestBytes} bytes`);
  }
  return body;
}
