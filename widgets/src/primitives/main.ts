/**
 * Hashes, signatures and encryption for Python in a browser, where the libraries for other systems are not available.
 * All arguments and results are hex strings without `0x`. The value of the bundle as a script is this object.
 */
import { gcm } from "@noble/ciphers/aes.js";
import { bytesToHex as text, hexToBytes as bytes } from "@noble/ciphers/utils.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3";

const DIGEST = { prehash: false } as const;

export const primitives = {
  keccak256: (data: string): string => text(keccak_256(bytes(data))),
  /** Returns r, s and the parity (0 or 1), with the nonce of RFC 6979 and s in the lower half. */
  sign: (digest: string, secret: string): string => {
    const signed = secp256k1.sign(bytes(digest), bytes(secret), { ...DIGEST, lowS: true, format: "recovered" });
    return text(signed.subarray(1)) + text(signed.subarray(0, 1));
  },
  /** Returns the coordinates of the signer's public key, or "" if there is none. */
  recover: (digest: string, compact: string, parity: number): string => {
    try {
      const signature = secp256k1.Signature.fromBytes(bytes(compact), "compact").addRecoveryBit(parity);
      return text(signature.recoverPublicKey(bytes(digest)).toBytes(false)).slice(2);
    } catch {
      return "";
    }
  },
  publicKey: (secret: string): string => text(secp256k1.getPublicKey(bytes(secret), false)).slice(2),
  /** Encrypts with AES-256-GCM, and returns the ciphertext and the tag. */
  encrypt: (key: string, nonce: string, plain: string, about: string): string =>
    text(gcm(bytes(key), bytes(nonce), bytes(about)).encrypt(bytes(plain))),
  /**
   * Decrypts a result of `encrypt`. Returns undefined for changed data, because Python receives it as None, unlike
   * null.
   */
  decrypt: (key: string, nonce: string, sealed: string, about: string): string | undefined => {
    try {
      return text(gcm(bytes(key), bytes(nonce), bytes(about)).decrypt(bytes(sealed)));
    } catch {
      return undefined;
    }
  },
};
