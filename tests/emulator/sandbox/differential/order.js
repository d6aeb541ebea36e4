// getters are read in order by spreads, patterns and copies
const seen = []; const g = (o) => { for (const k of Object.keys(o)) { const x = o[k]; Object.defineProperty(o, k, { get() { seen.push("get " + k); return x; }, enumerable: true, configurable: true }); } return o; };
const main = () => { const { b, ...rest } = g({ a: 1, b: 2, c: 3 }); const s = { ...g({ x: 1, y: 2 }), x: 3 }; const as = Object.assign({}, g({ p: 1 }), g({ q: 2 })); const [e, f] = g([7, 8, 9]); JSON.stringify(g({ j: 1, k: g({ l: 2 }) })); Object.entries(g({ m: 1 })); Object.values(g({ n: 1 })); structuredClone(g({ sc: 1 })); Array.from(g({ 0: "z", length: 1 })); [].concat(g(["cc"])); g([3, 1, 2]).map((x) => x); Math.max(...g([1, 2])); String(g(["st"])); g([1, 2]).indexOf(2); g(["r"]).reverse(); Object.fromEntries([g(["k", "v"])]); new Map([g([1, 2])]); g([1, [2]]).flat(); for (const x of g([5])) seen.push(x); return [b, rest, s, as, e, f, seen.join(" ")]; };

// setters and definitions differ
const main = () => { const log = []; const p = { set x(v) { log.push("set" + v); }, get x() { return 1; } }; const o = Object.create(p); o.x = 1; const c = class { x = 2; constructor() { log.push(Object.keys(this)); } }; new c(); class D { set x(v) { log.push("D" + v); } } class F extends D { x = 3; } const f = new F(); log.push(Object.keys(f)); const lit = { __proto__: p, x: 4 }; log.push(lit.x); Object.assign(o, { x: 5 }); ({ ...o, x: 6 }); [o.x] = [7]; ({ a: o.x } = { a: 8 }); for (o.x of [9]); for (o.x in { ten: 1 }); o.x++; o.x += 1; o.x ??= 1; return log; };

// species of arrays, typed arrays, promises and regexes
const main = async () => { const log = []; class A extends Array { static get [Symbol.species]() { log.push("A"); return super[Symbol.species]; } } const a = A.from([3, 1, 2]); const kinds = [a.map((x) => x), a.filter(Boolean), a.slice(1), a.concat([1]), a.splice(0, 1), a.flat(), a.flatMap((x) => x), a.toSorted(), a.with(0, 1)].map((x) => x.constructor.name); class U extends Uint8Array { static get [Symbol.species]() { log.push("U"); return Uint16Array; } } const u = new U([1, 2, 3]); kinds.push(u.map((x) => x).constructor.name, u.filter(() => true).constructor.name, u.subarray(0, 2 - 2).constructor?.name ?? "", u.slice(1).constructor.name); class P extends Promise { static get [Symbol.species]() { log.push("P"); return Promise; } } const p = P.resolve(1); kinds.push(p.then(() => 1).constructor.name, p.finally(() => 1).constructor.name, p.catch(() => 1).constructor.name); class R extends RegExp { static get [Symbol.species]() { log.push("R"); return RegExp; } } kinds.push("a-b".split(new R("-")).length, [..."aa".matchAll(new R("a", "g"))].length); class B extends ArrayBuffer { static get [Symbol.species]() { log.push("B"); return ArrayBuffer; } } kinds.push(new B(4).slice(1).byteLength); await p; return [kinds, log.join("")]; };

// members that Map, Set and Promise read
const main = async () => { const log = []; const m = { Map: Map.prototype.set, Set: Set.prototype.add }; class M extends Map { set(k, v) { log.push("set" + k); return super.set(k, v); } } class S extends Set { add(x) { log.push("add" + x); return super.add(x); } } new M([[1, 2]]); new S("ab"); class P extends Promise { static resolve(x) { log.push("resolve"); return super.resolve(x); } then(...a) { log.push("then"); return super.then(...a); } } await P.all([1, 2]); await P.race([1]); await P.allSettled([P.reject(1)]); await P.any([1]); P.resolve(P.resolve(1)); return log; };

