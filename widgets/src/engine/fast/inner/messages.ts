/** `Headers`, `Request` and `Response`. The process has the original classes and validates names, values and URLs. */
import { define } from "./define.ts";
import { AbortSignal, quietSignal } from "./events.ts";
import { ask, host, quote, trap } from "./host.ts";
import { bytesOf, viewOf } from "./text.ts";
import { URLSearchParams } from "./url.ts";

type Pair = [name: string, value: string];

function json(pairs: readonly Pair[]): string {
  let text = "";
  for (let i = 0; i < pairs.length; i++) {
    text += `${i === 0 ? "" : ","}[${quote(pairs[i]![0])},${quote(pairs[i]![1])}]`;
  }
  return `[${text}]`;
}

const { isFrozen } = Object;

class Headers {
  /** Pairs in the iteration order of the original class: in lower case, sorted, and with equal names combined. */
  #pairs: Pair[] = [];

  constructor(init?: unknown) {
    if (init === undefined || init === null) return;
    if (typeof init !== "object") trap("Headers that are created from a value that is not an object");
    const pairs: Pair[] = [];
    if (typeof (init as Iterable<unknown>)[Symbol.iterator] === "function") {
      for (const [name, value] of init as Iterable<Pair>) pairs.push([`${name}`, `${value}`]);
    } else {
      for (const name of Object.keys(init)) pairs.push([name, `${(init as Record<string, unknown>)[name]}`]);
    }
    this.#pairs = ask("headers", json(pairs));
  }

