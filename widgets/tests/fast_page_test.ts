/**
 * Tests of the engine `fast` in a web worker, as in a browser page: responses, console, errors, time limit, and isolation
 * from the previous run.
 */
import { gunzipSync } from "node:zlib";
import { equal } from "./fake.ts";

function matches(text: string | undefined, pattern: RegExp): void {
  if (text === undefined || !pattern.test(text)) throw new Error(`${text} does not match ${pattern}`);
}

const STATIC = new URL("../../svcnb/emulator/sandbox/static/", import.meta.url);
const SECRET = new Uint8Array(16).fill(7);
const NAMES = JSON.stringify({
  namespace: "Svc",
  actions: "SvcActions",
  auth: "SvcAuth",
  headers: "svcHeaders",
  privateKey: "getSvcPrivateKey",
  actionPrivateKey: "getSvcActionPrivateKey",
  actionPublicKey: "getSvcActionPublicKey",
  actionWalletAddress: "getSvcActionWalletAddress",
});

/** Returns the content of a bundle, which can be compressed. */
async function bundle(name: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(gunzipSync(await Deno.readFile(new URL(`${name}.gz`, STATIC))));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return await Deno.readFile(new URL(name, STATIC));
    throw error;
  }
}

/** Code that writes to the console. The engine must write the same text as Deno's console. */
const WRITES = [
  ...["log", "debug", "info", "warn", "error"].map((method) => `console.${method}(1, "a", { a: [1, "x"] })`),
  "console.group('g', { a: 1 }); console.log('a\\nb'); console.group(); console.dir({ a: 1 }); console.groupEnd(); console.log()",
  "console.groupEnd(); console.groupCollapsed(); console.table([1]); console.clear(); console.log('flush')",
  "console.count(); console.count('x'); console.count(); console.countReset(); console.count(); console.countReset('y')",
  "console.assert(true, 'a'); console.assert(); console.assert(0, 'b %s', 'c'); console.assert(null, { a: 1 }, 'd')",
  "console.dir('text'); console.dir({ a: { b: { c: 1 } } }, { depth: 0 }); console.dir([['x']]); console.dir()",
  "console.table(); console.table(null); console.table('text'); console.table(5); console.table([]); console.table({})",
  "console.table([1, 'a', null, undefined, 5n, true, () => 1, Symbol('s')])",
  "console.table([[1, 2], [3, 'x', 1.5]]); console.table({ r: { a: 1, 5: 2 }, s: { b: [1, [2, [3]]] }, t: 7 })",
  "console.table([{ a: 1, b: 2 }, { a: 3 }, 4], ['b', 'c']); console.table([{ 'é漢': '漢' }, { 'é漢': 'e\\u0301' }])",
  "console.table(new Map([['k', { v: 1 }], [2, 'x']])); console.table(new Set([1, 'a', [2]])); console.table([, 1])",
  "console.table([{ a: { b: { c: 1 } }, n: -1, m: '7' }, { n: 10, m: 1e21 }]); console.table(['x'.repeat(120)])",
  "console.log('%s %d %i %f %o %O %c %% %j|', 'a', 1.5, 1.5, 1.5, [1], { a: 1 }, 'color: red', 2, 'more')",
  "console.log('%d %i %f', '7', '7.5x', '1.5x', 9); console.log('%s', -0, 5n, null); console.log('%d', 5n); console.log('%')",
  "for (const kind of 'dif') for (const value of [Symbol('s'), 1e21, -0, 5n, true, '', NaN]) console.log('%' + kind, value)",
  "const a = {}; a.a = a; console.log('%j %j %j %x', { a: [1, 'x'] }, a, undefined, 'y'); console.log('%%'); console.log('', 1)",
];

function byDeno(code: string): string {
  let text = "";
  // deno-lint-ignore no-explicit-any
  const { Console } = (Deno as any)[(Deno as any).internal];
  new Function("console", code)(new Console((part: string) => text += part));
  return text;
}

type Said = { kind: string; text?: string; ok?: boolean; error_kind?: string; blob: string };

class Engine {
  #worker: Worker;
  #queue: Uint8Array[] = [];
  #wake: (() => void) | null = null;

  constructor(script: Uint8Array<ArrayBuffer>) {
    const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.#worker = new Worker(address, { type: "module" });
  }

