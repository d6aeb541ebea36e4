/** Curve operations, performed by the process. Replaces `ethers/secp256k1.ts` inside the image. */
import { host, mailbox } from "./host.ts";
import type { Secp } from "../../ethers/secp256k1.ts";

const [PUBLIC_KEY, SIGN, DECOMPRESS, ADD, MULTIPLY, RECOVER] = [1, 2, 3, 4, 5, 6];

/** Writes the inputs to the mailbox, calls the process, and reads the result. */
function compute(operation: number, ...inputs: readonly Uint8Array[]): Uint8Array | null {
  let at = 0;
  for (let i = 0; i < inputs.length; i++) {
    mailbox.set(inputs[i]!, at);
    at += inputs[i]!.length;
  }
  const length = host.compute(operation, at);
  const answer = length < 0 ? null : mailbox.slice(0, length);
  mailbox.fill(0, 0, Math.max(at, length));
  return answer;
}

const curve: Secp = {
  publicKey: (key) => compute(PUBLIC_KEY!, key),
  sign(digest, key) {
    const answer = compute(SIGN!, digest, key)!;
    return { signature: answer.subarray(0, 64), recovery: answer[64]! };
  },
  decompress: (point) => compute(DECOMPRESS!, point),
  pointAdd: (first, second) => compute(ADD!, first, second),
  pointMultiply: (point, scalar) => compute(MULTIPLY!, point, scalar),
  recover: (digest, r, s, recovery) => compute(RECOVER!, digest, r, s, Uint8Array.of(recovery)),
};

export function secp(): Secp {
  return curve;
}
