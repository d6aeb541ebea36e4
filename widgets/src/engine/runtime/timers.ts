/**
 * Timers that accept any delay.
 *
 * Deno's timers report invalid delays with `process`, which actions do not have, so the warning would cause an error. This
 * module replaces invalid delays with the shortest delay.
 */
const LONGEST = 2 ** 31 - 1;
const { apply } = Reflect;

type Start = typeof setTimeout;

function start(native: Start): (this: unknown, ...args: unknown[]) => unknown {
  return ({
    start(this: unknown, callback: unknown, delay?: unknown, ...args: unknown[]) {
      const wanted = +(delay as number);
      return apply(native, this, [callback, wanted >= 1 && wanted <= LONGEST ? wanted : 1, ...args]);
    },
  }).start;
}

export function mendTimers(): void {
  for (const name of ["setTimeout", "setInterval"] as const) {
    const native = globalThis[name] as Start;
    const value = start(native);
    Object.defineProperty(value, "name", { value: name, configurable: true });
    Object.defineProperty(value, "length", { value: native.length, configurable: true });
    Object.defineProperty(globalThis, name, { value, writable: true, enumerable: true, configurable: true });
  }
}
