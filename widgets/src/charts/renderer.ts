/**
 * Program that draws charts. `svcnb/charts/native.py` starts it and reads its standard output.
 *
 * The first line of standard input is the script of the worker as a JSON string. Each further line is a chart. A
 * response consists of a line with `drawn` or `failed` and a number of bytes, and content of this size. A worker draws,
 * so the program ends at the end of its standard input even during an endless drawing.
 */
import type { Drawn } from "./vega.ts";

async function write(content: Uint8Array): Promise<void> {
  for (let at = 0; at < content.length;) at += await Deno.stdout.write(content.subarray(at));
}

async function respond({ state, content }: Drawn): Promise<void> {
  const bytes = new TextEncoder().encode(content);
  await write(new TextEncoder().encode(`${state} ${bytes.length}\n`));
  await write(bytes);
}

function started(script: string): Worker {
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Drawn>) => respond(data);
  worker.onerror = () => Deno.exit(1);
  return worker;
}

async function main(): Promise<void> {
  Deno.addSignalListener("SIGINT", () => {}); // an interrupt of a notebook signals the whole process group
  let worker: Worker | undefined;
  let line: string[] = [];
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const [rest, ...others] = text.split("\n");
    line.push(rest!);
    for (const other of others) {
      if (worker) worker.postMessage(line.join(""));
      else worker = started(JSON.parse(line.join("")));
      line = [other];
    }
  }
  Deno.exit(0);
}

main();
