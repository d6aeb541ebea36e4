// numbers to text
const main = () => [0.1 + 0.2, 1 / 3, 1e21, 1e-7, 123456789012345680000, -0, 5e-324, 1.7976931348623157e308, 100, 1e100].map(String);

// toFixed
const main = () => [[1.005, 2], [0.000001, 7], [1e21, 2], [-1.5, 0], [2.5, 0], [1.45, 1], [123.456, 0], [0, 2], [-0.0001, 2], [10.235, 2]].map(([n, d]) => n.toFixed(d));

// toPrecision and toExponential
const main = () => [(123.456).toPrecision(4), (0.00001).toPrecision(1), (1e21).toPrecision(3), (123456).toExponential(2), (0).toExponential(), (1.25).toExponential(1), (255).toPrecision(2), (1e-7).toPrecision(10)];

// toString in other bases
const main = () => [(255).toString(16), (255).toString(2), (0.5).toString(2), (0.1).toString(3), (-255.5).toString(16), (1e21).toString(36), Math.PI.toString(8), (35).toString(36), NaN.toString(2), Infinity.toString(16)];

// parsing numbers
const main = () => [parseInt("12px"), parseInt("0x1f"), parseInt("z", 36), parseInt(""), parseFloat("3.14abc"), parseFloat(".5e-3x"), Number(""), Number("0b11"), Number(" 12 "), Number("1_0"), Number(null), Number([5]), Number("Infinity")].map(String);

// classification
const main = () => [Number.isInteger(5.0), Number.isSafeInteger(2 ** 53), Number.EPSILON > 0, isNaN("x"), Number.isNaN("x"), isFinite("5"), Number.MAX_SAFE_INTEGER, Number.MIN_VALUE];

// rounding
const main = () => [Math.round(-0.5), Math.round(2.5), Math.round(-2.5), Math.trunc(-4.7), Math.ceil(-0.2), Math.floor(-0.2), Math.sign(-3), Math.fround(5.5), Math.fround(5.05), Math.clz32(1), Math.imul(0xffffffff, 5)].map((x) => Object.is(x, -0) ? "-0" : String(x));

// powers and roots
const main = () => [Math.sqrt(2), Math.cbrt(27), Math.cbrt(2), Math.hypot(3, 4), Math.hypot(1, 2, 3), 2 ** 0.5, 10 ** -5, 1.1 ** 10, Math.pow(1.0001, 10000), 0.5 ** 1074];

// trigonometry
const main = () => [0.1, 0.5, 1, 2, 10, 100, 1e6, 1e22].flatMap((x) => [Math.sin(x), Math.cos(x), Math.tan(x), Math.atan(x)]);

// inverse and hyperbolic functions
const main = () => [0.1, 0.3, 0.7, 0.99].flatMap((x) => [Math.asin(x), Math.acos(x), Math.sinh(x), Math.cosh(x), Math.tanh(x), Math.asinh(x), Math.atanh(x), Math.acosh(1 + x)]);

// logarithms and exponentials
const main = () => [0.1, 1, 2, 3, 10, 1000, 1e-10, 123.456].flatMap((x) => [Math.log(x), Math.log2(x), Math.log10(x), Math.log1p(x), Math.exp(x / 100), Math.expm1(x / 100)]);

// powers with the operator
const main = () => { const out = []; for (let i = 1; i < 40; i++) out.push(i ** 0.37, 1.07 ** i, (i / 7) ** (i / 9), 2 ** -i); return out; };

// compound interest
const main = () => [3, 5, 7.25].map((r) => Array.from({ length: 8 }, (_, y) => (1000 * (1 + r / 100) ** y).toFixed(6)));

// min and max
const main = () => [Math.max(), Math.min(), Math.max(1, NaN), Math.max(-0, 0), Math.min(0, -0), Math.max(...[1, 5, 3]), Math.max("7", 3)].map((x) => Object.is(x, -0) ? "-0" : String(x));

// atan2 by quadrant
const main = () => [[0, 0], [0, -0], [-0, -1], [1, 1], [-1, -1], [1, 0], [3, -4]].map(([y, x]) => Math.atan2(y, x));

