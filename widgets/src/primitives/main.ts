/**
 * Hashes, signatures and encryption for Python in a browser, where the libraries that it uses elsewhere have no build.
 *
 * Everything is text in hex without `0x`, in and out. Evaluated as a script, the bundle's value is this object.
 */
import { gcm } from "@noble/ciphers/aes.js";
import { bytesToHex as text, hexToBytes as bytes } from "@noble/ciphers/utils.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3";

const DIGEST = { prehash: false } as const;

export const primitives = {
  keccak256: (data: string): string => text(keccak_256(bytes(data))),
  /** r, s and parity (0 or 1), as RFC 6979 says, s in the lower half. */
  sign: (digest: string, secret: string): string => {
    const signed = secp256k1.sign(bytes(digest), bytes(secret), { ...DIGEST, lowS: true, format: "recovered" });
    return text(signed.subarray(1)) + text(signed.subarray(0, 1));
  },
  /** Coordinates of the signer's public key, or "" if there is none. */
  recover: (digest: string, compact: string, parity: number): string => {
    try {
      const signature = secp256k1.Signature.fromBytes(bytes(compact), "compact").addRecoveryBit(parity);
      return text(signature.recoverPublicKey(bytes(digest)).toBytes(false)).slice(2);
    } catch {
      return "";
    }
  },
  publicKey: (secret: string): string => text(secp256k1.getPublicKey(bytes(secret), false)).slice(2),
  /** AES-256-GCM: ciphertext and tag. */
  encrypt: (key: string, nonce: string, plain: string, about: string): string =>
    text(gcm(bytes(key), bytes(nonce), bytes(about)).encrypt(bytes(plain))),
  /** The reverse of `encrypt`; undefined if it was changed, which is None in Python (null is not). */
  decrypt: (key: string, nonce: string, sealed: string, about: string): string | undefined => {
    try {
      return text(gcm(bytes(key), bytes(nonce), bytes(about)).decrypt(bytes(sealed)));
    } catch {
      return undefined;
    }
  },
};
