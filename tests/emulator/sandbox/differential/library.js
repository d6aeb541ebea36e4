// regex: named groups, lookbehind and indices
const main = () => { const m = "2024-03-15 and 1999-12-31".match(/(?<y>\d{4})-(?<m>\d\d)-(?<d>\d\d)/d); return [m.groups.y, { ...m.groups }, m.indices.groups.d, m.indices[0], "price $42 €7".match(/(?<=\$)\d+/)[0], "ab12cd".replace(/(?<!a)b?(\d+)/, "<$1>"), "x-y".replace(/(?<l>\w)-(?<r>\w)/, "$<r>-$<l>"), [..."a1b22".matchAll(/(?<c>[a-z])(?<n>\d+)/g)].map((x) => [x.index, x.groups.n]), m.index, m.input, Object.keys(m), m.length, Array.isArray(m)]; };

// regex: sticky, unicode and sets
const main = () => { const s = /foo/y; s.lastIndex = 3; const r = [s.test("barfoo"), s.lastIndex, s.test("barfoo"), s.lastIndex]; return [r, "😀a".match(/./gu).length, "😀".match(/./g).length, /^\p{Lu}\p{L}*$/u.test("Éa"), /\p{Script=Greek}/u.test("λ"), /[\p{L}--[a-z]]/v.test("a"), /[[a-z]&&[aeiou]]/v.test("e"), /^\p{RGI_Emoji}$/v.test("👨‍👩‍👧"), /\u{1F600}/u.test("😀"), "ſ".match(/s/iu) !== null, "K".match(/k/i) !== null, "İ".match(/i/iu), /[^\W]/iu.test("ſ"), /\bfoo\b/.test("a foo b"), "aBC".replace(/b/i, (x, i, w) => `${x}${i}${w}`)]; };

// regex: flags, source and members
const main = () => { const r = /a\/b[/]\n/dgimsuy; return [r.source, r.flags, String(r), new RegExp("/").source, new RegExp("").source, RegExp("\n").source, r.global, r.hasIndices, RegExp.prototype.flags, RegExp.prototype.source, String(RegExp.prototype), /x/g.lastIndex, Object.getOwnPropertyNames(/x/), new RegExp(/ab/g, "i").flags, RegExp(r) === r, r instanceof RegExp, /(?:)/.test("")]; };

// regex: split and replace in odd ways
const main = () => ["a1b2c".split(/\d/), "a1b2c".split(/(\d)/), "abc".split(""), "".split(""), "".split(/,/), "a,b,c".split(",", 2), "abc".split(/(?:)/u), "aXbxc".split(/x/i), "test".replace("t", "$&$`$'$$"), "abc".replace(/(b)(z)?/, "[$1][$2][$3][$01]"), "aaa".replaceAll("a", (m, i) => i), "x.y.z".replaceAll(".", "-"), "abcabc".replace(/b/g, "$`|$'"), "aaa".lastIndexOf("a", 1), "a-b-c".split("-", -1), "ab".split(/(?=b)/), "one  two".split(/\s+/), "A<B>bold</B>and<CODE>coded</CODE>".split(/<(\/)?([^<>]+)>/)];

// regex: back references, greed and alternatives
const main = () => ["aa bb cd".match(/(\w)\1/g), "<b>x</b><i>".match(/<(\w+)>.*?<\/\1>/)[0], "aaa".match(/a{2}?/)[0], "abcd".match(/(a|ab)(c|bcd)(d*)/), "zaacbbbcac".match(/(z)((a+)?(b+)?(c))*/), "baaac".match(/(?=(a+))a*b\1/), "abab".match(/(?:(a)|b)*/), /(?<a>.)(?<b>.)\k<a>/.test("xyx"), "\n\r\u2028x".match(/^x$/m) !== null, "a\nb".match(/a.b/s) !== null, /[\b]/.test("\b"), /\cJ/.test("\n"), /[\d-x]/.test("-"), /a{,5}/.test("a{,5}"), /\8/.test("8"), /^[^]$/.test("\n"), "x".match(/(?:)/).index, /(?:a*)*$/.test("aaaa")];

// duplicate names and modifiers in regexes
const main = () => [/(?:(?<x>a)|(?<x>b))/.exec("b").groups.x, /(?i:A)b/.test("ab"), /(?i:A)b/.test("aB"), /(?-i:a)B/i.test("Ab"), RegExp.escape("a.b*c-d 1"), RegExp.escape("1x\n")];

// dates from texts of many forms
const main = () => ["2024-02-30", "2024-02-29T24:00:00Z", "2024", "2024-01", "2024-01-01T00:00", "2024-01-01 00:00", "Jan 5, 2024", "5 January 2024 10:00 PST", "Tue, 05 Mar 2024 10:00:00 GMT", "2024/3/5", "3/5/2024", "3-5-24", "12:00", "2024-01-01T00:00:00+05:30", "2024-01-01T00:00:00.123456Z", "+012024-01-01T00:00:00Z", "-000001-01-01T00:00:00Z", "Thu Jan 01 1970 00:00:00 GMT+0200 (CEST)", "1 2 3", "2024-1-1", "20240101", "", "now", "2024-01-01T25:00:00Z", "Jan 32 2024", "2024-W01", "1e3", "0", "99", "2024-06-15T12:00:00 Z", "Sat, 30 Feb 2024"].map((t) => [Date.parse(t), String(new Date(t))]);

// dates: parts, overflow and setters
const main = () => { const d = new Date(Date.UTC(2024, 0, 31, 23, 59, 59, 999)); const r = []; d.setUTCMonth(1); r.push(d.toISOString()); d.setDate(0); r.push(+d); d.setHours(25, 61, 61, 1001); r.push(d.toJSON()); r.push(d.setFullYear(2023, 14, -5), d.setMilliseconds(-1), d.setTime(NaN), d.getDay(), d.setYear(99), String(d)); r.push(new Date(99, 0).getFullYear(), new Date(2024, 0, 1, 0, 0, 0, 0.9).getTime(), new Date(8.64e15).toISOString(), new Date(8.64e15 + 1).getTime(), new Date(-1).toISOString(), Date.UTC(99), Date.UTC(2024), Date.UTC(NaN), Date.length, Date.UTC.length, new Date(2024, 1, 29).getTimezoneOffset(), new Date(-62198755200000).toUTCString(), new Date(0).getYear(), new Date(253402300800000).toISOString(), typeof Date(), new Date(true).getTime(), new Date(null).getTime(), new Date("5").getTime(), new Date(undefined).getTime()); return r; };

