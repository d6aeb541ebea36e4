/**
 * Development chain as a process. The first input line contains the parameters of the first block. Each following line
 * is a request `{"id", "method", "params"}`. Each output line is a response with the same id. The process exits at the
 * end of its input.
 */
import type { DevelopmentNode } from "./node.ts";
import type * as script from "./main.ts";

/** Value of the script `chain.js`, which precedes this script in the process. */
declare const chain: typeof script;

const encoder = new TextEncoder();

async function* lines(): AsyncGenerator<string> {
  let rest = "";
  for await (const part of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const found = (rest + part).split("\n");
    rest = found.pop()!;
    yield* found;
  }
}

function write(text: string): void {
  for (let bytes = encoder.encode(text + "\n"); bytes.length > 0;) {
    bytes = bytes.subarray(Deno.stdout.writeSync(bytes));
  }
}

let node: DevelopmentNode | null = null;
for await (const line of lines()) {
  if (node === null) {
    node = await chain.DevelopmentNode.create(line);
    write("{}");
    continue;
  }
  const { id, method, params } = JSON.parse(line);
  node.request(method, JSON.stringify(params)).then((answer) => write(`{"id":${Number(id)},${answer.slice(1)}`));
}
