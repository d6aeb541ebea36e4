/** libsecp256k1 as a compiled WebAssembly module. */
declare const wasm: WebAssembly.Module;
export default wasm;
