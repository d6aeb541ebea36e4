// order of microtasks
const main = async () => { const log = []; const p = Promise.resolve(); p.then(() => log.push(1)).then(() => log.push(3)); p.then(() => log.push(2)).then(() => log.push(4)); await null; log.push("a"); await null; log.push("b"); await null; return log; };

// async functions and then interleave
const main = async () => { const log = []; const f = async (n) => { log.push(n + "a"); await null; log.push(n + "b"); await null; log.push(n + "c"); }; await Promise.all([f(1), f(2), Promise.resolve().then(() => log.push("t"))]); return log; };

// returning a promise takes more turns
const main = async () => { const log = []; const f = async () => Promise.resolve(1); f().then(() => log.push("f")); let p = Promise.resolve(); for (let i = 0; i < 5; i++) p = p.then(() => log.push(i)); await p; return log; };

// thenables
const main = async () => [await { then(r) { r(5); } }, await Promise.resolve({ then: (r) => r([6]) }), await 7];

// microtasks run before timers
const main = () => new Promise((done) => { const log = []; setTimeout(() => { log.push("timer"); done(log); }, 0); queueMicrotask(() => log.push("micro")); Promise.resolve().then(() => log.push("then")); log.push("sync"); });

// timers in order of their times
const main = () => new Promise((done) => { const log = []; setTimeout(() => log.push(60), 60); setTimeout(() => log.push(20), 20); setTimeout(() => log.push(40), 40); setTimeout(() => done(log), 90); });

// equal timers in order of creation
const main = () => new Promise((done) => { const log = []; for (let i = 0; i < 5; i++) setTimeout(() => log.push(i), 10); setTimeout(() => done(log), 30); });

// clearing timers
const main = () => new Promise((done) => { const log = []; const t = setTimeout(() => log.push("no"), 5); clearTimeout(t); let n = 0; const i = setInterval(() => { log.push(++n); if (n === 3) { clearInterval(i); done(log); } }, 5); clearTimeout(12345); clearTimeout(undefined); });

// arguments of timers
const main = () => new Promise((done) => setTimeout((...a) => done(a), 1, "x", 2));

// sleep and work
const main = async () => { const sleep = (ms) => new Promise((r) => setTimeout(r, ms)); const out = []; for (let i = 0; i < 3; i++) { await sleep(5); out.push(i); } return out; };

// all, race and any
const main = async () => { const later = (v, ms) => new Promise((r) => setTimeout(r, ms, v)); return [await Promise.all([later("a", 20), "b"]), await Promise.race([later("slow", 60), later("fast", 5)]), await Promise.any([Promise.reject(new Error("x")), later("ok", 5)])]; };

// a timeout by race
const main = async () => { const timeout = new Promise((_, no) => setTimeout(() => no(new Error("timed out")), 10)); try { await Promise.race([new Promise(() => {}), timeout]); } catch (e) { return e.message; } };

// withResolvers and try
const main = async () => { const { promise, resolve } = Promise.withResolvers(); queueMicrotask(() => resolve("done")); return [await promise, await Promise.try(() => 5), await Promise.try(() => { throw new Error("t"); }).catch((e) => e.message)]; };

// for await over promises
const main = async () => { const out = []; for await (const x of [Promise.resolve(1), 2, new Promise((r) => setTimeout(r, 5, 3))]) out.push(x); return out; };

// a pool of two workers
const main = async () => { const log = []; const jobs = [30, 10, 10, 5]; let i = 0; const work = async (w) => { while (i < jobs.length) { const j = i++; await new Promise((r) => setTimeout(r, jobs[j])); log.push([w, j]); } }; await Promise.all([work("a"), work("b")]); return log.length; };

// finally passes values on
const main = async () => [await Promise.resolve(1).finally(() => 2), await Promise.reject(new Error("r")).finally(() => {}).catch((e) => e.message)];

// subclasses of Promise
class P2 extends Promise {}
const main = async () => { const p = P2.resolve(1).then((x) => x + 1); return [p instanceof P2, await p]; };

// a resolved promise stays
const main = async () => { let r; const p = new Promise((a) => (r = a)); r(1); r(2); return [await p, Object.prototype.toString.call(p)]; };