  #change(operation: string, name: unknown, value: unknown): void {
    if (isFrozen(this)) throw new TypeError("Headers are read-only");
    this.#pairs = ask("header", json(this.#pairs), operation, quote(`${name}`), quote(`${value}`));
  }

  append(name: unknown, value: unknown): void {
    this.#change("append", name, value);
  }

  set(name: unknown, value: unknown): void {
    this.#change("set", name, value);
  }

  delete(name: unknown): void {
    this.#change("delete", name, "");
  }

  get(name: unknown): string | null {
    const wanted = `${name}`.toLowerCase();
    if (wanted === "set-cookie") trap("Headers.get with the name set-cookie");
    for (let i = 0; i < this.#pairs.length; i++) {
      if (this.#pairs[i]![0] === wanted) return this.#pairs[i]![1];
    }
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(wanted)) trap("Headers.get with an invalid name");
    return null;
  }

  has(name: unknown): boolean {
    return this.get(name) !== null;
  }

  getSetCookie(): never {
    return trap("Headers.getSetCookie");
  }

  forEach(callback: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    for (let i = 0; i < this.#pairs.length; i++) {
      Reflect.apply(callback, self, [this.#pairs[i]![1], this.#pairs[i]![0], this]);
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
}

Object.defineProperty(Headers.prototype, Symbol.iterator, {
  value: Headers.prototype.entries,
  writable: true,
  configurable: true,
});

/** Placeholder for the stream of an existing body: any use of it is a trap. */
const STREAM = new Proxy({}, {
  get: () => trap("the stream of a request or response body"),
  has: () => trap("the stream of a request or response body"),
});

/** Returns the bytes and the content type of a given body, or null if there is no body. */
function bodyOf(given: unknown): { bytes: Uint8Array<ArrayBuffer>; kind: string | null } | null {
  if (given === undefined || given === null) return null;
  if (given instanceof URLSearchParams) {
    return { bytes: bytesOf(given.toString()), kind: "application/x-www-form-urlencoded;charset=UTF-8" };
  }
  if (ArrayBuffer.isView(given) || given instanceof ArrayBuffer) return { bytes: viewOf(given).slice(), kind: null };
  if (given === STREAM) trap("the stream of a request or response body");
  return { bytes: bytesOf(`${given}`), kind: "text/plain;charset=UTF-8" };
}

class Body {
  #bytes: Uint8Array<ArrayBuffer> | null = null;
  #used = false;

  constructor(bytes: Uint8Array<ArrayBuffer> | null) {
    this.#bytes = bytes;
  }

  get body(): object | null {
    return this.#bytes === null ? null : STREAM;
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  static take(from: Body): Uint8Array<ArrayBuffer> {
    if (from.#used) trap("a body that is read twice");
    from.#used = from.#bytes !== null;
    return from.#bytes ?? new Uint8Array(0);
  }

  static peek(from: Body): Uint8Array<ArrayBuffer> | null {
    if (from.#used) trap("a body that is read twice");
    return from.#bytes;
  }

  // deno-lint-ignore require-await
  async arrayBuffer(): Promise<ArrayBuffer> {
    return Body.take(this).slice().buffer;
  }

  // deno-lint-ignore require-await
  async bytes(): Promise<Uint8Array> {
    return Body.take(this).slice();
  }

  // deno-lint-ignore require-await
  async text(): Promise<string> {
    return host.decode(Body.take(this), "utf-8", false, false);
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  blob(): never {
    return trap("a body that is read as a Blob");
  }

  formData(): never {
    return trap("a body that is read as FormData");
  }
}

interface Init {
  method?: unknown;
  headers?: unknown;
  body?: unknown;
  redirect?: unknown;
  signal?: unknown;
}

class Request extends Body {
  readonly #url: string;
  readonly #method: string;
  readonly #redirect: string;
  readonly #headers: Headers;
  readonly #signal: AbortSignal;

  constructor(input: unknown, init: Init = {}) {
    if (init === null || typeof init !== "object") trap("Request with options that are not an object");
    const from = input instanceof Request ? input : null;
    const given = bodyOf(init.body);
    const headers = new Headers(init.headers ?? from?.headers);
    const inherited = from !== null && given === null ? Body.peek(from) : null;
    const about = ask(
      "request",
      quote(from?.url ?? `${input}`),
      quote(`${init.method ?? from?.method ?? "GET"}`),
      quote(`${init.redirect ?? from?.redirect ?? "follow"}`),
      json([...headers.entries()]),
      given !== null || inherited !== null ? 1 : 0,
      given?.kind ?? "",
    );
    super(given === null ? inherited : given.bytes);
    this.#url = about.url;
    this.#method = about.method;
    this.#redirect = about.redirect;
    this.#headers = new Headers(about.headers);
    const signal = init.signal ?? from?.signal;
    if (signal !== undefined && signal !== null && !(signal instanceof AbortSignal)) {
      trap("Request with an invalid signal");
    }
    this.#signal = signal instanceof AbortSignal ? signal : quietSignal();
  }

  get url(): string {
    return this.#url;
  }

  get method(): string {
    return this.#method;
  }

  get headers(): Headers {
    return this.#headers;
  }

  get redirect(): string {
    return this.#redirect;
  }

  get signal(): AbortSignal {
    return this.#signal;
  }

  clone(): Request {
    return new Request(this);
  }
}

/** Statuses whose response has no body (WHATWG Fetch, null body status). */
const BODILESS = [101, 103, 204, 205, 304];

class Response extends Body {
  readonly #status: number;
  readonly #statusText: string;
  readonly #headers: Headers;

  constructor(body?: unknown, init: { status?: unknown; statusText?: unknown; headers?: unknown } = {}) {
    const given = bodyOf(body);
    const status = init?.status === undefined ? 200 : Number(init.status);
    if (!Number.isInteger(status) || status < 200 || status > 599) trap("Response with an invalid status");
    if (given !== null && BODILESS.includes(status)) trap("a Response whose status does not allow a body");
    super(given?.bytes ?? null);
    this.#status = status;
    this.#statusText = init?.statusText === undefined ? "" : `${init.statusText}`;
    this.#headers = new Headers(init?.headers);
    if (given !== null && given.kind !== null && !this.#headers.has("content-type")) {
      this.#headers.set("content-type", given.kind);
    }
  }

  static error(): never {
    return trap("Response.error");
  }

  static redirect(): never {
    return trap("Response.redirect");
  }

  static json(data: unknown, init: { status?: unknown; statusText?: unknown; headers?: unknown } = {}): Response {
    const made = new Response(JSON.stringify(data), init);
    if (new Headers(init?.headers).get("content-type") === null) made.headers.set("content-type", "application/json");
    return made;
  }

  get status(): number {
    return this.#status;
  }

  get statusText(): string {
    return this.#statusText;
  }

  get ok(): boolean {
    return this.#status >= 200 && this.#status <= 299;
  }

  get headers(): Headers {
    return this.#headers;
  }

  get type(): string {
    return "default";
  }

  get url(): string {
    return "";
  }

  get redirected(): boolean {
    return false;
  }

  clone(): Response {
    const made = new Response(Body.peek(this), {
      status: this.#status,
      statusText: this.#statusText,
      headers: this.#headers,
    });
    for (const name of ["url", "redirected", "type"] as const) {
      Object.defineProperty(made, name, { value: this[name], configurable: true });
    }
    return made;
  }
}

for (const name of ["arrayBuffer", "bytes", "text", "json", "blob", "formData", "body", "bodyUsed"]) {
  const member = Object.getOwnPropertyDescriptor(Body.prototype, name)!;
  for (const owner of [Request, Response]) Object.defineProperty(owner.prototype, name, member);
}
for (const name of ["cache", "credentials", "destination", "integrity", "keepalive", "mode", "referrer"]) {
  Object.defineProperty(Request.prototype, name, { get: () => trap(`Request.${name}`), configurable: true });
}

define({ Headers, Request, Response });
// Replaces the process's own `fetch`, which handles URLs that need no network.
define({ fetch: () => trap("fetch of a data: or blob: URL") });