// numbers: to text in every form
const main = () => [0.1 + 0.2, 1e21, 1e-7, 123456789012345680000, 5e-324, 1.7976931348623157e308, 0.000001, -1e-7, 100, 1e5, 2 ** 53, 2 ** 53 + 2, 4.35, 1.005, 0.5, 1.45, 8.345, 1e20, 123.456, 1 / 3].flatMap((x) => [String(x), x.toFixed(2), x.toPrecision(3), x.toExponential(), x.toExponential(3), x.toString(2).slice(0, 80), x.toString(36), x.toFixed(0), JSON.stringify(x), `${[x]}`, x.toPrecision(21), x.toFixed(20)]);

// numbers: from text
const main = () => ["12px", "0x1g", "0b102", "0o78", ".5.", "-.5e-3x", "1e1000", "-0", "  42  ", "1_000", "", "Infinityx", "+5", "0x", "1e", "٣", "\u00a07\ufeff", "12e-2abc", "9007199254740993", "0.1e-400", "1.7976931348623159e308"].map((t) => [parseFloat(t), parseInt(t), Number(t), parseInt(t, 16), parseInt(t, 2)].map((x) => (Object.is(x, -0) ? "-0" : String(x)))).concat([[parseInt("z", 36), parseInt("10", 37), parseInt("10", 1), parseInt(null, 36), parseInt(0.0000005), parseInt("123", 0), Number([5]), Number(["1", 2]), Number({}), Number(new Date(5)), Number(false), Number(12n)].map(String)]);

// math at its edges
const main = () => [Math.round(-0.5), Math.round(2.5), Math.round(-2.5), Math.round(0.49999999999999994), Math.max(), Math.min(), Math.max(NaN, 1), Math.max(-0, 0), Math.hypot(3, 4), Math.hypot(), Math.sign(-0), Math.trunc(-0.9), Math.cbrt(27), Math.fround(5.5), Math.fround(5.05), Math.clz32(1), Math.imul(0xffffffff, 5), Math.log10(1000), Math.log2(8), Math.log1p(1e-10), Math.expm1(1e-10), Math.atan2(-0, -0), Math.pow(NaN, 0), Math.pow(1, Infinity), (-8) ** (1 / 3), Math.sqrt(-1), Math.abs(-0), Math.sinh(1), Math.tan(1.5707963267948966), Math.pow(2, 0.5), 10 ** -5, 10 ** 308, 2 ** -1074, Math.exp(1), Math.E ** 2, Math.sin(1e15), Math.cos(0.1), Math.f16round?.(1.337), 1.1 ** 10, 0.1 ** 10].map((x) => (Object.is(x, -0) ? "-0" : x));

// strings: normalisation, well formed and case
const main = () => ["é".normalize("NFD").length, "ﬁ".normalize("NFKC"), "Å".normalize("NFC").codePointAt(0), "q\u0307\u0323".normalize("NFC").length, "a\ud800b".isWellFormed(), "a\ud800b".toWellFormed(), "ß".toUpperCase(), "İ".toLowerCase().length, "ΑΣ".toLowerCase(), "ΑΣ Β".toLowerCase(), "ŉ".toUpperCase(), "ǆ".toUpperCase(), "ﬃ".toUpperCase(), "𐐀".toLowerCase(), "Ω".toLowerCase(), "\u1E9E".toLowerCase(), "Ǆ".toLowerCase(), "ᏸ".toUpperCase(), "ꭰ".toUpperCase(), "\u0345".toUpperCase(), "한글".normalize("NFD").length];

// json: parsing and revivers
const main = () => { const seen = []; const v = JSON.parse('{"a":[1,{"b":2}],"__proto__":{"x":1},"1":true,"a2":1e3,"s":"\\u00e9\\n"}', function (k, x) { seen.push([k, typeof x, this === undefined]); return k === "b" ? undefined : Array.isArray(x) ? x.concat("added") : x; }); return [v, seen, Object.keys(v), Object.getPrototypeOf(v) === Object.prototype, JSON.parse(" [1 , 2 ] "), JSON.parse("-0"), JSON.parse('"\\ud83d\\ude00"'), JSON.parse('{"a":1,"a":2}'), JSON.parse("1E-2")]; };

// json: the source text that a reviver receives
const main = () => { const seen = []; JSON.parse('{"big":12345678901234567890,"x":[1.0,"s"]}', (k, v, c) => { seen.push([k, c?.source]); return v; }); return seen; };

// json: raw values
const main = () => [typeof JSON.rawJSON, typeof JSON.isRawJSON, JSON.stringify({ n: JSON.rawJSON("12345678901234567890") })];

// json: writing with replacers and spaces
const main = () => { class T { toJSON(k) { return `T(${k})`; } } const o = { t: new T(), u: undefined, f() {}, s: Symbol(), n: NaN, i: -Infinity, z: -0, d: new Date(0), b: Object(true), st: Object("s"), nn: Object(3), nul: null, arr: [undefined, () => 1, Symbol()], nest: { k: { l: 1 } }, "ключ\u2028": "\u2029\ud800\x07\"\\/" }; return [JSON.stringify(o), JSON.stringify(o, ["nest", "k", "l", 1, "n"], 2), JSON.stringify(o, (k, v) => (typeof v === "number" ? v + 1 : v), "--"), JSON.stringify([[]], null, 20), JSON.stringify({}, null, 2), JSON.stringify([], null, "\t"), JSON.stringify(undefined), JSON.stringify(() => 1), JSON.stringify("x", null, 4), JSON.stringify({ a: [1, { b: 2 }] }, null, "12345678901234"), JSON.stringify(new Map([[1, 2]])), JSON.stringify(Object.create({ inh: 1 })), JSON.stringify({ [Symbol("x")]: 1, y: 2 })]; };

