// optional chaining and nullish values
const main = () => [{ a: null }.a?.b ?? "none", undefined?.x, null ?? 0, 0 ?? 1, "" || "x", 0 && 1];

// destructuring with defaults and rests
const main = () => { const { a = 1, ...rest } = { b: 2, c: 3 }; const [x, , y = 9, ...z] = [1, 2, undefined, 4, 5]; return { a, rest, x, y, z }; };

// classes with private members, accessors and statics
class Counter { #n = 0; static made = 0; constructor() { Counter.made++; } get n() { return this.#n; } set n(v) { this.#n = v * 2; } inc() { this.#n++; return this; } static { this.tag = "set"; } }
const main = () => { const c = new Counter(); c.inc().inc(); const before = c.n; c.n = 5; return [before, c.n, Counter.made, Counter.tag]; };

// inheritance and super
class A { hi() { return "A"; } static s() { return "sA"; } }
class B extends A { hi() { return super.hi() + "B"; } static s() { return super.s() + "B"; } }
const main = () => [new B().hi(), B.s(), new B() instanceof A, B.name, Object.getPrototypeOf(B) === A];

// private members are checked with in
class P { #x = 1; static has(o) { return #x in o; } }
const main = () => [P.has(new P()), P.has({})];

// generators
function* count(n) { let i = 0; while (i < n) { const back = yield i++; if (back) i = back; } return "end"; }
const main = () => { const g = count(10); return [g.next(), g.next(7), g.next(), g.return("stop"), g.next(), [...count(3)]]; };

// async generators
async function* ticks() { for (let i = 0; i < 3; i++) { await null; yield i; } }
const main = async () => { const seen = []; for await (const t of ticks()) seen.push(t); return seen; };

// iterators by hand
const main = () => { const it = { from: 1, to: 4, [Symbol.iterator]() { let c = this.from; const t = this.to; return { next: () => (c <= t ? { done: false, value: c++ } : { done: true, value: undefined }) }; } }; return [...it, Math.max(...it), Array.from(it, (x) => x * x)]; };

// labelled loops
const main = () => { const out = []; outer: for (let i = 0; i < 4; i++) { for (let j = 0; j < 4; j++) { if (j === 2) continue outer; if (i === 3) break outer; out.push([i, j]); } } return out; };

// closures in loops
const main = () => { const fs = []; for (let i = 0; i < 3; i++) fs.push(() => i); var gs = []; for (var j = 0; j < 3; j++) gs.push(() => j); return [fs.map((f) => f()), gs.map((f) => f())]; };

// hoisting and function declarations in blocks
const main = () => { const r = [typeof later, typeof inner]; { function inner() {} } return [...r, typeof inner]; function later() {} };

// template literals and tags
const tag = (s, ...v) => s.raw.join("|") + v.join(",");
const main = () => [`a${1 + 1}b${[1, 2]}`, tag`x\n${1}y${2}`, String.raw`\u0041${3}`];

// typeof everything
const main = () => [typeof 1, typeof 1n, typeof "", typeof null, typeof undefined, typeof {}, typeof (() => 1), typeof Symbol(), typeof class {}, typeof missing];

// equality
const main = () => [1 == "1", null == undefined, null == 0, [] == false, NaN === NaN, Object.is(NaN, NaN), Object.is(0, -0), "b" > "a", [2] > 1, null >= 0];

// getters, setters and defineProperty
const main = () => { const o = { get a() { return 1; }, set a(v) {} }; Object.defineProperty(o, "h", { value: 2, enumerable: false }); return [Object.keys(o), JSON.stringify(o), o.h, Object.getOwnPropertyDescriptor(o, "h")]; };

// property order
const main = () => Object.keys({ b: 1, 2: 1, a: 1, 1: 1, [Symbol("x")]: 1, "-1": 1, 4294967295: 1, 4294967294: 1 });

// computed and shorthand members
const main = () => { const k = "z"; const z = 1; return { [k + 1]: 2, z, ["m" + k]() { return 3; } }; };

// spread of strings and objects
const main = () => [[..."añ😀"], { ...[1, 2] }, { ...null }, [...new Set([1, 1, 2])]];

// proxies do their work
const main = () => { const log = []; const p = new Proxy({}, { get: (t, k) => { log.push(String(k)); return 42; }, has: () => true }); return [p.x, "y" in p, p[Symbol.iterator] === 42, log]; };

// Reflect
const main = () => [Reflect.ownKeys({ a: 1, [Symbol.for("s")]: 1 }).map(String), Reflect.has({ a: 1 }, "a"), Reflect.construct(Array, [1, 2]), Reflect.getPrototypeOf([]) === Array.prototype];

// symbols
const main = () => [Symbol("d").toString(), Symbol("d").description, Symbol.for("x") === Symbol.for("x"), Symbol.keyFor(Symbol.for("x")), Symbol.iterator.toString()];

// switch falls through
const main = () => { const f = (x) => { const r = []; switch (x) { case 1: r.push(1); case 2: r.push(2); break; default: r.push("d"); case 3: r.push(3); } return r; }; return [f(1), f(2), f(3), f(4)]; };

// exceptions and finally
const main = () => { const f = () => { try { return "try"; } finally { return "finally"; } }; const g = () => { try { throw new Error("x"); } catch ({ message }) { return message; } }; return [f(), g()]; };

// default parameters see earlier ones
const main = () => ((a, b = a * 2, c = () => a + b) => c())(2);

// arguments object
const main = () => (function (a) { arguments[0] = 9; return [a, arguments.length, [...arguments]]; })(1, 2, 3);

// this in strict and sloppy functions
function sloppy() { return this === globalThis; }
function strict() { "use strict"; return this === undefined; }
const main = () => [sloppy(), strict(), sloppy.call(1) === false, typeof strict];

// exponent and assignment operators
const main = () => { let a = null; a ??= 5; let b = 0; b ||= 7; let c = 1; c &&= 8; return [a, b, c, 2 ** 10, (-2) ** 3, 7 % -3, -7 % 3, 5 / 2 | 0, ~~-5.7]; };

// comma, void and in
const main = () => [(1, 2), void 0, "length" in [], 0 in [1], delete [].length];

// bits
const main = () => [1 << 31, 1 << 32, -1 >>> 0, -1 >> 1, 5 & 3, 5 | 3, 5 ^ 3, ~5, 2 ** 32 | 0, 2 ** 53 & 1];

// with Function.prototype members
const main = () => { function f(a, b) { return [this.x, a, b]; } return [f.call({ x: 1 }, 2, 3), f.apply({ x: 1 }, [2, 3]), f.bind({ x: 1 }, 2)(3), f.bind({}).name, f.length, (() => {}).name]; };

// names of functions
const main = () => { const o = { a() {}, get b() { return 1; }, ["c" + 1]: () => {}, d: class {} }; return [o.a.name, Object.getOwnPropertyDescriptor(o, "b").get.name, o.c1.name, o.d.name, (function () {}).name, (class X {}).name]; };

// source of functions
function f(a,  b) { /* kept */ return a+b }
const main = () => [f.toString(), String((x) => x * 2), `${class Q { m() {} }}`, ({ m(){ } }).m.toString()];

// source of built-ins
const main = () => [String(Math.max), String(Array.prototype.map), String(parseInt), String(Map)];

// weak maps and sets
const main = () => { const k = {}; const m = new WeakMap([[k, 1]]); const s = new WeakSet([k]); return [m.get(k), m.has({}), s.has(k)]; };

// structured numbers: underscores, octal, binary, hex
const main = () => [1_000_000, 0o17, 0b101, 0xff, .5, 5., 1e3, Number(0xFFn)];

// object statics
const main = () => [Object.entries({ a: 1, b: 2 }), Object.fromEntries([["x", 1]]), Object.assign({}, { a: 1 }, null, { b: 2 }), Object.groupBy([1, 2, 3], (x) => (x % 2 ? "odd" : "even"))];

// freezing
const main = () => { const o = Object.freeze({ a: { b: 1 } }); o.a.b = 2; o.x = 1; return [o, Object.isFrozen(o), Object.isSealed(o), Object.isExtensible(o)]; };

// prototypes
const main = () => { const o = Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }); const seen = []; for (const k in o) seen.push(k); return [seen, Object.hasOwn(o, "inherited"), { __proto__: null } instanceof Object]; };

