// a threshold gate on a balance
const main = ({ n }) => { const balance = ethers.utils.parseEther(String(n)); const min = ethers.utils.parseEther("1.5"); return balance.gte(min) ? { allowed: true, by: ethers.utils.formatEther(balance.sub(min)) } : { allowed: false }; };

// weighted median of prices
const main = () => { const q = [["a", "3141.59", 3], ["b", "3140.01", 1], ["c", "9999", 0.1]].map(([s, p, w]) => ({ s, p: Number(p), w })).sort((x, y) => x.p - y.p); const half = q.reduce((t, x) => t + x.w, 0) / 2; let acc = 0; const m = q.find((x) => (acc += x.w) >= half); return { m, spread: ((q.at(-1).p / q[0].p - 1) * 1e4).toFixed(2) + " bps" }; };

// a JWT is parsed
const main = () => { const b64 = (o) => btoa(JSON.stringify(o)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, ""); const jwt = [b64({ alg: "none" }), b64({ sub: "42", exp: 1700000000, roles: ["a"] }), ""].join("."); const [h, p] = jwt.split(".").slice(0, 2).map((x) => JSON.parse(atob(x.replace(/-/g, "+").replace(/_/g, "/")))); return { jwt, h, p, expired: p.exp * 1000 < Date.UTC(2026, 0) }; };

// siwe messages are parsed and checked
const main = async () => { const w = new ethers.Wallet("0x" + "a1".repeat(32)); const msg = `service.example wants you to sign in with your Ethereum account:\n${w.address}\n\nI accept\n\nURI: https://service.example\nVersion: 1\nChain ID: 1\nNonce: 8f3k2jd9\nIssued At: 2024-01-01T00:00:00.000Z`; const sig = await w.signMessage(msg); const f = Object.fromEntries(msg.split("\n").filter((l) => /^[A-Z][\w ]*: /.test(l)).map((l) => l.split(/: (.*)/s).slice(0, 2))); return [sig, f, ethers.utils.verifyMessage(msg, sig) === /0x[0-9a-fA-F]{40}/.exec(msg)[0], new Date(f["Issued At"]).getTime()]; };

