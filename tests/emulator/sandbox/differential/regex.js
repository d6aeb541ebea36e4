// named groups
const main = () => { const m = "2026-11-21".match(/(?<y>\d{4})-(?<m>\d\d)-(?<d>\d\d)/); return [m.groups.y, { ...m.groups }, m.index, m.length]; };

// flags
const main = () => [/a/gimsuy.flags, /a/d.hasIndices, /a/.global, "A\nB".match(/^b$/im)[0], /a.b/s.test("a\nb"), new RegExp("/").source];

// lookbehind
const main = () => ["$12 €34".match(/(?<=€)\d+/)[0], "price 5".replace(/(?<!\d)5/, "6"), "aXbX".match(/(?<=b)X/).index];

// lookahead
const main = () => ["foobar".match(/foo(?=bar)/)[0], /foo(?!bar)/.test("foobar"), "a1b".replace(/\d(?=b)/, "#")];

// sticky and lastIndex
const main = () => { const r = /a/y; const out = []; r.lastIndex = 1; out.push(r.test("ba"), r.lastIndex, r.test("ba"), r.lastIndex); const g = /o/g; while (g.exec("foo boo")) out.push(g.lastIndex); return out; };

// unicode properties
const main = () => ["aÄ1😀".match(/\p{L}/gu), "x😀y".match(/\p{Emoji_Presentation}/u)[0], /^\p{Script=Greek}+$/u.test("αβγ"), /\P{Lu}/u.test("A")];

// sets of classes
const main = () => [/[\p{L}--[a-z]]/v.test("a"), /[\p{L}--[a-z]]/v.test("A"), /^[\w&&\d]+$/v.test("12")];

// back references
const main = () => [/(\w)\1/.exec("hello")[0], /(?<q>['"]).*?\k<q>/.exec(`say "hi"`)[0], "abab".replace(/(ab)\1/, "<$1>")];

// greedy and lazy
const main = () => ["<a><b>".match(/<.+>/)[0], "<a><b>".match(/<.+?>/)[0], "aaa".match(/a{2}/)[0], "aaaa".match(/a{1,3}?/)[0]];

// replace with a function
const main = () => "1 + 22".replace(/\d+/g, (m, offset, all) => `[${m}@${offset}/${all.length}]`);

// replace with named groups
const main = () => "Ann Lee".replace(/(?<first>\w+) (?<last>\w+)/, "$<last> $<first>");

// split with limits and captures
const main = () => ["a1b2c3".split(/(\d)/, 4), "".split(/x/), "abc".split(/(?:)/), "a  b".split(/\s+/)];

// indices
const main = () => { const m = /a(?<z>b)/d.exec("xab"); return [m.indices[0], m.indices.groups.z]; };

// alternation and anchors
const main = () => [/^(?:cat|dog)$/.test("dog"), /\bword\b/.test("a word."), /\Bord/.test("word"), "a|b".split("|"), /^$/.test("")];

// escapes
const main = () => [/\x41\u0042\cJ/.test("AB\n"), /[\b]/.test("\b"), /\0/.test("\0"), /\u{1F600}/u.test("😀"), /[^]/.test("\n")];

// case folding
const main = () => [/ß/i.test("SS"), /ſ/iu.test("s"), /[a-z]/i.test("K"), /\u212a/iu.test("k"), /İ/i.test("i")];

// regex to text
const main = () => [String(/a\/b/g), new RegExp("a/b\n").toString(), RegExp("").toString(), /[/]/.source, new RegExp(/x/g, "i").flags];

// matching addresses and hashes
const main = () => ["0x" + "aB".repeat(20), "0x12", "0x" + "f".repeat(64)].map((s) => [/^0x[0-9a-fA-F]{40}$/.test(s), /^0x[0-9a-f]{64}$/.test(s)]);

// parsing a csv line
const main = () => [..."a,\"b,c\",d".matchAll(/("([^"]*)"|[^,]+)/g)].map((m) => m[2] ?? m[1]);

// tokenising
const main = () => "3 + 4*(2 - 1)".match(/\d+|[+*()-]/g);

// empty matches advance
const main = () => ["abc".replace(/(?:)/g, "-"), "aXbX".replace(/X*/g, "."), [..."ab".matchAll(/x?/g)].length];

// global match without result
const main = () => ["abc".match(/x/g), "abc".match(/x/), "abc".search(/x/), /x/.exec("abc")];

// species and symbols of regular expressions
const main = () => [RegExp.prototype[Symbol.replace].call(/a/, "aa", "b"), Object.prototype.toString.call(/a/), RegExp("a") instanceof RegExp];

// quantified groups keep the last
const main = () => [/(?:(a)|b)*/.exec("ab"), /(z)((a+)?(b+)?(c))*/.exec("zaacbbbcac")];

// many matches
const main = () => { const text = "lorem ipsum dolor ".repeat(200); return [text.match(/\w+/g).length, text.replace(/o/g, "0").indexOf("d0l0r"), (text.match(/[aeiou]/g) ?? []).length]; };

// text is escaped for a regular expression
const main = () => ["1a", "a1", "😀1a", "1😀1", "\ud800", "a\ud800b", "\udc00\ud800", "", "^$.", "😀😀-", "x😀-y\n 𐀀0", "\ud83d\ud83d\ude00z"].map((text) => { const e = RegExp.escape(text); return [e, e.length, new RegExp(`^${e}$`).test(text)]; });
