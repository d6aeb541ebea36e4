/** Functions of Deno that the bootstrap captures before `Deno` becomes inaccessible. */
import { SCRIPT_NAME } from "./failure.ts";
import { defineProperty, uncurryThis } from "./primordials.ts";
import { Uncompiled } from "./scripts.ts";
import type { Evaluate } from "./scripts.ts";

interface VmScript {
  runInThisContext(): unknown;
}

interface VmModule {
  readonly identifier: string;
  readonly status: string;
  readonly namespace: object;
  link(linker: (specifier: string, referrer: VmModule) => VmModule | Promise<VmModule>): Promise<void>;
  evaluate(): Promise<unknown>;
}

export interface Vm {
  readonly Script: new (source: string, options: { filename: string }) => VmScript;
  readonly SourceTextModule: new (source: string, options: { identifier: string }) => VmModule;
}

export type { VmModule };

export interface Internals {
  readonly Console: new (print: (text: string, level: number) => void) => Console;
  readonly inspect: (value: unknown) => string;
  readonly evaluate: Evaluate;
  /** Returns the function that runs a source. Call this method before any code of the action runs. */
  readonly evaluatorFor: (source: string) => Evaluate | Promise<Evaluate>;
  /** Returns Node's scripts and modules. Call this method before any code of the action runs. */
  readonly vm: () => Promise<Vm>;
}

// deno-lint-ignore no-explicit-any
const deno = Deno as any;
const { core, Console } = deno[deno.internal];
const { evalContext } = core;

// Deno requires a URL here. Errors show the name from the comment.
const ADDRESS = `script:${SCRIPT_NAME}`;
const NAMED = `\n//# sourceURL=${SCRIPT_NAME}`;

/**
 * Deno's own function that runs a script has no load time. `node:vm` would take a fifth of the warm-up time of a spare.
 */
function evaluate(source: string): unknown {
  let answer = evalContext(source + NAMED, ADDRESS);
  // The error text of a source must not contain the comment.
  if (answer[1] !== null && answer[1].isCompileError) answer = evalContext(source, ADDRESS);
  const failure = answer[1];
  if (failure === null) return answer[0];
  throw failure.isCompileError ? new Uncompiled(failure.thrown) : failure.thrown;
}

/**
 * Matches sources for which `evaluate` is not exact. `evaluate` reads the result of a script with the array iterator,
 * which the script can replace. `evaluate` also imports modules that `node:vm` rejects, and a script can read the URL and
 * the comment.
 */
const INTRICATE = /import|prototype|PrototypeOf|__proto__|prepareStackTrace|source(?:Mapping)?URL/;

async function evaluatorFor(source: string): Promise<Evaluate> {
  if (!INTRICATE.test(source)) return evaluate;
  const { Script } = await vm();
  const run = uncurryThis(Script.prototype.runInThisContext);
  return (source) => {
    let script;
    try {
      script = new Script(source, { filename: SCRIPT_NAME });
    } catch (error) {
      throw new Uncompiled(error);
    }
    return run(script);
  };
}

const borrowed = ["Deno", "console"].map((name) => ({
  name,
  own: Object.getOwnPropertyDescriptor(globalThis, name)!,
}));

/** Node's modules need the original `Deno`, and modify the current console. */
async function vm(): Promise<Vm> {
  const ours = borrowed.map(({ name }) => Object.getOwnPropertyDescriptor(globalThis, name)!);
  for (const { name, own } of borrowed) defineProperty(globalThis, name, own);
  try {
    return await import("node:vm") as unknown as Vm;
  } finally {
    borrowed.forEach(({ name }, index) => defineProperty(globalThis, name, ours[index]!));
  }
}

export const internals: Internals = { Console, inspect: Deno.inspect, evaluate, evaluatorFor, vm };
