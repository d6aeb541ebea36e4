/**
 * The bootstrap of the `v8` engine: one process, one execution.
 *
 * It warms everything an action is likely to use, says that it is ready, and sleeps in a blocking read until a job
 * comes. The host kills the process once the end frame is in, so nothing here cleans up.
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
 * A function of its own, so that no stack has the module's own code below it: V8 would read all of the bundle again to
 * say its line.
 */
async function serve(): Promise<void> {
  // Whatever is done for the first time in a realm is slow: a signature above all, but also the steps of a run. The
  // first time compiles, the second leaves V8 something to remember types by. A third and a fourth took a sixth of a
  // process's whole time, and made no run quicker.
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
