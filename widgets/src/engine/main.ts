/**
 * Bootstrap of the `v8` engine: one process for one execution.
 *
 * The process warms up everything that an action is likely to use, and reports that it is ready. It then waits in a
 * blocking read for a job. The host kills the process after the end frame, so the process needs no clean-up.
 */
import wasm from "./ethers/binary.js";
import { ethers } from "./ethers/index.ts";
import { install } from "./ethers/secp256k1.ts";
import { announce, receiveSync, rehearseReceiving, rest, setSecret } from "./runtime/channel.ts";
import { onEnd } from "./runtime/end.ts";
import { makeFetch } from "./runtime/fetch.ts";
import { arrangeGlobals } from "./runtime/globals.ts";
import { internals } from "./runtime/internals.ts";
import { mendRandom, reseed } from "./runtime/random.ts";
import { REHEARSAL, Runner } from "./runtime/run.ts";
import { hideOwnFrames } from "./runtime/stack.ts";
import { Template } from "./runtime/template.ts";
import { mendTimers } from "./runtime/timers.ts";

const template = Deno.args[1] === "template" ? new Template() : null;

install(wasm);
mendTimers();
mendRandom();
const runner = new Runner(internals, JSON.parse(Deno.args[0]!), rest);
arrangeGlobals();
hideOwnFrames();
runner.installNames();
Object.defineProperty(globalThis, "fetch", {
  value: makeFetch(),
  writable: false,
  enumerable: true,
  configurable: false,
});
Object.defineProperty(globalThis, "ethers", { value: ethers, writable: true, enumerable: true, configurable: true });

/**
 * This is a separate function, so that stacks do not contain module code. To find its line, V8 would read the whole
 * bundle again.
 */
async function serve(): Promise<void> {
  // The first execution of code in a realm is slow, especially a signature, but also the steps of a run. The first
  // execution compiles the code, and the second records type feedback. A third and a fourth execution would take a
  // sixth of the start time, and would not make runs faster.
  for (const key of ["22", "23"]) {
    await new ethers.Wallet(`0x${key.repeat(32)}`).signMessage("warm");
    await runner.rehearse();
    rehearseReceiving(REHEARSAL);
  }
  if (template !== null) {
    await internals.vm();
    template.serve();
    reseed();
  }
  announce();
  const job = receiveSync();
  if (job !== null) {
    setSecret(job.blob);
    onEnd(() => runner.finish());
    await runner.start(job.body);
  }
}

serve();
