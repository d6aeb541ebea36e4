// sorting without a comparator
const main = () => [[10, 9, 1], ["b", undefined, "a"], [3, , 1], [true, "a", 1, null]].map((a) => a.sort());

// sorting is stable
const main = () => Array.from({ length: 60 }, (_, i) => ({ k: i % 3, i })).sort((a, b) => a.k - b.k).map((x) => x.i);

// sorting a long list
const main = () => { let x = 7; const a = Array.from({ length: 500 }, () => (x = (x * 1103515245 + 12345) % 2147483648)); return a.sort((p, q) => p - q).filter((v, i, all) => i > 0 && v < all[i - 1]).length; };

// sorting by several keys
const main = () => [["b", 1], ["a", 2], ["b", 0], ["a", 1]].sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x - y));

// a comparator that returns a boolean
const main = () => [3, 1, 2, 5, 4, 9, 8, 7, 6, 0].sort((a, b) => a > b);

// pairs that a comparator receives
const main = () => { const seen = []; [5, 2, 8, 1, 9, 3].sort((a, b) => { seen.push([a, b]); return a - b; }); return seen; };

// an inconsistent comparator
const main = () => { let n = 0; return Array.from({ length: 20 }, (_, i) => i).sort(() => (n++ % 3) - 1); };

// sorting typed arrays
const main = () => [[...new Float64Array([3, NaN, -0, 0, -1]).sort()].map(String), [...new Uint8Array([3, 1, 2]).sort((a, b) => b - a)]];

// toSorted, toReversed, toSpliced, with
const main = () => { const a = [3, 1, 2]; return [a.toSorted(), a.toReversed(), a.toSpliced(1, 1, "x"), a.with(-1, 9), a]; };

// map, filter, reduce, flat
const main = () => { const a = [1, [2, [3, [4]]]]; return [a.flat(), a.flat(Infinity), [1, 2].flatMap((x) => [x, x * 2]), [1, 2, 3].reduceRight((s, x) => s + x, ""), [1, 2, 3].filter((x, i) => i !== 1)]; };

// searching arrays
const main = () => [[1, NaN].indexOf(NaN), [1, NaN].includes(NaN), [1, 2, 3].find((x) => x > 1), [1, 2, 3].findLast((x) => x < 3), [1, 2].findIndex((x) => x > 5), [1, 2, 1].lastIndexOf(1), [1].at(-2) === undefined];

// holes
const main = () => { const a = [1, , 3]; return [a.length, 1 in a, a.map((x) => x * 2), Object.keys(a), a.forEach.length, [...a], Array(3).fill(0), [, ].length]; };

// splice, slice and copyWithin
const main = () => { const a = [1, 2, 3, 4, 5]; const cut = a.splice(1, 2, "x", "y", "z"); return [a, cut, a.slice(-2), [1, 2, 3, 4].copyWithin(0, 2), [1, 2, 3].fill(0, 1)]; };

// from and of
const main = () => [Array.from("abc"), Array.from({ length: 2, 0: "a", 1: "b" }), Array.of(7), Array.from(new Map([[1, 2]])), Array.isArray([]), Array.from([1, 2], (x) => x + 1)];

// length games
const main = () => { const a = [1, 2, 3]; a.length = 1; a[3] = 4; return [a.length, a, a.concat([5], 6, [[7]])]; };

// maps keep the order of insertion
const main = () => { const m = new Map([["b", 1], ["a", 2]]); m.set("c", 3).delete("b"); m.set("b", 4); return [[...m], m.size, [...m.keys()], m.get("zz") === undefined, new Map([[NaN, 1]]).get(NaN), new Map([[0, "z"]]).has(-0)]; };

// grouping
const main = () => [...Map.groupBy([1, 2, 3, 4], (x) => x % 2 === 0)].map(([k, v]) => [k, v]);

// sets and their algebra
const main = () => { const a = new Set([1, 2, 3]), b = new Set([2, 3, 4]); return [[...a.union(b)], [...a.intersection(b)], [...a.difference(b)], [...a.symmetricDifference(b)], a.isSubsetOf(b), a.isDisjointFrom(new Set([9]))]; };

// changing a map during an iteration
const main = () => { const m = new Map([[1, 1], [2, 2]]); const seen = []; for (const [k] of m) { seen.push(k); if (k < 5) m.set(k + 10, 1); if (seen.length > 8) break; } return seen; };

// iterator helpers
const main = () => [[1, 2, 3, 4].values().map((x) => x * 2).filter((x) => x > 2).take(2).toArray(), Iterator.from([1, 2]).drop(1).toArray(), [1, 2].values().some((x) => x > 1), [3, 4].values().reduce((a, b) => a + b)];

// array iterators
const main = () => [[...["a", "b"].entries()], [...["a"].keys()], [...[1, 2].values()], Object.prototype.toString.call([].values())];

// typed array methods
const main = () => { const t = new Uint8Array([1, 2, 3, 4]); return [[...t.subarray(1, 3)], [...t.slice(-2)], t.join("-"), [...t.map((x) => x * 100)], t.indexOf(3), [...Uint8Array.of(1, 2)], t.buffer.byteLength, [...t.toReversed()]]; };

// buffers
const main = () => { const b = new ArrayBuffer(8, { maxByteLength: 16 }); b.resize(12); return [b.byteLength, b.resizable, b.slice(2, 5).byteLength, ArrayBuffer.isView(new DataView(b)), b.transfer(4).byteLength]; };

