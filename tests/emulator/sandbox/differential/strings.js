// slicing
const main = () => ["abcdef".slice(-3, -1), "abcdef".substring(4, 1), "abcdef".substr(-3, 2), "abcdef".at(-1), "abc".charAt(9), "abc"[1], "abc".charCodeAt(5)].map(String);

// searching
const main = () => ["banana".indexOf("an", 2), "banana".lastIndexOf("an"), "banana".includes("nan"), "banana".startsWith("nan", 2), "banana".endsWith("ana"), "banana".search(/n/)];

// padding and trimming
const main = () => ["5".padStart(3, "ab"), "5".padEnd(6, "xy"), " \t\n x \u00a0\ufeff".trim(), "  a ".trimStart(), "  a ".trimEnd(), "ab".repeat(3)];

// case
const main = () => ["ÄÖß".toLowerCase(), "straße".toUpperCase(), "İ".toLowerCase().length, "ΑΣ".toLowerCase(), "ǆ".toUpperCase(), "ﬁ".toUpperCase()];

// normalisation
const main = () => ["é".normalize("NFD").length, "e\u0301".normalize("NFC"), "ﬁ".normalize("NFKC"), "Å".normalize("NFKD")];

// splitting and joining
const main = () => ["a,b,,c".split(","), "abc".split(""), "a1b2".split(/\d/), "a1b2".split(/(\d)/), "x".split(), "a,b,c".split(",", 2), [1, null, undefined, [2, 3]].join("-")];

// replacing
const main = () => ["aaa".replace("a", "b"), "aaa".replaceAll("a", "b"), "John Smith".replace(/(\w+)\s(\w+)/, "$2, $1"), "abc".replace(/b/, "[$&$`$']"), "a-b-c".replace(/-/g, () => "+"), "x".replace("x", "$$")];

// surrogates
const main = () => ["😀".length, [..."😀"].length, "😀".codePointAt(0), "😀".charCodeAt(1), String.fromCodePoint(128512), "😀".at(0).isWellFormed(), "\ud800x".toWellFormed(), "😀".split("")];

// unpaired surrogates in a response
const main = () => ({ half: "a\ud800b", text: "ok" });

// comparing
const main = () => [["b", "a", "C", "Ä"].sort(), "a" < "B", "10" < "9", "a".concat(1, null), "abc" === `a${"b"}c`];

// code points
const main = () => ["A", "é", "€", "😀"].map((c) => [c.codePointAt(0), encodeURIComponent(c), escape(c), [...new TextEncoder().encode(c)]]);

// URI functions
const main = () => [encodeURI("a b/ü?x=1&y=ä#z"), decodeURIComponent("%F0%9F%98%80"), encodeURIComponent("!'()*~"), unescape("%u0041%42"), decodeURI("%2F%41")];

// base64
const main = () => [btoa("Hello, world"), atob("SGVsbG8="), btoa("\xff\x00"), btoa(""), atob(" S G k = ")];

// iteration
const main = () => { const out = []; for (const c of "aß😀") out.push(c); for (const i in "ab") out.push(i); return out; };

// old HTML methods
const main = () => ["x".anchor("a"), "x".bold(), "x".link("u")];

// raw and cooked templates
const main = () => [String.raw`a\n${1}`, `a\tb`.length, `line
break`];

// matchAll
const main = () => [..."a1b22c333".matchAll(/([a-z])(\d+)/g)].map((m) => [m[0], m[1], m[2], m.index]);

// long strings
const main = () => { let s = ""; for (let i = 0; i < 5000; i++) s += String.fromCharCode(97 + (i % 26)); return [s.length, s.slice(2000, 2010), s.lastIndexOf("z"), s.split("a").length]; };

// text to bytes and back
const main = () => { const b = new TextEncoder().encode("grüße 😀"); return [[...b], new TextDecoder().decode(b), new TextDecoder("utf-16le").decode(new Uint8Array([65, 0, 66, 0])), new TextDecoder("latin1").decode(new Uint8Array([228]))]; };

// decoding with damage
const main = () => [new TextDecoder().decode(new Uint8Array([65, 255, 66])), new TextDecoder().encoding, new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array([239, 187, 191, 65])).length, new TextDecoder().decode(new Uint8Array([239, 187, 191, 65]))];

// formatting an amount
const main = () => [1234567.891, 0.5, -42].map((n) => n.toFixed(2).replace(/\B(?=(\d{3})+(?!\d))/g, ","));

// camel and snake
const main = () => ["fooBarBaz".replace(/[A-Z]/g, (c) => "_" + c.toLowerCase()), "foo_bar_baz".replace(/_(\w)/g, (_, c) => c.toUpperCase())];

// reversing and palindromes
const main = () => ["abc", "level"].map((s) => [[...s].reverse().join(""), [...s].reverse().join("") === s]);

// counting words
const main = () => { const counts = {}; for (const w of "the cat and the dog and the bird".split(" ")) counts[w] = (counts[w] ?? 0) + 1; return counts; };

// string responses that are JSON
const main = () => JSON.stringify({ nested: [1, "2"] });