// tail of many small calls
const main = () => { let s = 0; const add = (n) => { s += n; }; for (let i = 0; i < 20000; i++) add(i); return s; };

// recursion of moderate depth
const main = () => { const f = (n) => (n === 0 ? 0 : 1 + f(n - 1)); return f(200); };

// fibonacci
const main = () => { const f = (n) => (n < 2 ? n : f(n - 1) + f(n - 2)); return f(18); };

// global scope
var v = 1; let l = 2; function g() {} this.t = 3;
const main = () => [globalThis.v, typeof globalThis.l, typeof globalThis.g, globalThis.t, this === globalThis];

// strictness of a whole script
"use strict"; const main = () => { try { undeclared = 1; return "set"; } catch (e) { return [e.name, e.message]; } };

// regular assignment to undeclared names
const main = () => { undeclared = 5; return [typeof undeclared, delete globalThis.undeclared, typeof undeclared]; };

// unicode identifiers and escapes
const main = () => { const ünï = 1; const \u0061b = 2; return [ünï, ab, "\u{1F600}", "\x41", "\101"]; };

// comments of all sorts
const main = () => { /* a */ // b
  return 1 /* c */ + /* d */ 2; };

// automatic semicolons
const main = () => { let a = 1
  let b = a
  ++b
  return [a, b] };

