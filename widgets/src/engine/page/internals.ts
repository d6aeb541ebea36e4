/** Inspector and console instead of Deno's: those of Node, on which Deno's are based, with Deno's depth and quotes. */
import inspector from "node-inspect-extracted";
import type { Internals } from "../runtime/internals.ts";

const OPTIONS = { depth: 4, breakLength: 80, colors: false } as const;

function inspect(value: unknown): string {
  return inspector.inspect(value, OPTIONS);
}

class PageConsole {
  readonly #print: (text: string, level: number) => void;

  constructor(print: (text: string, level: number) => void) {
    this.#print = print;
  }

  log(...values: unknown[]): void {
    this.#print(inspector.formatWithOptions(OPTIONS, ...values) + "\n", 1);
  }

  debug(...values: unknown[]): void {
    this.log(...values);
  }

  info(...values: unknown[]): void {
    this.log(...values);
  }

  warn(...values: unknown[]): void {
    this.log(...values);
  }

  error(...values: unknown[]): void {
    this.log(...values);
  }
}

export const internals = { Console: PageConsole, inspect } as unknown as Internals;
