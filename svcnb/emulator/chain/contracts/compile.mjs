// Standard JSON in on stdin, standard JSON out on stdout. The version is exact; deno.lock beside this file holds its hash.
import solc from "npm:solc@0.8.30";

const input = await new Response(Deno.stdin.readable).text();
await Deno.stdout.write(new TextEncoder().encode(solc.compile(input)));
