/**
 * Curve operations for ethers' `signing-key`, with libsecp256k1 compiled to WebAssembly.
 *
 * ethers v5 signs with `elliptic`, which spends about 100 ms on its first signature in a fresh realm. This module
 * replaces `signing-key/lib.esm/elliptic.js` and provides the few members that ethers calls. Because of RFC 6979 nonces
 * and low s values, the signatures are identical.
 *
 * For unusual and invalid inputs (a zero key, a hybrid point or an impossible recovery), this module loads and calls
 * the original `elliptic`. Errors therefore have the same messages and values.
 */
import { secp } from "./secp256k1.ts";

// The bundler resolves this to the replaced module. `require` loads it on first use.
declare function require(name: "stock-elliptic"): { EC: new (name: string) => StockCurve };

interface StockPoint {
  add(other: StockPoint): StockPoint;
  encode(encoding: "hex", compact?: boolean): string;
  encodeCompressed(encoding: "hex"): string;
}

interface StockKeyPair {
  readonly pub: StockPoint;
  getPublic(): StockPoint;
  getPublic(compact: boolean, encoding: "hex"): string;
  sign(digest: Uint8Array, options: unknown): { r: Scalar; s: Scalar; recoveryParam: number };
  derive(point: StockPoint): Scalar;
}

interface StockCurve {
  keyFromPrivate(key: Uint8Array): StockKeyPair;
  keyFromPublic(key: Uint8Array): StockKeyPair;
  recoverPubKey(digest: Uint8Array, signature: { r: Uint8Array; s: Uint8Array }, parity: number): StockPoint;
}

let stock: StockCurve | null = null;

function stockCurve(): StockCurve {
  return stock ??= new (require("stock-elliptic").EC)("secp256k1");
}

// Capture these functions before an action can replace them.
const { apply } = Reflect;
const hexOf = Uint8Array.prototype.toHex;

function toHex(bytes: Uint8Array): string {
  return apply(hexOf, bytes, []) as string;
}

/** Big number of which ethers reads only the hexadecimal digits. */
class Scalar {
  readonly #hex: string;

  constructor(hex: string) {
    this.#hex = hex;
  }

  toString(_radix: number): string {
    // The caller's `hexZeroPad` restores the width, even for an odd number of digits.
    return this.#hex;
  }
}

/** Point in its 65-byte form. */
class Point {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  encode(_encoding: "hex", compact?: boolean): string {
    return compact ? this.encodeCompressed("hex") : toHex(this.bytes);
  }

  encodeCompressed(_encoding: "hex"): string {
    return (this.bytes[64] & 1 ? "03" : "02") + toHex(this.bytes.subarray(1, 33));
  }

  add(other: Point | StockPoint): Point | StockPoint {
    const sum = other instanceof Point ? secp().pointAdd(this.bytes, other.bytes) : null;
    if (sum !== null) return new Point(sum);
    return this.#stock().add(other instanceof Point ? other.#stock() : other); // the sum is at infinity
  }

  /** Returns this point times `scalar`, with only the x coordinate. */
  times(scalar: Uint8Array): Scalar | null {
    const product = secp().pointMultiply(this.bytes, scalar);
    return product === null ? null : new Scalar(toHex(product.subarray(1, 33)));
  }

  #stock(): StockPoint {
    return stockCurve().keyFromPublic(this.bytes).pub;
  }
}

class PrivateKey {
  readonly #key: Uint8Array;
  #point: Point | null = null;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  getPublic(compact?: boolean, encoding?: "hex"): Point | string {
    const point = this.#point ??= new Point(secp().publicKey(this.#key)!);
    return encoding ? point.encode(encoding, compact) : point;
  }

  sign(digest: Uint8Array, _options: unknown): { r: Scalar; s: Scalar; recoveryParam: number } {
    const { signature, recovery } = secp().sign(digest, this.#key);
    return {
      r: new Scalar(toHex(signature.subarray(0, 32))),
      s: new Scalar(toHex(signature.subarray(32, 64))),
      recoveryParam: recovery,
    };
  }

  derive(point: Point | StockPoint): Scalar {
    const shared = point instanceof Point ? point.times(this.#key) : null;
    if (shared !== null) return shared;
    const key = stockCurve().keyFromPrivate(this.#key);
    return key.derive(point instanceof Point ? stockCurve().keyFromPublic(point.bytes).pub : point);
  }
}

class PublicKey {
  readonly pub: Point;

  constructor(point: Uint8Array) {
    this.pub = new Point(point);
  }

  getPublic(compact?: boolean, encoding?: "hex"): Point | string {
    return encoding ? this.pub.encode(encoding, compact) : this.pub;
  }
}

export class EC {
  constructor(_name: string) {}

  keyFromPrivate(key: Uint8Array): PrivateKey | StockKeyPair {
    return isPrivateKey(key) ? new PrivateKey(key) : stockCurve().keyFromPrivate(key);
  }

  keyFromPublic(key: Uint8Array): PublicKey | StockKeyPair {
    const point = isEncodedPoint(key) ? secp().decompress(key) : null;
    return point === null ? stockCurve().keyFromPublic(key) : new PublicKey(point);
  }

  recoverPubKey(digest: Uint8Array, signature: { r: Uint8Array; s: Uint8Array }, parity: number): Point | StockPoint {
    const { r, s } = signature;
    const plain = digest.length === 32 && r.length === 32 && s.length === 32 && isPrivateKey(r) && isPrivateKey(s) &&
      (parity === 0 || parity === 1);
    const point = plain ? secp().recover(digest, r, s, parity) : null;
    return point === null ? stockCurve().recoverPubKey(digest, signature, parity) : new Point(point);
  }
}

/** Group order, big-endian. */
const ORDER = Uint8Array.from(
  "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141".match(/../g)!,
  (pair) => parseInt(pair, 16),
);

/** Returns whether `bytes` is a number from 1 to the group order minus 1. */
function isPrivateKey(bytes: Uint8Array): boolean {
  if (bytes.length !== 32 || bytes.every((byte) => byte === 0)) return false;
  for (let i = 0; i < 32; i++) {
    if (bytes[i] !== ORDER[i]) return bytes[i] < ORDER[i];
  }
  return false;
}

function isEncodedPoint(bytes: Uint8Array): boolean {
  return (bytes.length === 33 && (bytes[0] === 2 || bytes[0] === 3)) || (bytes.length === 65 && bytes[0] === 4);
}
