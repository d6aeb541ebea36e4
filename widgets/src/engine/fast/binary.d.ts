/** QuickJS-ng as a compiled WebAssembly module. */
declare const wasm: WebAssembly.Module;
export default wasm;
