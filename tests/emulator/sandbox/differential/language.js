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

// three dots that are not a spread
const main = () => [/...x/.test("abcx"), "{...x}", `{...x}`, { ..."..." }, ((...all) => all.length)(1, 2)];

// the text of a function with spreads
const main = () => { const f = (t) => ({ ...t,
  b: [...t], ...`a${t}` }); return [String(f), f("xy"), main.toString(), String(class { x = { ...1 } })]; };

// a getter of an iterator is read once
const main = () => { const seen = []; const o = { get [Symbol.iterator]() { seen.push("read"); return function* () { yield 1; }; } }; return [[...o], Math.max(...o), seen]; };

// a name that the engine reserves
const main = () => { const $$spread = 1; return { ...$$spread }; };

// a default that assigns to a parameter that is declared again
const main = () => { const f = (a, b = ((a = 9), 7)) => { var a; return [a, b]; }; return f(1); };

// labelled blocks, continues and switches
const main = () => { const o = []; a: { b: { o.push(1); break b; } o.push(2); break a; o.push(3); } x: for (const i of [1, 2, 3]) { switch (i) { case 2: continue x; default: o.push(i * 10); case 9: o.push("f"); } } y: do { o.push("y"); if (o.length > 8) break y; } while (o.length < 20); return o; };

// finally overrides and order of completion
const main = () => { const log = []; const f = () => { try { log.push(1); return "t"; } finally { log.push(2); return "f"; } }; const g = () => { for (const i of [1, 2, 3]) { try { if (i === 2) continue; log.push(i); } finally { log.push("fin" + i); } } }; const h = () => { l: try { return 1; } finally { break l; } return 2; }; return [f(), g(), h(), log]; };

// getters setters and computed names
const main = () => { const k = "dyn"; const o = { _v: 1, get [k + 1]() { return this._v; }, set [k + 1](x) { this._v = x * 2; }, ["a" + "b"]: 1, 1.5: "n", [Symbol.for("q")]: 2, async *gen() {}, get() { return "g"; }, set() { return "s"; }, static: 1, async: 2, await: 3, get get() { return "gg"; } }; o.dyn1 = 21; return [o.dyn1, Object.keys(o), o.get, o.set(), Object.getOwnPropertyDescriptor(o, "dyn1").get.name, o.gen.name, Object.getOwnPropertySymbols(o).length]; };

// generators that delegate return and throw
const main = () => { const log = []; function* inner() { try { const x = yield 1; log.push("got", x); yield 2; } catch (e) { log.push("c" + e); yield 3; return "r"; } finally { log.push("fin"); } } function* outer() { const r = yield* inner(); log.push(r); return yield* [7, 8]; } const g = outer(); const out = [g.next(), g.next("v"), g.throw("E"), g.next(), g.next(), g.next(), g.next()]; const h = outer(); h.next(); return [out, h.return("early"), log]; };

// tagged templates keep their strings
const main = () => { const seen = []; const tag = (s, ...v) => { seen.push(s); return s.raw.join("|") + "~" + s.map((x) => (x === undefined ? "U" : x)).join("|") + v; }; const f = () => tag`a${1}\n${2}\u0041`; f(); f(); return [seen[0] === seen[1], Object.isFrozen(seen[0]), f(), tag`\unicode and \xerxes ${3}`, String.raw`\t${1}\u{1F600}`, tag``.length]; };

