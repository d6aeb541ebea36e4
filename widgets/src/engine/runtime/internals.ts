/** What the bootstrap takes from Deno before `Deno` is out of reach. */
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
  /** What is to run a source; asked before any code of the action has run. */
  readonly evaluatorFor: (source: string) => Evaluate | Promise<Evaluate>;
  /** Node's scripts and modules; asked before any code of the action has run. */
  readonly vm: () => Promise<Vm>;
}

// deno-lint-ignore no-explicit-any
const deno = Deno as any;
const { core, Console } = deno[deno.internal];
const { evalContext } = core;

// Deno wants an address here; errors show the name that the comment gives.
const ADDRESS = `script:${SCRIPT_NAME}`;
const NAMED = `\n//# sourceURL=${SCRIPT_NAME}`;

/** Deno's own way to run a script costs nothing; `node:vm` takes a fifth of the time that a spare needs to warm. */
function evaluate(source: string): unknown {
  let answer = evalContext(source + NAMED, ADDRESS);
  // The comment is no part of what is wrong with a source, should anybody ask what it ends with.
  if (answer[1] !== null && answer[1].isCompileError) answer = evalContext(source, ADDRESS);
  const failure = answer[1];
  if (failure === null) return answer[0];
  throw failure.isCompileError ? new Uncompiled(failure.thrown) : failure.thrown;
}

/**
 * What `evaluate` is not exact for: it takes its answer apart with the iterator of arrays, which a script may have
 * replaced by then; it imports what `node:vm` refuses; and who looks closely sees the address and the comment.
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

/** Node's modules look for Deno where it used to be, and change the console that they find. */
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
