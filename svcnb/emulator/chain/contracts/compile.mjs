// A list of standard JSON inputs on stdin, the list of their outputs on stdout.
// The compiler's exact version and hash stand in svcnb/parts/solc.lock.
import solc from "npm:solc@0.8.30";

const inputs = await new Response(Deno.stdin.readable).json();
const outputs = inputs.map((input) => JSON.parse(solc.compile(JSON.stringify(input))));
await new Blob([JSON.stringify(outputs)]).stream().pipeTo(Deno.stdout.writable);