// maps and sets in order while they change
const main = () => { const m = new Map([[NaN, 1], [0, "z"], ["a", 2]]); m.set(-0, "neg"); const r = [m.get(0), m.has(NaN), [...m.keys()].map((k) => Object.is(k, -0))]; const s = new Set([1, 2, 3]); const seen = []; for (const x of s) { seen.push(x); if (x === 1) { s.delete(2); s.add(4); } if (x === 4 && seen.length < 8) { s.delete(1); s.add(1); } } const it = m.entries(); it.next(); m.clear(); m.set("new", 1); r.push(it.next(), it.next()); m.forEach((v, k, t) => r.push([v, k, t === m])); return [r, seen, new Map(Object.entries({ q: 1 })).size, new Set("hello").size, Object.fromEntries(new Map([["k", [1]]])), [...new Set([1, "1", 1n])].map(String), m[Symbol.toStringTag], new WeakMap().set(m, 5).get(m), new WeakSet([m]).has(m), m.getOrInsert ? "has" : "no"]; };

// array from async
const main = async () => { async function* g() { yield 1; yield Promise.resolve(2); } const log = []; const order = []; const p = Array.fromAsync([Promise.resolve("a"), "b"], async (x, i) => x + i).then((r) => { order.push("from"); return r; }); Promise.resolve().then(() => order.push(1)).then(() => order.push(2)).then(() => order.push(3)); return [await Array.fromAsync(g()), await p, await Array.fromAsync({ length: 2, 0: Promise.resolve(5) }), await Array.fromAsync(g(), (x) => x * 2), await Array.fromAsync([Promise.reject(new Error("no"))]).catch((e) => e.message), order]; };

// typed arrays of all kinds
const main = () => { const u = new Uint8Array([1, 2, 300, -1, 1.9, NaN]); const c = new Uint8ClampedArray([-5, 300, 1.5, 2.5, NaN]); const f = new Float32Array([1.1, 1e40]); const b = new BigInt64Array([1n, -1n]); const dv = new DataView(new ArrayBuffer(16)); dv.setFloat64(0, Math.PI); dv.setInt16(8, -2, true); dv.setBigUint64(8, 2n ** 64n - 1n); return [[...u], [...c], [...f], b.map((x) => x * 2n).join(), dv.getUint8(1), dv.getInt16(8, true), dv.getFloat32(0), u.subarray(1, 3).byteOffset, u.slice(-2).join(), u.with(0, 9).join(), u.toReversed().join(), u.toSorted((a, b) => b - a).join(), u.at(-1), u.findLast((x) => x > 1), u.set([7, 8], 2), u.join(), u.fill(4, 1, 2).includes(4), Uint8Array.from("123").join(), Uint8Array.of(1, 2).length, new Uint16Array(u.buffer).length, u.BYTES_PER_ELEMENT, Object.prototype.toString.call(u), u.indexOf(7), u.copyWithin(0, 3).join(), new Float64Array(3).fill(0.1).reduce((a, x) => a + x), u.entries().next().value, u.constructor.name, JSON.stringify(u), Object.keys(u), u.toString(), new Int8Array(new Set([1, 200])).join(), u.lastIndexOf(8), new Uint32Array(2).length, -1 in u, "0" in u, u[10], (u[10] = 1, u.length), ArrayBuffer.isView(dv), u.buffer.byteLength, new Float16Array([1.337])[0]]; };

// base64 and hex of typed arrays
const main = () => [typeof Uint8Array.fromBase64, typeof Uint8Array.prototype.toHex, new Uint8Array([1, 255]).toHex?.(), Uint8Array.fromBase64?.("AQID").join()];

// urls of odd kinds
const main = () => { const f = (u, b) => { try { const x = new URL(u, b); return [x.href, x.origin, x.host, x.pathname, x.search, x.hash]; } catch (e) { return [e.name, e.message]; } }; return [f("HTTP://EXAMPLE.com:80/a/../b/./c?x=1 2#f g"), f("//x/y", "https://b"), f("?q", "https://b/p?old#h"), f("http://ex ample"), f("https://user:p%40ss@h:8443/"), f("http://münchen.de/ü?ü"), f("http://[::1]:3000"), f("http://0x7f.1/"), f("http://256.1.1.1"), f("data:text/plain,hi"), f("mailto:a@b"), f("javascript:1"), f("file:///C|/x"), f("blob:https://a/b"), f("ipfs://Qm/x"), f(""), f("https://a/%2e%2e/b"), f("https://a\\b"), f("http://a.b./"), f("http://xn--/"), f(" \thttp://t.co\n/x "), f("http://h:99999"), f("ws://h/x"), f("https://a/?a=b&a=c#")]; };

// search params in and out
const main = () => { const p = new URLSearchParams("?a=1&b=2&a=3&c=%20+x&&d&=e"); const r = [p.getAll("a"), p.get("c"), p.has("d", ""), String(p), p.size]; p.append("z", "é&="); p.delete("a", "1"); p.sort(); r.push(String(p), [...p], [...p.keys()], Object.fromEntries(p)); const u = new URL("https://h/?x=1"); u.searchParams.set("x", "2 3"); u.searchParams.append("y", "/"); r.push(u.href); u.search = "?n=1"; r.push(u.searchParams.get("n"), [...u.searchParams]); u.hash = "ä"; u.port = "99"; u.protocol = "http"; u.hostname = "o"; u.username = "me"; r.push(u.href, JSON.stringify({ u }), u + "", URL.canParse("x"), URL.parse("y"), new URLSearchParams({ a: 1, b: [1, 2] }).toString(), new URLSearchParams([["k", "v"]]).get("k"), p.forEach((v, k) => r.push(k + v))); return r; };