// iterators that are not closed and those that are
const main = () => { const log = []; const it = (n, o = {}) => ({ [Symbol.iterator]() { let i = 0; return { next() { log.push(n + i); return { value: i, done: i++ > 2 }; }, return() { log.push(n + "R"); return {}; }, ...o }; } }); const [] = it("a"); const [b1] = it("b"); const [...c] = it("c"); const [d1, d2, d3, d4, d5] = it("d"); Array.from(it("e")); new Set(it("f")); Math.max(...it("g")); for (const x of it("h")) { if (x) break; } l: for (const x of it("i")) for (const y of it("j")) continue l; const f = function* () { yield* it("k"); }; for (const x of f()) break; Object.fromEntries((function* () { for (const x of it("l")) yield [x, x]; })()); const { length } = [...it("m")]; try { for (const x of it("n")) throw 0; } catch {} (() => { for (const x of it("o")) return; })(); [...it("p")].entries(); it("q")[Symbol.iterator]().next(); new Map((function* () { for (const x of it("r")) yield [x]; })()); return log.join(" "); };

// lastIndex and flags are read by regex methods
const main = () => { const log = []; const r = /a/g; Object.defineProperty(r, "flags", { get() { log.push("flags"); return "g"; } }); r.exec = function (s) { log.push("exec" + this.lastIndex); return RegExp.prototype.exec.call(this, s); }; const out = ["aba".replace(r, "x"), "aba".match(r), [..."aba".matchAll(r)].length, "aba".split(r), "aba".search(r), r.test("a")]; return [out, log.join(" ")]; };

// toJSON, keys and the order of serialising
const main = () => { const log = []; const o = { b: { toJSON(k) { log.push("toJSON " + k); return { v: 1 }; } }, get a() { log.push("get a"); return [1]; }, 1: "one" }; const t = JSON.stringify(o, function (k, v) { log.push("rep " + k); return v; }, 1); const back = JSON.parse(t, function (k, v) { log.push("rev " + k); if (k === "a") delete this.b; return v; }); return [t, back, log.join(",")]; };

// order of keys after deletions and many additions
const main = () => { const o = {}; for (let i = 0; i < 60; i++) o["k" + ((i * 37) % 60)] = i; for (let i = 0; i < 60; i += 3) delete o["k" + i]; for (let i = 0; i < 60; i += 6) o["k" + i] = "again"; o[5] = 1; o[3] = 1; o[4294967295] = 1; o[-5] = 1; const a = []; a[100] = 1; a[5] = 2; a.z = 1; a["3"] = 3; return [Object.keys(o).join(), Object.keys(a), (() => { const r = []; for (const k in o) r.push(k); return r.length; })()]; };

// sparse lists are sorted, joined and reversed
const main = () => { const a = []; a[30] = "c"; a[10] = "a"; a[20] = undefined; const r = [Object.keys([...a].sort()), Object.keys(a.slice(5, 25)), a.join("").length, Object.keys(a.slice().reverse()), a.indexOf(undefined), a.findIndex((x) => x === undefined)]; a.sort(); r.push(Object.keys(a)); delete a[0]; r.push(0 in a, a.flat().length, Object.keys(a.concat([, 1])), a.copyWithin(0, 1, 3).length, Object.keys(a), a.reduceRight((n) => n + 1, 0), a.shift(), a.unshift("u"), Object.keys(a), a.lastIndexOf("c")); return r; };

// unpaired surrogates are preserved
const main = ({ text }) => { const hi = "\ud83d", lo = "\ude00"; const o = { [hi]: lo }; return [hi + lo, (hi + lo).length, [hi, lo].join(""), JSON.stringify(hi), o, Object.keys(o)[0].charCodeAt(0), hi.codePointAt(0), `${hi}${lo}` === "😀", (hi + lo).split(""), [...(lo + hi)].length, hi < lo, new Map([[hi, 1]]).get("\ud83d"), text.normalize("NFD").length, "\ud83d".toLowerCase() === hi, encodeURIComponent(hi + lo), "a\ud83d".padEnd(4, lo).length, ("x" + hi).at(-1) === hi, /\ud83d/.test(hi + lo), /\ud83d/u.test(hi + lo), (hi + lo).replace(/[\ude00]/g, "_").length]; };

