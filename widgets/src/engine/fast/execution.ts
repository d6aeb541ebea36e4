/** One run inside the engine: its host functions, its timers and its end. */
import { threadCpuUsage } from "node:process";
import type { Secp } from "../ethers/secp256k1.ts";
import { SCRIPT_NAME } from "../runtime/failure.ts";
import type { Internals } from "../runtime/internals.ts";
import { compute } from "./compute.ts";
import { build } from "./inspect.ts";
import { rewriteSpreads } from "./spreads.ts";
import type { Rewritten } from "./spreads.ts";
import { nearLines, stackLines } from "./stacks.ts";
import type { StackFrame } from "./stacks.ts";
import { Thrown } from "./vm.ts";
import type { Host, Value, Vm } from "./vm.ts";
import { WEB } from "./web.ts";

/** Addresses of the functions that the image provides. */
export interface Entries {
  readonly prepare: Value;
  readonly start: Value;
  readonly settle: Value;
  readonly fire: Value;
  readonly stray: Value;
  readonly finish: Value;
  /** Address of the mailbox in memory. The next field is the length of the mailbox in bytes. */
  readonly mailbox: number;
  readonly mailboxBytes: number;
}

export interface Job {
  readonly source: string;
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  /** Processor time in milliseconds after which another engine should run the action. 0 means no limit. */
  readonly busyMs: number;
}

/** Error that ends a run immediately. A host function throws this error, which unwinds the engine's stack. */
export class Stop extends Error {
  readonly kind: "end" | "trap" | "timeout" | "memory";

  constructor(kind: Stop["kind"], what = "") {
    super(what);
    this.kind = kind;
  }
}

/** Function that sends a frame to the service. */
export type Send = (json: string, blob?: Uint8Array) => void;

// Minimum duration of runs that measure their processor time, in milliseconds. The measurement takes a tenth of a
// millisecond.
const BRIEF_MS = 10;
// Longest delay that Deno accepts without a warning.
const LONGEST_DELAY = 2 ** 31 - 1;

/** Frame with an id: a call, to which the service responds. The pattern is anchored, so it reads only the beginning. */
const CALL = /^\{"kind":"([a-z_]+)","id":(\d+)/;

const utf8 = new TextEncoder();

/** Returns the processor time of this thread in milliseconds, without threads that compile in the background. */
function processorMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}

export class Execution implements Host {
  readonly #vm: Vm;
  readonly #entries: Entries;
  readonly #secp: Secp;
  readonly #internals: Internals;
  readonly #send: Send;
  readonly #alone: boolean;
  readonly #rejected = new Map<number, Value>();
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  readonly #due: number[] = [];
  /** Timers that do not keep the event loop alive. */
  readonly #weak = new Set<number>();
  /** Ids of calls to the service without a response, including cancelled calls. */
  readonly #unanswered = new Set<number>();
  #wake: (() => void) | null = null;
  #console: Console | null = null;
  #lines: string[] = [];
  #source = "";
  #rewritten: Rewritten | null = null;
  #limitBytes = Infinity;
  #deadline = Infinity;
  #busyMs = 0;
  #busySince = 0;
  #busy = 0;
  #usedBefore: number | null = null;

  /** @param alone Whether no other engine can repeat the run. An approximate stack is then better than a trap. */
  constructor(vm: Vm, entries: Entries, secp: Secp, internals: Internals, send: Send, alone = false) {
    this.#vm = vm;
    this.#entries = entries;
    this.#secp = secp;
    this.#internals = internals;
    this.#send = send;
    this.#alone = alone;
    vm.host = this;
  }

  /** Starts the job and runs until all work waits for the service or for a timer. */
  start(json: string, job: Job, arrived: number): void {
    this.#source = job.source;
    this.#deadline = arrived + job.timeoutMs;
    this.#busyMs = job.busyMs;
    this.#limitBytes = this.#vm.size + job.memoryBytes;
    this.#work(() => this.#vm.call(this.#entries.start, this.#vm.newString(json)));
  }

  /** Passes the response to a call into the engine. */
  settle(id: number, json: string, blob: Uint8Array): void {
    const vm = this.#vm;
    this.#unanswered.delete(id);
    this.#work(() => vm.call(this.#entries.settle, vm.newNumber(id), vm.newString(json), vm.newBytes(blob)));
  }

