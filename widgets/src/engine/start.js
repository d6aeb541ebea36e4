/**
 * Entry point of the `v8` engine, which Deno loads: the binary of libsecp256k1, and the bootstrap as text.
 *
 * Before Deno runs a module, it searches the whole module for imports. For a bootstrap with a large library, the search
 * takes as long as all other steps, until a process has written the cache. Deno does not search a text.
 *
 * Written in JavaScript, because TypeScript does not support source phase imports yet.
 */
import binary from "./ethers/binary.js";
import { OWN_FILE } from "./own_file.ts";
import bootstrap from "./bootstrap.js" with { type: "text" };

const [run, failure] = Deno[Deno.internal].core.evalContext(bootstrap, OWN_FILE);
if (failure !== null) throw failure.thrown;
run(binary);
