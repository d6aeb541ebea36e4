/** ethers' `keccak256`, computed by the process if the data fit into the mailbox. */
import { keccak_256 } from "@noble/hashes/sha3";
import { arrayify, hexlify } from "@ethersproject/bytes";
import type { BytesLike } from "@ethersproject/bytes";
import { host, mailbox } from "./host.ts";

const KECCAK = 8;

export function keccak256(data: BytesLike): string {
  const bytes = arrayify(data);
  if (bytes.length > mailbox.length) return hexlify(keccak_256(bytes));
  mailbox.set(bytes);
  const length = host.compute(KECCAK, bytes.length);
  const digest = hexlify(mailbox.subarray(0, length));
  mailbox.fill(0, 0, Math.max(length, bytes.length));
  return digest;
}
