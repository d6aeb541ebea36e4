/** QuickJS-ng, compiled. */
declare const wasm: WebAssembly.Module;
export default wasm;
