/**
 * The browser's side of a panel's messages. `svcnb/panels/wire.py` is the kernel's side, and describes the messages.
 *
 * Every command ends: by its answer, by a cancel, or, when the kernel cannot be reached, by an error that says so.
 */

/** What anywidget gives us of a widget's model. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(content: unknown): void;
  on(event: string, listener: (...args: never[]) => void): void;
  off(event: string, listener?: (...args: never[]) => void): void;
}

/** A failure as people see it. */
export interface Failure {
  type: string;
  message: string;
  hint: string;
  consequences?: string[];
  /** The panel where it is repaired. */
  place?: string;
  /** The field of this panel that contains the wrong value. */
  field?: string;
  /** Address of a wallet that cannot pay the gas. */
  wallet?: string;
}

/** A command that failed: what the kernel, or this side, says about it. */
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

/** Reads any thrown thing as a failure. */
export function failureOf(error: unknown): Failure {
  if (error instanceof PanelError) return error;
  return { type: "Error", message: error instanceof Error ? error.message : String(error), hint: "" };
}

/** One question of the kernel. The first reply of any view counts. */
export interface Ask {
  readonly args: Record<string, unknown>;
  /** Aborted when it is settled: answered by another view, or withdrawn. */
  readonly signal: AbortSignal;
  reply(value: unknown): void;
  fail(error: unknown): void;
}

export interface Running {
  readonly label: string;
  /** What the kernel said last about it. */
  progress: string;
  /** Whether the kernel has taken it up. */
  begun: boolean;
  cancel(): void;
}

interface Waiting {
  running: Running;
  resolve(value: unknown): void;
  reject(error: PanelError): void;
}

/** Time for the kernel to start a command; after that, the panel shows that the kernel does not respond. */
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
  /** Called whenever what is under way changes. */
  onChange: () => void = () => {};
  /** Called when the kernel has been silent for too long, and with null when it speaks again. */
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

  /** Everything under way, oldest first. */
  get running(): Running[] {
    return [...this.waiting.values()].map(({ running }) => running);
  }

  /** Handles questions of one name. Register before `open`. */
  onAsk(name: string, handler: (ask: Ask) => void): void {
    this.askers.set(name, handler);
  }

  /** Handles the kernel's messages with one name. */
  onTell(name: string, handler: (args: Record<string, unknown>) => void): void {
    this.tellers.set(name, handler);
  }

  /** Says that a view is there, so that open questions come again. */
  open(): void {
    this.trySend({ type: "hello" });
  }

  /** Performs a command; rejects with a `PanelError`. The label says what is under way. */
  call<T = unknown>(name: string, args: Record<string, unknown> = {}, label = "Working"): Promise<T> {
    const id = `${this.view}-${this.number += 1}`;
    return new Promise<T>((resolve, reject) => {
      const cancel = () => {
        const waiting = this.waiting.get(id);
        if (waiting && !waiting.running.begun) {
          this.end(id)?.reject(
            new PanelError({ type: "Cancelled", message: "Stopped.", hint: "The kernel did not start the operation." }),
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

  /** Ends everything; running commands are cancelled, and their results are ignored. */
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
