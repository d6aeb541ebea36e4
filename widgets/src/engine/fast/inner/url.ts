/** `URL` and `URLSearchParams`. The process parses and serialises URLs. */
import { define } from "./define.ts";
import { ask, quote, trap } from "./host.ts";

interface Parts {
  href: string;
  origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
}

type Pair = [string, string];

let paramsOf: (text: string, changed: (text: string) => void) => URLSearchParams;
let resetParams: (params: URLSearchParams, text: string) => void;

export class URLSearchParams {
  #pairs: Pair[] = [];
  #changed: ((text: string) => void) | null = null;

  constructor(init: unknown = "") {
    if (init === null || (typeof init !== "object" && typeof init !== "function")) {
      this.#pairs = ask("params", quote(`${init}`));
    } else if (typeof (init as Iterable<unknown>)[Symbol.iterator] === "function") {
      for (const pair of init as Iterable<Iterable<unknown>>) {
        const [name, value, ...more] = [...pair];
        if (value === undefined || more.length > 0) trap("URLSearchParams with an entry that is not a pair");
        this.#pairs.push([`${name}`.toWellFormed(), `${value}`.toWellFormed()]);
      }
    } else {
      for (const name of Object.keys(init)) {
        this.#pairs.push([name.toWellFormed(), `${(init as Record<string, unknown>)[name]}`.toWellFormed()]);
      }
    }
  }

  static {
    paramsOf = (text, changed) => {
      const made = new URLSearchParams(text);
      made.#changed = changed;
      return made;
    };
    resetParams = (params, text) => {
      params.#pairs = ask("params", quote(text));
    };
  }

  #update(): void {
    this.#changed?.(this.toString());
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: unknown, value: unknown): void {
    this.#pairs.push([`${name}`.toWellFormed(), `${value}`.toWellFormed()]);
    this.#update();
  }

  delete(name: unknown, value?: unknown): void {
    this.#pairs = this.#pairs.filter((pair) =>
      pair[0] !== `${name}` || (value !== undefined && pair[1] !== `${value}`)
    );
    this.#update();
  }

  get(name: unknown): string | null {
    return this.#pairs.find((pair) => pair[0] === `${name}`)?.[1] ?? null;
  }

  getAll(name: unknown): string[] {
    return this.#pairs.filter((pair) => pair[0] === `${name}`).map((pair) => pair[1]);
  }

  has(name: unknown, value?: unknown): boolean {
    return this.#pairs.some((pair) => pair[0] === `${name}` && (value === undefined || pair[1] === `${value}`));
  }

  set(name: unknown, value: unknown): void {
    const at = this.#pairs.findIndex((pair) => pair[0] === `${name}`);
    if (at === -1) {
      this.append(name, value);
      return;
    }
    this.#pairs[at] = [`${name}`.toWellFormed(), `${value}`.toWellFormed()];
    this.#pairs = this.#pairs.filter((pair, i) => i <= at || pair[0] !== `${name}`);
    this.#update();
  }

  sort(): void {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#update();
  }

  forEach(callback: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void {
    for (let i = 0; i < this.#pairs.length; i++) {
      const [name, value] = this.#pairs[i]!;
      Reflect.apply(callback, self, [value, name, this]);
    }
  }

  *entries(): Generator<Pair> {
    for (let i = 0; i < this.#pairs.length; i++) yield [this.#pairs[i]![0], this.#pairs[i]![1]];
  }

  *keys(): Generator<string> {
    for (let i = 0; i < this.#pairs.length; i++) yield this.#pairs[i]![0];
  }

  *values(): Generator<string> {
    for (let i = 0; i < this.#pairs.length; i++) yield this.#pairs[i]![1];
  }

  toString(): string {
    let text = "";
    for (const [name, value] of this.#pairs) {
      text += `${text === "" ? "" : ","}[${quote(name)},${quote(value)}]`;
    }
    return ask("paramsText", `[${text}]`);
  }
}

Object.defineProperty(URLSearchParams.prototype, Symbol.iterator, {
  value: URLSearchParams.prototype.entries,
  writable: true,
  configurable: true,
});

export class URL {
  #parts: Parts;
  #params: URLSearchParams | null = null;

  constructor(address: unknown, base?: unknown) {
    this.#parts = ask("url", quote(`${address}`), base === undefined ? "null" : quote(`${base}`));
  }

  static canParse(address: unknown, base?: unknown): boolean {
    return ask("canParse", quote(`${address}`), base === undefined ? "null" : quote(`${base}`));
  }

  static parse(address: unknown, base?: unknown): URL | null {
    return URL.canParse(address, base) ? new URL(address, base) : null;
  }

  static createObjectURL(): never {
    return trap("URL.createObjectURL");
  }

  static revokeObjectURL(): never {
    return trap("URL.revokeObjectURL");
  }

  get searchParams(): URLSearchParams {
    return this.#params ??= paramsOf(this.#parts.search, (text) => {
      this.#parts = ask("urlSet", quote(this.#parts.href), "search", quote(text));
    });
  }

  get origin(): string {
    return this.#parts.origin;
  }

  toString(): string {
    return this.#parts.href;
  }

  toJSON(): string {
    return this.#parts.href;
  }

  static {
    const names = [
      "href",
      "protocol",
      "username",
      "password",
      "host",
      "hostname",
      "port",
      "pathname",
      "search",
      "hash",
    ] as const;
    for (const name of names) {
      Object.defineProperty(URL.prototype, name, {
        get(this: URL) {
          return this.#parts[name];
        },
        set(this: URL, value: unknown) {
          this.#parts = ask("urlSet", quote(this.#parts.href), name, quote(`${value}`));
          if (this.#params !== null) resetParams(this.#params, this.#parts.search);
        },
        enumerable: true,
        configurable: true,
      });
    }
  }
}

define({ URL, URLSearchParams });