// binary search and dedupe
const main = () => { const a = [1, 3, 5, 7, 9]; const find = (x) => { let l = 0, h = a.length; while (l < h) { const m = (l + h) >> 1; if (a[m] < x) l = m + 1; else h = m; } return l; }; return [find(5), find(6), [...new Set([1, 2, 2, 3, 1])]]; };

// a linked list and a queue
const main = () => { const q = []; for (let i = 0; i < 10; i++) { q.push(i); if (i % 3 === 0) q.shift(); } q.unshift("f"); return [q, q.pop(), q.reverse()]; };

// median, percentiles and histogram
const main = (p) => { const x = [5, 3, 8, 1, 9, 2].sort((a, b) => a - b); const q = (f) => { const k = (x.length - 1) * f; const i = Math.floor(k); return x[i] + (x[Math.min(i + 1, x.length - 1)] - x[i]) * (k - i); }; return [q(0.5), q(0.25), q(0.9), p]; };

// Object.is on members of a matrix product
const main = () => { const a = [[1, 2], [3, 4]], b = [[0, 1], [1, 0]]; return a.map((r) => b[0].map((_, j) => r.reduce((s, v, k) => s + v * b[k][j], 0))); };

// structuredClone
const main = () => { const o = { d: new Date(5), m: new Map([[1, { x: [1] }]]), s: new Set([1]), u: undefined, n: -0, b: 5n, r: /a/gi, t: new Uint8Array([1, 2]) }; o.self = o; const c = structuredClone(o); return [c.d.getTime(), c.m.get(1), [...c.s], "u" in c, Object.is(c.n, -0), String(c.b), c.r.flags, [...c.t], c.self === c, c !== o]; };

// disposable resources
const main = () => { const log = []; { const s = new DisposableStack(); s.defer(() => log.push("first")); s.defer(() => log.push("second")); s.dispose(); } return log; };

// array likes
const main = () => [Array.prototype.map.call("abc", (c) => c + c), Array.prototype.join.call({ length: 2, 0: "x", 1: "y" }, "+"), Array.prototype.concat.call(1, 2).length];

// concat spreads only what is spreadable
const main = () => [[].concat([1], { length: 1, 0: "x", [Symbol.isConcatSpreadable]: true }, "ab"), [1, [2]].concat([[3]])];

// WeakMap as private storage
const store = new WeakMap(); class Box { constructor(v) { store.set(this, v); } get v() { return store.get(this); } }
const main = () => [new Box(5).v, store.has({})];

// a toposort
const main = () => { const g = { a: ["b", "c"], b: ["d"], c: ["d"], d: [] }; const out = []; const seen = new Set(); const visit = (n) => { if (seen.has(n)) return; seen.add(n); g[n].forEach(visit); out.unshift(n); }; Object.keys(g).forEach(visit); return out; };

// an inconsistent comparator, on a long list
const main = () => { let n = 0; const pairs = []; const sorted = Array.from({ length: 300 }, (_, i) => i).sort((a, b) => { pairs.push(a * 1000 + b); return (n++ % 3) - 1; }); return [sorted, pairs.length, pairs.reduce((s, p) => (s * 31 + p) % 1e9)]; };

// a comparator that returns a boolean, on a long list
const main = () => Array.from({ length: 200 }, (_, i) => (i * 37) % 101).sort((a, b) => a > b);

// long runs are merged by galloping
const main = () => { let n = 0; const list = [...Array(200).keys(), ...Array(150).keys()].map((x, i) => [x, i]); return [list.sort((a, b) => (n++, a[0] - b[0])).map(([, i]) => i), n]; };

// typed arrays with a comparator
const main = () => { const pairs = []; const t = new Uint8Array([5, 3, 9, 1, 7, 200]); t.sort((a, b) => { pairs.push([a, b]); return a - b; }); const u = t.toSorted((a, b) => a < b); return [[...t], [...u], pairs, u.constructor.name]; };

// each comparison converts objects to strings
const main = () => { const seen = []; const o = (k) => ({ toString() { seen.push(k); return k; } }); const l = [o("c"), o("a"), "bb", o("b"), undefined, o("d")]; l.sort(); l.toSorted(); return [seen, l.length]; };

// sorting an array-like object
const main = () => { const seen = []; const a = { length: 4, 3: undefined }; for (let i = 0; i < 2; i++) Object.defineProperty(a, i, { get() { seen.push("get " + i); return 3 - i; }, set(v) { seen.push("set " + i + " " + v); }, configurable: true }); Array.prototype.sort.call(a, (x, y) => x - y); return [seen, Object.keys(a), a.length, Array.prototype.sort.call({ length: -1 }), Array.prototype.toSorted.call({ length: 2, 0: "b", 1: "a" })]; };

// a comparator that changes the list
const main = () => { const b = [3, 1, 2]; b.sort((x, y) => { b.push(7); return x - y; }); const c = [3, 1, 2, 5, 4]; c.sort((x, y) => { c.length = 1; return x - y; }); const d = [3, 1, 2]; d.sort((x, y) => { d[0] = 99; return x - y; }); return [b, c, d]; };

// return values of comparators
const main = () => ["1", null, undefined, true, {}, { valueOf: () => -1 }, "x"].map((answer) => [1, 2, 3, 4].sort(() => answer));

// an error in a comparator
function main() { [3, 1, 2].sort((a, b) => { throw new Error("no order"); }); }