// structured clone of many things
const main = () => { const o = { d: new Date(5), r: /x/gi, m: new Map([[{ k: 1 }, new Set([1])]]), a: [1, , 3], n: null, u: undefined, b: 5n, t: new Uint8Array([1, 2]), buf: new ArrayBuffer(2), bo: Object(true), s: Object("str") }; o.self = o; o.a.extra = 1; class K { x = 1; get y() { return 2; } } const c = structuredClone(o); const k = structuredClone(new K()); return [c.self === c, c.d.getTime(), String(c.r), [...c.m][0][0].k, c.a.length, 1 in c.a, c.a.extra, "u" in c, c.b, c.t.join(), c.buf.byteLength, c.bo instanceof Boolean, c.s + "", Object.keys(k), k instanceof K, c.t.buffer === o.t.buffer, structuredClone("x"), structuredClone(NaN)].map((x) => (typeof x === "bigint" ? `${x}` : x)); };

// events, targets and abort signals
const main = async () => { const log = []; const t = new EventTarget(); t.addEventListener("x", (e) => { log.push(e.type, e.detail, e.defaultPrevented, e.cancelable); e.preventDefault(); }, { once: true }); const d = t.dispatchEvent(new CustomEvent("x", { detail: { a: 1 }, cancelable: true })); t.dispatchEvent(new Event("x")); const c = new AbortController(); c.signal.addEventListener("abort", () => log.push("aborted")); c.signal.onabort = () => log.push("on"); c.abort("why"); c.abort("again"); log.push(d, c.signal.aborted, c.signal.reason); try { c.signal.throwIfAborted(); } catch (e) { log.push(e); } const a = AbortSignal.abort(); log.push(a.reason.name, a.reason.message, a.reason.code); const any = AbortSignal.any([c.signal]); log.push(any.aborted, any.reason); const to = AbortSignal.timeout(2); await new Promise((r) => to.addEventListener("abort", r)); log.push(to.reason.name); return log; };

// reflect
const main = () => { const o = { a: 1, get b() { return this.c; } }; return [Reflect.get(o, "b", { c: 5 }), Reflect.set(Object.freeze({}), "x", 1), Reflect.has(o, "a"), Reflect.ownKeys({ z: 1, 1: 1, [Symbol.iterator]: 1 }).map(String), Reflect.apply(Math.max, null, [1, 3]), Reflect.construct(Date, [0]).getTime(), Reflect.defineProperty(o, "q", { value: 1 }), o.q, Reflect.deleteProperty(o, "q"), Reflect.getPrototypeOf([]) === Array.prototype, Reflect.isExtensible(Object.preventExtensions({})), Reflect[Symbol.toStringTag], Reflect.set({}, "k", 1, 5), Reflect.getOwnPropertyDescriptor(o, "a")]; };

// functions: call, apply, bind and arguments
const main = () => { function f(a, b = 2, ...c) { return [this?.x, a, b, c, new.target === undefined]; } const g = f.bind({ x: 1 }, 10); const h = g.bind({ x: 2 }, 20); return [g(), h(30), f.call({ x: 3 }, 1), f.apply({ x: 4 }, { length: 2, 0: "p" }), g.length, h.name, f.length, (function () { return arguments.length + "," + typeof arguments + Object.prototype.toString.call(arguments); })(1, 2), (() => { try { null.f(); } catch (e) { return e.name; } })(), f.toString().length, (class { static m() {} }).m.toString(), (async (x) => x).toString(), Math.max.toString(), Object.getOwnPropertyNames(f).sort(), Object.getOwnPropertyNames((() => {})).sort(), Object.getOwnPropertyNames(class { static x = 1; }).sort(), g.hasOwnProperty("prototype"), f.prototype.constructor === f]; };

// using and disposal
const main = () => { const log = []; { using a = { [Symbol.dispose]() { log.push("a"); } }; using b = { [Symbol.dispose]() { log.push("b"); } }; log.push("in"); } const s = new DisposableStack(); s.defer(() => log.push("d")); s.use({ [Symbol.dispose]: () => log.push("u") }); s.dispose(); return [log, s.disposed]; };

// numeric separators, octal and odd literals
const main = () => [1_000_000, 0b1010, 0o17, 0xFf, .5, 5., 1e3, 017, 089, "\0", "\x0", "\07", `\u{61}`, 0.15, 1n, 0xfn, "a\
b", /[\]/]/.source, {}.a, (1, 2), ((a, b) => a + b)(...[1, 2]), [..."ab", ...[1]], !function () {}(), void 0, typeof typeof 1, 5..toString(), 5 .toFixed(1), "use strict"].map((x) => (typeof x === "bigint" ? "n" + x : x));

// lengths of arrays by hand
const main = () => { const a = [1, 2, 3, 4]; a.length = 2; a[5] = 6; const r = [[...a], a.length, a.indexOf(undefined)]; a["7"] = 8; a["08"] = 9; a[-1] = 0; a[1.5] = 1; r.push(a.length, Object.keys(a)); a.length = 0; r.push(a, Array(3).length, Array("3").length, Array.from({ length: "2" }).length, new Array(2, 3), [].concat(Array(2)).length); return r; };

// splice with all kinds of arguments
const main = () => { const t = (...a) => { const x = [1, 2, 3, 4, 5]; return [x.splice(...a), x]; }; return [t(), t(1), t(-2), t(1, 1), t(1, 0, "a", "b"), t(9, 1, "z"), t(0, undefined), t(undefined), t(-99, 2), t(2, -1, "n"), t(1, "2"), t(NaN, Infinity)]; };

