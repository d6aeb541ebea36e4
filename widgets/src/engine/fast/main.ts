/**
 * Process of the `fast` engine, which executes runs in sequence, each from the same memory image.
 *
 * Actions run inside an instance of a WebAssembly module. The memory of the instance contains only the image, and the
 * instance can access the outside only through the functions of `Execution`. The process itself has no permission except
 * to read its own folder.
 */
import { Script } from "node:vm";
import curveBinary from "../ethers/binary.js";
import { makeSecp } from "../ethers/secp256k1.ts";
import { announce, receive, receiveSync, send, setSecret } from "../runtime/channel.ts";
import type { Frame } from "../runtime/channel.ts";
import { describe, SCRIPT_NAME } from "../runtime/failure.ts";
import { importDeclarations } from "../runtime/imports.ts";
import { internals } from "../runtime/internals.ts";
import { locateSyntaxError } from "../runtime/syntax.ts";
import binary from "./binary.js";
import { Execution, Stop } from "./execution.ts";
import { readImage } from "./image.ts";
import { oddity } from "./oddities.ts";
import { alone, image as shippedImage, names } from "./shipped.ts";
import { sizeOf, Vm } from "./vm.ts";

/** V8's garbage collector, which the flag `--expose-gc` makes available. */
const collectGarbage = (globalThis as { gc?: () => void }).gc;

// WebAssembly memory never shrinks. Above this growth in bytes, the process creates a new engine.
const MOST_GROWN = 32 * 2 ** 20;

const secp = makeSecp(curveBinary);
const shipped = readImage(shippedImage);
const { entries } = shipped;

let vm = new Vm(binary);
vm.restore(shipped.image);
const rehearsal = new Execution(vm, entries, secp, internals, () => {});
vm.call(entries.prepare, vm.newString(names));
rehearsal.close();
vm.collect();
const image = vm.snapshot();

/** Cache of the latest accepted sources, because the runs of a batch have the same source. */
const accepted = new Set<string>();
const MOST_ACCEPTED = 64;
const LONGEST_ACCEPTED = 1 << 16;

/** Checks a source before it runs. Returns a trap for unsupported code, or an end frame for a syntax error. */
function refusal(source: string): { trap: string } | { end: string } | null {
  if (accepted.has(source)) return null;
  const refused = look(source);
  if (refused === null && source.length <= LONGEST_ACCEPTED) {
    const [oldest] = accepted;
    if (accepted.size >= MOST_ACCEPTED && oldest !== undefined) accepted.delete(oldest);
    accepted.add(source);
  }
  return refused;
}

function look(source: string): { trap: string } | { end: string } | null {
  if (source.includes("import") && importDeclarations(source).length > 0) return { trap: "import" };
  try {
    new Script(source, { filename: SCRIPT_NAME });
  } catch (error) {
    const { text } = describe(error, "top level", internals.inspect);
    const shown = JSON.stringify(text + locateSyntaxError(source));
    return { end: `{"kind":"end","ok":false,"error_kind":"syntax","text":${shown}}` };
  }
  try {
    const odd = oddity(source);
    return odd === null ? null : { trap: odd };
  } catch (error) {
    return { trap: `a source that only V8 can parse (${(error as Error).message})` };
  }
}

/** Overwrites all data of a run. The process has already sent the result, so this does not delay the result. */
function forget(whole: boolean): void {
  if (!whole || vm.size > sizeOf(image) + MOST_GROWN) {
    vm.drop();
    vm = new Vm(binary);
    replaced = true;
  }
  vm.restore(image);
}

/** Whether a discarded engine still occupies memory, which would count for the next run. */
let replaced = false;

function collectReplaced(): void {
  if (replaced) collectGarbage?.();
  replaced = false;
}

function stopped({ kind, message }: Stop): void {
  if (kind !== "end") send(`{"kind":"end","ok":false,"error_kind":"${kind}","text":${JSON.stringify(message)}}`);
}

/** Executes one job. Returns false if the host has exited. */
async function run({ body: job, blob }: Frame): Promise<boolean> {
  setSecret(blob);
  const refused = refusal(job.source);
  if (refused !== null) {
    if ("end" in refused) send(refused.end);
    else stopped(new Stop("trap", refused.trap));
    return true;
  }
  const arrived = performance.now();
  vm.limit(sizeOf(image) + job.memoryBytes);
  const execution = new Execution(vm, entries, secp, internals, send, alone);
  let arriving: Promise<Frame | null> | null = null;
  try {
    execution.start(JSON.stringify(job), job, arrived);
    for (;;) {
      execution.finishIfIdle();
      let frame: Frame | null;
      if (execution.hasTimers || arriving !== null) {
        arriving ??= receive();
        const first = await Promise.race([arriving, execution.due()]);
        if (first === undefined) {
          execution.fire();
          continue;
        }
        arriving = null;
        frame = first;
      } else {
        frame = await receiveSync();
      }
      if (frame === null) return false;
      execution.settle(frame.body.id, JSON.stringify(frame.body), frame.blob);
    }
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    stopped(error);
    execution.close();
    forget(error.kind === "end");
  }
  pending = arriving;
  return true;
}

/** Pending read at the end of a run. The read returns the next job. */
let pending: Promise<Frame | null> | null = null;

// The first execution of code is slow. These warm-up runs have no effect except the compiled code.
const REHEARSED =
  "async function main(n) { console.log(n); if (n > 1) return new ethers.Wallet('0x' + '22'.repeat(32))" +
  ".signMessage(`${n}`); throw new Error('rehearsal'); }";
for (let n = 0; n < 12; n++) {
  const job = { source: REHEARSED, params: `${n}`, headers: {}, maxResponseBytes: 1000, maxLogBytes: 1000 };
  const execution = new Execution(vm, entries, secp, internals, () => {});
  try {
    execution.start(
      JSON.stringify(job),
      { source: REHEARSED, timeoutMs: 10_000, memoryBytes: 2 ** 26, busyMs: 0 },
      performance.now(),
    );
    execution.finishIfIdle();
  } catch (error) {
    if (!(error instanceof Stop) || error.kind !== "end") throw error;
  }
  forget(true);
}

announce();
for (;;) {
  const frame: Frame | null = await (pending === null ? receiveSync() : pending);
  pending = null;
  // A frame without a source is a late response to a call of a finished run. Ignore it.
  if (frame === null || (frame.body.source !== undefined && !await run(frame))) break;
  collectReplaced();
}
