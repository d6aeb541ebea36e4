/**
 * Browser side of a panel's messages. `svcnb/panels/wire.py` is the kernel side, and describes the messages.
 *
 * Every command ends in one of three ways: with its response, with a cancellation, or with an error if the kernel is
 * not reachable.
 */

/** Interface of anywidget to a widget's model. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(content: unknown): void;
  on(event: string, listener: (...args: never[]) => void): void;
  off(event: string, listener?: (...args: never[]) => void): void;
}

/** Displayed form of a failure. */
export interface Failure {
  type: string;
  message: string;
  hint: string;
  consequences?: string[];
  /** Panel in which the user can fix the error. */
  place?: string;
  /** Field of this panel that contains the wrong value. */
  field?: string;
  /** Address of a wallet that cannot pay the gas. */
  wallet?: string;
}

/** Failed command, with the message of the kernel or of the browser side. */
export class PanelError extends Error implements Failure {
  readonly type: string;
  readonly hint: string;
  readonly consequences: string[];
  readonly place: string;
  readonly field: string;
  readonly wallet: string;

  constructor({ type, message, hint, consequences, place, field, wallet }: Failure) {
    super(message);
    this.name = "PanelError";
    this.type = type;
    this.hint = hint;
    this.consequences = consequences ?? [];
    this.place = place ?? "";
    this.field = field ?? "";
    this.wallet = wallet ?? "";
  }
}

/** Converts any thrown value to a failure. */
export function failureOf(error: unknown): Failure {
  if (error instanceof PanelError) return error;
  return { type: "Error", message: error instanceof Error ? error.message : String(error), hint: "" };
}

/** Question of the kernel. The first reply from any view counts. */
export interface Ask {
  readonly args: Record<string, unknown>;
  /** Aborts when another view replies to the question, or when the kernel withdraws it. */
  readonly signal: AbortSignal;
  reply(value: unknown): void;
  fail(error: unknown): void;
}

export interface Running {
  readonly label: string;
  /** Last message of the kernel about its progress. */
  progress: string;
  /** Whether the kernel has started the command. */
  begun: boolean;
  cancel(): void;
}

interface Waiting {
  running: Running;
  resolve(value: unknown): void;
  reject(error: PanelError): void;
}

/**
 * Time for the kernel to start a command, in milliseconds. Afterwards, the panel shows that the kernel does not
 * respond.
 */
export const SILENCE_MS = 5_000;

export const SILENT_KERNEL: Failure = {
  type: "NoKernel",
  message: "The kernel does not respond.",
  hint:
    "If a cell is running, wait until it ends, or interrupt it. If the kernel was restarted, run the cell that created this " +
    "panel again.",
};

let views = 0;

export class Wire {
  /** Called when a command starts, reports progress or ends. */
  onChange: () => void = () => {};
  /** Called if the kernel does not respond in time, and with null when it responds again. */
  onSilence: (failure: Failure | null) => void = () => {};