// searching arrays
const main = () => { const a = [NaN, undefined, null, 0, -0, "0", , 1]; return [a.indexOf(NaN), a.includes(NaN), a.includes(undefined), a.indexOf(undefined), a.findIndex((x) => x === undefined), a.lastIndexOf(0), a.indexOf(-0), a.indexOf("0", -3), a.includes(1, -1), a.find((x, i) => i === 6), a.findLast((x) => x === null), [1, 2, 3].indexOf(3, -5), [3].lastIndexOf(3, -1), a.at(NaN), a.some((x) => x === undefined), a.every((x) => true)]; };

// callbacks that change their array
const main = () => { const r = []; const a = [1, 2, 3]; a.forEach((x, i) => { r.push(x); if (i === 0) { a.push(9); a[1] = "changed"; } if (i === 1) a.pop(), a.pop(); }); const b = [1, 2, 3]; r.push(b.map((x, i, s) => { s.length = 2; return x; })); const c = [1, 2, 3, 4]; r.push(c.filter((x, i) => { if (i < 2) c.shift(); return true; })); const d = [5, 1]; r.push(d.reduce((s, x, i, all) => { all.push(i); return s + x; }), d); for (const x of a) if (a.length < 8) a.push(x + 1); r.push(a); const e = [1, 2]; for (const [i, x] of e.entries()) if (i < 4) e.push(x * 2); r.push(e); return r; };

// sort with comparators that return booleans and strings
const main = () => { const w = ["Banana", "apple", "cherry", "Äpfel", "zoo", "10", "9", "_", ""]; return [[...w].sort(), [...w].sort((a, b) => a.length - b.length), [...w].sort((a, b) => (a.toLowerCase() > b.toLowerCase() ? 1 : -1)), [...w].sort((a, b) => a > b), [...w].reverse(), [3, undefined, 1, null].sort(), [[2, "b"], [1, "z"], [10, "a"]].sort(), [{ k: 2 }, { k: 1 }].sort((a, b) => a.k - b.k), Array.from({ length: 600 }, (_, i) => (i * 7919) % 601).sort((a, b) => a - b).slice(0, 5)]; };

// very long arrays and strings
const main = () => { const a = Array.from({ length: 20000 }, (_, i) => (i * 48271) % 2147483647); const s = a.map((x) => x.toString(36)).join(""); let h = 0; for (let i = 0; i < s.length; i += 7) h = (Math.imul(h, 31) + s.charCodeAt(i)) | 0; return [a.toSorted((x, y) => x - y)[777], s.length, h, Math.max(...a.slice(0, 5000)), new Set(a).size, "ab".repeat(10000).lastIndexOf("a"), [..."xyz".repeat(3000)].length, a.reduce((m, x) => m.set(x % 10, (m.get(x % 10) ?? 0) + 1), new Map()).size]; };

// split, join and pads of text
const main = () => { const csv = 'id,name,"note, with comma"\n1,"A ""q""",x\n2,,\n'; const rows = csv.trim().split("\n").map((l) => [...l.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map((m) => m[1].replace(/^"|"$/g, "").replaceAll('""', '"')).slice(0, 3)); return [rows, rows[0].map((c) => c.padEnd(8, ".")).join("|"), "a.b.c".split(".", 2), "abc".split("", 2), [..."a-b"].reverse().join("")]; };

// templates are filled by name
const main = () => { const fill = (t, v) => t.replace(/\{\{\s*([\w.]+)(?:\|(\w+))?\s*\}\}/g, (_, path, f) => { const x = path.split(".").reduce((o, k) => o?.[k], v); return { upper: (s) => String(s).toUpperCase(), json: JSON.stringify }[f]?.(x) ?? x ?? `<${path}>`; }); return fill("Hi {{ user.name|upper }}, {{n}} of {{ missing.x }} {{user|json}}", { user: { name: "zoë" }, n: 0 }); };

// camel, snake and title case
const main = () => { const snake = (s) => s.replace(/([a-z\d])([A-Z])/g, "$1_$2").replace(/[\s-]+/g, "_").toLowerCase(); const camel = (s) => s.toLowerCase().replace(/[^a-z\d]+(.)/g, (_, c) => c.toUpperCase()); return ["someHTTPRequest", "Hello World", "kebab-case-x2"].map((s) => [snake(s), camel(s), s.replace(/\b\w/g, (c) => c.toUpperCase()), s.replace(/(?<=[a-z])(?=[A-Z])/g, " "), [...s].filter((c) => /\p{Lu}/u.test(c)).join("")]); };

// regex with state across calls
const main = () => { const g = /a(\d)/g, s = "a1a2xa3"; const r = []; let m; while ((m = g.exec(s)) && r.length < 5) r.push([m[1], g.lastIndex]); r.push(g.lastIndex, g.test(s), g.lastIndex, s.replace(g, "$1"), g.lastIndex, s.match(g), s.search(/x/), [...s.matchAll(g)].length); const y = /a/y; r.push(y.test("ba"), y.lastIndex, "aab".replace(y, "-"), y.lastIndex); g.lastIndex = 99; r.push(g.test(s), g.lastIndex); return r; };

// regex: case folding and classes
const main = () => [/[a-z]+/i.exec("ÄbcD")[0], /\w+/.exec("naïve")[0], /\w+/u.exec("naïve")[0], /[\u00e0-\u00ff]/i.test("À"), /σ/i.test("ς"), /σ/iu.test("ς"), /\u212a/i.test("k"), /\u212a/iu.test("k"), /[^x]/iu.test("X"), /\p{Ll}/iu.test("A"), /\P{Ll}/iu.test("a"), /[\p{Ll}]/iv.test("A"), /\s/.test("\ufeff"), /\s/.test("\u180e"), /\d/u.test("٣"), /^.$/u.test("\ud83d"), /^.$/s.test("\r"), /\p{Emoji}/u.test("1"), /\p{ASCII_Hex_Digit}+/u.exec("xBEEF")[0], /\p{Sc}/u.test("₿"), /\p{Script_Extensions=Latin}/u.test("ª"), /[\q{abc|d}]/v.exec("xabc")[0], /ß/i.test("ẞ"), /ß/iu.test("ẞ"), /ǆ/i.test("ǅ")];

// regex that tries many ways
const main = () => [/^(\w+\s?)*$/.test("aaa bbb ccc"), /(x+x+)+y/.test("xxxxxxxxxx"), /^(([a-z])+.)+[A-Z]([a-z])+$/.test("aaaaaaaaaaaaaaa"), "aaaaaaaaab".match(/(a*)*b/)[1], "foobarfoo".replace(/(?<!^)foo/, "X"), "abc".replace(/(?:)/g, "-"), "😀😀".replace(/(?:)/gu, "-"), "1234567.89".replace(/\B(?=(\d{3})+(?!\d))/g, ","), "2024-01-02".replace(/(\d+)-(\d+)-(\d+)/, "$3/$2/$1"), /(?<=(\d+)(\d+))$/.exec("1053").slice(1), /(?=(a)(b)?)/.exec("a"), /(a)|b/.exec("b"), /[^]*?(?:end|$)/.exec("to the end.")[0]];

// dates of months and weeks
const main = () => { const days = (y, m) => new Date(y, m + 1, 0).getDate(); const week = (d) => { const t = new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate())); t.setUTCDate(t.getUTCDate() + 4 - (t.getUTCDay() || 7)); return Math.ceil(((t - Date.UTC(t.getUTCFullYear(), 0, 1)) / 86400000 + 1) / 7); }; const add = (d, n) => { const x = new Date(d); x.setMonth(x.getMonth() + n); return x.toISOString().slice(0, 10); }; return [[0, 1, 3].map((m) => days(2024, m)), days(1900, 1), ["2024-12-30", "2021-01-03", "2020-12-31"].map((s) => week(new Date(s))), add("2024-01-31", 1), add("2024-03-31", -1), new Date(2024, 0, 0).toISOString(), new Date(2024, -1).toJSON(), new Date(0, 0).getFullYear(), new Date(2024, 5, 15, 12).toString(), new Date("2024-06-15").toUTCString(), Math.floor((new Date("2024-03-10") - new Date("2024-01-01")) / 864e5)]; };

