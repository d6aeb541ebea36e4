/** `fetch` for actions. The host sends the request, counts it and applies the network policy. */
import { bounded, boundedBody } from "./call_limits.ts";
import { call, cancel } from "./channel.ts";
import type { Frame } from "./channel.ts";
import {
  Bytes,
  createObject,
  defineProperty,
  jsonStringify,
  PromiseConstructor,
  promiseThen,
  reflectApply,
  stringStartsWith,
  uncurryThis,
} from "./primordials.ts";

const RequestClass = Request;
const ResponseClass = Response;
const HeadersClass = Headers;
const localFetch = fetch;
const getter = <T>(of: object, name: string) =>
  uncurryThis(Object.getOwnPropertyDescriptor(of, name)!.get as (this: object) => T);
const requestUrl = getter<string>(Request.prototype, "url");
const requestMethod = getter<string>(Request.prototype, "method");
const requestHeaders = getter<Headers>(Request.prototype, "headers");
const requestSignal = getter<AbortSignal>(Request.prototype, "signal");
const requestRedirect = getter<string>(Request.prototype, "redirect");
const requestBody = getter<ReadableStream | null>(Request.prototype, "body");
const requestBytes = uncurryThis(Request.prototype.arrayBuffer);
const eachHeader = uncurryThis(Headers.prototype.forEach);
const appendHeader = uncurryThis(Headers.prototype.append);
const signalAborted = getter<boolean>(AbortSignal.prototype, "aborted");
const signalReason = getter<unknown>(AbortSignal.prototype, "reason");
const listen = uncurryThis(EventTarget.prototype.addEventListener);
const unlisten = uncurryThis(EventTarget.prototype.removeEventListener);

/** Status codes whose responses have no body. */
const BODILESS = [204, 205, 304];

function headersJson(headers: Headers): string {
  let json = "";
  eachHeader(headers, (value, name) => {
    json += `${json === "" ? "" : ","}[${jsonStringify(name)},${jsonStringify(value)}]`;
  });
  return `[${json}]`;
}

function makeResponse({ body, blob }: Frame): Response {
  const headers = new HeadersClass();
  for (let i = 0; i < body.headers.length; i++) {
    appendHeader(headers, body.headers[i][0], body.headers[i][1]);
  }
  let bodiless = false;
  for (let i = 0; i < BODILESS.length; i++) bodiless ||= BODILESS[i] === body.status;
  const response = new ResponseClass(bodiless ? null : blob as Uint8Array<ArrayBuffer>, {
    status: body.status,
    statusText: body.statusText,
    headers,
  });
  defineProperty(response, "url", { value: body.url, configurable: true });
  defineProperty(response, "redirected", { value: body.redirected, configurable: true });
  defineProperty(response, "type", { value: "basic", configurable: true });
  return response;
}

/** Returns the part of a URL that the host needs. For data: and blob: URLs, this is only the scheme. */
function asked(url: string): string {
  if (stringStartsWith(url, "data:")) return "data:";
  return stringStartsWith(url, "blob:") ? "blob:" : url;
}

/** Removes the referrer, because an action has no page. ethers sets "client", which Deno tries to parse as a URL. */
function withoutReferrer(init: RequestInit | undefined): RequestInit | undefined {
  if (typeof init !== "object" || init === null) return init;
  return createObject(init, { referrer: { value: undefined } });
}

/** Returns the function `fetch` of actions. */
export function makeFetch(): typeof fetch {
  async function fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const request = new RequestClass(input, withoutReferrer(init));
    const signal = requestSignal(request);
    if (signalAborted(signal)) throw signalReason(signal);
    const body = requestBody(request) === null ? undefined : boundedBody(new Bytes(await requestBytes(request)));
    if (signalAborted(signal)) throw signalReason(signal);
    const { id, answer } = call(
      "fetch",
      bounded(
        `,"method":${jsonStringify(requestMethod(request))},"url":${jsonStringify(asked(requestUrl(request)))}` +
          `,"redirect":${jsonStringify(requestRedirect(request))},"headers":${headersJson(requestHeaders(request))}` +
          `,"hasBody":${body !== undefined}`,
        "fetch",
      ),
      body,
    );
    const frame = await new PromiseConstructor<Frame>((resolve, reject) => {
      const onAbort = () => {
        cancel(id);
        reject(signalReason(signal));
      };
      // A signal with a listener keeps its timer alive, and therefore the run.
      const done = <T>(settle: (value: T) => void) => (value: T) => {
        unlisten(signal, "abort", onAbort);
        settle(value);
      };
      promiseThen(answer, done(resolve), done(reject));
      listen(signal, "abort", onAbort);
    });
    // Requests to data: and blob: URLs need no network, but they count like other requests.
    if (frame.body.local === true) return await reflectApply(localFetch, globalThis, [request]) as Response;
    return makeResponse(frame);
  }
  return fetch;
}
