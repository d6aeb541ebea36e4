// an error of main
function main() { throw new Error("boom"); }

// an error of an arrow function
const main = () => { throw new TypeError("wrong type"); };

// an error some calls deep
function inner() {
  throw new RangeError("deep");
}
function middle() { inner(); }
function main() {
  middle();
}

// an error after an await
const main = async () => {
  await null;
  throw new Error("later");
};

// an error after a key was used
async function main() {
  await Svc.Actions.getSvcActionPrivateKey();
  throw new Error("after the key");
}

// an error called without new
function main() { throw Error("no new"); }

// a rejected promise
const main = () => Promise.reject(new Error("rejected"));

// a thrown text
const main = () => { throw "text"; };

// a thrown number
const main = async () => { throw 42; };

// a thrown object
const main = () => { throw { code: "E_X", detail: [1, { a: 2 }] }; };

// a thrown null
const main = () => { throw null; };

// a thrown undefined
const main = () => { throw undefined; };

// a thrown array and a symbol
const main = () => { try { throw Symbol("s"); } catch (e) { throw [1, String(e)]; } };

// a thrown object with name and message
const main = () => { throw { name: "Custom", message: "by hand" }; };

// an error at top level
const x = 1;
throw new Error(`top ${x}`);

// an error in a helper at top level
function check(v) {
  if (!v) throw new TypeError("falsy");
}
check(0);
function main() {}

// an error without message
const main = () => { throw new Error(); };

// an error of two lines
const main = () => { throw new Error("one\ntwo"); };

// a cause is not part of the text
const main = () => { throw new Error("outer", { cause: new Error("inner") }); };

// an aggregate
const main = () => { throw new AggregateError([new Error("a"), new TypeError("b")], "both"); };

// a renamed error
const main = () => { const e = new Error("renamed"); e.name = "Special"; throw e; };

// an error that was caught and rethrown
function fails() { throw new Error("first"); }
function main() { try { fails(); } catch (e) { throw e; } }

// an error that was made earlier than thrown
const made = new Error("made early");
function main() { throw made; }

// a refused key
const main = async () => { await Svc.Actions.getPrivateKey({ pkpId: "0xbb" }); };

// a refused key that is caught
const main = async () => { try { await Svc.Actions.getPrivateKey({ pkpId: "0xbb" }); } catch (e) { return [e.name, e.message, e instanceof Error]; } };

// a missing argument of an operation
const main = () => Svc.Actions.getPrivateKey({});

// a blank argument of an operation
const main = async () => { try { await Svc.Actions.Encrypt({ pkpId: " ", message: "x" }); } catch (e) { return `${e.name}: ${e.message}`; } };

// missing main
const notMain = 1;

// main is not a function
const main = 5;

// a variable that is missing
const main = () => missing;

// a function that is missing
const main = () => missingFunction(1);

// text of caught errors
const main = () => { const t = (f) => { try { return f(); } catch (e) { return `${e.name}: ${e.message}`; } }; return [t(() => { throw new Error("x"); }), t(() => undefinedName), t(() => null.a), t(() => undefined.b), t(() => { null.c = 1; })]; };

// members of an error
const main = () => { const e = new Error("m", { cause: 1 }); return [e.toString(), Object.keys(e), "stack" in e, e.cause, Object.prototype.toString.call(e), JSON.stringify(e), Object.getOwnPropertyNames(e)]; };

// the stack of an error as text
function where() { return new Error("here").stack; }
const main = () => where();

// the first line of a stack follows name and message
const main = () => { const e = new RangeError("before"); e.message = "after"; return e.stack.split("\n")[0]; };

// a stack that was written
const main = () => { const e = new Error("x"); e.stack = "mine"; return [e.stack, Object.keys(e)]; };

// classes of errors
const main = () => [new TypeError("x") instanceof Error, TypeError.prototype.name, Error("y").message, new (class E2 extends RangeError {})("z").name, Object.getPrototypeOf(TypeError) === Error, Error.prototype.constructor === Error, EvalError.name, new Error("a").constructor === Error];