// durations and relative times
const main = () => { const ago = (ms) => { for (const [u, s] of [["d", 864e5], ["h", 36e5], ["m", 6e4], ["s", 1e3]]) if (ms >= s) return `${Math.floor(ms / s)}${u} ${ago(ms % s)}`.trim(); return ""; }; const pad = (n) => String(n).padStart(2, "0"); const f = (ms) => { const d = new Date(ms); return `${d.getUTCFullYear()}-${pad(d.getUTCMonth() + 1)}-${pad(d.getUTCDate())} ${pad(d.getUTCHours())}:${pad(d.getUTCMinutes())}`; }; return [ago(93784000), ago(5000), f(1700000000000), f(0), new Date(1e12).toISOString().replace(/[-:]|\.\d+/g, "")]; };

// set parts of dates in odd ways
const main = () => { const d = () => new Date(Date.UTC(2020, 1, 29, 12, 30, 15, 500)); return [d().setFullYear(2021), d().setMonth(13), d().setDate(-1), d().setHours(NaN), d().setMinutes(90, 90), d().setSeconds("30"), d().setMilliseconds(1e6), d().setUTCFullYear(0), d().setTime("5"), d().setUTCHours(), d().setMonth(null), d().setFullYear(1e6)].map(String); };

// rounding of money
const main = () => [1.005, 2.675, 1.255, 10.235, 0.615, 1e-10, 123456789.125, -1.005, 8.5, 0.045].map((x) => [x.toFixed(2), Math.round(x * 100) / 100, Math.round((x + Number.EPSILON) * 100) / 100, Number(`${Math.round(`${x}e2`)}e-2`), x.toPrecision(6), +(x.toFixed(1)), Math.floor(x * 100) / 100]);

// numbers on the edge of integers
const main = () => [2 ** 53 + 1, 9007199254740993n + "", 0.1 + 0.7, 1.1 * 3, 4.35 * 100, 1e16 + 1, 123456789 * 987654321, 0.1 ** 20, 5e-324 / 2, 1e308 * 10, -1e308 * 10, 0 / 0, 2 ** 31 | 0, 2 ** 32 >>> 0, -1 >>> 31, 1e10 | 0, NaN | 0, "12" | 0, 3.99 | 0, -3.99 | 0, 0xffffffff & -1, 1 << 33, ~2147483647, 5 / 2 | 0, Math.fround(0.1), 16777217 === Math.fround(16777217), 1e21 + 1, 1e-6, 1e-7, 123e-20, 0.00001234, 1234567890123456789, 100000000000000000000, 1e21];

// bases and bits
const main = () => [(255).toString(2), (-255).toString(2), (0.5).toString(2), (1 / 3).toString(3), (123.456).toString(36), (1e21).toString(36), Number.MAX_VALUE.toString(36).length, (2 ** -20).toString(2), parseInt("zz", 36), (0xdeadbeef >>> 0).toString(16), (0xdeadbeef | 0).toString(16), [1, 2, 3].map((n) => n.toString(2).padStart(8, "0")), ["1", "10", "3"].map(parseInt), [0b11, 0o17, 0xf].map((n) => n.toString(8)), (25).toString(undefined), Number("0b101"), (1e100).toString(16).length, (0.1).toString(16)];

// json of nested and repeated things
const main = () => { const shared = { s: 1 }; const o = { a: shared, b: [shared, shared], "with space": { "quote\"": 1 }, n: null, num: [0, -0, 1e21, 1e-7, 1.50], uni: "\u2028\u00e9\ud83d\ude00\ud800", empty: [{}, [], ""], undef: [undefined], date: new Date(0), nestedDate: { d: new Date(8.64e15) } }; return [JSON.stringify(o), JSON.stringify(o, null, 1), JSON.parse(JSON.stringify(o)).b[0] === shared, JSON.stringify([new Number(3), new String("x"), new Boolean(false), Object(1n) instanceof BigInt]), JSON.stringify({ a: [{ b: 1, c: 2 }], b: 3 }, ["a", "b"]), JSON.stringify({ x: 1, y: 2 }, (k, v) => (k === "x" ? undefined : v)), JSON.stringify([1, 2], (k, v) => (k === "0" ? undefined : v)), JSON.stringify({ a: 1 }, function (k, v) { return k === "" ? { wrapped: v, holder: Object.keys(this) } : v; })]; };

