/** Randomness and time from the process. The engine's own values are part of the image, so they would never change. */
import { define } from "./define.ts";
import { ask, host, mailbox, trap } from "./host.ts";
import { viewOf } from "./text.ts";

const RANDOM = 7;
const MOST = 65536; // Web Cryptography API, getRandomValues

class Crypto {
  get subtle(): never {
    return trap("crypto.subtle");
  }

  getRandomValues<T extends ArrayBufferView>(into: T): T {
    const integers = ArrayBuffer.isView(into) && !(into instanceof DataView) && !/^Float/.test(into.constructor.name);
    if (!integers || into.byteLength > MOST) trap("crypto.getRandomValues with an unsupported argument");
    const view = viewOf(into);
    for (let at = 0; at < view.length; at += mailbox.length) {
      const length = Math.min(mailbox.length, view.length - at);
      host.compute(RANDOM, length);
      view.set(mailbox.subarray(0, length), at);
    }
    return into;
  }

  randomUUID(): string {
    return ask("uuid");
  }
}

class Performance {
  get timeOrigin(): number {
    return ask("timeOrigin");
  }

  now(): number {
    return ask("now");
  }

  toJSON(): never {
    return trap("performance.toJSON");
  }
}

for (const name of ["mark", "measure", "clearMarks", "clearMeasures", "getEntries", "getEntriesByName"]) {
  Object.defineProperty(Performance.prototype, name, {
    get: () => trap(`performance.${name}`),
    configurable: true,
  });
}

define({ Crypto, Performance });
define({ crypto: new Crypto(), performance: new Performance() }, true);

const words = new Uint32Array(2);
const crypto = globalThis.crypto;
const fill = crypto.getRandomValues;

/** Returns a number with 53 random bits, like V8. */
Math.random = Object.defineProperty(
  () => {
    Reflect.apply(fill, crypto, [words]);
    return ((words[0]! >>> 5) * 2 ** 26 + (words[1]! >>> 6)) / 2 ** 53;
  },
  "name",
  { value: "random" },
);