// a permit of erc 2612
const main = async () => { const w = new ethers.Wallet("0x" + "b2".repeat(32)); const s = await w._signTypedData({ name: "USD Coin", version: "2", chainId: 1, verifyingContract: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48" }, { Permit: [["owner", "address"], ["spender", "address"], ["value", "uint256"], ["nonce", "uint256"], ["deadline", "uint256"]].map(([name, type]) => ({ name, type })) }, { owner: w.address, spender: "0x" + "01".repeat(20), value: ethers.utils.parseUnits("25", 6), nonce: 0, deadline: ethers.constants.MaxUint256 }); const { r, v } = ethers.utils.splitSignature(s); return [s, v, r]; };

// a swap is encoded
const main = () => new ethers.utils.Interface(["function exactInputSingle((address tokenIn,address tokenOut,uint24 fee,address recipient,uint256 amountIn,uint256 amountOutMinimum,uint160 sqrtPriceLimitX96) params) payable returns (uint256 amountOut)"]).encodeFunctionData("exactInputSingle", [{ tokenIn: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", tokenOut: "0xdAC17F958D2ee523a2206206994597C13D831ec7", fee: 3000, recipient: "0x" + "02".repeat(20), amountIn: 1, amountOutMinimum: 0, sqrtPriceLimitX96: 0 }]);

// a chunked upload is hashed step by step
const main = () => { const chunks = Array.from({ length: 5 }, (_, i) => new Uint8Array(100).fill(i)); let h = "0x"; for (const c of chunks) h = ethers.utils.keccak256(ethers.utils.concat([h, c])); return [h, ethers.utils.sha256(ethers.utils.concat(chunks))]; };

// sums of transfers by sender
const main = () => { const logs = Array.from({ length: 30 }, (_, i) => ({ from: "0x" + (i % 3).toString(16).padStart(40, "0"), value: ethers.BigNumber.from(10).pow(i % 5).toHexString(), block: 100 + i })); const sums = logs.reduce((m, l) => m.set(l.from, (m.get(l.from) ?? ethers.constants.Zero).add(l.value)), new Map()); return Object.fromEntries([...sums].map(([k, v]) => [ethers.utils.getAddress(k), v.toString()])); };

// retries with backoff until the third attempt
const main = async () => { const log = []; let tries = 0; const flaky = async () => { if (++tries < 3) throw Object.assign(new Error(`try ${tries}`), { transient: true }); return "done"; }; const retry = async (f, n, d = 1) => { for (let i = 0; ; i++) { try { return await f(); } catch (e) { if (!e.transient || i >= n) throw e; log.push(e.message); await new Promise((r) => setTimeout(r, d << i)); } } }; return [await retry(flaky, 5), log]; };

// a pool of workers with a limit
const main = async () => { let live = 0, most = 0; const job = async (i) => { most = Math.max(most, ++live); await new Promise((r) => setTimeout(r, (i * 7) % 5)); live--; return i * i; }; const pool = async (xs, n, f) => { const out = []; const it = xs.entries(); await Promise.all(Array.from({ length: n }, async () => { for (const [i, x] of it) out[i] = await f(x); })); return out; }; return [await pool([1, 2, 3, 4, 5, 6, 7], 3, job), most]; };

// a race against a timer
const main = async () => { const timeout = (p, ms) => { let t; return Promise.race([p, new Promise((_, j) => (t = setTimeout(() => j(new Error(`timed out after ${ms}`)), ms)))]).finally(() => clearTimeout(t)); }; return [await timeout(new Promise((r) => setTimeout(r, 1, "ok")), 500), await timeout(new Promise(() => {}), 3).catch((e) => e.message)]; };

// validation with a small schema
const main = ({ n, list, text }) => { const schema = { n: (x) => Number.isInteger(x) && x > 0, list: Array.isArray, text: (x) => typeof x === "string" && x.length <= 10, missing: (x) => x !== undefined }; const errors = Object.entries(schema).filter(([k, ok]) => !ok({ n, list, text }[k])).map(([k]) => `${k} is invalid`); if (errors.length) throw new Error(errors.join("; ")); return "never"; };

// a linear congruential shuffle
const main = () => { let s = 42; const rnd = () => (s = (Math.imul(s, 1664525) + 1013904223) >>> 0) / 2 ** 32; const a = Array.from({ length: 20 }, (_, i) => i); for (let i = a.length - 1; i > 0; i--) { const j = Math.floor(rnd() * (i + 1)); [a[i], a[j]] = [a[j], a[i]]; } return [a, rnd(), rnd().toFixed(6)]; };

// compound interest and ray math
const main = () => { const RAY = 10n ** 27n, rmul = (a, b) => (a * b + RAY / 2n) / RAY, rpow = (x, n) => { let z = n % 2n ? x : RAY; for (n /= 2n; n; n /= 2n) { x = rmul(x, x); if (n % 2n) z = rmul(z, x); } return z; }; const perSecond = 1000000001547125957863212448n; return [rpow(perSecond, 31536000n).toString(), (Number(rpow(perSecond, 31536000n)) / 1e27).toFixed(9), ((1 + 0.05 / 12) ** 120).toFixed(10)]; };

// square roots of big integers
const main = () => { const sqrt = (v) => { if (v < 2n) return v; let x = 1n << BigInt((v.toString(2).length + 1) >> 1); for (;;) { const y = (x + v / x) >> 1n; if (y >= x) return x; x = y; } }; const price = sqrt((2n ** 192n * 3000n * 10n ** 6n) / 10n ** 18n); return [price.toString(), String(sqrt(10n ** 40n)), Number((price * price * 10n ** 12n) >> 192n)]; };

// base58 and base32 by hand
const main = () => { const A = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"; const enc = (b) => { let n = b.reduce((a, x) => a * 256n + BigInt(x), 0n), s = ""; while (n) { s = A[Number(n % 58n)] + s; n /= 58n; } return "1".repeat(b.findIndex((x) => x) || 0) + s; }; const b32 = (b) => { let bits = b.reduce((s, x) => s + x.toString(2).padStart(8, "0"), ""); return bits.match(/.{1,5}/g).map((c) => "abcdefghijklmnopqrstuvwxyz234567"[parseInt(c.padEnd(5, "0"), 2)]).join(""); }; const d = [...ethers.utils.arrayify(ethers.utils.sha256("0x00"))]; return [enc([0x12, 0x20, ...d]), b32([1, 0x70, 0x12, 0x20, ...d]), ethers.utils.base58.encode(d)]; };

// a user-defined RLP encoder
const main = () => { const hex = (n) => { const h = n.toString(16); return h.length % 2 ? "0" + h : h; }; const rlp = (x) => { if (Array.isArray(x)) { const b = x.map(rlp).join(""); return len(b.length / 2, 0xc0) + b; } const s = x.replace("0x", ""); return s.length === 2 && parseInt(s, 16) < 128 ? s : len(s.length / 2, 0x80) + s; }; const len = (n, o) => (n < 56 ? hex(o + n) : hex(o + 55 + hex(n).length / 2) + hex(n)); const v = ["0x01", ["0x" + "ab".repeat(60), []], "0x"]; return ["0x" + rlp(v), ethers.utils.RLP.encode(v)]; };

// cron fields by hand
const main = () => { const parse = (f, lo, hi) => [...new Set(f.split(",").flatMap((p) => { const [, r, s = "1"] = p.match(/^([^/]+)(?:\/(\d+))?$/); const [a, b = s === "1" && r !== "*" ? a : hi] = r === "*" ? [lo, hi] : r.split("-").map(Number); return Array.from({ length: Math.floor((b - a) / s) + 1 }, (_, i) => a + i * s); }))].sort((a, b) => a - b); return [parse("*/15", 0, 59), parse("1-5,10,20-30/5", 0, 59), parse("7", 0, 6)]; };

// a state machine with a generator
function* machine() { let state = "idle"; for (;;) { const e = yield state; state = { idle: { start: "run" }, run: { pause: "wait", stop: "idle" }, wait: { resume: "run" } }[state]?.[e] ?? state; } }
const main = () => { const m = machine(); m.next(); return ["start", "pause", "stop", "resume", "stop"].map((e) => m.next(e).value); };

// an event emitter with wildcards
class Emitter { #on = new Map(); on(k, f) { (this.#on.get(k) ?? this.#on.set(k, new Set()).get(k)).add(f); return () => this.#on.get(k).delete(f); } emit(k, ...a) { return [...(this.#on.get(k) ?? []), ...(this.#on.get("*") ?? [])].map((f) => f(...a)); } }
const main = () => { const e = new Emitter(); const off = e.on("a", (x) => x + 1); e.on("*", (x) => "w" + x); const r = [e.emit("a", 1), e.emit("b", 2)]; off(); return [...r, e.emit("a", 3)]; };

// a parser of expressions
const main = () => { const run = (src) => { const t = src.match(/\d+\.?\d*|[-+*/()^]/g); let i = 0; const atom = () => { const x = t[i++]; if (x === "(") { const v = sum(); i++; return v; } if (x === "-") return -atom(); return Number(x); }; const pow = () => { const b = atom(); return t[i] === "^" ? (i++, b ** pow()) : b; }; const mul = () => { let v = pow(); while (/[*/]/.test(t[i] ?? "")) v = t[i++] === "*" ? v * pow() : v / pow(); return v; }; const sum = () => { let v = mul(); while (/[-+]/.test(t[i] ?? "")) v = t[i++] === "+" ? v + mul() : v - mul(); return v; }; return sum(); }; return ["1+2*3", "(1+2)*3", "2^3^2", "-4/3", "10-4-3", "1.5*2"].map(run); };

// a trie and an lru cache
const main = () => { class Lru { #m = new Map(); constructor(n) { this.n = n; } get(k) { if (!this.#m.has(k)) return; const v = this.#m.get(k); this.#m.delete(k); this.#m.set(k, v); return v; } set(k, v) { this.#m.delete(k); this.#m.set(k, v); if (this.#m.size > this.n) this.#m.delete(this.#m.keys().next().value); } get keys() { return [...this.#m.keys()]; } } const c = new Lru(2); c.set("a", 1); c.set("b", 2); c.get("a"); c.set("c", 3); const trie = {}; for (const w of ["to", "tea", "ted", "i"]) { let t = trie; for (const x of w) t = t[x] ??= {}; t.$ = true; } return [c.keys, trie]; };

// a diff of two objects
const main = () => { const diff = (a, b, p = "") => [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((k) => { const q = p ? `${p}.${k}` : k; if (!(k in b)) return [["-", q, a[k]]]; if (!(k in a)) return [["+", q, b[k]]]; if (typeof a[k] === "object" && typeof b[k] === "object" && a[k] && b[k]) return diff(a[k], b[k], q); return Object.is(a[k], b[k]) ? [] : [["~", q, a[k], b[k]]]; }); return diff({ a: 1, b: { c: [1, 2], d: null }, e: "x" }, { b: { c: [1, 3, 4], d: {} }, e: "x", f: 0 }); };

// an ascii table on the console
const main = () => { const rows = [["ETH", 3141.59, true], ["USDC", 1, false]]; console.table(rows); console.table([{ a: 1, b: "x" }, { a: 2, c: null }]); console.table(new Map([["k", { v: 1 }]])); console.table([1, "two", [3]]); console.table({ x: { y: 1 } }, ["y"]); console.table("plain"); };

// console counts, groups and assertions
const main = () => { console.count(); console.count("x"); console.count(); console.countReset(); console.count(); console.group("outer"); console.log("in\nside"); console.group(); console.warn("deep"); console.groupEnd(); console.error("out"); console.groupEnd(); console.assert(1 === 1, "never"); console.assert(false, "seen %s", "here"); console.assert(false); console.debug("d"); console.info(); console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 }); };

// console shows errors inside of others
const main = () => { const e = new Error("top"); e.stack = "Error: top"; e.code = 7; const c = new Error("bottom", { cause: e }); c.stack = "Error: bottom"; console.log([e], { e }); console.log(c); };

// console on long and wide objects
const main = () => { console.log(Object.fromEntries(Array.from({ length: 30 }, (_, i) => ["key" + i, i]))); console.log([Array.from({ length: 10 }, (_, i) => "item number " + i)], { a: "x".repeat(90) }, [["a", "b"], ["c"]]); console.log(new Set(Array.from({ length: 8 }, (_, i) => ({ i })))); console.log([1.5, 22.25, 333.125, 4, 5, 6, 7, 8, 9, 10], ["a", "bb", "ccc", "dddd", "eeeee", "f", "g"]); };

// circles on the console
const main = () => { const a = { name: "a" }; a.self = a; a.list = [a, { a }]; const m = new Map(); m.set("m", m); console.log(a, m); return "ok"; };

// lines of unusual length and many calls
const main = () => { for (let i = 0; i < 50; i++) console.log(i, "é".repeat(i), i % 7 === 0 ? [i] : ""); console.log(""); console.log(" "); console.log("\u0000\u0007\u200b"); console.log("😀".repeat(10), ["😀\ud800"]); };

// params that are unusual
const main = (p) => [typeof p, Object.keys(p), p.list, p?.text?.at(-1), "n" in p, p.constructor === Object, Object.isFrozen(p), arguments_(p)];
const arguments_ = function () { return arguments.length; };

// responses of many kinds
const main = () => ({ u: undefined, f: () => 1, d: new Date(86400000), m: new Map([[1, 2]]), s: new Set([1]), n: NaN, i: Infinity, z: -0, r: /x/, e: new Error("e"), b: new Uint8Array([1, 2]), w: Object("w"), nested: [[], [undefined], {}], big: 1e21, "": "empty" });

// a response that is text of json
const main = () => JSON.stringify({ already: "text", n: [1, 2, { a: null }] });

// a response that is only a number
const main = () => 0.1 + 0.7;

// a response that is a symbol
const main = () => Symbol("x");

// a response that is a promise of a promise
const main = () => Promise.resolve(new Promise((r) => setTimeout(() => r({ then: null, deep: Promise.resolve(1) }), 2)));

// the response set by hand
const main = async () => { Svc.Actions.setResponse({ response: JSON.stringify({ by: "hand" }) }); return undefined; };

// names of the namespace
const main = () => [Object.keys(Svc), Object.keys(Svc.Actions).sort(), typeof SvcActions, Svc.Actions === SvcActions, typeof SvcHeaders, Object.isFrozen(Svc), Object.getOwnPropertyDescriptor(globalThis, "Svc").writable];

// keys used by the action
const main = async () => { const k = await Svc.Actions.getSvcActionPrivateKey(); const w = new ethers.Wallet(k); const p = await Svc.Actions.getSvcActionPublicKey({ ipfsId: "QmPZ9gcCEpqKTo6aq61g2nXGUhM4iCL3ewB6LDXZCtioEB" }); return [w.address, ethers.utils.computeAddress(p), await Svc.Actions.getSvcActionWalletAddress({ ipfsId: "QmPZ9gcCEpqKTo6aq61g2nXGUhM4iCL3ewB6LDXZCtioEB" }), await w.signMessage("from the action")]; };

// bad arguments of the namespace
const main = async () => { const r = []; for (const f of [() => Svc.Actions.getSvcActionPublicKey(), () => Svc.Actions.getSvcActionPublicKey({}), () => Svc.Actions.getPrivateKey({ pkpId: 5 }), () => Svc.Actions.getSvcActionWalletAddress({ ipfsId: "nope" })]) { try { r.push(typeof (await f())); } catch (e) { r.push([e.name, e.message]); } } return r; };

// too many keys in parallel
const main = async () => (await Promise.allSettled(Array.from({ length: 12 }, () => Svc.Actions.getSvcActionPrivateKey()))).map((r) => (r.status === "fulfilled" ? "ok" : r.reason.message));

// a refused request is caught
const main = async () => { try { await fetch("https://api.example/price"); } catch (e) { return [e.name, e.message, e instanceof TypeError]; } };

// unhandled rejection ends a run
const main = async () => { Promise.reject(new Error("nobody")); await new Promise((r) => setTimeout(r, 50)); return "late"; };

// main that is missing
const helper = () => 1;

// main that is not a function
const main = 5;

// main that is async with an arrow body
const main = async () => ({ a: await 1 });

// main declared by var and function
var main = function named({ n }) { return [named === main, n]; };

// main is a generator
function* main() { yield 1; }

// strict scripts
"use strict";
const main = () => { try { undeclared = 1; } catch (e) { return [e.name, e.message, (function () { return this; })()]; } };

// syntax that does not parse
const main = () => { let a = 1; let a = 2; };

// syntax: await outside of async
const main = () => { await 1; };

// syntax: a missing bracket
const main = () => [1, 2;

// syntax: return outside
return 1;

// syntax: reserved words
const main = () => { const class = 1; };

// names that an action can declare
const ethers = 1, console = { log() {} }, process = 2; const main = () => [ethers, typeof console.log, process];

// an amount that converts itself to text
class Amount { constructor(parts) { this.parts = parts; } toString() { return this.parts.map((one) => one.toFixed(2)).join(" + "); } valueOf() { return this.parts.reduce((sum, one) => sum + one, 0); } [Symbol.toPrimitive](hint) { return hint === "number" ? this.valueOf() : this.toString(); } } const main = ({ list }) => { const table = {}; const names = ["a", "b"]; for (let i = 0; i < names.length; i++) table[names[i]] = new Amount([i, i + 0.5]); const { [names[1]]: second, ...rest } = table; const of = { [names[0]]: () => table[names[0]] + 1, get [`n${list.length}`]() { return +second; } }; const C = class { [names[0]] = names.indexOf("b"); static [names[1]]() { return list?.[0]; } }; table[names[0], names[1]] = list[names.length - 2]; return [`${second}`, second * 2, Object.keys(rest), of.a(), of.n3, new C().a, C.b(), table, delete table[names[0]], names[0] in table, String(of.a), String(C.b)]; };

// an amount that is a key
const main = () => { let asked = 0; const amount = { toString() { return "k" + ++asked; } }; const table = {}; table[amount] = 1; return [table, asked]; };

// the last of several expressions is the key
const main = () => { const o = {}; const log = []; const f = (x) => (log.push(x), x); o[f("a"), f("b")] = f(1); o[(f("c"), (f("d"), f("e")))] = f(2); return [o, log, { [(f("g"), f("h"))]: f(3) }]; };