// grouping, zipping and chunking
const main = () => { const zip = (...a) => a[0].map((_, i) => a.map((x) => x[i])); const chunk = (a, n) => (a.length ? [a.slice(0, n), ...chunk(a.slice(n), n)] : []); const range = function* (a, b, s = 1) { for (let i = a; s > 0 ? i < b : i > b; i += s) yield i; }; const g = Object.groupBy([1.2, 1.8, 2.1], Math.floor); return [zip([1, 2], ["a", "b"]), chunk([1, 2, 3, 4, 5], 2), [...range(5, 0, -2)], g, Object.getPrototypeOf(g), [...Map.groupBy("banana", (c) => c)].map(([k, v]) => k + v.length), Object.entries(Object.groupBy([], String)), Array.from(range(0, 3)).entries().toArray(), Iterator.from(range(0, 1e9)).filter((x) => x % 3 === 0).map((x) => x ** 2).take(4).toArray()]; };

// views on one buffer
const main = () => { const b = new ArrayBuffer(8); const f = new Float64Array(b), u = new Uint8Array(b), i = new Int32Array(b, 4), v = new DataView(b, 2, 4); f[0] = -Math.PI; const r = [[...u], i[0], v.getInt16(0), v.byteLength]; u.set([0, 0, 0, 0, 0, 0, 0xf0, 0x7f]); r.push(f[0]); u.fill(255); r.push(f[0], i[0], new BigUint64Array(b)[0].toString()); v.setFloat32(0, 1.1, true); r.push([...u], v.getFloat32(0, true), u.subarray(2, 6).reduce((a, x) => a + x), Buffer_()); return r; };
const Buffer_ = () => [new Uint16Array([65536, -1, 1.9]).join(), new Int16Array(["1", "x", null]).join(), Uint8ClampedArray.from([0.5, 1.5, 254.5, 255.5]).join(), new Uint8Array(new Uint16Array([257, 2])).join(), new Float32Array([16777217])[0]];

// bytes to numbers and back
const main = () => { const hex = (u) => [...u].map((b) => b.toString(16).padStart(2, "0")).join(""); const u = new TextEncoder().encode("héllo ✓ 😀"); const back = new TextDecoder().decode(u); const le = (n, l) => Uint8Array.from({ length: l }, (_, i) => Number((n >> BigInt(8 * i)) & 255n)); const into = new Uint8Array(4); return [hex(u), back, hex(le(2n ** 60n + 7n, 8)), btoa(String.fromCharCode(...u)), atob("aMOpbGxv"), Uint8Array.from(atob("AAEC/w=="), (c) => c.charCodeAt(0)).join(), btoa(""), atob(" YQ = = ".replace(/ (?==)/g, "")), parseInt(hex(u.slice(0, 4)), 16), into.length]; };

// decoders in pieces and with marks
const main = () => { const d = new TextDecoder(); const e = new TextEncoder(); return [d.decode(e.encode("\ufeffbom")), d.decode(new Uint8Array([0xf0, 0x9f, 0x98, 0x80, 0x41])), [...d.decode(new Uint8Array([0x41, 0xc3, 0x41, 0xe2, 0x82, 0x41, 0xff]))].map((c) => c.codePointAt(0)), new TextDecoder("utf8").encoding, new TextDecoder("latin1").encoding, d.fatal, d.ignoreBOM, d.decode(new Uint16Array([0x4142]).buffer), d.decode(new Uint8Array([1, 2, 65, 66]).subarray(2)), e.encode("\ud800x\udc00").join()]; };

// URLs are parsed and built
const main = () => { const u = new URL("../a/./b?x=1#y", "https://user:pw@host.example:8443/p/q/r"); const r = [u.href, u.username, u.password, u.port, u.searchParams.get("x")]; u.port = "443"; u.pathname = "/with space/ü"; u.search = "a=b c&d=%26"; u.hash = ""; r.push(u.href, u.port, u.search, [...u.searchParams]); u.searchParams.delete("a"); u.searchParams.append("e f", "g+h"); r.push(u.href, u.toJSON()); u.host = "other.example:1"; u.protocol = "ftp"; u.password = ""; r.push(u.href, u.origin, u.host); u.href = "http://reset/"; r.push(String(u), u.searchParams.size); try { u.href = "bad"; } catch (e) { r.push(e.name); } return r; };

// query strings are merged
const main = () => { const base = new URLSearchParams("a=1&b=2&b=3"); for (const [k, v] of new URLSearchParams({ b: "9", c: "x y" })) base.append(k, v); const r = [base.toString(), base.getAll("b"), [...base.values()], base.has("b", "3"), base.size]; base.delete("b", "3"); base.set("b", "only"); base.sort(); r.push(`${base}`, [...base.entries()], new URLSearchParams("?q=%F0%9F%98%80&%zz=1&=&a").toString(), new URLSearchParams([["k", "ü"], ["k", ""]]).toString(), new URLSearchParams("a=b&a=c").get("a"), new URLSearchParams(new URLSearchParams("z=1")).get("z"), new URLSearchParams("a=+%2B").get("a")); return r; };

// clones are deep and keep their kinds
const main = () => { const src = { when: new Date(1), list: [1, { two: 2 }], map: new Map([["k", { v: 1 }]]), set: new Set([[1]]), re: /a/gi, bytes: new Uint8Array([1, 2, 3]), nothing: undefined, nul: null, big: 2n, neg: -0 }; src.loop = src; const c = structuredClone(src); c.list[1].two = 3; c.bytes[0] = 9; return [src.list[1].two, src.bytes[0], c.loop === c, c.map.get("k") !== src.map.get("k"), c.when instanceof Date, c.re.flags, c.re.lastIndex, Object.is(c.neg, -0), "nothing" in c, Object.keys(c), structuredClone([1, , 2]).length, 1 in structuredClone([1, , 2]), structuredClone(new (class Z { a = 1; })()).constructor === Object, c.big === 2n]; };