  private readonly waiting = new Map<string, Waiting>();
  private readonly asks = new Map<string, AbortController>();
  private readonly askers = new Map<string, (ask: Ask) => void>();
  private readonly tellers = new Map<string, (args: Record<string, unknown>) => void>();
  private readonly view = `${Date.now().toString(36)}-${views += 1}`;
  private readonly listener = (message: unknown) => this.receive(message);
  private number = 0;
  private silence: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly model: Model, private readonly silenceMs = SILENCE_MS) {
    model.on("msg:custom", this.listener as never);
  }

  /** Running commands, oldest first. */
  get running(): Running[] {
    return [...this.waiting.values()].map(({ running }) => running);
  }

  /** Registers a handler for the questions with one name. Call this method before `open`. */
  onAsk(name: string, handler: (ask: Ask) => void): void {
    this.askers.set(name, handler);
  }

  /** Registers a handler for the kernel's messages with one name. */
  onTell(name: string, handler: (args: Record<string, unknown>) => void): void {
    this.tellers.set(name, handler);
  }

  /** Notifies the kernel of this view, so that the kernel sends pending questions again. */
  open(): void {
    this.trySend({ type: "hello" });
  }

  /** Performs a command. A failed command rejects with a `PanelError`. The label describes the operation. */
  call<T = unknown>(name: string, args: Record<string, unknown> = {}, label = "Working"): Promise<T> {
    const id = `${this.view}-${this.number += 1}`;
    return new Promise<T>((resolve, reject) => {
      const cancel = () => {
        const waiting = this.waiting.get(id);
        if (waiting && !waiting.running.begun) {
          this.end(id)?.reject(
            new PanelError({
              type: "Cancelled",
              message: "the operation was stopped",
              hint: "The kernel did not start the operation.",
            }),
          );
        }
        this.trySend({ type: "cancel", id });
      };
      const running: Running = { label, progress: "", begun: false, cancel };
      this.waiting.set(id, { running, resolve: resolve as (value: unknown) => void, reject });
      if (!this.trySend({ type: "command", id, name, args })) this.end(id)?.reject(new PanelError(SILENT_KERNEL));
      else this.watch();
      this.onChange();
    });
  }

  /** Cancels all running commands and ignores their results. */
  close(): void {
    this.model.off("msg:custom", this.listener as never);
    clearTimeout(this.silence);
    for (const controller of this.asks.values()) controller.abort();
    for (const { running } of this.waiting.values()) running.cancel();
    this.waiting.clear();
  }

  private receive(message: unknown): void {
    if (typeof message !== "object" || message === null) return;
    const { json } = message as Record<string, unknown>;
    const content = typeof json === "string" ? JSON.parse(json) : message;
    const { type, id, name, args, ok, value, error, text } = content as Record<string, unknown>;
    const number = String(id);
    if (type === "tell") this.tellers.get(String(name))?.(args as Record<string, unknown>);
    else if (type === "ask") this.asked(number, String(name), args as Record<string, unknown>);
    else if (type === "settled") this.settle(number);
    else if (type === "begun" || type === "progress") {
      const running = this.waiting.get(number)?.running;
      if (!running) return;
      running.begun = true;
      if (type === "progress") running.progress = String(text);
      this.watch();
      this.onChange();
    } else if (type === "answer") {
      const waiting = this.end(number);
      if (ok) waiting?.resolve(value);
      else waiting?.reject(new PanelError(error as Failure));
    }
  }

  private asked(id: string, name: string, args: Record<string, unknown>): void {
    const handler = this.askers.get(name);
    if (!handler || this.asks.has(id)) return;
    const controller = new AbortController();
    this.asks.set(id, controller);
    this.trySend({ type: "shown", id });
    const answer = (message: Record<string, unknown>) => {
      if (controller.signal.aborted) return;
      this.settle(id);
      this.trySend({ type: "reply", id, ...message });
    };
    handler({
      args,
      signal: controller.signal,
      reply: (value) => answer({ ok: true, value }),
      fail: (error) => {
        const { type, message, hint } = failureOf(error);
        answer({ ok: false, error: { type, message, hint } });
      },
    });
  }

  private settle(id: string): void {
    const controller = this.asks.get(id);
    this.asks.delete(id);
    controller?.abort();
  }

  private end(id: string): Waiting | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    this.watch();
    this.onChange();
    return waiting;
  }

  /** Reports that the kernel does not respond while a command waits to start. */
  private watch(): void {
    clearTimeout(this.silence);
    this.onSilence(null);
    if (this.running.some(({ begun }) => !begun)) {
      this.silence = setTimeout(() => this.onSilence(SILENT_KERNEL), this.silenceMs);
    }
  }

  private trySend(message: unknown): boolean {
    try {
      this.model.send(message);
      return true;
    } catch { // Jupyter throws if the kernel has ended permanently
      return false;
    }
  }
}
