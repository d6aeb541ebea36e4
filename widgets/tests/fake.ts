/** Document without a browser, and model without a kernel, for the tests of the panels. */
import { parseHTML } from "linkedom";
import type { Model, Widget } from "../src/lib/panel.ts";

const { window, document } = parseHTML("<!doctype html><html lang=en><body></body></html>");
Object.assign(globalThis, {
  window,
  document,
  Node: window.Node,
  HTMLElement: window.HTMLElement,
  Event: window.Event,
});

// Deno's own window does not accept events of this document. With these functions, wallets can announce themselves.
const pageListeners = new Map<string, Set<(event: { type: string }) => void>>();
Object.assign(globalThis, {
  addEventListener: (type: string, listener: (event: { type: string }) => void) => {
    pageListeners.set(type, (pageListeners.get(type) ?? new Set()).add(listener));
  },
  removeEventListener: (type: string, listener: (event: { type: string }) => void) => {
    pageListeners.get(type)?.delete(listener);
  },
  dispatchEvent: (event: { type: string }) => {
    for (const listener of [...pageListeners.get(event.type) ?? []]) listener(event);
    return true;
  },
});

type Message = Record<string, unknown>;

/** Fake model, which records the messages of a panel. The test sends the messages of the kernel. */
export class FakeModel implements Model {
  readonly sent: Message[] = [];
  private readonly listeners = new Map<string, Set<(message: unknown) => void>>();

  constructor(readonly state: Message = {}) {}

  get = (name: string) => this.state[name];
  send(message: unknown): void {
    this.sent.push(message as Message);
  }
  set(name: string, value: unknown): void {
    this.state[name] = value;
    this.emit(`change:${name}`, value);
  }
  save_changes(): void {}
  on(event: string, listener: (...args: never[]) => void): void {
    const known = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, known.add(listener as (message: unknown) => void));
  }
  off(event: string, listener?: (...args: never[]) => void): void {
    if (listener) this.listeners.get(event)?.delete(listener as (message: unknown) => void);
    else this.listeners.delete(event);
  }

  /** Returns the number of listeners. A closed view must have removed its listeners. */
  listening(event: string): number {
    return this.listeners.get(event)?.size ?? 0;
  }

  /** Sends a message from the kernel to the panel. */
  say(message: Message): void {
    this.emit("msg:custom", message);
  }

  /** Returns the newest message of a type. */
  last(type: string): Message {
    const found = this.sent.findLast((message) => message.type === type);
    if (!found) throw new Error(`nothing of type ${type} was sent`);
    return found;
  }

  /** Responds to the newest command. */
  async answer(value: unknown): Promise<void> {
    this.say({ type: "answer", id: this.last("command").id, ok: true, value });
    await settled();
  }

  /** Responds to the newest command with an error. */
  async fail(message: string, hint = "", consequences: string[] = []): Promise<void> {
    const error = { type: "SvcnbError", message, hint, consequences };
    this.say({ type: "answer", id: this.last("command").id, ok: false, error });
    await settled();
  }

  private emit(event: string, value: unknown): void {
    for (const listener of [...this.listeners.get(event) ?? []]) listener(value);
  }
}

/** Waits until pending promise callbacks have run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

/** Renders a panel. `close` removes the panel. */
export function open(widget: Widget, model: FakeModel): { el: HTMLElement; close: () => void } {
  const el = document.createElement("div") as unknown as HTMLElement;
  document.body.append(el as never);
  const end = widget.render({ model, el });
  return { el, close: () => (end(), el.remove()) };
}

export function find<T extends HTMLElement = HTMLElement>(el: HTMLElement, selector: string): T {
  const found = el.querySelector(selector);
  if (!found) throw new Error(`no ${selector} in ${el.innerHTML}`);
  return found as T;
}

/** Returns the button with the given text. */
export function button(el: HTMLElement, name: string): HTMLButtonElement {
  const found = [...el.querySelectorAll("button")].find(({ textContent }) => textContent === name);
  if (!found) throw new Error(`no button ${name} in ${el.innerHTML}`);
  return found as HTMLButtonElement;
}

export function happen(element: HTMLElement, name: string): void {
  element.dispatchEvent(new Event(name, { bubbles: true }));
}

export function click(element: HTMLElement): void {
  happen(element, "click");
}

export function equal(seen: unknown, wanted: unknown, what = "value"): void {
  const [one, other] = [JSON.stringify(seen), JSON.stringify(wanted)];
  if (one !== other) throw new Error(`${what}: ${one} is not ${other}`);
}
