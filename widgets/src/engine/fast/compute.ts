/**
 * Curve and hash operations for the image. A shared buffer, the mailbox, contains the concatenated inputs and outputs.
 */
import { keccak_256 } from "@noble/hashes/sha3";
import type { Secp } from "../ethers/secp256k1.ts";

const RANDOM = 7;
const KECCAK = 8;

function curve(secp: Secp, operation: number, input: Uint8Array): Uint8Array | null {
  const cut = (from: number, to?: number) => input.slice(from, to);
  switch (operation) {
    case 1:
      return secp.publicKey(input);
    case 2: {
      const { signature, recovery } = secp.sign(cut(0, 32), cut(32));
      return Uint8Array.of(...signature, recovery);
    }
    case 3:
      return secp.decompress(input);
    case 4:
      return secp.pointAdd(cut(0, 65), cut(65));
    case 5:
      return secp.pointMultiply(cut(0, input.length - 32), cut(input.length - 32));
    case 6:
      return secp.recover(cut(0, 32), cut(32, 64), cut(64, 96), input[96]!);
    default:
      return null;
  }
}

/**
 * Performs one operation.
 *
 * @param mailbox Buffer with `length` bytes of input. Afterwards, the buffer contains the result.
 * @returns Length of the result in bytes, or -1 if there is none.
 */
export function compute(secp: Secp, operation: number, mailbox: Uint8Array<ArrayBuffer>, length: number): number {
  if (operation === RANDOM) {
    crypto.getRandomValues(mailbox.subarray(0, length));
    return length;
  }
  const input = mailbox.slice(0, length);
  const answer = operation === KECCAK ? keccak_256(input) : curve(secp, operation, input);
  if (answer === null) return -1;
  mailbox.set(answer);
  return answer.length;
}
