/**
 * Inspector and console for web workers. Both come from Node, like those of Deno. They show nested objects to the same
 * depth as Deno, and use the same quotes.
 */
import inspector from "node-inspect-extracted";
import type { Internals } from "../runtime/internals.ts";
import { table } from "./table.ts";

const OPTIONS = { depth: 4, breakLength: 80, colors: false } as const;
const CLEAR = ["\x1b[1;1H", "\x1b[0J"];

function inspect(value: unknown): string {
  return inspector.inspect(value, OPTIONS);
}

const integer = (value: unknown) => typeof value === "symbol" ? "NaN" : String(Number.parseInt(String(value)));

/** Text of a value for each format specifier. Values for `%s`, `%d`, `%i` and `%f` are primitive: see `inner/console.ts`. */
const SPECIFIERS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  s: String,
  d: integer,
  i: integer,
  f: (value) => typeof value === "symbol" ? "NaN" : String(Number.parseFloat(String(value))),
  o: inspect,
  O: inspect,
  j: json,
  c: () => "",
};

function json(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (/circular|cyclic/i.test((error as Error).message)) return "[Circular]";
    throw error;
  }
}

/** Replaces the library's function, whose format specifiers differ from Deno's. */
function format(values: readonly unknown[]): string {
  const rest = values.slice();
  const [first] = values;
  let text = "";
  if (typeof first === "string" && rest.length > 1) {
    rest.shift();
    text = first.replaceAll(/%([%sdifoOjc])/g, (whole, kind) => {
      if (kind === "%") return "%";
      return rest.length > 0 ? SPECIFIERS[kind]!(rest.shift()) ?? whole : whole;
    });
    if (rest.length > 0) text += " ";
  }
  return text + rest.map((value) => typeof value === "string" ? value : inspect(value)).join(" ");
}

/** Console with the methods and the output of Deno's console. */
class PageConsole {
  readonly #print: (text: string, level: number) => void;
  readonly #counts = new Map<string, number>();
  #indent = "";

  constructor(print: (text: string, level: number) => void) {
    this.#print = print;
  }

  log(...values: unknown[]): void {
    this.#line(format(values));
  }

  #line(text: string): void {
    this.#print(`${this.#indent}${text.replaceAll("\n", `\n${this.#indent}`)}\n`, 1);
  }

  debug = this.log;
  info = this.log;
  warn = this.log;
  error = this.log;

  dir(value?: unknown, options?: object): void {
    this.#line(typeof value === "string" ? value : inspector.inspect(value, { ...OPTIONS, ...options }));
  }

  table(data?: unknown, columns?: unknown): void {
    this.log(table(data, columns));
  }

  group(...label: unknown[]): void {
    if (label.length > 0) this.log(...label);
    this.#indent += "  ";
  }

  groupCollapsed = this.group;

  groupEnd(): void {
    this.#indent = this.#indent.slice(2);
  }

  count(label: unknown = "default"): void {
    const name = String(label);
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    this.log(`${name}: ${count}`);
  }

  countReset(label: unknown = "default"): void {
    const name = String(label);
    if (this.#counts.has(name)) this.#counts.set(name, 0);
    else this.log(`Count for '${name}' does not exist`);
  }

  assert(condition: unknown = false, ...values: unknown[]): void {
    if (condition) return;
    if (typeof values[0] === "string") this.log(`Assertion failed: ${values[0]}`, ...values.slice(1));
    else this.log(values.length === 0 ? "Assertion failed" : "Assertion failed:", ...values);
  }

  clear(): void {
    this.#indent = "";
    for (const text of CLEAR) this.#print(text, 1);
  }
}

export const internals = { Console: PageConsole, inspect } as unknown as Internals;
