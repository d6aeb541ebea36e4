// URLs with all parts
const main = () => { const u = new URL("https://user:p%40ss@Example.com:8080/a/../b?x=1&y=%20#frag"); return [u.href, u.origin, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.username, u.password, String(u), JSON.stringify({ u })]; };

// relative addresses
const main = () => [["../x", "https://h.example/a/b/c"], ["//other/y", "https://h.example"], ["?q", "https://h.example/p"], ["#f", "https://h.example/p?q"]].map(([r, b]) => new URL(r, b).href);

// invalid URLs
const main = () => { const out = []; for (const s of ["nope", "http://", "https://a b/"]) { try { out.push(new URL(s).href); } catch (e) { out.push([e.name, e.message, URL.canParse(s)]); } } return [out, URL.parse("x"), URL.parse("https://ok/").href]; };

// changing a URL
const main = () => { const u = new URL("https://h.example/"); u.pathname = "/a b"; u.search = "?q=ä"; u.hash = "x"; u.port = "99"; u.hostname = "other.example"; u.protocol = "http"; return u.href; };

// international names
const main = () => [new URL("https://münchen.example/ü?ü#ü").href, new URL("https://EXAMPLE.com:443/").href, new URL("http://127.1/").hostname, new URL("http://[::1]/").host];

// search parameters
const main = () => { const p = new URLSearchParams("a=1&b=2&a=3&c=%C3%A4+x"); p.append("d", "&="); p.delete("b"); p.set("a", "9"); p.sort(); return [p.toString(), [...p], p.get("c"), p.getAll("a"), p.has("zz"), p.size, p.get("none")]; };

// search parameters from other things
const main = () => [new URLSearchParams({ a: 1, b: "x y" }).toString(), new URLSearchParams([["a", "1"], ["a", "2"]]).toString(), new URLSearchParams("?lead=1").get("lead"), [...new URLSearchParams("a&b=").entries()]];

// search parameters of a URL are live
const main = () => { const u = new URL("https://h.example/?a=1"); u.searchParams.append("b", "2 3"); const first = u.href; u.search = "?c=4"; return [first, u.searchParams.get("c"), [...u.searchParams.keys()]]; };

// headers
const main = () => { const h = new Headers({ "Content-Type": "text/plain", "X-A": " 1 " }); h.append("x-a", "2"); h.set("B", "3"); h.delete("content-type"); return [[...h], h.get("X-A"), h.has("b"), h.get("none"), [...h.keys()], new Headers([["a", "b"]]).get("A")]; };

// invalid headers
const main = () => { try { new Headers({ "bad name": "x" }); } catch (e) { return e.name; } };

// responses
const main = async () => { const r = new Response(JSON.stringify({ a: 1 }), { status: 201, statusText: "Made", headers: { "x-y": "z" } }); return [r.status, r.ok, r.statusText, r.headers.get("x-y"), r.headers.get("content-type"), r.bodyUsed, await r.json(), r.bodyUsed, r.type, r.url, r.redirected]; };

// bodies of each kind
const main = async () => [await new Response("text").text(), [...new Uint8Array(await new Response(new Uint8Array([1, 2])).arrayBuffer())], await new Response(new URLSearchParams({ a: "b" })).text(), await new Response().text(), await Response.json({ x: [1] }).json(), [...await new Response("ab").bytes()]];

// clones of responses
const main = async () => { const r = new Response("twice"); const c = r.clone(); return [await r.text(), await c.text()]; };

// requests
const main = async () => { const r = new Request("https://h.example/x", { method: "post", body: "data", headers: { a: "b" } }); return [r.method, r.url, r.headers.get("a"), r.headers.get("content-type"), await r.text(), new Request("https://h.example").method, new Request(r.url, { redirect: "manual" }).redirect]; };

// random values
const main = () => { const a = crypto.getRandomValues(new Uint8Array(16)), b = crypto.getRandomValues(new Uint32Array(4)); return [a.length, b.length, a.some((x) => x > 0), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/.test(crypto.randomUUID())]; };

// the clock of performance
const main = async () => { const a = performance.now(); await new Promise((r) => setTimeout(r, 5)); const b = performance.now(); return [b > a, typeof performance.timeOrigin, b - a < 60000]; };

// functions of web interfaces
const main = () => ["fetch", "Headers", "Request", "Response", "URL", "URLSearchParams", "TextEncoder", "TextDecoder", "AbortController", "AbortSignal", "Event", "EventTarget", "CustomEvent", "DOMException", "structuredClone", "queueMicrotask", "setTimeout", "setInterval", "clearTimeout", "clearInterval", "atob", "btoa"].map((n) => typeof globalThis[n]);

// missing globals
const main = () => ["process", "require", "Buffer", "module", "window", "document", "navigator", "location", "alert", "setImmediate", "XMLHttpRequest", "WebSocket", "viem", "print", "scriptArgs", "InternalError", "std", "os"].filter((n) => typeof globalThis[n] !== "undefined");

// DOMException
const main = () => { const e = new DOMException("gone", "AbortError"); return [e.name, e.message, e.code, e instanceof Error, e instanceof DOMException, String(e)]; };

// tags
const main = () => [new URL("https://x/"), new URLSearchParams(), new Headers(), new AbortController(), new TextEncoder(), new Event("x"), new Response(), Promise.resolve(), new Map(), function* () {}(), JSON, Math, globalThis].map((o) => Object.prototype.toString.call(o));

// an aborted request
const main = async () => { const c = new AbortController(); c.abort(new Error("stop")); try { await fetch("http://localhost/", { signal: c.signal }); } catch (e) { return e.message; } };

// names and sizes of interfaces
const main = () => [URL.name, Headers.name, TextDecoder.name, new TextEncoder().encoding, setTimeout.name, structuredClone.name, AbortSignal.name];

// atob of invalid base64
const main = () => { try { return atob("*"); } catch (e) { return [e.name, e.message, e.code]; } };

// btoa beyond Latin-1
const main = () => { try { return btoa("\u20ac"); } catch (e) { return [e.name, e.message, e.code]; } };