  /** Runs all timers that are due. */
  fire(): void {
    const vm = this.#vm;
    for (let id = this.#due.shift(); id !== undefined; id = this.#due.shift()) {
      const timer = id;
      this.#work(() => vm.call(this.#entries.fire, vm.newNumber(timer)));
    }
  }

  /** Whether any timer is pending. */
  get hasTimers(): boolean {
    return this.#timers.size > 0 || this.#due.length > 0;
  }

  /** Ends the run if its event loop is empty: no timer keeps the run alive, and no call to the service is pending. */
  finishIfIdle(): void {
    if (this.#unanswered.size > 0 || this.#due.length > 0) return;
    for (const id of this.#timers.keys()) if (!this.#weak.has(id)) return;
    this.#work(() => this.#vm.call(this.#entries.finish));
  }

  /** Waits until the next timer is due. */
  due(): Promise<void> {
    if (this.#due.length > 0) return Promise.resolve();
    return new Promise((resolve) => this.#wake = resolve);
  }

  /** Removes all timers, so that no more code of the run is executed. */
  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#wake = null;
  }

  #work(step: () => void): void {
    this.#busySince = performance.now();
    try {
      step();
      for (;;) {
        this.#vm.drain((error) => this.#stray("error", error));
        const [first] = this.#rejected;
        if (first === undefined) break;
        this.#rejected.delete(first[0]);
        this.#stray("unhandledrejection", first[1]);
      }
      this.#look();
    } catch (error) {
      if (error instanceof Stop) throw error;
      if (error instanceof Thrown) throw new Stop("trap", "an unhandled error of the engine");
      // V8's own stack overflowed before QuickJS's stack, or the engine stopped with an error.
      throw new Stop("trap", error instanceof RangeError ? "deep recursion" : `a failure of the engine (${error})`);
    } finally {
      this.#busy += performance.now() - this.#busySince;
    }
  }

  #stray(type: "error" | "unhandledrejection", reason: Value): void {
    this.#vm.call(this.#entries.stray, this.#vm.newString(type), reason);
  }

  #look(): void {
    const now = performance.now();
    if (now > this.#deadline) throw new Stop("timeout");
    if (this.#vm.size > this.#limitBytes) throw new Stop("memory");
    if (this.#busyMs > 0 && this.#worksLong(now)) throw new Stop("trap", "a long computation");
  }

  /** Returns whether the run used too much processor time. Elapsed time is not enough on a busy machine. */
  #worksLong(now: number): boolean {
    const passed = this.#busy + now - this.#busySince;
    if (passed <= BRIEF_MS) return false;
    this.#usedBefore ??= processorMs();
    return passed > this.#busyMs && processorMs() - this.#usedBefore > this.#busyMs;
  }

  // --- Host ---------------------------------------------------------------------------------------------------------

  interrupt(): void {
    this.#look();
  }

  rejection(promise: number, reason: Value, handled: boolean): void {
    if (handled) this.#rejected.delete(promise);
    else this.#rejected.set(promise, reason);
  }

  call(name: string, args: readonly Value[]): Value | null {
    const vm = this.#vm;
    switch (name) {
      case "ask":
        return this.#ask(args);
      case "compute": {
        const { mailbox, mailboxBytes } = this.#entries;
        const operation = vm.number(args[0]!);
        const length = vm.number(args[1]!);
        return vm.newNumber(compute(this.#secp, operation, vm.memory(mailbox, mailboxBytes), length));
      }
      case "encode":
        return vm.newBytes(utf8.encode(vm.text(args[0]!)));
      case "decode": {
        const [fatal, ignoreBOM] = [vm.truth(args[2]!), vm.truth(args[3]!)];
        const decoder = new TextDecoder(vm.text(args[1]!), { fatal, ignoreBOM });
        try {
          return vm.newString(decoder.decode(vm.bytes(args[0]!).slice()));
        } catch {
          throw new Stop("trap", "bytes that cannot be decoded as text");
        }
      }
      case "brand":
        if (vm.isProxy(args[0]!)) throw new Stop("trap", "a Proxy that is inspected");
        return vm.className(args[0]!);
      case "evaluate":
        try {
          return vm.evaluate(this.#readable(vm.text(args[0]!)), SCRIPT_NAME);
        } catch (error) {
          if (error instanceof Thrown) return vm.raise(error.value);
          throw error;
        }
      default:
        throw new Stop("trap", `the unknown host function ${name}`);
    }
  }

  /** Returns a script of the action, rewritten for QuickJS. */
  #readable(script: string): string {
    if (script !== this.#source) return script;
    try {
      this.#rewritten = rewriteSpreads(script);
    } catch (error) {
      throw new Stop("trap", `an object spread (${(error as Error).message})`);
    }
    return this.#rewritten?.text ?? script;
  }

  #ask(args: readonly Value[]): Value {
    const vm = this.#vm;
    const name = vm.text(args[0]!);
    if (name === "send") {
      const json = vm.text(args[1]!);
      const blob = vm.isUndefined(args[2]!) ? undefined : vm.bytes(args[2]!).slice();
      this.#send(json, blob);
      if (json.startsWith(`{"kind":"end"`)) throw new Stop("end");
      const call = CALL.exec(json);
      if (call !== null && call[1] !== "cancel") this.#unanswered.add(Number(call[2]));
      return vm.undefined;
    }
    const texts = args.slice(1).map((value) => vm.text(value));
    const [first = "", second = "", third = ""] = texts;
    switch (name) {
      case "trap":
        throw new Stop("trap", first);
      case "memory":
        throw new Stop("memory");
      case "timer":
        this.#startTimer(Number(first), Number(second), third === "1");
        return vm.undefined;
      case "clear":
        this.#clearTimer(Number(first));
        return vm.undefined;
      case "hold":
        if (second === "1") this.#weak.delete(Number(first));
        else this.#weak.add(Number(first));
        return vm.undefined;
    }
    let answer: object;
    try {
      answer = { value: this.#answer(name, texts) };
    } catch (error) {
      if (error instanceof Stop) throw error;
      const { name: kind, message } = error as Error;
      if (kind !== "TypeError" && kind !== "RangeError") throw new Stop("trap", `${name}: ${message}`);
      answer = { error: { name: kind, message } };
    }
    return vm.newString(JSON.stringify(answer));
  }

  #answer(name: string, texts: string[]): unknown {
    const [first = "", second = "", third = ""] = texts;
    switch (name) {
      case "inspect":
        return this.#internals.inspect(build(first, second)[0]);
      case "console":
        return this.#format(first as "log", build(second, third));
      case "stack": {
        const frames = this.#placed(JSON.parse(first) as StackFrame[]);
        const lines = third === "" ? stackLines(this.#source, frames, second) : null;
        if (lines !== null) return lines;
        if (!this.#alone) throw new Stop("trap", third || "a stack trace that V8 formats differently");
        return nearLines(frames);
      }
      default:
        return WEB[name]!(...texts);
    }
  }

  /** Returns stack frames with the columns of the action's original source. */
  #placed(frames: readonly StackFrame[]): readonly StackFrame[] {
    const rewritten = this.#rewritten;
    if (rewritten === null) return frames;
    return frames.map((frame) => {
      const [kind, name, line, column] = frame;
      return kind === "action" ? [kind, name, line, rewritten.column(line, column)] : frame;
    });
  }

  #format(method: "log", values: unknown[]): string[] {
    this.#console ??= new this.#internals.Console((text) => this.#lines.push(text));
    this.#lines = [];
    this.#console[method](...values);
    return this.#lines;
  }

  #startTimer(id: number, wanted: number, repeats: boolean): void {
    const delay = wanted >= 1 && wanted <= LONGEST_DELAY ? wanted : 1;
    const due = () => {
      if (!repeats) this.#timers.delete(id);
      this.#due.push(id);
      this.#wake?.();
    };
    this.#timers.set(id, repeats ? setInterval(due, delay) : setTimeout(due, delay));
  }

  #clearTimer(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    const at = this.#due.indexOf(id);
    if (at !== -1) this.#due.splice(at, 1);
  }
}
