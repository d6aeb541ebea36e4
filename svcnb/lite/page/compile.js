/**
 * Service worker that the page installs once, and then removes. If a service worker stores a script in the cache during
 * the worker's installation, Chromium compiles the whole script. Later visits load the compiled script.
 */
self.addEventListener("install", (event) => event.waitUntil(compile()));

async function compile() {
  const names = await caches.keys();
  const cache = await caches.open(names.find((name) => name.startsWith("svcnb-")));
  for (const { url } of await cache.keys()) {
    // Do not replace scripts of workers, because their cached responses contain the content security policy as a header.
    if (!/\/(build|extensions)\/((?!worker).)*\.js$/.test(new URL(url).pathname)) continue;
    const response = await fetch(url);
    if (response.ok) await cache.put(url, response);
  }
  await cache.put(new URL("compiled", location.href), new Response());
}