// requests are described
const main = async () => { const q = new Request("https://h.example/a b?c=d#e", { method: "put", headers: { A: "1" }, body: JSON.stringify({ x: 1 }) }); const g = new Request(q.url); return [q.url, q.method, [...q.headers], q.redirect, g.method, await q.json(), new Request("https://h/", { method: "patch" }).method, (() => { try { new Request("https://h/", { body: "x" }); } catch (e) { return e.name; } })(), (() => { try { new Request("relative"); } catch (e) { return e.name; } })()]; };

// abort signals combine
const main = async () => { const a = new AbortController(), b = new AbortController(); const any = AbortSignal.any([a.signal, b.signal]); const log = []; any.addEventListener("abort", () => log.push(any.reason?.message ?? any.reason)); b.abort(new Error("second")); a.abort(); log.push(a.signal.reason.name, any.aborted, AbortSignal.abort("r").reason); const work = (s) => new Promise((ok, no) => { const t = setTimeout(ok, 200, "done"); s.addEventListener("abort", () => { clearTimeout(t); no(s.reason); }); }); const c = new AbortController(); setTimeout(() => c.abort(), 2); log.push(await work(c.signal).catch((e) => [e.name, e.message, e instanceof DOMException, e.code])); return log; };

// dom exceptions
const main = () => { const e = new DOMException("msg", "NotFoundError"); return [e.name, e.message, e.code, e instanceof Error, String(e), DOMException.ABORT_ERR, new DOMException().name, new DOMException("x", "Custom").code, Object.prototype.toString.call(e)]; };

// random values have their shape
const main = () => { const u = crypto.getRandomValues(new Uint32Array(4)); const id = crypto.randomUUID(); return [u.length, u.some((x) => x > 0), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id), crypto.randomUUID() !== id, Math.random() < 1, new Set(Array.from({ length: 50 }, Math.random)).size]; };

// clocks go forward
const main = async () => { const a = Date.now(), p = performance.now(); await new Promise((r) => setTimeout(r, 5)); return [Date.now() - a >= 4, performance.now() - p >= 4, Math.abs(performance.timeOrigin + performance.now() - Date.now()) < 60000, typeof performance.now(), new Date().getTimezoneOffset(), new Date() instanceof Date, new Date() - a < 60000]; };

// errors contain their position
const inner = (x) => { if (x > 1) throw new Error(`too large: ${x}`); return x; };
function outer(x) { return inner(x + 1); }
const main = () => { try { outer(5); } catch (e) { return e.stack; } };

// an uncaught error in three functions
function a() { b(); }
function b() { c("deep"); }
function c(m) { throw new TypeError(m); }
const main = () => a();

// an uncaught error in a callback of an async main
const main = async () => { const items = [1, 2, 3]; for (const x of items) { if (x === 2) throw new Error("item " + x); } };

// an error that is thrown again with a cause
const main = () => { try { JSON.parse("{}").a.b; } catch (e) { throw new Error("wrapped", { cause: e.name }); } };

// errors compared and copied
const main = () => { const e = Object.assign(new RangeError("r"), { extra: [1] }); const copy = { ...e, name: e.name, message: e.message }; return [copy, e.toString(), Object.entries(e), JSON.stringify(e), e instanceof Error, Object.getOwnPropertyDescriptor(e, "message").enumerable, "stack" in e, typeof e.stack, e.stack.split("\n")[0], Error("no new").message, new Error("a", { cause: e }).cause === e, Object.prototype.hasOwnProperty.call(e, "name"), RangeError.prototype.name, e.constructor.name]; };

// stack is replaced and deleted
const main = () => { const e = new Error("x"); const had = typeof e.stack; e.stack = "mine"; const r = [had, e.stack, Object.keys(e)]; delete e.stack; r.push(e.stack, "stack" in e); return r; };

// messages of frequent mistakes
const main = () => [() => undefinedName, () => null.x, () => undefined.y.z, () => { null.x = 1; }, () => (void 0)[0]].map((f) => { try { f(); } catch (e) { return e.name + ": " + e.message; } });

// date strings of other engines
const main = () => ["2024-01-01T00:00:00.1Z", "2024-01-01T00:00:00.12345678Z", "2024-1-1T00:00:00", "2024-01-01T0:00", "2024-01-01T00:00:00+0100", "Mon Jan 01 2024", "January 1, 2024 12:00 AM", "1 Jan 24", "2024.01.01", "Jan 1 2024 GMT+3", "1/1/2024 1:00 PM UTC", "2024-01-01Z", "2024-06", "12/25/1995", "Dec 25, 1995", "Mon, 25 Dec 1995 13:30:00 +0430", "1995-12-17T03:24", "(comment) Jan 1 2000", "Jan 1 2000 (c)", "2000-01-01T00:00:60Z", "24:00", "2000-13-01", "-1", "1e10", "  2000-01-01  ", "２０００"].map((t) => Date.parse(t)).map(String);

// global functions with odd arguments
const main = () => [isNaN("x"), isNaN(undefined), isFinite("1"), Number.isNaN("x"), Number.isFinite("1"), parseInt("  -0x10"), parseFloat("1e-"), parseFloat("-.5"), parseInt("1e3"), parseInt(1e21), parseInt("９"), encodeURI("%41 é"), decodeURI("%25"), escape("é"), unescape("%E9%uD83D"), Number(""), Number(" \n"), Number([]), Number(["7"]), Number(null), Number(undefined), Number("1,000"), Number("1e1000"), String([null]), String([[]]), String({}), String(Symbol("q")), Boolean(""), Boolean("false"), Boolean([]), Object(null) instanceof Object, BigInt(" 0x1F ").toString()];
