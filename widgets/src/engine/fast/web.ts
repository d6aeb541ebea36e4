/** Functions of the original web interfaces, for use inside the image. They take strings and return JSON values. */

type Pairs = [string, string][];

const PARTS = [
  "href",
  "origin",
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

function parts(url: URL): Record<string, string> {
  return Object.fromEntries(PARTS.map((name) => [name, url[name]]));
}

function address(json: string, base: string): URL {
  const from = JSON.parse(base);
  return from === null ? new URL(JSON.parse(json)) : new URL(JSON.parse(json), from);
}

function sorted(headers: Headers): Pairs {
  return [...headers];
}

export const WEB: Readonly<Record<string, (...texts: string[]) => unknown>> = {
  label: (name) => new TextDecoder(name).encoding,
  url: (text, base) => parts(address(text!, base!)),
  canParse: (text, base) => {
    const from = JSON.parse(base!);
    return from === null ? URL.canParse(JSON.parse(text!)) : URL.canParse(JSON.parse(text!), from);
  },
  urlSet: (href, name, value) => {
    const url = new URL(JSON.parse(href!));
    url[name as "href"] = JSON.parse(value!);
    return parts(url);
  },
  params: (text) => [...new URLSearchParams(JSON.parse(text!) as string)],
  paramsText: (pairs) => new URLSearchParams(JSON.parse(pairs!) as Pairs).toString(),
  headers: (pairs) => sorted(new Headers(JSON.parse(pairs!) as Pairs)),
  header: (pairs, operation, name, value) => {
    const headers = new Headers(JSON.parse(pairs!) as Pairs);
    if (operation === "delete") headers.delete(JSON.parse(name!));
    else headers[operation as "set" | "append"](JSON.parse(name!), JSON.parse(value!));
    return sorted(headers);
  },
  request: (url, method, redirect, pairs, hasBody, kind) => {
    const headers = new Headers(JSON.parse(pairs!) as Pairs);
    const made = new Request(JSON.parse(url!), {
      method: JSON.parse(method!),
      redirect: JSON.parse(redirect!),
      headers,
      body: hasBody === "1" ? "" : null,
    });
    const seen = new Headers(made.headers);
    // The text that replaces the body has its own content type.
    if (!headers.has("content-type")) seen.delete("content-type");
    if (kind !== "" && !seen.has("content-type")) seen.set("content-type", kind!);
    return { url: made.url, method: made.method, redirect: made.redirect, headers: sorted(seen) };
  },
  uuid: () => crypto.randomUUID(),
  now: () => performance.now(),
  timeOrigin: () => performance.timeOrigin,
  math: (name, list) => {
    const numbers = (JSON.parse(list!) as string[]).map(Number);
    const value = (Math[name as "pow"] as (...args: number[]) => number)(...numbers);
    return Object.is(value, -0) ? "-0" : String(value);
  },
  radix: (value, radix) => Number(value).toString(Number(radix)),
  /** Returns V8's error message for a text that is not JSON. */
  jsonError: (text) => {
    try {
      JSON.parse(JSON.parse(text!));
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  },
  date: (text) => String(Date.parse(JSON.parse(text!))),
  dateText: (name, time) => new Date(Number(time))[name as "toString"](),
};