// classes: fields, statics, privates, accessors in order
const log = []; class A { static a = log.push("sa"); [(log.push("k1"), "f1")] = log.push("f1"); static { log.push("blk"); this.z = 1; } static #p = 9; static getP() { return A.#p; } #m() { return "priv"; } get #g() { return 5; } set #g(v) { log.push("set" + v); } run() { this.#g = 3; return [this.#m(), this.#g, #m in this]; } static [(log.push("k2"), "s2")] = log.push("s2"); } const main = () => { const a = new A(); class B extends A { f1 = super.run(); constructor() { log.push("B"); super(); log.push("after"); } } const b = new B(); return [a.run(), A.getP(), A.z, b.f1, log]; };

// new.target, species and subclasses of built-ins
const main = () => { class L extends Array { static get [Symbol.species]() { return Array; } sum() { return this.reduce((a, b) => a + b, 0); } } class M extends Map { get(k) { return super.get(k) ?? "none"; } } class E2 extends TypeError { constructor(m, x) { super(m); this.x = x; this.name = "E2"; } } function F() { return new.target === undefined ? "call" : new.target.name; } const l = L.from([1, 2, 3]); const e = new E2("boo", 7); return [l.sum(), l.map((x) => x) instanceof L, l.constructor.name, L.of(1) instanceof L, new M([[1, 2]]).get(9), String(e), e instanceof TypeError, e.x, F(), Reflect.construct(F, [], class Q {}) instanceof Object, Object.prototype.toString.call(l), l.length, JSON.stringify(l)]; };

// promise subclasses and species
const main = async () => { const log = []; class P extends Promise { static made = 0; constructor(x) { P.made++; super(x); } then(a, b) { log.push("then"); return super.then(a, b); } } const p = P.resolve(1); const q = p.then((x) => x + 1); await q; const r = await P.all([p, 2]); return [q instanceof P, r, log.length, P.made, (async () => {})() instanceof P]; };

// destructuring evaluates in order
const main = () => { const log = []; const o = (n) => new (class { get a() { log.push(n + "a"); return undefined; } get b() { log.push(n + "b"); return 1; } })(); const { a = log.push("def"), b: { toFixed } = {}, ...r } = o("x"); const d = (...k) => k.map((x) => (log.push("k" + x), x)); const { [d("p")[0]]: p = 5, ["q" + log.length]: q = p } = { p: 3 }; let x = 1, y = 2; [x, y] = [y, x]; [log[0], { z: log[1] }] = ["first", { z: "second" }]; const f = ({ a = 1, b = a + 1 } = {}, [c = b] = []) => [a, b, c]; return [a, toFixed.name, r, p, q, x, y, f(), f({ a: 5 }), f.length, log]; };

// annex b functions in blocks
const main = () => { const r = [typeof f]; { r.push(typeof f); function f() { return 1; } } r.push(typeof f); if (true) { function g() { return 2; } } r.push(typeof g, g()); switch (1) { case 0: function h() {} } r.push(typeof h); try { k(); } catch (e) { r.push(e.name); } { let k2 = 1; } return r; function k() { return 1; } };

// with statements and sloppy this
function who() { return this === globalThis; }
const main = () => { const o = { x: 1, [Symbol.unscopables]: { y: true }, y: 2 }; let y = "outer"; const r = []; with (o) { x = 5; r.push(x, y); var z = x; } return [r, o.x, z, who(), who.call(null), who.call(1), typeof function () { return this; }.call(1)]; };

// var and functions become members of the global object
var gv = 1; function gf() {} let gl = 2; const gc = 3; class GC {}
const main = () => [Object.getOwnPropertyDescriptor(globalThis, "gv"), typeof globalThis.gf, globalThis.gl, "gc" in globalThis, delete globalThis.gv, typeof GC, this === undefined, Object.getOwnPropertyDescriptor(globalThis, "gf").configurable];

// lengths and order of keys
const main = () => { const o = { b: 1, 2: 1, a: 1, 1: 1, [Symbol("s")]: 1, "-1": 1, "01": 1, 4294967295: 1, 4294967294: 1, 1e3: 1, "1.0": 1 }; o.z = 1; o[0] = 1; delete o.b; o.b = 2; return [Object.keys(o), Reflect.ownKeys(o).length, JSON.stringify(o), Object.entries({ ...o, 7: 1 }).map(([k]) => k), (() => { const r = []; for (const k in o) r.push(k); return r; })()]; };

// for in over prototypes, arrays and strings while they change
const main = () => { const p = { pa: 1, shared: 1 }; const o = Object.create(p, { own: { value: 1, enumerable: true }, hid: { value: 1 }, shared: { value: 2, enumerable: false } }); const r = []; for (const k in o) r.push(k); const d = { a: 1, b: 2, c: 3 }; for (const k in d) { r.push(k); delete d.b; d.later = 1; } for (const i in "ab") r.push(i); const arr = [1, , 3]; arr.x = 1; for (const i in arr) r.push(i); for (const k in null) r.push("never"); for (var q = 0 in {}); return [r, q]; };

// holes in arrays
const main = () => { const a = [, 1, , undefined, ,]; const r = [a.length, 0 in a, a.map((x) => 1), a.forEach((x) => r2.push(x)), a.indexOf(undefined), a.includes(undefined), a.findIndex((x) => x === undefined), a.flat(), a.filter(() => true), a.join("-"), [...a], Object.keys(a), a.reduce((n) => n + 1, 0), a.concat([, 2]), a.reverse(), a.toReversed(), a.with(0, "w"), a.toSpliced(1, 1), a.at(-1), JSON.stringify(a), a.copyWithin(0, 3), a.fill(0, 3), a.entries().next(), a.every((x) => x === 1), a.some((x) => x === undefined), a.lastIndexOf(1), Array.from(a), a.splice(1, 2), a]; console.log([, 1, , , 2], [undefined, , null]); return r; };
const r2 = [];

// sorting is stable and unusual comparators have consistent results
const main = () => { const l = Array.from({ length: 40 }, (_, i) => ({ k: (i * 7) % 5, i })); const s = [...l].sort((a, b) => a.k - b.k).map((x) => x.i); return [s, [3, 1, , 2, undefined, 10].sort(), ["b", "a", "ä", "Z", "é", "z"].sort(), [true, false, null, 0, "", "0", []].sort(), [5, 25, 100, 1].sort(), [1, 2, 3].sort(() => 0), [3, 2, 1].toSorted(), [1n, 0, 2n, -1].sort((a, b) => (a < b ? -1 : 1)).map(String), ["10", 9, "1", 1].sort(), [-0, 0, -1].sort((a, b) => b - a).map((x) => Object.is(x, -0))]; };

// array methods of the newer kind
const main = () => { const a = [1, 2, 3, 4, 5]; return [a.findLast((x) => x % 2), a.findLastIndex((x) => x > 9), a.with(-1, 9), a.toSpliced(1, 2, "x", "y", "z"), a.at(-6), Object.groupBy(a, (x) => (x % 2 ? "odd" : "even")), [...Map.groupBy(a, (x) => x % 3).entries()], a.flatMap((x) => (x > 3 ? [x, [x]] : [])), Array.of(7).concat([[8]], 9), a.copyWithin(1, 3), a.lastIndexOf(5), a.reduceRight((s, x) => s + x, ""), a.entries().toArray(), [[1, [2, [3, [4]]]]].flat(Infinity), Array(3).fill().map((_, i) => i)]; };

// array like objects and generic methods
const main = () => { const o = { length: 3, 0: "a", 2: "c" }; const A = Array.prototype; return [A.map.call(o, (x) => x + x), A.push.call(o, "d"), o, A.slice.call("hello", 1, 3), A.join.call({ length: 2 }, "+"), A.concat.call(1, 2).length, Array.from({ length: 2, 0: "x" }), A.indexOf.call("abc", "c"), A.splice.call(o, 0, 1), o, A.includes.call({ length: 1 }, undefined), A.shift.call(o), A.unshift.call(o, "z"), o, A.pop.call({}), A.reverse.call({ length: 3, 0: 1 })]; };

// concat spreadable and is array
const main = () => { const a = { length: 2, 0: "x", 1: "y", [Symbol.isConcatSpreadable]: true }; const b = Object.assign([1, 2], { [Symbol.isConcatSpreadable]: false }); return [[0].concat(a, b).length, [].concat("s", [[1]], null), Array.isArray(Array.prototype), Array.isArray({ __proto__: Array.prototype }), Array.prototype.length, [].concat(a)]; };

// async generators interleave
const main = async () => { const log = []; async function* g(n, d) { try { for (let i = 0; i < 3; i++) { await new Promise((r) => setTimeout(r, d)); log.push(n + i); yield n + i; } } finally { log.push(n + "end"); await null; log.push(n + "fin"); } } const a = g("a", 2); const r = [await Promise.all([a.next(), a.next(), a.return("x"), a.next()])]; for await (const v of g("b", 1)) { if (v === "b1") break; } for await (const v of [Promise.resolve(1), 2, (async () => 3)()]) r.push(v); try { for await (const x of [Promise.reject(new Error("no"))]) r.push(x); } catch (e) { r.push(e.message); } return [r, log]; };

// microtasks in their exact order
const main = async () => { const log = []; const l = (x) => () => log.push(x); setTimeout(l("t0")); setTimeout(l("t0b"), 0); queueMicrotask(l("q1")); Promise.resolve().then(l("p1")).then(l("p2")).then(l("p3")); (async () => { log.push("s"); await null; log.push("a1"); await new Promise((r) => r()); log.push("a2"); await { then(f) { log.push("thenable"); f(); } }; log.push("a3"); return Promise.resolve(); })().then(l("aret")); Promise.reject(1).catch(l("c1")).finally(l("f1")).then(l("f2")); (async () => { try { await Promise.reject(2); } catch { log.push("ac"); } finally { await 0; log.push("af"); } })(); Promise.all([1, Promise.resolve(2)]).then(l("all")); Promise.race([new Promise(() => {}), 3]).then(l("race")); Promise.any([Promise.reject(0), 4]).then(l("any")); Promise.allSettled([5]).then(l("settled")); new Promise((r) => r(Promise.resolve())).then(l("nested")); log.push("end"); await new Promise((r) => setTimeout(r, 20)); return log; };

// promise combinators and their results
const main = async () => { const e = await Promise.any([Promise.reject(1), Promise.reject(new Error("x"))]).catch((e) => e); const w = Promise.withResolvers(); w.resolve("w"); const t = await Promise.try((a, b) => a + b, 1, 2); return [e.constructor.name, e.message, e.errors.map(String), await w.promise, t, await Promise.allSettled([1, Promise.reject("r"), new Promise((r) => setTimeout(r, 1, "late"))]), await Promise.all([]), await Promise.any([]).catch((e) => e.errors.length), await Promise.all(new Set([1, 2])), await Promise.race([new Promise((r) => setTimeout(r, 30, "slow")), new Promise((r) => setTimeout(r, 1, "fast"))]), await Promise.try(() => { throw "thrown"; }).catch((x) => x)]; };

// thenables and strange then
const main = async () => { const log = []; const t = { get then() { log.push("get"); return (f, r) => { log.push("call"); f(1); f(2); r(3); throw 4; }; } }; const r = [await t, await Promise.resolve(t), await (async () => t)()]; const bad = { get then() { throw new Error("getter"); } }; try { await bad; } catch (e) { r.push(e.message); } const p = new Promise((res, rej) => { res(1); rej(2); throw 3; }); r.push(await p); let self; self = new Promise((r) => setTimeout(() => r(self))); r.push(await self.catch((e) => e.name)); return [r, log]; };

// async errors keep their way
const main = async () => { const r = []; const f = async () => { throw new RangeError("r"); }; r.push(await f().catch((e) => `${e}`)); try { await Promise.all([f(), f()]); } catch (e) { r.push(e.name); } r.push(await new Promise((_, j) => j(undefined)).catch((e) => typeof e)); r.push(await Promise.resolve(1).finally(() => 2)); r.push(await Promise.resolve(1).finally(() => { throw 3; }).catch((e) => e)); r.push(await Promise.reject(1).then(() => 2, (e) => e + 10)); r.push(await (async () => { try { return await f(); } catch (e) { return e.message; } finally { r.push("fin"); } })()); return r; };

// error causes and aggregate errors are shown
const main = () => { const e = new Error("outer", { cause: new TypeError("inner", { cause: { code: 7 } }) }); const a = new AggregateError([new Error("one"), "two"], "many", { cause: 0 }); return [e.cause.message, e.cause.cause, "cause" in new Error("x"), Object.getOwnPropertyNames(e).sort(), a.errors.length, a.cause, String(a), Object.prototype.toString.call(a), Object.keys(e), JSON.stringify(e), new Error("x", { cause: undefined }).hasOwnProperty("cause"), new Error(undefined).hasOwnProperty("message"), new Error(null).message, Error("f") instanceof Error, Error.prototype.toString.call({ name: "N", message: "M" }), Error.prototype.toString.call({}), new EvalError().name, Error.isError(e)]; };

// thrown things of any kind
const main = () => { throw { code: 42, nested: { a: [1, 2] } }; };

// a thrown string
const main = () => { throw "plain"; };

// a rejected null
const main = async () => { throw null; };

// a thrown error with a cause and members
const main = () => { const e = new Error("broke", { cause: "why" }); e.code = "E_X"; throw e; };

// primitives are coerced
const main = () => ["1" + 1, "3" * "4", [] + [], [] == false, null == 0, null >= 0, undefined == null, NaN != NaN, "b" > "a", "10" < "9", 10 < "9a", [2] > 1, +[], +{}, +"", +" 12 ", +"0x1f", +"0b11", +"1_0", +"1e3", -"5", 1 / -0, "5" - - "2", true + true, [] + null + 1, [1, 2] + [3], 1 < 2 < 3, 3 > 2 > 1, !!"0", !!NaN, typeof null, typeof (() => 1), void 0, 2 ** 3 ** 2, (-2) ** 2, 7 % -3, -7 % 3, 5.5 % 2, 1 << 31, 1 << 32, -1 >>> 0, ~~-3.7, "a" && 0 || "z", null ?? "n", 0].map((x) => (Object.is(x, -0) ? "-0" : x)).slice(0, -1);

// private names in every position
class Q { #a = 1; static #count = 0; #m(x) { return x + this.#a; } static make() { const q = new Q(); Q.#count++; q.#a ??= 5; q.#a += 2; q.#a **= 2; return [q.#a, q?.#a, q.#m?.(1), Q.#count, #m in q]; } static #inner = class { #a = 7; get(o) { return [this.#a, #a in o]; } }; static test() { return new Q.#inner().get(new Q()); } get #g() { return "g"; } all() { return { ...{ g: this.#g } }; } *#gen() { yield this.#a; } run() { return [...this.#gen()]; } async #as() { return 1; } go() { return this.#as(); } }
const main = async () => [Q.make(), Q.test(), new Q().all(), new Q().run(), await new Q().go()];

// accessors on classes and inheritance of statics
class Base { static kind = "base"; static describe() { return `${this.name}:${this.kind}`; } get v() { return 1; } set v(x) { this._v = x; } } class Derived extends Base { static kind = "derived"; get v() { return super.v + 1; } static describe() { return super.describe() + "!"; } }
const main = () => { const d = new Derived(); d.v = 5; return [Base.describe(), Derived.describe(), d.v, d._v, Object.getPrototypeOf(Derived) === Base, Object.keys(d), Derived.hasOwnProperty("describe"), Object.getOwnPropertyNames(Derived.prototype)]; };

// super in object literals and arrows
const main = () => { const p = { hi() { return "p" + this.n; }, get x() { return "px" + this.n; } }; const o = { __proto__: p, n: 1, hi() { return (() => super.hi() + super.x)(); }, set x(v) { this.set = v; } }; const c = { __proto__: o, n: 2, f() { super.newProp = 3; return [super.hi(), this.newProp]; } }; return [o.hi(), c.f(), o.x]; };

// constructors that return objects
const main = () => { class A { constructor() { return { fake: true }; } } class B extends A { x = 1; } class C extends Object { constructor() { super(); } } class N extends null { static s = 1; } function F() { this.a = 1; return 5; } function G() { return [1]; } const b = new B(); return [b, b instanceof B, new C() instanceof C, N.s, new F(), new G(), new (class { static name = "custom"; })().constructor.name, typeof class {}, (class Named {}).name]; };

// getters are evaluated lazily and once
const main = () => { let n = 0; const o = { get lazy() { n++; Object.defineProperty(this, "lazy", { value: n, writable: false, enumerable: true }); return n; } }; const r = [o.lazy, o.lazy, n, { ...o }, Object.getOwnPropertyDescriptor(o, "lazy").value]; o.lazy = 9; return [...r, o.lazy]; };

// logical assignment is lazy
const main = () => { const log = []; const o = { get a() { log.push("ga"); return null; }, set a(v) { log.push("sa" + v); }, get b() { log.push("gb"); return 1; }, set b(v) { log.push("sb"); } }; o.a ??= 2; o.b ??= log.push("no"); o.b ||= log.push("no"); o.b &&= 3; let x; x ||= "d"; x &&= x + "!"; const f = (o.c ??= () => 1); return [log, x, f.name, o.c.name]; };

// optional chaining in every form
const main = () => { const o = { a: { b: () => ({ c: [1] }), n: null } }; let k = 0; return [o?.a?.b?.()?.c?.[0], o.x?.y.z.w, o.x?.[k++], k, o.a.n?.(), o?.["a"]?.b.name, delete o?.a?.n, "n" in o.a, (o?.x).y === undefined].slice(0, -1).concat([typeof o?.x?.y, (o.a?.b)().c, o.q?.f`x` === undefined].slice(0, 2)); };

// exponent, shifts and precedence
const main = () => [2 ** -1, (-2) ** 3, 2 ** 0.5 === Math.SQRT2, 1 + 2 + "3" + 4 + 5, 1 < 2 === true, !1 + 1, -(2 ** 2), 5 & 3 | 4 ^ 1, 8 >>> 1 >> 1 << 2, 1 || 0 && 0, (1, 2, 3), typeof 1 + 1, void 0 ?? "v", 3 in [1, 2, 3, 4], "a" in { a: 1 } === true, new Date(0).getTime() + 1, 2 + +"3", - -1, +!0, ~-1, 1 / 3 * 3, .1 + .2 === .3, 0 === -0, [] == "", "0" == false, null == undefined, NaN !== NaN];

// switch falls and matches strictly
const main = () => { const f = (x) => { const o = []; switch (x) { case 1: o.push(1); case "1": o.push("s1"); break; default: o.push("d"); case 2: o.push(2); { let y = 5; o.push(y); } break; case (o.push("eval"), 3): o.push(3); } return o; }; return [f(1), f("1"), f(2), f(3), f(4), f(NaN)]; };

// scopes of let in loops and closures
const main = () => { const fs = []; for (let i = 0, inc = () => i++; i < 3; inc(), i++) { fs.push(() => i); if (i > 5) break; } const gs = []; for (const [k, v] of Object.entries({ a: 1, b: 2 })) gs.push(() => k + v); for (let x in { p: 1, q: 2 }) { gs.push(() => x); x += "!"; } let z = 1; { let z = 2; gs.push(() => z); } gs.push(() => z); return [fs.length > 0, gs.map((f) => f())]; };

// deep recursion that ends in time
const main = () => { const depth = (n) => (n === 0 ? 0 : 1 + depth(n - 1)); const fib = (n, m = {}) => (n < 2 ? n : (m[n] ??= fib(n - 1, m) + fib(n - 2, m))); const even = (n) => (n === 0 ? true : odd(n - 1)), odd = (n) => (n === 0 ? false : even(n - 1)); const ack = (m, n) => (m === 0 ? n + 1 : n === 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1))); return [depth(500), fib(80), even(301), ack(2, 5)]; };

