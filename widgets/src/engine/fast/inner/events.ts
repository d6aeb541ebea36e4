/** Events and abort signals of the DOM standard, without event trees. */
import { define } from "./define.ts";
import { ask, trap } from "./host.ts";

type Listener = ((event: Event) => void) | { handleEvent(event: Event): void };

interface Entry {
  readonly type: string;
  readonly listener: Listener;
  readonly once: boolean;
  removed: boolean;
}

/**
 * Functions that record whether a signal with a timer has a listener. As in Deno, the timer keeps the event loop alive
 * only while the signal has a listener.
 */
const HOLD = new WeakMap<EventTarget, (by: EventTarget, held: boolean) => void>();
/** Adds a listener for a dependent signal, which does not keep the timer alive. */
let follow: (target: EventTarget, listener: Listener) => void;

const STATE = new WeakMap<Event, { target: EventTarget | null; prevented: boolean; stopped: boolean }>();

class Event {
  readonly type: string;
  readonly bubbles: boolean;
  readonly cancelable: boolean;

  constructor(type: unknown, init: { bubbles?: boolean; cancelable?: boolean } = {}) {
    this.type = `${type}`;
    this.bubbles = Boolean(init?.bubbles);
    this.cancelable = Boolean(init?.cancelable);
    STATE.set(this, { target: null, prevented: false, stopped: false });
  }

  get target(): EventTarget | null {
    return STATE.get(this)!.target;
  }

  get currentTarget(): EventTarget | null {
    return STATE.get(this)!.target;
  }

  get defaultPrevented(): boolean {
    return STATE.get(this)!.prevented;
  }

  get timeStamp(): never {
    return trap("Event.timeStamp");
  }

  preventDefault(): void {
    if (this.cancelable) STATE.get(this)!.prevented = true;
  }

  stopPropagation(): void {}

  stopImmediatePropagation(): void {
    STATE.get(this)!.stopped = true;
  }
}

class CustomEvent extends Event {
  readonly detail: unknown;

  constructor(type: unknown, init: { bubbles?: boolean; cancelable?: boolean; detail?: unknown } = {}) {
    super(type, init);
    this.detail = init?.detail ?? null;
  }
}

class EventTarget {
  static {
    follow = (target, listener) => {
      target.#followers = [...target.#followers, { type: "abort", listener, once: false, removed: false }];
    };
  }

  #entries: Entry[] = [];
  #followers: Entry[] = [];

  addEventListener(type: unknown, listener: Listener | null, options?: boolean | Record<string, unknown>): void {
    if (listener === null || listener === undefined) return;
    const name = `${type}`;
    if (typeof options === "object" && options !== null && (options.signal !== undefined || options.capture)) {
      trap("addEventListener with signal or capture");
    }
    if (this.#entries.some((entry) => entry.type === name && entry.listener === listener)) return;
    const once = typeof options === "object" && options !== null && Boolean(options.once);
    this.#entries = [...this.#entries, { type: name, listener, once, removed: false }];
    this.#hold();
  }

  removeEventListener(type: unknown, listener: Listener | null): void {
    this.#entries = this.#entries.filter((entry) => {
      if (entry.type !== `${type}` || entry.listener !== listener) return true;
      entry.removed = true;
      return false;
    });
    this.#hold();
  }

  #hold(): void {
    HOLD.get(this)?.(this, this.#entries.some(({ type }) => type === "abort"));
  }

  dispatchEvent(event: Event): boolean {
    const state = STATE.get(event);
    if (state === undefined) return trap("dispatchEvent with a value that is not an event");
    state.target = this;
    for (const entry of [...this.#entries, ...this.#followers]) {
      if (entry.removed || entry.type !== event.type) continue;
      if (entry.once) this.removeEventListener(entry.type, entry.listener);
      try {
        if (typeof entry.listener === "function") Reflect.apply(entry.listener, this, [event]);
        else entry.listener.handleEvent(event);
      } catch {
        trap("an error in an event listener");
      }
      if (state.stopped) break;
    }
    return !state.prevented;
  }
}

const MAKE = {};
const ABORT = new WeakMap<AbortSignal, (reason: unknown) => void>();

export class AbortSignal extends EventTarget {
  #reason: unknown = undefined;
  #handler: ((event: Event) => void) | null = null;

  constructor(key?: unknown) {
    if (key !== MAKE) trap("new AbortSignal()");
    super();
    ABORT.set(this, (reason) => {
      if (this.aborted) return;
      this.#reason = reason === undefined ? new DOMException("The signal has been aborted", "AbortError") : reason;
      const event = new Event("abort");
      this.dispatchEvent(event);
    });
  }

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal(MAKE);
    ABORT.get(signal)!(reason);
    return signal;
  }

  static timeout(milliseconds: number): AbortSignal {
    const signal = new AbortSignal(MAKE);
    const late = () => ABORT.get(signal)!(new DOMException("Signal timed out.", "TimeoutError"));
    const timer = Number(setTimeout(late, milliseconds));
    const holders = new Set<EventTarget>();
    HOLD.set(signal, (by, held) => {
      if (held) holders.add(by);
      else holders.delete(by);
      ask("hold", timer, holders.size > 0 ? 1 : 0);
    });
    ask("hold", timer, 0);
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const made = new AbortSignal(MAKE);
    const sources: AbortSignal[] = [];
    for (const signal of signals) {
      if (signal.aborted) {
        ABORT.get(made)!(signal.reason);
        break;
      }
      follow(signal, () => ABORT.get(made)!(signal.reason));
      sources.push(signal);
    }
    HOLD.set(made, (by, held) => {
      for (const source of sources) HOLD.get(source)?.(by, held);
    });
    return made;
  }

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.#reason;
  }

  get onabort(): ((event: Event) => void) | null {
    return this.#handler;
  }

  set onabort(handler: ((event: Event) => void) | null) {
    if (this.#handler !== null) this.removeEventListener("abort", this.#handler);
    this.#handler = typeof handler === "function" ? handler : null;
    if (this.#handler !== null) this.addEventListener("abort", this.#handler);
  }
}

class AbortController {
  readonly #signal = new AbortSignal(MAKE);

  get signal(): AbortSignal {
    return this.#signal;
  }

  abort(reason?: unknown): void {
    ABORT.get(this.#signal)!(reason);
  }
}

/** Returns a signal that never aborts, for requests without a signal. */
export function quietSignal(): AbortSignal {
  return new AbortSignal(MAKE);
}

const strays = new EventTarget();

/** Dispatches events for unhandled errors to the bootstrap, as in V8. */
export function stray(type: "unhandledrejection" | "error", reason: unknown): void {
  const event = new Event(type, { cancelable: true });
  Object.defineProperty(event, type === "error" ? "error" : "reason", { value: reason });
  strays.dispatchEvent(event);
}

define({ AbortController, AbortSignal, CustomEvent, Event, EventTarget });
define({ addEventListener: (type: string, listener: Listener) => strays.addEventListener(type, listener) });
