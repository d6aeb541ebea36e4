/** libsecp256k1 in WebAssembly (the binary of `tiny-secp256k1`), with byte arrays as arguments and results. */

/** Exports of the binary. Inputs and outputs are at fixed addresses in its memory. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly PRIVATE_INPUT: WebAssembly.Global;
  readonly PUBLIC_KEY_INPUT: WebAssembly.Global;
  readonly PUBLIC_KEY_INPUT2: WebAssembly.Global;
  readonly TWEAK_INPUT: WebAssembly.Global;
  readonly HASH_INPUT: WebAssembly.Global;
  readonly SIGNATURE_INPUT: WebAssembly.Global;
  initializeContext(): void;
  isPoint(length: number): number;
  pointAdd(first: number, second: number, out: number): number;
  pointCompress(length: number, out: number): number;
  pointFromScalar(out: number): number;
  pointMultiply(length: number, out: number): number;
  recover(out: number, recovery: number): number;
  signRecoverable(extra: number): number;
}

const FULL = 65;

export interface Secp {
  /** Returns the 65-byte public key of a valid private key. */
  publicKey(key: Uint8Array): Uint8Array | null;
  /** Returns an RFC 6979 signature with low s for a 32-byte digest. */
  sign(digest: Uint8Array, key: Uint8Array): { signature: Uint8Array; recovery: number };
  /** Returns the 65-byte form of a 33-byte or 65-byte point, or null if the point is not on the curve. */
  decompress(point: Uint8Array): Uint8Array | null;
  /** Returns the sum of two points, or null if the sum is the point at infinity. */
  pointAdd(first: Uint8Array, second: Uint8Array): Uint8Array | null;
  pointMultiply(point: Uint8Array, scalar: Uint8Array): Uint8Array | null;
  recover(digest: Uint8Array, r: Uint8Array, s: Uint8Array, recovery: number): Uint8Array | null;
}

export function makeSecp(module: WebAssembly.Module): Secp {
  const fail = (code: number): never => {
    throw new Error(`secp256k1 rejected its input (code ${code})`);
  };
  const seed = new Int32Array(1);
  const instance = new WebAssembly.Instance(module, {
    // This seed protects the context against side channels, and has no effect on results.
    "./rand.js": { generateInt32: () => crypto.getRandomValues(seed)[0] },
    "./validate_error.js": { throwError: fail },
  });
  const wasm = instance.exports as unknown as Exports;
  wasm.initializeContext();
  const memory = new Uint8Array(wasm.memory.buffer);
  const place = (at: WebAssembly.Global, length: number) => memory.subarray(at.value, at.value + length);
  const privateKey = place(wasm.PRIVATE_INPUT, 32);
  const point = place(wasm.PUBLIC_KEY_INPUT, FULL);
  const point2 = place(wasm.PUBLIC_KEY_INPUT2, FULL);
  const tweak = place(wasm.TWEAK_INPUT, 32);
  const hash = place(wasm.HASH_INPUT, 32);
  const rs = place(wasm.SIGNATURE_INPUT, 64);

  return {
    publicKey(key) {
      privateKey.set(key);
      const done = wasm.pointFromScalar(FULL) === 1 ? point.slice() : null;
      privateKey.fill(0);
      return done;
    },
    sign(digest, key) {
      hash.set(digest);
      privateKey.set(key);
      const recovery = wasm.signRecoverable(0);
      const signature = rs.slice();
      privateKey.fill(0);
      return { signature, recovery };
    },
    decompress(bytes) {
      point.set(bytes);
      if (wasm.isPoint(bytes.length) !== 1) return null;
      wasm.pointCompress(bytes.length, FULL);
      return point.slice();
    },
    pointAdd(first, second) {
      point.set(first);
      point2.set(second);
      return wasm.pointAdd(first.length, second.length, FULL) === 1 ? point.slice() : null;
    },
    pointMultiply(bytes, scalar) {
      point.set(bytes);
      tweak.set(scalar);
      const done = wasm.pointMultiply(bytes.length, FULL) === 1 ? point.slice() : null;
      tweak.fill(0);
      return done;
    },
    recover(digest, r, s, recovery) {
      hash.set(digest);
      rs.set(r, 0);
      rs.set(s, 32);
      return wasm.recover(FULL, recovery) === 1 ? point.slice() : null;
    },
  };
}

let current: Secp | null = null;

/** Sets the compiled binary. Call this function exactly once, before any code of an action runs. */
export function install(module: WebAssembly.Module): void {
  current = makeSecp(module);
}

export function secp(): Secp {
  if (current === null) throw new Error("secp256k1 is not loaded: call install before this operation");
  return current;
}
