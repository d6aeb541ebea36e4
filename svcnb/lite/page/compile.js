/**
 * Service worker that the page installs once, and then removes. Chromium compiles a script completely if a service worker
 * stores it during its installation. Later visits load the result.
 */
self.addEventListener("install", (event) => event.waitUntil(compile()));

async function compile() {
  const names = await caches.keys();
  const cache = await caches.open(names.find((name) => name.startsWith("svcnb-")));
  for (const { url } of await cache.keys()) {
    // Scripts of workers stay as they are, because they have the content security policy as a header.
    if (!/\/(build|extensions)\/((?!worker).)*\.js$/.test(new URL(url).pathname)) continue;
    const response = await fetch(url);
    if (response.ok) await cache.put(url, response);
  }
  await cache.put(new URL("compiled", location.href), new Response());
}
