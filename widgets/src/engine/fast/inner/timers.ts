/** Timers, based on the clock of the process. */
import { define } from "./define.ts";
import { ask, trap } from "./host.ts";
import { stray } from "./events.ts";

/** Timer object as in Deno, which converts to its number. */
class Timeout {
  readonly #id: number;

  constructor(id: number) {
    this.#id = id;
  }

  static has(value: object): boolean {
    return #id in value;
  }

  ref(): this {
    return this;
  }

  unref(): never {
    return trap("Timeout.unref");
  }

  hasRef(): boolean {
    return true;
  }

  refresh(): never {
    return trap("Timeout.refresh");
  }

  close(): never {
    return trap("Timeout.close");
  }

  [Symbol.toPrimitive](): number {
    return this.#id;
  }
}

export const isTimeout = Timeout.has;

interface Timer {
  readonly timeout: Timeout;
  readonly callback: (...args: unknown[]) => unknown;
  readonly args: unknown[];
  readonly repeats: boolean;
}

const timers = new Map<number, Timer>();
const get = Map.prototype.get;
const set = Map.prototype.set;
const remove = Map.prototype.delete;
const { apply } = Reflect;
let last = 0;

function start(callback: unknown, delay: unknown, repeats: boolean, args: unknown[]): Timeout {
  if (typeof callback !== "function") trap("a timer without a function");
  const id = ++last;
  const timeout = new Timeout(id);
  apply(set, timers, [id, { timeout, callback: callback as Timer["callback"], args, repeats }]);
  ask("timer", id, +(delay as number), repeats ? 1 : 0);
  return timeout;
}

function clear(id: unknown): void {
  const number = Number(id);
  if (apply(remove, timers, [number])) ask("clear", number);
}

/** Runs a timer. The process calls this function when the timer is due. */
export function fire(id: number): void {
  const timer = apply(get, timers, [id]) as Timer | undefined;
  if (timer === undefined) return;
  if (!timer.repeats) apply(remove, timers, [id]);
  try {
    apply(timer.callback, timer.timeout, timer.args);
  } catch (error) {
    stray("error", error);
  }
}

define({
  setTimeout: (callback: unknown, delay?: unknown, ...args: unknown[]) => start(callback, delay, false, args),
  setInterval: (callback: unknown, delay?: unknown, ...args: unknown[]) => start(callback, delay, true, args),
  clearTimeout: clear,
  clearInterval: clear,
}, true);
