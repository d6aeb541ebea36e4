// @ts-self-types="./binary.d.ts"
// Written in JavaScript, because TypeScript does not support source phase imports yet.
import source wasm from "quickjs-wasi/quickjs.wasm";
export default wasm;
