// Reads a list of standard JSON inputs from stdin, and writes the list of outputs to stdout.
// `svcnb/tools/solc.lock` pins the version and the hash of the compiler.
import solc from "npm:solc@0.8.30";

const inputs = await new Response(Deno.stdin.readable).json();
const outputs = inputs.map((input) => JSON.parse(solc.compile(JSON.stringify(input))));
await new Blob([JSON.stringify(outputs)]).stream().pipeTo(Deno.stdout.writable);