// labels, finally and loops at once
const main = () => { const log = []; outer: for (let i = 0; i < 4; i++) { try { inner: for (let j = 0; ; j++) { try { if (j === 1) continue outer; if (i === 2) break inner; if (i === 3) break outer; log.push(`${i}${j}`); } finally { log.push("f"); if (i === 1 && j === 0) break inner; } } log.push("after" + i); } finally { log.push("F" + i); } } const f = () => { while (true) { try { return "r"; } finally { log.push("w"); break; } } return "out"; }; const h = () => { try { throw 1; } catch (e) { try { throw e + 1; } finally { log.push("ff"); } } finally { log.push("fff"); } }; try { h(); } catch (e) { log.push(e); } return [f(), log]; };

// closures in class fields and computed keys
const main = () => { const log = []; const k = (n) => (log.push(n), n); let i = 0; const C = class { [k("a")] = k("A"); static [k("b")] = k("B"); [k("c")]() {} static { k("S"); } get [k("d")]() { return i++; } f = () => this.a; static g = () => this.b; h = this.f(); arr = [this.h, new.target === undefined]; }; const c = new C(); return [log, c.h, C.g(), c.f.call(null), c.arr, c.d, c.d, Object.keys(c), Object.keys(C)]; };

// eval order of assignments and calls
const main = () => { const log = []; const t = (n, v) => (log.push(n), v); const o = { f(...a) { return a; } }; const a = []; t("obj", a)[t("key", 0)] = t("val", 1); t("o", o)[t("m", "f")](t("1", 1), ...t("2", [2]), t("3", 3)); try { t("nul", null)[t("k2", "x")] = t("v2", 1); } catch (e) { log.push(e.name); } let x = 1; x += (x = 5, 10); let y = [1, 2, 3], i = 0; y[i++] = y[i++] + i++; const z = { a: x = 2, b: x, [x]: x++ }; const w = (x = 9, x) + x; return [log, x, y, z, w, i]; };

// numbers as keys and keys as text
const main = () => { const o = { 1e3: "a", .5: "b", 0x10: "c", 1n: "d", "-0": "e", 1e21: "f", [-0]: "g", [1e-7]: "h", [NaN]: "i", [null]: "j", [[1, 2]]: "k", [() => 1]: "l" }; return [Object.keys(o), o[1000], o["0.5"], o[16], o[1], o[0], o["1e-7"], o[[1, 2]]]; };

// source texts of functions of every kind
const main = () => { class K { static s = 1; m( a,b ) { return a; } get  g() { return 1; } static async *x() {} #p() {} static get p() { return new K().#p; } } const o = { m() { /* c */ }, async a() {}, *g() {}, get x() { return 1; }, ["comp" + 1]() {}, arrow: (a,b) =>  a+b, f: function  named ( ) { } }; return [K.toString(), K.prototype.m.toString(), Object.getOwnPropertyDescriptor(K.prototype, "g").get.toString(), K.x.toString(), String(K.p), ...Object.values(Object.getOwnPropertyDescriptors(o)).map((d) => String(d.value ?? d.get)), String(function () {}), String(async () => {}), `${main}`.slice(0, 20), String((0, o.m).bind()), Object.keys.toString(), (class {}).toString(), String(class extends K { }), String({ ...{ f() { return { ...o }; } } }.f)]; };

// an error after spreads has its own column
const main = () => { const a = { ...{ x: 1 } }; const b = { ...a, ...{ y: 2 } }; throw new Error(JSON.stringify(b)); };

// getters that throw are passed on
const main = () => { const bad = { get x() { throw new RangeError("getter"); } }; const r = []; for (const f of [() => bad.x, () => ({ ...bad }), () => { const { x } = bad; return x; }, () => Object.assign({}, bad), () => JSON.stringify(bad), () => Object.entries(bad), () => `${{ toString: () => bad.x }}`, () => [bad].map(({ x }) => x), () => structuredClone(bad)]) { try { r.push(f()); } catch (e) { r.push(e.message); } } return r; };

// deep and wide data goes in and out
const main = ({ list }) => { let deep = 1; for (let i = 0; i < 60; i++) deep = i % 2 ? [deep] : { d: deep }; const wide = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, { i, s: "x".repeat(i % 7), b: i % 2 === 0, n: i % 5 ? i / 3 : null }])); return { deep, wide, list, copy: JSON.parse(JSON.stringify(wide)).k299 }; };