// spread of everything
const main = () => [[..."a😀"], [...new Set([1, 1, 2])], [...new Map([[1, 2]])], Math.max(...[1, 2], ...new Set([9])), { ...[1, 2], ...null, ...undefined, ...1, ...true, ..."hi", ...{ a: 1, get b() { return 2; } } }, ((...a) => a.length)(...[, ,]), [...[, 1]], new Date(...[2024, 0, 15]).getTime(), [...(function* () { yield* [1, 2]; })()], String.fromCharCode(...[72, 105]), { ...new (class { x = 1; #y = 2; get z() { return 3; } })() }, { ...Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true }, hid: { value: 2 } }) }, { ...() => 1 }, { ...Symbol.iterator }];

// async iteration over many sources
const main = async () => { const log = []; const src = { async *[Symbol.asyncIterator]() { yield 1; yield* [2, Promise.resolve(3)]; yield* (async function* () { yield 4; return "ignored"; })(); } }; for await (const x of src) log.push(x); const it = { i: 0, [Symbol.asyncIterator]() { return this; }, next() { return { value: Promise.resolve(this.i), done: this.i++ > 1 }; }, return() { log.push("ret"); return { done: true }; } }; for await (const x of it) { log.push(typeof x); break; } const g = (async function* () { try { yield 1; } catch (e) { log.push("caught " + e); yield "after"; } })(); await g.next(); log.push(await g.throw("t"), await g.next()); return log; };

// return in async generators awaits
const main = async () => { const log = []; async function* g() { try { yield 1; return Promise.resolve("r"); } finally { log.push("f"); await null; } } const a = g(); log.push(await a.next(), await a.next(), await a.next()); const b = g(); await b.next(); log.push(await b.return(Promise.resolve("x"))); const c = g(); log.push(await c.return("early"), await c.next()); try { await g().throw(new Error("t")); } catch (e) { log.push(e.message); } return log; };

// order of async functions that await in different ways
const main = async () => { const log = []; const a = async () => { log.push("a1"); await b(); log.push("a2"); }; const b = async () => { log.push("b1"); }; const c = async () => { await undefined; log.push("c"); return a(); }; const d = async () => { for await (const x of [1, 2]) log.push("d" + x); }; const e = async function* () { yield "e1"; log.push("between"); yield "e2"; }; await Promise.all([a(), c(), d(), (async () => { for await (const x of e()) log.push(x); })(), new Promise((r) => { log.push("exec"); queueMicrotask(r); }).then(() => log.push("q"))]); return log; };

// await of thenables and values takes its turns
const main = async () => { const log = []; const tick = async (n, name) => { for (let i = 0; i < n; i++) { await null; log.push(name + i); } }; const thenable = { then(f) { log.push("then"); queueMicrotask(() => f("v")); } }; tick(8, "t"); (async () => { await thenable; log.push("thenable done"); })(); (async () => { await Promise.resolve(thenable); log.push("resolved thenable"); })(); (async () => { return thenable; })().then(() => log.push("returned thenable")); Promise.resolve().then(() => Promise.resolve("n")).then(() => log.push("chained")); new Promise((r) => r(thenable)).then(() => log.push("ctor")); await new Promise((r) => setTimeout(r, 5)); return log; };

// timers and microtasks take turns
const main = async () => { const log = []; setTimeout(() => { log.push("A"); Promise.resolve().then(() => log.push("A.m")); }, 0); setTimeout(() => { log.push("B"); queueMicrotask(() => log.push("B.m")); }, 0); setTimeout(() => log.push("D"), 30); setTimeout(() => log.push("C"), 15); await null; log.push("now"); await new Promise((r) => setTimeout(r, 60)); return log; };

// finally and catch chains
const main = async () => { const log = []; const p = Promise.reject(new Error("x")); const r = await p.finally((...a) => { log.push(a.length); return 9; }).catch((e) => { log.push(e.message); return "c"; }).finally(() => log.push("f")).then((v) => v + "!"); await Promise.resolve("v").finally(() => new Promise((r) => setTimeout(() => { log.push("waited"); r("no"); }, 2))).then((v) => log.push(v)); await Promise.resolve(1).then(5).then((x) => log.push(x)); return [r, log, await Promise.reject(1).then(null, undefined).catch((x) => x)]; };

// functions as objects
const main = () => { function counter() { return counter.n = (counter.n ?? 0) + 1; } counter(); counter(); const memo = (f, c = new Map()) => Object.assign((x) => c.get(x) ?? c.set(x, f(x)).get(x), { c }); const sq = memo((x) => x * x); sq(3); sq(3); const compose = (...fs) => (x) => fs.reduceRight((a, f) => f(a), x); const curry = (f) => function g(...a) { return a.length >= f.length ? f(...a) : (...b) => g(...a, ...b); }; return [counter.n, [...sq.c], compose((x) => x + 1, (x) => x * 2)(5), curry((a, b, c) => [a, b, c])(1)(2)(3), (function fact(n) { return n < 2 ? 1 : n * fact(n - 1); })(10), ((f) => f(f, 5))((f, n) => (n ? n + f(f, n - 1) : 0))]; };

// arguments objects mapped and unmapped
const main = () => { function m(a, b) { a = 10; arguments[1] = 20; delete arguments[0]; arguments[0] = 99; return [a, b, arguments[0], arguments.length, [...arguments], Array.from(arguments), typeof arguments.callee]; } function u(a, ...r) { a = 5; return [arguments[0], r, arguments.length]; } return [m(1, 2, 3), u(1, 2), (function () { return Object.keys(arguments); })("x", "y"), ((...a) => a)(1, 2)]; };

// prototypes by hand
const main = () => { function Animal(n) { this.n = n; } Animal.prototype.speak = function () { return this.n + " speaks"; }; function Dog(n) { Animal.call(this, n); } Dog.prototype = Object.create(Animal.prototype, { constructor: { value: Dog } }); Dog.prototype.speak = function () { return Animal.prototype.speak.call(this) + " woof"; }; const d = new Dog("Rex"); const chain = []; for (let p = d; p; p = Object.getPrototypeOf(p)) chain.push(p.constructor?.name); const mix = (B) => class extends B { mixed() { return "m" + this.n; } }; return [d.speak(), chain, Animal.prototype.isPrototypeOf(d), d.hasOwnProperty("n"), new (mix(Dog))("x").mixed(), Object.keys(d), "speak" in d, d.toString()]; };

// well-known symbols
const main = () => { class Even { static [Symbol.hasInstance](n) { return n % 2 === 0; } } const o = { [Symbol.toPrimitive](h) { return h === "string" ? "str" : h === "number" ? 42 : "def"; } }; class T { get [Symbol.toStringTag]() { return "Tee"; } } return [2 instanceof Even, 1 instanceof Even, `${o}`, +o, o + "", o * 2, o == "def", [o] + "", Object.prototype.toString.call(new T()), String(new T()), Object.prototype.toString.call(null), Object.prototype.toString.call(function* () {}()), Object.prototype.toString.call(new Map().entries()), Object.prototype.toString.call(Math), Object.prototype.toString.call(JSON), Object.prototype.toString.call(globalThis), Object.prototype.toString.call((function () { return arguments; })()), `${{ toString: () => "ts", valueOf: () => "vo" }}`, { toString: () => "ts", valueOf: () => "vo" } + ""]; };

// comparisons of dates, arrays and objects
const main = () => [new Date(1) < new Date(2), new Date(1) == 1, new Date(5) - new Date(2), [2] > 1, [1, 2] == "1,2", ["b"] > ["a"], {} == "[object Object]", null >= 0, undefined < 1, "2" > "12", 2 > "12", "a" < "B", "ä" > "z", [] < [1], NaN <= NaN, 1n == 1, 2n > 1, "1" == 1n, true > false, Symbol.iterator == Symbol.iterator, Infinity > 1e308, -0 < 0];

// sequences of template literals
const main = () => { const x = 5; return [`a${x}b${`c${x + 1}d${`e`}`}f`, `line1
line2`, `\``, `$`, `\${x}`, `${x}${x}`, `${[1, 2]}${{}}${null}${undefined}${() => 1}`, `\u{48}\x49\n`, `a\
b`, ((s, ...v) => [s.length, s.raw[0], v])`\n${1}${2}`]; };

// html like comments and odd spaces
const main = () => { let x = 1; <!-- a comment
x++;
--> another
x++; return [x, "a" . length, 1/**/+/* c */2, "\u2028".length, ((a,) => a)(3,), [1,,].length, {a:1,}.a]; };

// names from unicode and escapes
const main = () => { const été = 1, \u0061b = 2, $ = 3, _ = 4, 变量 = 5, ℮ = 6, o = { ключ: 7, "\u{1F600}": 8, if: 9, async: 10, get: 11 }; let of = 1, let_ = 2, async = 3, get = 4, set = 5, from = 6, target = 7; return [été + ab + $ + _ + 变量 + ℮, o.ключ, o["😀"], o.if, of + let_ + async + get + set + from + target]; };

// sloppy octals and reserved names
var yield_ = 1; var let = 2; var static = 3; var await = 4; var implements = 5;
const main = () => [let, static, await, implements, 010, "\1".length, "\8", 0o10];

// getters on the global object
Object.defineProperty(globalThis, "computed", { get: () => 42, configurable: true }); globalThis.plain = 1;
const main = () => [computed, plain, typeof computed, "computed" in globalThis, globalThis.computed, typeof neverDefined, (() => { try { neverDefined; } catch (e) { return e.name; } })(), typeof window, typeof require, typeof module, typeof process, typeof Buffer, typeof global, typeof self];

// changing built-ins affects this run alone
Array.prototype.last = function () { return this[this.length - 1]; }; String.prototype.shout = function () { return this.toUpperCase() + "!"; }; Object.defineProperty(Number.prototype, "double", { get() { return this * 2; } });
const main = () => [[1, 2].last(), "a".shout(), (4).double, (() => { const r = []; for (const k in []) r.push(k); return r; })()];

// the language uses replaced built-ins
const main = () => { const m = Map.prototype.set; let n = 0; Map.prototype.set = function (...a) { n++; return m.apply(this, a); }; new Map([[1, 2], [3, 4]]); Map.prototype.set = m; const it = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function* () { yield "x"; }; const r = [[...[1, 2]].length, (([a]) => a)([1, 2])]; Array.prototype[Symbol.iterator] = it; const j = Array.prototype.join; Array.prototype.join = () => "J"; const s = String([1, 2]); Array.prototype.join = j; return [n, r, s]; };
