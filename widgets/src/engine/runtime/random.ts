/**
 * Random numbers of a process that can be a copy of a template process (see `template.ts`).
 *
 * Both generators of a copy start in the state of the template. The generator of `crypto` reads a new seed from the
 * operating system after each 64 KiB, so a copy first discards 64 KiB. The generator of `Math.random` does not accept a
 * seed. Each process of the engine therefore replaces it with a generator that reads from `crypto`.
 */
import { bytesLength, defineProperty, reflectApply } from "./primordials.ts";

const own = crypto;
const { getRandomValues } = own;
const RESEEDED_BYTES = 1 << 16;
const DRAWN = 256;

/** Makes the random numbers of a copy unique. Call this function before an action receives random data. */
export function reseed(): void {
  const bytes = new Uint8Array(RESEEDED_BYTES);
  for (let drawn = 0; drawn <= RESEEDED_BYTES; drawn += bytesLength(bytes)) {
    reflectApply(getRandomValues, own, [bytes]);
  }
  left = 0;
}

const values = new Uint32Array(DRAWN);
let left = 0;

/** A bound function, so that its source text is that of a built-in function. */
const random = (() => {
  if (left < 2) {
    reflectApply(getRandomValues, own, [values]);
    left = DRAWN;
  }
  left -= 2;
  // 53 bits, from 27 and 26 bits.
  return ((values[left]! >>> 5) * 2 ** 26 + (values[left + 1]! >>> 6)) / 2 ** 53;
}).bind(undefined);

export function mendRandom(): void {
  defineProperty(random, "name", { value: "random", configurable: true });
  defineProperty(Math, "random", { value: random, writable: true, enumerable: false, configurable: true });
}
