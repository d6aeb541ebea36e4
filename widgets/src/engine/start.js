/**
 * What Deno loads for the `v8` engine: the curve's binary, and the bootstrap as text.
 *
 * Before Deno runs a module it reads all of it for imports, which for a bootstrap with a whole library takes as long as
 * everything else, in every process until the first has written down what it found. A text it takes as it is.
 *
 * In JavaScript, since TypeScript does not know source phase imports yet.
 */
import binary from "./ethers/binary.js";
import { OWN_FILE } from "./own_file.ts";
import bootstrap from "./bootstrap.js" with { type: "text" };

const [run, failure] = Deno[Deno.internal].core.evalContext(bootstrap, OWN_FILE);
if (failure !== null) throw failure.thrown;
run(binary);