// top level work before main
const log = [];
Promise.resolve().then(() => log.push("top micro"));
log.push("top");
const main = async () => { log.push("main"); await null; return log; };

// abort signals
const main = () => new Promise((done) => { const c = new AbortController(); const log = []; c.signal.addEventListener("abort", () => log.push("listener")); c.signal.onabort = () => log.push("handler"); c.abort("why"); c.abort("again"); done([log, c.signal.aborted, c.signal.reason]); });

// abort signals with their own reason
const main = () => { const s = AbortSignal.abort(new Error("mine")); try { s.throwIfAborted(); } catch (e) { return [e.message, s.aborted]; } };

// events
const main = () => { const t = new EventTarget(); const log = []; const f = (e) => log.push(e.type); t.addEventListener("x", f); t.addEventListener("x", f); t.addEventListener("x", (e) => log.push(e.detail), { once: true }); t.dispatchEvent(new CustomEvent("x", { detail: 5 })); t.dispatchEvent(new Event("x")); t.removeEventListener("x", f); t.dispatchEvent(new Event("x")); return log; };

// cancelable events
const main = () => { const t = new EventTarget(); t.addEventListener("x", (e) => e.preventDefault()); return [t.dispatchEvent(new Event("x", { cancelable: true })), t.dispatchEvent(new Event("x"))]; };

// nested async errors are caught
const main = async () => { const a = async () => { throw new Error("a"); }; const b = async () => { try { await a(); } catch (e) { throw new Error("b", { cause: e }); } }; try { await b(); } catch (e) { return [e.message, e.cause.message]; } };

// a retry loop
const main = async () => { let n = 0; const flaky = async () => { if (++n < 3) throw new Error("try " + n); return "ok " + n; }; for (;;) { try { return await flaky(); } catch { await null; } } };

// memoised async work
const main = async () => { const cache = new Map(); let calls = 0; const get = (k) => cache.get(k) ?? cache.set(k, (async () => { calls++; await null; return k * 2; })()).get(k); return [await Promise.all([get(1), get(1), get(2)]), calls]; };

// async iteration that is left early
async function* gen() { try { yield 1; yield 2; } finally { console.log("closed"); } }
const main = async () => { for await (const x of gen()) { console.log(x); break; } };

// timers of any delay
const main = () => new Promise((done) => { const log = []; setTimeout(() => log.push(1), NaN); setTimeout(() => log.push(2)); setTimeout(() => log.push(3), "x"); setTimeout(() => log.push(4), null); setTimeout(() => log.push(5), Infinity); setTimeout(() => log.push(6), 2 ** 40); setTimeout(() => done(log), -5); });

// an interval of a negative delay
const main = () => new Promise((done) => { let n = 0; const id = setInterval(() => { if (++n === 3) { clearInterval(id); done(n); } }, -5); });

// the error of Promise.any is complete before it is thrown
const main = async () => { const e = await Promise.any([Promise.reject(1), Promise.reject(new Error("x"))]).catch((e) => e); return [e.message, e.stack, Object.getOwnPropertyNames(e), e.errors.map(String), (await Promise.any([]).catch((e) => e)).message]; };

// Promise.any rejects with an error of its input as it is
const main = async () => { const given = new AggregateError([1], ""); const bad = { [Symbol.iterator]() { throw given; } }; const seen = await Promise.any(bad).catch((e) => e); return [seen === given, seen.message]; };

// Promise.any of a subclass of Promise
const main = async () => { const log = []; class P extends Promise { static resolve(x) { log.push("r"); return super.resolve(x); } } const p = P.any([P.reject(0), 4]); return [p instanceof P, await p, log, Promise.any.name, Promise.any.length, "prototype" in Promise.any]; };

// Promise.any fails uncaught
const main = async () => Promise.any([(async () => { await null; throw new Error("q"); })(), Promise.reject(2)]);

// Promise.any among other turns
const main = async () => { const log = []; Promise.resolve().then(() => log.push(1)).then(() => log.push(2)).then(() => log.push(3)).then(() => log.push(4)); Promise.any([Promise.reject(0), 4]).then(() => log.push("any")); Promise.any([Promise.reject(0)]).catch(() => log.push("none")); await new Promise((r) => setTimeout(r, 5)); return log; };
