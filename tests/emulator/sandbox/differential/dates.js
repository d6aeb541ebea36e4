// a date to text
const main = () => { const d = new Date(1763683200123); return [d.toISOString(), d.toString(), d.toDateString(), d.toTimeString(), d.toUTCString(), d.toJSON(), String(d.valueOf())]; };

// before 1970 and far away
const main = () => [-1, 0, 8.64e15, -8.64e15, -62198755200000].map((t) => new Date(t)).map((d) => [d.toISOString(), d.toString(), d.toUTCString()]);

// an invalid date
const main = () => { const d = new Date(NaN); return [String(d), d.getTime(), isNaN(d), d.toJSON(), new Date("nonsense").getTime(), new Date(undefined).getTime()]; };

// parsing ISO forms
const main = () => ["2026-11-21", "2026-11-21T10:00", "2026-11-21T10:00:00Z", "2026-11-21T10:00:00.5Z", "2026-11-21T10:00:00+02:00", "2026", "2026-13-01", "+012026-01-01T00:00:00Z"].map((s) => Date.parse(s));

// parsing other forms
const main = () => ["Nov 21, 2026", "21 November 2026 10:00 GMT", "Sat, 21 Nov 2026 10:00:00 GMT", "2026/11/21", "11/21/2026 5:30 PM", "November 21 2026", "2026-11-21 10:00", "Sat Nov 21 2026 10:00:00 GMT+0100"].map((s) => new Date(s).getTime());

// parts
const main = () => { const d = new Date("2026-11-21T10:20:30.456Z"); return [d.getFullYear(), d.getMonth(), d.getDate(), d.getDay(), d.getHours(), d.getMinutes(), d.getSeconds(), d.getMilliseconds(), d.getUTCDay(), d.getTimezoneOffset(), d.getYear()]; };

// setters
const main = () => { const d = new Date(0); d.setFullYear(2024, 1, 29); d.setHours(25, 61, 61, 1001); d.setUTCDate(0); return [d.toISOString(), d.setMonth(14), d.toISOString()]; };

// building from parts
const main = () => [new Date(2026, 0), new Date(2026, 10, 21, 1, 2, 3, 4), new Date(99, 0), new Date(Date.UTC(2026, 1, 30)), new Date(2026, -1, 1)].map((d) => d.toISOString());

// copies and comparisons
const main = () => { const a = new Date(1000), b = new Date(a); return [a < new Date(2000), a - b, a == b, +a, a.getTime() === b.getTime(), new Date(a.toISOString()).getTime()]; };

// adding days across a month
const main = () => { const d = new Date("2026-01-31T00:00:00Z"); return [1, 28, 29, 365].map((n) => { const e = new Date(d); e.setUTCDate(e.getUTCDate() + n); return e.toISOString().slice(0, 10); }); };

// days between
const main = () => Math.round((Date.parse("2026-12-25") - Date.parse("2026-11-21")) / 864e5);

// primitive conversion
const main = () => { const d = new Date(0); return [`${d}`, d + 1, d - 1, d[Symbol.toPrimitive]("number"), typeof Date(), JSON.stringify({ d })]; };

// now moves on
const main = async () => { const a = Date.now(); await new Promise((r) => setTimeout(r, 5)); return [Date.now() - a >= 4, Date.now() - a < 60000, Math.abs(new Date() - Date.now()) < 1000]; };

// statics and prototype
const main = () => [Date.length, Date.name, Date.UTC(2026), Object.prototype.toString.call(new Date()), new Date() instanceof Date, new Date(0).constructor === Date];

// a subclass
class Day extends Date { iso() { return this.toISOString().slice(0, 10); } }
const main = () => [new Day(0).iso(), new Day("2026-11-21").iso(), new Day(0) instanceof Date];

// leap years
const main = () => [1900, 2000, 2024, 2026].map((y) => new Date(Date.UTC(y, 1, 29)).getUTCMonth() === 1);

// week numbers
const main = () => ["2026-01-01", "2026-11-21", "2027-01-01"].map((s) => { const d = new Date(s); d.setUTCDate(d.getUTCDate() + 4 - (d.getUTCDay() || 7)); return Math.ceil(((d - Date.UTC(d.getUTCFullYear(), 0, 1)) / 864e5 + 1) / 7); });

// the minimum and the maximum date
const main = () => [new Date(8.64e15 + 1).getTime(), new Date(Date.UTC(275760, 8, 13)).getTime(), Date.UTC(NaN)].map(String);

// seconds since the epoch
const main = () => [Math.floor(Date.parse("2026-11-21T10:37:34Z") / 1000), new Date(1763721454 * 1000).toISOString()];

// sorting dates
const main = () => ["2026-03-01", "2025-12-31", "2026-01-15"].map((s) => new Date(s)).sort((a, b) => a - b).map((d) => d.toISOString());

// the older name of toUTCString
const main = () => { const d = new Date(5); return [d.toGMTString === d.toUTCString, d.toGMTString(), Date.prototype.toGMTString.name, String(Date.prototype.toGMTString)]; };

// objects as dates
const main = () => [{ valueOf: () => 42, toString: () => "2026-01-01" }, { valueOf: () => ({}), toString: () => "2026-11-21 10:00" }, new String("Nov 21, 2026"), new Number(7), ["2026-01-01"], { valueOf: () => null }, () => 1].map((of) => new Date(of).getTime());

// an object that is not a date
const main = () => { try { return new Date({ valueOf: () => { throw 42; }, toString: () => { throw 17; } }).getTime(); } catch (error) { return error; } };

// every part of a date is converted
const main = () => { const seen = []; const part = (n) => ({ valueOf: () => { seen.push(n); return n; } }); return [new Date(NaN, part(1), part(2)).getTime(), Date.UTC(Infinity, part(3)), Date.UTC.length, Date.UTC.name, new Date("2026", part(4)).getTime(), seen].map(String); };
