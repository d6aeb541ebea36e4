// stringify of everything
const main = () => [JSON.stringify({ a: undefined, f() {}, s: Symbol(), n: null, d: new Date(0), x: NaN, i: Infinity, r: /a/, m: new Map([[1, 2]]), e: new Error("x"), b: Object(true), t: Object("s") })];

// indentation
const main = () => [JSON.stringify({ a: [1, { b: 2 }], c: {} , d: [] }, null, 2), JSON.stringify([1], null, "--"), JSON.stringify({ a: 1 }, null, 20), JSON.stringify([], null, 2)];

// replacers
const main = () => [JSON.stringify({ a: 1, b: 2, c: { a: 3 } }, ["a", "c"]), JSON.stringify({ a: 1, b: "x" }, (k, v) => (typeof v === "number" ? v * 2 : v)), JSON.stringify([1, 2], (k, v) => (k === "0" ? undefined : v))];

// toJSON
const main = () => JSON.stringify({ a: { toJSON: (k) => `key ${k}` }, b: new (class { toJSON() { return { c: 1 }; } })() });

// escapes
const main = () => [JSON.stringify("\u2028\u2029\"\\\n\t\b\f\r\u0000\u001f/é😀"), JSON.stringify("\ud800"), JSON.stringify({ "a\"b": 1 })];

// numbers in JSON
const main = () => [JSON.stringify([0.1, 1e21, -0, 1e-7, 123456789.123, 5e-324]), JSON.parse("[1e3, -0, 0.1, 12345678901234567890, 1E-2]").map(String)];

// parse
const main = () => [JSON.parse(' {"a": [1, true, null, "x"]} '), JSON.parse('"\\u0041\\n"'), JSON.parse("5"), JSON.parse('{"a":1,"a":2}'), Object.keys(JSON.parse('{"__proto__":1,"b":2}'))];

// revivers
const main = () => [JSON.parse('{"a":1,"b":[2,3]}', (k, v) => (typeof v === "number" ? v + 1 : v)), JSON.parse('{"d":"2026-01-01T00:00:00.000Z"}', (k, v) => (k === "d" ? new Date(v).getTime() : v))];

// nested answers
const main = () => ({ list: [{ id: 1, tags: ["a"] }, { id: 2, tags: [] }], meta: { total: 2, next: null } });

// a response with members that JSON omits
const main = () => ({ a: undefined, b: () => 1, c: Symbol("x"), d: [undefined, () => 1], e: new Map([[1, 2]]), f: new Set([1]), g: NaN });

// a response that is a primitive value
const main = () => 42;

// a response that is null
const main = () => null;

// a response that is text
const main = () => "just text";

// a response that is JSON text
const main = () => "[1, 2, {\"a\": 3}]";

// nothing answered
const main = () => {};

// a response from setResponse
const main = () => { Svc.Actions.setResponse({ response: "first" }); Svc.Actions.setResponse({ response: { second: true } }); };

// the return value takes precedence
const main = () => { Svc.Actions.setResponse({ response: 1 }); return 2; };

// a deeply nested response
const main = () => { let a = 0; for (let i = 0; i < 100; i++) a = { a }; return a; };

// manually sorted keys
const main = () => { const stable = (o) => (o && typeof o === "object" && !Array.isArray(o) ? Object.fromEntries(Object.keys(o).sort().map((k) => [k, stable(o[k])])) : o); return JSON.stringify(stable({ b: 1, a: { d: 1, c: 2 } })); };

// a large response
const main = () => Array.from({ length: 500 }, (_, i) => ({ i, sq: i * i, name: `item ${i}` }));

// rawJSON-free big numbers as text
const main = () => ({ wei: (10n ** 18n).toString(), hex: `0x${(255n).toString(16)}` });

// typed arrays in JSON
const main = () => [JSON.stringify(new Uint8Array([1, 2])), JSON.stringify([new Float32Array(1)]), JSON.stringify(Object("ab"))];
