/** libsecp256k1, compiled. */
declare const wasm: WebAssembly.Module;
export default wasm;
