// the globals that are listed
const main = () => { const listed = []; for (const name in globalThis) listed.push(name); return [Object.keys(globalThis), listed]; };

// the members of classes of the web
const main = () => [URL, URLSearchParams, Headers, Request, Response, AbortController, AbortSignal, TextEncoder, TextDecoder, Crypto, Event].map((one) => [one.name, one.length, Object.keys(one), Object.keys(one.prototype)]);

// members that V8 lacks
const main = () => [Iterator.zip, Iterator.zipKeyed, Iterator.prototype.chunks, Iterator.prototype.windows, ArrayBuffer.prototype.immutable, URLSearchParams.of].map((one) => typeof one);

// the kinds of the service's objects
const main = () => [console, crypto, performance, globalThis, self, ethers, Svc, new URL("http://x"), new Headers()].map((one) => Object.prototype.toString.call(one));

// texts of built-ins
const main = () => [Math.max, Math.pow, Array.prototype.sort, Error, Date, parseInt, (() => {}).bind(), Object.getOwnPropertyDescriptor(Map.prototype, "size").get].map(String);

// the members of a built-in
const main = () => Object.getOwnPropertyNames(Math);

// the text of a class of the web
const main = () => String(URL);
