/**
 * A process of the `fast` engine: one run after another, each from the same image of memory.
 *
 * Actions run inside WebAssembly, which holds nothing but the image and has no way out but the functions of
 * `Execution`. This process itself has every permission denied but reading its own folder.
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
import { image as shippedImage, names } from "./shipped.ts";
import { sizeOf, Vm } from "./vm.ts";

/** V8's own collector, which the flag `--expose-gc` names. */
const collectGarbage = (globalThis as { gc?: () => void }).gc;

// Memory of WebAssembly never shrinks: past this an engine is made anew.
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

/** Sources that nothing was found in, the latest: batches bring the same one again and again. */
const accepted = new Set<string>();
const MOST_ACCEPTED = 64;
const LONGEST_ACCEPTED = 1 << 16;

/** What of a source this engine cannot do, seen before it runs; else an end frame for one that does not parse. */
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
    return { trap: `a source that V8 alone reads (${(error as Error).message})` };
  }
}

/** Overwrites all that a run has left behind. Done when its answer is out, so that the next one waits for nothing. */
function forget(whole: boolean): void {
  if (!whole || vm.size > sizeOf(image) + MOST_GROWN) {
    vm.drop();
    vm = new Vm(binary);
    replaced = true;
  }
  vm.restore(image);
}

/** Whether an engine was left to the collector whose memory would count as the next run's. */
let replaced = false;

function collectReplaced(): void {
  if (replaced) collectGarbage?.();
  replaced = false;
}

function stopped({ kind, message }: Stop): void {
  if (kind !== "end") send(`{"kind":"end","ok":false,"error_kind":"${kind}","text":${JSON.stringify(message)}}`);
}

/** Sees one job through. False when the host is gone. */
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
  const execution = new Execution(vm, entries, secp, internals, send);
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

/** A read that is under way when a run ends brings the next job. */
let pending: Promise<Frame | null> | null = null;

// Whatever is done for the first time is slow here, too: these runs leave compiled code behind, nothing else.
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
  // Answers to calls of a run that has ended arrive late.
  if (frame === null || (frame.body.source !== undefined && !await run(frame))) break;
  collectReplaced();
}