// a promise that never settles but main returns
const main = async () => { new Promise(() => {}); const t = setInterval(() => {}, 10); setTimeout(() => { console.log("late"); clearInterval(t); }, 50); console.log("now"); return "done"; };

// no value is returned
const main = async () => { console.log("only this"); };

// many promises settle in order
const main = async () => { const log = []; await Promise.all(Array.from({ length: 30 }, async (_, i) => { for (let k = 0; k < i % 4; k++) await null; log.push(i); })); const chain = Array.from({ length: 20 }, (_, i) => i).reduce((p, i) => p.then((a) => [...a, i]), Promise.resolve([])); return [log, (await chain).length, await Array.from({ length: 5 }).reduce(async (a, _, i) => (await a) + i, 0)]; };

// async stacks of iterators: yield star and delegates
const main = async () => { const log = []; async function* a() { try { const x = yield "a1"; log.push(x); yield* b(); } finally { log.push("a end"); } } async function* b() { try { yield "b1"; yield "b2"; } finally { log.push("b end"); } } const it = a(); log.push((await it.next()).value, (await it.next("sent")).value, await it.return("stop"), await it.next()); const pend = a(); log.push(await Promise.all([pend.next(), pend.next(1), pend.next(), pend.next(), pend.next()])); const sync = (function* () { yield Promise.resolve("p"); yield 2; })(); for await (const x of sync) log.push(x); return log; };

// reduce with functions of ethers
const main = () => { const { BigNumber, utils, constants } = ethers; const amounts = ["1.5", "0.000000000000000001", "1000000"].map((x) => utils.parseEther(x)); const total = amounts.reduce((a, b) => a.add(b), constants.Zero); const shares = amounts.map((a) => a.mul(10000).div(total).toNumber()); const max = amounts.reduce((a, b) => (a.gt(b) ? a : b)); return [utils.formatEther(total), shares, max.toHexString(), amounts.map(String), [...amounts].sort((a, b) => (a.lt(b) ? -1 : 1)).map((a) => utils.formatUnits(a, "gwei")), BigNumber.from(total).mod(7).toString(), total.isNegative(), JSON.stringify({ total }), utils.hexZeroPad(total.toHexString(), 32), constants.WeiPerEther.eq(BigNumber.from(10).pow(18))]; };

// a proposal is encoded, hashed and signed
const main = async () => { const abi = ["function propose(address[] targets, uint256[] values, bytes[] calldatas, string description) returns (uint256)", "function transfer(address,uint256)"]; const i = new ethers.utils.Interface(abi); const call = i.encodeFunctionData("transfer", ["0x" + "aa".repeat(20), 5]); const args = [["0x" + "bb".repeat(20)], [0], [call], "# Title\nBody — ü"]; const data = i.encodeFunctionData("propose", args); const id = ethers.BigNumber.from(ethers.utils.keccak256(ethers.utils.defaultAbiCoder.encode(["address[]", "uint256[]", "bytes[]", "bytes32"], [...args.slice(0, 3), ethers.utils.id(args[3])]))); const d = i.decodeFunctionData("propose", data); return [data.length, id.toString(), d.description, d.targets, d.calldatas[0] === call, Object.keys(d), i.getFunction("propose").format(), ethers.utils.hexDataSlice(data, 0, 4)]; };

