/**
 * Content of the image: the realm of an action, complete except for the names of the service.
 *
 * The order matters. Errors and dates must have their final form before other code captures them, and web interfaces
 * before the shared bootstrap takes its primordials.
 */
import { trap } from "./host.ts";
import { setMain } from "./errors.ts";
import { setScript, standIn } from "./mend.ts";
import "./promises.ts";
import "./sort.ts";
import "./text.ts";
import "./url.ts";
import { stray } from "./events.ts";
import { fire } from "./timers.ts";
import "./crypto.ts";
import "./messages.ts";
import "./clone.ts";
import "./deno.ts";
import { InnerConsole, inspect } from "./console.ts";
import { settle } from "./channel.ts";
import { ethers } from "../../ethers/index.ts";
import { makeFetch } from "../../runtime/fetch.ts";
import { arrangeGlobals, LANGUAGE, WEB } from "../../runtime/globals.ts";
import type { Internals } from "../../runtime/internals.ts";
import { Runner } from "../../runtime/run.ts";
import type { Evaluate } from "../../runtime/scripts.ts";
import { layTraps, orderGlobals } from "./traps.ts";
import type { Shape } from "./traps.ts";

Object.defineProperty(globalThis, "self", { get: () => globalThis, set() {}, enumerable: true, configurable: true });

// deno-lint-ignore no-explicit-any
const realm = globalThis as any;
const evaluateOutside: Evaluate = realm.__evaluate;
delete realm.__evaluate;
const shapes: Readonly<Record<string, Shape>> = realm.__shapes;
delete realm.__shapes;
const order: readonly string[] = realm.__order;
delete realm.__order;

/** Runs a script of the action through the process. */
function evaluate(source: string): unknown {
  if (source !== "main") setScript(source);
  const value = evaluateOutside(source);
  if (source === "main") setMain(value);
  return value;
}

const internals = { Console: InnerConsole, inspect, evaluate, evaluatorFor: () => evaluate } as unknown as Internals;

let runner: Runner;

/** Functions that the process calls. */
realm.__entry = {
  /** Adds the names of the service to the realm, which is then complete. */
  prepare(names: string): void {
    runner = new Runner(internals, JSON.parse(names));
    arrangeGlobals();
    orderGlobals(order);
    runner.installNames();
    layTraps([...WEB.trim().split(/\s+/), ...LANGUAGE.trim().split(/\s+/)], shapes);
    const hold = { writable: false, enumerable: true, configurable: false };
    Object.defineProperty(globalThis, "fetch", { value: makeFetch(), ...hold });
    Object.defineProperty(globalThis, "ethers", { value: ethers, ...hold, writable: true, configurable: true });
    Object.defineProperty(globalThis, Symbol.toStringTag, { value: "Window", configurable: true });
    Object.defineProperty(globalThis, "eval", { value: refuseEval, writable: true, configurable: true });
    // The first execution of code is slower. Its results, such as caches, become part of the image.
    new ethers.Wallet(`0x${"22".repeat(32)}`)._signingKey().signDigest(ethers.utils.id("warm"));
  },
  start(job: string): void {
    runner.start(JSON.parse(job));
  },
  /** The process calls this when the event loop is empty. */
  finish(): void {
    runner.finish();
  },
  settle,
  fire,
  stray,
};

const refuseEval = {
  eval(_text: unknown): never {
    return trap("eval");
  },
}.eval;
standIn(refuseEval);
