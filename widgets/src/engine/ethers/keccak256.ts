/** ethers' `keccak256` over `@noble/hashes`, which is quick from its first call on. */
import { keccak_256 } from "@noble/hashes/sha3";
import { arrayify, hexlify } from "@ethersproject/bytes";
import type { BytesLike } from "@ethersproject/bytes";

export function keccak256(data: BytesLike): string {
  return hexlify(keccak_256(arrayify(data)));
}