  async start(): Promise<void> {
    this.#worker.onmessage = ({ data }) => {
      this.#queue.push(data);
      this.#wake?.();
    };
    const [image, quickjs, secp256k1] = await Promise.all(
      ["fast.image", "quickjs.wasm", "secp256k1.wasm"].map(bundle),
    );
    this.#worker.postMessage({ names: NAMES, image, quickjs, secp256k1 });
    equal([...await this.#next()], [0x52]);
  }

  async #next(): Promise<Uint8Array> {
    while (this.#queue.length === 0) await new Promise<void>((resolve) => this.#wake = resolve);
    return this.#queue.shift()!;
  }

  async run(source: string, params: unknown = {}, timeoutMs = 10_000): Promise<Said[]> {
    const job = {
      source,
      params: JSON.stringify(params),
      headers: {},
      maxResponseBytes: 1e6,
      maxLogBytes: 1e5,
      timeoutMs,
      memoryBytes: 2 ** 26,
      busyMs: 0,
      maxCallBytes: 1e6,
      maxRequestBytes: 1e6,
    };
    const text = new TextEncoder().encode(JSON.stringify(job));
    const frame = new Uint8Array(8 + text.length + SECRET.length);
    new DataView(frame.buffer).setUint32(0, text.length, true);
    new DataView(frame.buffer).setUint32(4, SECRET.length, true);
    frame.set(text, 8);
    frame.set(SECRET, 8 + text.length);
    this.#worker.postMessage(frame);
    const said: Said[] = [];
    for (;;) {
      const bytes = await this.#next();
      equal([...bytes.subarray(0, 16)], [...SECRET]);
      const length = new DataView(bytes.buffer).getUint32(16, true);
      const body = JSON.parse(new TextDecoder().decode(bytes.subarray(24, 24 + length)));
      said.push({ ...body, blob: new TextDecoder().decode(bytes.subarray(24 + length)) });
      if (body.kind === "end") return said;
    }
  }

  end(): void {
    this.#worker.terminate();
  }
}

Deno.test("the engine has the same results in a worker as in a process", async () => {
  const engine = new Engine(await bundle("fast_page.js"));
  try {
    await engine.start();
    const [end] = await engine.run("const main = ({ n }) => n + 1", { n: 41 });
    equal([end!.ok, end!.blob], [true, "42"]);

    const values = ["{ a: 'it\\'s', 'c-d': [1, 'x'] }", "['a', \"b\"]", "new Map([['k', { v: 1 }]])", "[[[[[[1]]]]]]"];
    for (const value of values) {
      const said = await engine.run(`function main() { console.log("%s and", "text", ${value}); return 1 }`);
      const expected = `text and ${Deno.inspect((0, eval)(`(${value})`))}\n`;
      equal([said[0]!.kind, said[0]!.text], ["log", expected]);
    }

    for (const code of WRITES) {
      const said = await engine.run(`function main() { ${code} }`);
      equal([code, said.slice(0, -1).map(({ text }) => text).join("")], [code, byDeno(code)]);
    }
    const [refused] = await engine.run("function main() { console.table([1], 'x') }");
    matches(refused!.text, /The 'properties' argument must be of type Array: received type string/);

    const [left] = await engine.run("globalThis.left = 1; function main() { return typeof left }");
    equal(left!.blob, "number");
    const [after] = await engine.run("function main() { return typeof left }");
    equal(after!.blob, "undefined");

    const [thrown] = await engine.run("function main() { throw new TypeError('no') }");
    equal([thrown!.ok, thrown!.error_kind], [false, "throw"]);
    matches(thrown!.text, /^Uncaught \(in promise\) TypeError: no\n {4}at main/);

    // In a process, V8 runs these actions. In a page, the function and the line are the same, but the column can differ.
    for (
      const [source, message, line] of [
        ["async function main() {\n  return missing.member;\n}", "ReferenceError: missing is not defined", 2],
        ["function main({ none }) {\n\n  none.member = 1;\n}", "TypeError: Cannot set properties of undefined", 3],
        ["async function main() {\n  await null;\n  missing();\n}", "ReferenceError: missing is not defined", 3],
      ] as const
    ) {
      const [failed] = await engine.run(source);
      equal(failed!.error_kind, "throw");
      matches(
        failed!.text,
        new RegExp(`^Uncaught \\(in promise\\) ${message}.*\n    at main \\(<user_provided_script>:${line}:`),
      );
    }

    const [syntax] = await engine.run("function main() { return 1 +; }");
    equal(syntax!.error_kind, "syntax");
    matches(syntax!.text, /^Uncaught SyntaxError: Unexpected token ';'/);
    const [outside] = await engine.run("return 1");
    equal([outside!.error_kind, outside!.text!.split("\n")[0]], [
      "syntax",
      "Uncaught SyntaxError: Illegal return statement",
    ]);

    const [late] = await engine.run("function main() { for (;;); }", {}, 50);
    equal(late!.error_kind, "timeout");

    const [trapped] = await engine.run("import x from 'y'; function main() {}");
    equal(trapped!.error_kind, "trap");

    const address = await engine.run("function main() { return new ethers.Wallet('0x' + '11'.repeat(32)).address }");
    equal(address[0]!.blob, "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A");
  } finally {
    engine.end();
  }
});