// a separate error class, caught
class NotFound extends Error { constructor(id) { super(`no ${id}`); this.name = "NotFound"; this.id = id; } }
const main = () => { try { throw new NotFound(7); } catch (e) { return [e instanceof NotFound, e instanceof Error, e.name, e.message, e.id, String(e), Object.keys(e)]; } };

// Error.isError
const main = () => [Error.isError(new TypeError()), Error.isError({ name: "Error" })];

// errors in a promise chain
const main = () => Promise.resolve(1).then(() => { throw new Error("in then"); }).catch((e) => [e.message]).finally(() => {});

// an unhandled rejection
Promise.reject(new Error("stray"));
const main = () => new Promise(() => {});

// an unhandled rejection of text
const main = () => { Promise.reject("plain"); return new Promise((done) => setTimeout(done, 50)); };

// an error in a timer
const main = () => new Promise(() => { setTimeout(() => { throw new Error("timer"); }, 1); });

// a rejection with a late handler
const main = async () => { const p = Promise.reject(new Error("x")); await Promise.resolve(); return p.catch((e) => e.message); };

// allSettled keeps reasons
const main = async () => (await Promise.allSettled([1, Promise.reject(new Error("no")), Promise.resolve(2)])).map((r) => [r.status, r.value ?? r.reason.message]);

// any fails with all
const main = async () => { try { await Promise.any([Promise.reject(new Error("a")), Promise.reject(new Error("b"))]); } catch (e) { return [e.name, e.errors.map((x) => x.message)]; } };

// ethers errors
const main = () => { try { ethers.utils.getAddress("0x123"); } catch (e) { return [e.code, e.reason, e.argument, e.message]; } };

// an uncaught error of ethers
const main = () => ethers.utils.parseEther("abc");

// validation with a message
const main = (params) => { if (!params.amount) throw new Error(`amount is ${params.amount}`); };

// console before an error
const main = () => { console.log("before"); throw new Error("after"); };

// an unknown name in a statement
function main() {
  return missing.member;
}

// an unknown name that is caught
const main = () => { try { return missing.member; } catch (e) { return [e.name, e.message, e instanceof ReferenceError]; } };

// an error below a call in brackets
function f() { throw new Error("below"); }
function main() {
  return (f)();
}

// an error below an optional call
function f() { throw new Error("below"); }
function main() {
  return f?.();
}

// an error below calls in many places
function f() { throw new Error("below"); }
function inSum() { return 1 + f(); }
function inList() { return [1, f()]; }
function inText() { return `a ${f()} b`; }
function inLoop() { for (const x of f()) return x; }
function inCase() { switch (1) { case f(): } }
function inPattern() { const { a } = f(); return a; }
function inThrow() { throw f(); }
function main() {
  const seen = [];
  try { inSum(); } catch (e) { seen.push(e.stack); }
  try { inList(); } catch (e) { seen.push(e.stack); }
  try { inText(); } catch (e) { seen.push(e.stack); }
  try { inLoop(); } catch (e) { seen.push(e.stack); }
  try { inCase(); } catch (e) { seen.push(e.stack); }
  try { inPattern(); } catch (e) { seen.push(e.stack); }
  try { inThrow(); } catch (e) { seen.push(e.stack); }
  return seen;
}

// an error next to a spread of a string
function thrower() { throw new Error("t"); }
const main = () => ({ ..."ab", a: { ...thrower() } });

// an error on the first line behind a spread
const main = () => ({ ..."ab", ...ouch() }); function ouch() { throw new Error("t"); }

// stacks that were overwritten
const main = () => { const e = new Error("m"); for (const stack of [undefined, 5, "", "words", { a: 1 }]) { e.stack = stack; console.log(e, [e]); } delete e.stack; console.log(e); };

// an error in a listener
function main() { const t = new EventTarget(); let stack; t.addEventListener("a", function heard() { stack = new Error("q").stack; }); t.dispatchEvent(new Event("a")); return stack; }

// members of an error that suppresses another
const main = () => { const e = new SuppressedError(1, 2, "m"); return [Object.getOwnPropertyNames(e), e.error, e.suppressed, e.message]; };
