/**
 * Service worker that responds from the browser's cache first, so that a second visit needs no network. It adds the content
 * security policy to every response, including the scripts of workers. Its code runs before JupyterLite's own service
 * worker, which receives all other requests.
 */
const SVCNB_CACHE = "svcnb-@VERSION@";
const SVCNB_POLICY = "@POLICY@";

self.addEventListener("activate", (event) => {
  const remove = async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith("svcnb-") && name !== SVCNB_CACHE) await caches.delete(name);
    }
  };
  event.waitUntil(remove());
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  const dynamic = /\/api\/(drive|stdin|service-worker-heartbeat)/.test(url.pathname);
  if (event.request.method !== "GET" || url.origin !== location.origin || dynamic) return;
  event.stopImmediatePropagation();
  event.respondWith(svcnbAnswer(event));
});

/** Downloads in progress. If the page and the interpreter request the same file, the file is downloaded only once. */
const svcnbUnderWay = new Map();

async function svcnbAnswer({ request }) {
  const cache = await caches.open(SVCNB_CACHE);
  const kept = async () => {
    const found = await cache.match(request.url, { ignoreSearch: request.mode === "navigate" });
    return request.url.endsWith(".wasm") ? ((await svcnbDirect(request.url, found)) ?? found) : found;
  };
  const found = await kept();
  if (found) return found;
  if (!svcnbUnderWay.has(request.url)) {
    svcnbUnderWay.set(request.url, svcnbKeep(cache, request.url).finally(() => svcnbUnderWay.delete(request.url)));
  }
  await svcnbUnderWay.get(request.url);
  // If the browser cannot write to the cache, download the file without the cache.
  return (await kept()) ?? svcnbFetch(request.url);
}

/**
 * Returns the same version of a file from the browser's HTTP cache. Chromium stores all machine code of a WebAssembly file
 * only if the response comes directly from `fetch`. Otherwise, it stores about a megabyte.
 */
async function svcnbDirect(url, found) {
  if (!found) return;
  const direct = await fetch(url, { cache: "only-if-cached", mode: "same-origin" }).catch(() => undefined);
  const isSame = (name) => direct.headers.get(name) === found.headers.get(name);
  if (direct?.ok && isSame("ETag") && isSame("Last-Modified")) return direct;
}

/**
 * Downloads a complete file into the cache. If one request for the file ends early, other requests still receive the
 * whole file. The file does not pass through the heap of the service worker, where garbage collection is very rare.
 */
async function svcnbKeep(cache, url) {
  const response = await svcnbFetch(url);
  // Store the archives decompressed, so that later visits start faster.
  const isArchive = response.ok && (url.endsWith("/@PACKAGES@") || url.endsWith("/@MEMORY@"));
  const plain = () => new Response(response.body.pipeThrough(new DecompressionStream("gzip")), response);
  await cache.put(url, isArchive ? plain() : response).catch(() => undefined);
}

async function svcnbFetch(url) {
  const { body, status, statusText, headers: received } = await fetch(url);
  const headers = new Headers(received);
  headers.set("Content-Security-Policy", SVCNB_POLICY);
  headers.delete("Content-Encoding"); // the browser has already decompressed the body
  headers.delete("Content-Length");
  return new Response(body, { status, statusText, headers });
}