// params reach main
const main = (params) => params;

// strings spread into objects
const main = () => [{ ..."text" }, { ...new String("q") }, { ...1, ...true, ...null, ...undefined, ...5n, ...Symbol("s") }, { a: 1, ..."bc", length: 2 }, Object.keys({ ..."\ud83d\ude00" }).length];

// spreads of all kinds of values
const main = async () => { const f = function* () { const x = { ...(yield 1), b: 2 }; return x; }; const g = f(); g.next(); const t = "hé"; return [g.next("ab").value, { ...await Promise.resolve("zz") }, { ...(t) }, { ...t ? t : 1, ...() => 1, ... /* c */ t /* d */ }, { ...{ ...t } }, `${{ ...t }[1]}`, [...t], Math.max(...[1, 2])]; };

// spreads in classes, patterns and defaults
class A { static s = { ..."st" }; #p = { ..."pr" }; get p() { return this.#p; } static { this.z = { ..."bl" }; } m(x = { ..."df" }) { return x; } }
const main = () => { const { a = { ..."b" }, ...r } = { c: "d" }; const { ...whole } = "xy"; return [A.s, new A().p, A.z, new A().m(), a, r, whole]; };

// a spread reads what it copies once, in order
const main = () => { const seen = []; const o = { get a() { seen.push("a"); return 1; }, get b() { seen.push("b"); return 2; } }; const c = { ...o, ..."z" }; return [seen, c, Object.getOwnPropertyDescriptor(c, "0")]; };

// three dots that are no spread
const main = () => [/...x/.test("abcx"), "{...x}", `{...x}`, { ..."..." }, ((...all) => all.length)(1, 2)];

// the text of a function with spreads
const main = () => { const f = (t) => ({ ...t,
  b: [...t], ...`a${t}` }); return [String(f), f("xy"), main.toString(), String(class { x = { ...1 } })]; };

// a getter of an iterator is read once
const main = () => { const seen = []; const o = { get [Symbol.iterator]() { seen.push("read"); return function* () { yield 1; }; } }; return [[...o], Math.max(...o), seen]; };

// a name of the engine's own
const main = () => { const $$spread = 1; return { ...$$spread }; };

// a default that assigns to a parameter that is declared again
const main = () => { const f = (a, b = ((a = 9), 7)) => { var a; return [a, b]; }; return f(1); };
