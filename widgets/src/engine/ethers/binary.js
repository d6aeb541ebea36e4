// @ts-self-types="./binary.d.ts"
// In JavaScript, since TypeScript does not know source phase imports yet: Deno compiles the binary while it loads us,
// with no permission to read files.
import source wasm from "tiny-secp256k1/secp256k1.wasm";
export default wasm;
