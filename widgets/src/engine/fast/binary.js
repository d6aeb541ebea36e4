// @ts-self-types="./binary.d.ts"
// In JavaScript, since TypeScript does not know source phase imports yet.
import source wasm from "quickjs-wasi/quickjs.wasm";
export default wasm;