// a contract's calls fail without a provider
const main = async () => { const c = new ethers.Contract("0x" + "66".repeat(20), ["function balanceOf(address) view returns (uint256)", "event E(uint256 indexed x)"]); const r = []; for (const f of [() => c.balanceOf("0x" + "77".repeat(20)), () => c.balanceOf(), () => c.queryFilter(c.filters.E(1)), () => c.populateTransaction.balanceOf("bad")]) { try { r.push(await f()); } catch (e) { r.push([e.code, e.reason, e.message.slice(0, 120)]); } } return [r, c.filters.E(5), c.interface.getEventTopic("E")]; };

// typed data that is wrong is refused
const main = async () => { const w = new ethers.Wallet("0x" + "22".repeat(32)); const r = []; for (const [t, m] of [[{ A: [{ name: "x", type: "uint8" }] }, { x: 256 }], [{ A: [{ name: "x", type: "B" }] }, { x: 1 }], [{ A: [{ name: "x", type: "address" }] }, { x: "0x12" }], [{ A: [{ name: "x", type: "bytes32" }] }, { x: "0x" }], [{ A: [{ name: "x", type: "A" }] }, {}], [{ A: [{ name: "x", type: "bool[2]" }] }, { x: [true] }], [{}, {}]]) { try { r.push(await w._signTypedData({}, t, m)); } catch (e) { r.push([e.code, e.reason, e.argument]); } } return r; };

// an object with its own conversion is a key
const log = []; const key = { toString() { log.push("key"); return "k"; } };
const main = () => { const o = { [key]: log.push("value") }; o[key] += 1; return [o, log]; };

// a key whose conversion throws
const main = () => { const seen = []; const bad = { toString() { throw new Error("key"); } }; try { ({ [bad]: seen.push("value") }); } catch (e) { seen.push(e.message); } return seen; };

// plain conversions of keys
class Id { constructor(n) { this.n = n; } toString() { return `id-${this.n}`; } }
const main = () => { const o = { [new Id(1)]: "one" }; o[new Id(2)] = "two"; return [o, o[new Id(1)], new Id(1) in o, delete o[new Id(2)], Object.keys(o)]; };

// an object is a key beside a value that changes it
const main = () => { const list = []; const o = { [list]: list.push("x"), [list]: list.push("y") }; o[list] = list.push("z"); return [Object.keys(o), o]; };

// keys beside values that are evaluated
const main = () => { let k = "foo"; const sign = Symbol("s"); const o = { b: {}, [k]: (k = "bar", k.trim()), [k]: k.at(0), [sign]: k.trim(), [(1, k) /* ] */ ]: k.at(1), [null]: [k].pop(), [k]: { [k]: k = [k].join() } }; o /* [ */ [ (k) // ]
  ] = k.trim(); o.b[k] = o[k + 1] = k.at(0); o[k] += k.at(0); o["z"] ??= k.at(0); o.b[`${k}`] = { [k]: k.at(0), [Symbol.iterator]: k.at(0) }; o[[1, 2][0]] = [k].length; [o[k], o.u] = [k.at(0), 2]; const { [k]: left = k.at(0) } = o; function f() { return { [k]: f.name.at(0) }; } return [Object.keys(o), Object.values(o), o[sign], left, k, String(f), f(), String(main).length]; };

// a conversion of a key throws at its position
const main = () => { const seen = []; const k = { toString() { throw new Error("no key"); } }; try { ({ a: seen.push(1), [k]: seen.push(2) }); } catch (e) { seen.push(e.message); } return seen; };

// another prototype while the arguments of super are evaluated
const main = () => { class A { constructor(x) { this.a = x; } } class B { constructor(x) { this.b = x; } } class C extends A { constructor() { super(Object.setPrototypeOf(C, B) === C); } } return Object.keys(new C()); };

// an error with a separate prototype
const main = () => { class Refused extends Error { constructor(text) { super(String(text)); Object.setPrototypeOf(this, Refused.prototype); } } const e = new Refused(7); return [e.message, e instanceof Refused]; };

// a variable named arguments
function f(g = () => arguments) { let x = 1, arguments = 2; return [x, arguments, g().length]; }
const main = () => f();