// big integers
const main = () => [(2n ** 256n - 1n).toString(), (-7n / 2n).toString(), (-7n % 3n).toString(), (5n << 70n).toString(16), (-5n >> 1n).toString(), BigInt("0xff").toString(2), BigInt(2 ** 60).toString(), BigInt.asUintN(8, 257n).toString(), BigInt.asIntN(8, 255n).toString()];

// big integers compare with numbers
const main = () => [1n == 1, 2n > 1, 1n === 1, typeof 1n, 0n ? 1 : 2, [3n, 1n, 2n].sort().map(String), BigInt(true).toString(), Number(123n), parseInt("9007199254740993n")];

// modular exponentiation
const main = () => { let r = 1n, b = 3n, e = 1000n; const m = 2n ** 127n - 1n; while (e) { if (e & 1n) r = r * b % m; b = b * b % m; e >>= 1n; } return r.toString(); };

// factorial of 60
const main = () => { let f = 1n; for (let i = 2n; i <= 60n; i++) f *= i; return f.toString(); };

// negative zero
const main = () => [-0, 0 * -1, JSON.stringify(-0), String(-0), Object.is(-0, 0), 1 / -0, [-0].includes(0), [-0].indexOf(0), `${-0}`].map(String);

// integer overflow
const main = () => [2 ** 53, 2 ** 53 + 1, 9007199254740993, 0.1 * 3, 4.35 * 100, 1.1 + 2.2, 0.7 + 0.1, 1e16 + 1, 123456789 * 987654321];

// numbers as keys
const main = () => { const o = {}; for (const k of [1, 1.5, -1, 1e21, 1e-7, 0x10, -0]) o[k] = 1; return Object.keys(o); };

// typed arrays wrap and clamp
const main = () => [[...new Uint8Array([256, -1, 1.9])], [...new Int16Array([40000])], [...new Uint8ClampedArray([300, -5, 1.5, 2.5])], [...new Float32Array([0.1])], [...new BigUint64Array([-1n])].map(String)];

// DataView
const main = () => { const v = new DataView(new ArrayBuffer(16)); v.setFloat64(0, Math.PI); v.setInt32(8, -2, true); v.setUint16(12, 65535); return [v.getUint8(0), v.getFloat64(0), v.getInt32(8), v.getInt32(8, true), v.getInt16(12)]; };

// average of many decimals
const main = () => { let s = 0; for (let i = 1; i <= 1000; i++) s += 1 / i; return [s, s / 1000, s.toFixed(10), Math.log(1000) + 0.5772156649]; };

// random numbers are in range and differ
const main = () => { const r = Array.from({ length: 100 }, Math.random); return [r.every((x) => x >= 0 && x < 1), new Set(r).size]; };

// number methods on strings of numbers
const main = () => ["10", "9", "1"].map(Number).sort((a, b) => a - b).map((n) => n.toString().padStart(3, "0"));

// unit conversion
const main = () => ["1.5", "0.000001", "123456.789"].map((s) => { const [w, f = ""] = s.split("."); return (BigInt(w) * 10n ** 6n + BigInt(f.padEnd(6, "0"))).toString(); });

// statistics
const main = () => { const x = [3, 1, 4, 1, 5, 9, 2, 6]; const m = x.reduce((a, b) => a + b) / x.length; const sd = Math.sqrt(x.reduce((a, b) => a + (b - m) ** 2, 0) / (x.length - 1)); return { m, sd, z: x.map((v) => (v - m) / sd) }; };

// float to fraction
const main = () => { const out = []; for (const x of [0.1, 0.333, Math.E]) { const b = new DataView(new ArrayBuffer(8)); b.setFloat64(0, x); out.push(b.getBigUint64(0).toString(16)); } return out; };

// functions of any number of arguments without one
const main = () => [Math.hypot(), Math.hypot(undefined), Math.max(), Math.min(), Math.atan2(1), Math.pow(2), Math.hypot(-3)];
