/** Execution of one job, up to its end frame. */
import { fillHeaders, installNamespace, makeNamespace } from "./actions.ts";
import type { Namespace } from "./actions.ts";
import { openCalls } from "./call_limits.ts";
import { send } from "./channel.ts";
import { Log } from "./console.ts";
import { describe } from "./failure.ts";
import { forgetHandover, linkImports } from "./imports.ts";
import type { Imported } from "./imports.ts";
import type { Internals } from "./internals.ts";
import type { Job, Names } from "./job.ts";
import {
  defineProperty,
  encode,
  jsonParse,
  jsonStringify,
  PromiseConstructor,
  promiseThen,
  reflectApply,
  uncurryThis,
} from "./primordials.ts";
import { Responses } from "./response.ts";
import { Uncompiled } from "./scripts.ts";
import type { Evaluate } from "./scripts.ts";
import { locateSyntaxError } from "./syntax.ts";

const later = setTimeout;
const listen = addEventListener;
const preventDefault = uncurryThis(Event.prototype.preventDefault);

/** Job that declares no names and sends no response. */
export const REHEARSAL = jsonStringify({
  source: "(async (params) => { await null; return { params }; })",
  params: "{}",
  headers: { "x-request-id": "0" },
  maxResponseBytes: 1000,
  maxLogBytes: 1000,
});

export class Runner {
  readonly #internals: Internals;
  readonly #log: Log;
  readonly #names: Names;
  readonly #namespace: Namespace;
  readonly #responses = new Responses();
  readonly #rest: () => void;
  #imported: readonly Imported[] = [];
  #ended = false;
  #rehearsals = 0;

  /** @param rest Function to call after the run has sent its response. */
  constructor(internals: Internals, names: Names, rest: () => void = () => {}) {
    this.#rest = rest;
    this.#internals = internals;
    this.#log = new Log(internals);
    this.#names = names;
    this.#namespace = this.#makeNamespace();
    defineProperty(globalThis, "console", {
      value: this.#log.console,
      writable: true,
      enumerable: false,
      configurable: true,
    });
    this.#catchStrays();
  }

  /** Defines the namespace. Call this method after the removal of all other globals. */
  installNames(): void {
    installNamespace(this.#names, this.#namespace);
  }

  /**
   * Performs the steps of a run with a script that declares no names and sends no response. The run compiles and
   * executes all code once.
   */
  async rehearse(): Promise<void> {
    const job = jsonParse(REHEARSAL) as Job;
    // The source must be new, because V8 handles a known source differently.
    const source = `${job.source} // ${++this.#rehearsals}`;
    const responses = new Responses();
    responses.open(job.maxResponseBytes);
    fillHeaders(this.#makeNamespace(), job.headers);
    clearTimeout(later(() => {}, 0));
    await linkImports(source, this.#internals.vm);
    await this.#internals.evaluatorFor(source);
    const main = this.#internals.evaluate(source) as (params: unknown) => unknown;
    const value = await new PromiseConstructor((resolve) => resolve(reflectApply(main, undefined, [job.params])));
    responses.store(value);
    responses.store([this.#internals.inspect(value)]);
    encode(responses.text);
    describe(new Error("rehearsal"), "in promise", this.#internals.inspect);
  }

  /** Starts the job. Unless it fails, `finish` sends the end frame when the event loop is empty. */
  async start(job: Job): Promise<void> {
    fillHeaders(this.#namespace, job.headers);
    this.#responses.open(job.maxResponseBytes);
    this.#log.open(job.maxLogBytes);
    openCalls(job.maxCallBytes, job.maxRequestBytes);
    let source = job.source;
    let evaluate;
    try {
      evaluate = await this.#internals.evaluatorFor(source);
      const linked = await linkImports(source, this.#internals.vm);
      if (linked !== null) {
        this.#imported = linked.imported;
        source = linked.source;
        evaluate(linked.prelude);
        forgetHandover();
      }
    } catch (thrown) {
      this.#fail(Uncompiled.look(thrown).error, "top level", job.source);
      return;
    }
    const params = jsonParse(job.params);
    try {
      evaluate(source);
    } catch (thrown) {
      const { error, uncompiled } = Uncompiled.look(thrown);
      this.#fail(error, "top level", uncompiled ? job.source : undefined);
      return;
    }
    this.#callMain(params, evaluate);
  }

  /**
   * Ends the run with the current response, because the event loop is empty.
   *
   * All timers and calls that were pending when `main` settled have completed. If `main` has not settled, it will never
   * settle.
   */
  finish(): void {
    this.#end(`{"kind":"end","ok":true}`, encode(this.#responses.text));
  }

  #makeNamespace(): Namespace {
    return makeNamespace(this.#names, this.#responses, () => this.#imported);
  }

  #callMain(params: unknown, evaluate: Evaluate): void {
    const responses = this.#responses;
    const fail = (error: unknown) => this.#fail(error, "in promise");
    const done = (value: unknown) => {
      try {
        if (value !== undefined) responses.store(value);
      } catch (error) {
        fail(error);
      }
    };
    try {
      // Read from the script scope, which also contains const, let and class declarations.
      const main = evaluate("main");
      if (typeof main !== "function") throw new TypeError("main is not a function");
      const returned = reflectApply(main as () => unknown, undefined, [params]);
      promiseThen(new PromiseConstructor((resolve) => resolve(returned)), done, fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Ends the run after an error in a timer or an unhandled rejection, as in the service. */
  #catchStrays(): void {
    listen("unhandledrejection", (event) => {
      preventDefault(event);
      this.#fail((event as PromiseRejectionEvent).reason, "in promise");
    });
    listen("error", (event) => {
      preventDefault(event);
      this.#fail((event as ErrorEvent).error, "top level");
    });
  }

  #fail(error: unknown, where: "in promise" | "top level", uncompiled?: string): void {
    const { text, name } = describe(error, where, this.#internals.inspect);
    const position = uncompiled === undefined || name !== "SyntaxError" ? "" : locateSyntaxError(uncompiled);
    const kind = uncompiled !== undefined && name === "SyntaxError" ? "syntax" : "throw";
    this.#end(`{"kind":"end","ok":false,"error_kind":"${kind}","text":${jsonStringify(text + position)}}`);
  }

  #end(json: string, blob?: Uint8Array): void {
    if (this.#ended) return;
    this.#ended = true;
    send(json, blob);
    this.#rest();
  }
}
