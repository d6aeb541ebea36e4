/** What the bootstrap takes from Deno before `Deno` is out of reach. */
// Imported, not asked of `process`: that would load Node's module system as well.
import { Script, SourceTextModule } from "node:vm";

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
  readonly vm: Vm;
}

// deno-lint-ignore no-explicit-any
const deno = Deno as any;

export const internals: Internals = {
  Console: deno[deno.internal].Console,
  inspect: Deno.inspect,
  vm: { Script, SourceTextModule } as unknown as Vm,
};
