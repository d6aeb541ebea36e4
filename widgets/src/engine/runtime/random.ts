/**
 * Random numbers of a process that may be the copy of another, see `template.ts`.
 *
 * Both generators of the process begin where those of the template were. The one behind `crypto` takes a new seed from
 * the operating system each 64 KiB, so a copy draws that much first. The one behind `Math.random` cannot be seeded:
 * it is replaced, in every process of the engine, by one that draws from `crypto`.
 */
import { bytesLength, defineProperty, reflectApply } from "./primordials.ts";

const own = crypto;
const { getRandomValues } = own;
const RESEEDED_BYTES = 1 << 16;
const DRAWN = 256;

/** To be called before anything random is given to an action. */
export function reseed(): void {
  const bytes = new Uint8Array(RESEEDED_BYTES);
  for (let drawn = 0; drawn <= RESEEDED_BYTES; drawn += bytesLength(bytes)) {
    reflectApply(getRandomValues, own, [bytes]);
  }
  left = 0;
}

const values = new Uint32Array(DRAWN);
let left = 0;

/** Bound, so that its text is that of a built-in. */
const random = (() => {
  if (left < 2) {
    reflectApply(getRandomValues, own, [values]);
    left = DRAWN;
  }
  left -= 2;
  // 53 bits: 27 and 26 of them.
  return ((values[left]! >>> 5) * 2 ** 26 + (values[left + 1]! >>> 6)) / 2 ** 53;
}).bind(undefined);

export function mendRandom(): void {
  defineProperty(random, "name", { value: "random", configurable: true });
  defineProperty(Math, "random", { value: random, writable: true, enumerable: false, configurable: true });
}
