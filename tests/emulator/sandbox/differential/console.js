// primitives
const main = () => console.log("a", 1, -0, 1.5, NaN, true, null, undefined, 10n, Symbol("s"), "", "it's");

// nested objects
const main = () => console.log({ a: 1, b: { c: { d: { e: { f: 1 } } } }, "k-x": "q", 5: [1, [2, [3, [4, [5]]]]] });

// quotes
const main = () => console.log(["it's", 'say "x"', `both ' and "`, "new\nline", "tab\t", "\\", "\u0000", "é😀"]);

// arrays, holes and extra members
const main = () => { const a = [1, , , 2]; a.x = "y"; console.log(a, [], [undefined, null], [[]], new Array(5)); };

// long arrays
const main = () => console.log(Array.from({ length: 150 }, (_, i) => i), Array.from({ length: 30 }, (_, i) => "item " + i));

// long objects break lines
const main = () => console.log(Object.fromEntries(Array.from({ length: 30 }, (_, i) => ["key" + i, "value " + i])));

// maps and sets
const main = () => console.log(new Map([["a", { x: 1 }], [{ k: 1 }, [1, 2]]]), new Set(["x", 1, [2]]), new Map(), new Set());

// classes and instances
class Foo { constructor() { this.a = 1; } get b() { return 2; } static s = 1; #p = 5; }
class Bar extends Foo {}
const main = () => console.log(Foo, Bar, new Foo(), new Bar(), new (class {})(), [new Foo()]);

// functions
const main = () => console.log(() => 1, function named() {}, async () => {}, function* g() {}, async function* ag() {}, Math.max, class {}, Object.assign(() => {}, { x: 1 }));

// dates and regular expressions
const main = () => console.log(new Date(0), /a+/gi, [new Date(86400000)], { r: /x/ }, new Date(NaN));

// boxed primitives
const main = () => console.log(Object(1), Object("ab"), Object(true), Object(5n), Object(Symbol("q")), [Object("x")]);

// symbols as keys
const main = () => console.log({ [Symbol("k")]: 1, [Symbol.iterator]: 2, [Symbol.for("r")]: 3 });

// accessors
const main = () => console.log({ get a() { return 1; }, set a(v) {}, get b() { return 1; }, set c(v) {} });

// circles
const main = () => { const a = { n: 1 }; a.self = a; a.list = [a, { a }]; console.log(a); };

// without a prototype
const main = () => { const o = Object.create(null); o.x = 1; console.log(o, [Object.create(null)]); };

// typed arrays and buffers
const main = () => console.log(new Uint8Array([1, 2, 3]), new Float64Array([0.5]), new ArrayBuffer(4), new BigInt64Array([1n]), new Uint8Array(0));

// substitutions
const main = () => { console.log("%s and %d and %i", "text", 42.9, 42.9); console.log("%o|%O|%j", { a: 1 }, { b: [1] }, { c: 1 }); console.log("%c styled", "color: red"); console.log("100%", 5, "%s"); console.log("%s", "a", { a: 1 }, "more"); console.log("%%d %d", "7"); console.log("%f", "1.5x"); };

// every method
const main = () => { for (const m of ["log", "info", "debug", "warn", "error", "dir"]) console[m](m, { m }); };

// groups
const main = () => { console.group("outer"); console.log("in\nside"); console.group(); console.log({ a: 1 }); console.groupEnd(); console.groupEnd(); console.log("out"); };

// counts and assertions
const main = () => { console.count(); console.count("x"); console.count(); console.countReset(); console.count(); console.assert(true, "no"); console.assert(false, "yes", { a: 1 }); };

// tables
const main = () => { console.table([{ a: 1, b: "x" }, { a: 2, c: true }]); console.table([[1, 2], [3, 4]]); console.table("text"); };

// errors in the log
const main = () => { console.log(new Error("plain")); };

// errors inside objects
function make() { return new TypeError("inside"); }
const main = () => console.log({ e: make() });

// errors with members and causes
const main = () => { const e = new Error("coded"); e.code = "X"; e.detail = { a: 1 }; console.log(e); };

// text of several lines
const main = () => console.log("a\nb", ["a\nb"], { t: "l1\nl2" });

// numbers in objects
const main = () => console.log([0.1, -0, 1e21, NaN, Infinity], { a: -5n, b: 0xff });

// ethers values
const main = () => console.log(ethers.BigNumber.from("1000000000000000000"), ethers.utils.parseUnits("1.5", 6), [ethers.constants.AddressZero], ethers.constants.One);

// empty lines and no arguments
const main = () => { console.log(); console.log(""); console.log(" "); console.log([], {}, ""); };

// logs come in order
const main = async () => { console.log(1); setTimeout(() => console.log("timer"), 1); Promise.resolve().then(() => console.log("micro")); await null; console.log(2); await new Promise((r) => setTimeout(r, 30)); console.log(3); };

// arrays of objects
const main = () => console.log([{ id: 1, name: "Ann", tags: ["a", "b"] }, { id: 2, name: "Bob", tags: [] }]);

// very long texts in arrays
const main = () => console.log(["x".repeat(200), "y".repeat(10)], "z".repeat(300));

// strings of an object with its own toString
const main = () => console.log({ toString() { return "mine"; } }, `${{ toString: () => "mine" }}`);

// a class with a tag
class Tagged { get [Symbol.toStringTag]() { return "Tag"; } }
const main = () => { console.log(String(new Tagged())); };

// arguments and array likes
const main = () => (function () { console.log([...arguments], { length: 2, 0: "a" }); })(1, "b");

// nested maps
const main = () => console.log(new Map([["m", new Map([["n", new Set([{ deep: { deeper: { deepest: 1 } } }])]])]]));

// globals
const main = () => console.log(typeof console, Object.keys(Svc), Object.keys(Svc.Actions), JSON, Math.PI);

// wide objects of mixed kinds
const main = () => console.log({ a: [1, 2, 3], b: new Map([[1, 2]]), c: null, d: undefined, e: () => {}, f: Symbol("x"), g: new Date(0), h: /x/, i: 5n, j: new Error("e").message });

// console is an object like others
const main = () => { const { log } = console; log("loose"); const old = console.log; console.log = (...a) => old("wrapped", ...a); console.log("x"); };

// symbols with the same description
const main = () => console.log(Symbol(""), Symbol(), { [Symbol("")]: 1, [Symbol()]: 2, [Symbol()]: 3, [Symbol("a")]: 4, [Symbol("a")]: 5 }, [Symbol.iterator, Symbol.for("a")]);

// formats with primitives
const main = () => { console.log("%% %s %d %i %f %j %o %O %c %%", "a", 1.5, 1.5, "2.5", { j: 1 }, [1], { a: 1 }, "color: red", "more"); console.log("%s", -0, 5n, null, undefined, Symbol("q")); console.log("%d", "x", 5n, ""); console.log("a%sb%sc", 1); };

// formats with objects with their own conversions
const main = () => console.log("%s and %d", { toString: () => "own words" }, { valueOf: () => 5 });

// errors within errors
const main = () => { const e = new Error("self"); e.cause = e; const all = new AggregateError([new Error("a"), new RangeError("b")], "both"); console.log(e, all, { nested: new Error("c", { cause: { a: 1 } }) }); };
