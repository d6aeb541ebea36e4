/** ethers' `keccak256`, implemented with `@noble/hashes`, because even the first call of that library is fast. */
import { keccak_256 } from "@noble/hashes/sha3";
import { arrayify, hexlify } from "@ethersproject/bytes";
import type { BytesLike } from "@ethersproject/bytes";

export function keccak256(data: BytesLike): string {
  return hexlify(keccak_256(arrayify(data)));
}
