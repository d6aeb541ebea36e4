// @ts-self-types="./binary.d.ts"
// Written in JavaScript, because TypeScript does not support source phase imports yet. Deno compiles the binary while
// it loads this module, without permission to read files.
import source wasm from "tiny-secp256k1/secp256k1.wasm";
export default wasm;
