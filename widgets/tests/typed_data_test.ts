/** Tests of the browser's typed data code with the shared vectors: digests, signatures and recovery. */
import { utils } from "ethers";
import { digest, domainSeparator, envelope, FLOWS, hex, structHash, typeHash } from "../src/lib/typed_data.ts";
import type { Envelope, Flow } from "../src/lib/typed_data.ts";

interface Vector {
  name: string;
  private_key: string;
  address: string;
  typed_data: Envelope;
  type_hash: string;
  domain_separator: string;
  struct_hash: string;
  digest: string;
  signature: string;
}

const file = new URL("../../tests/vectors/eip712.json", import.meta.url);
const { vectors } = JSON.parse(Deno.readTextFileSync(file)) as { vectors: Vector[] };

function equal(seen: unknown, wanted: unknown, what: string): void {
  const [one, other] = [JSON.stringify(seen), JSON.stringify(wanted)];
  if (one !== other) throw new Error(`${what}: ${one} is not ${other}`);
}

for (const vector of vectors) {
  Deno.test(`vector: ${vector.name}`, () => {
    const data = vector.typed_data;
    const fields = data.types[data.primaryType] ?? [];
    equal(hex(typeHash(data.primaryType, fields)), vector.type_hash, "type hash");
    equal(hex(domainSeparator(data)), vector.domain_separator, "domain separator");
    equal(hex(structHash(data)), vector.struct_hash, "struct hash");
    equal(digest(data), vector.digest, "digest");
    const signed = utils.joinSignature(new utils.SigningKey(vector.private_key).signDigest(digest(data)));
    equal(signed, vector.signature, "signature");
    equal(utils.recoverAddress(digest(data), vector.signature), utils.getAddress(vector.address), "recovered address");
  });
}

Deno.test("the vectors contain all four flows, and `envelope` builds the same envelopes", () => {
  for (const flow of FLOWS) {
    const vector = vectors.find(({ typed_data }) => typed_data.primaryType === flow)!;
    const { message, domain } = vector.typed_data;
    const built = envelope(flow as Flow, message.address, domain.chainId, message.issuedAt, domain.name);
    equal(built, vector.typed_data, "envelope");
  }
});

Deno.test("a different order of fields results in a different digest", () => {
  const data = structuredClone(vectors[0]!.typed_data);
  data.types[data.primaryType]!.reverse();
  if (digest(data) === vectors[0]!.digest) throw new Error("the order of the fields must change the digest");
});

Deno.test("values that are not valid numbers or addresses are rejected", () => {
  for (
    const wrong of [{ issuedAt: "-1" }, { issuedAt: "1.5" }, { issuedAt: "0x" + "f".repeat(65) }, { address: "0x12" }]
  ) {
    const data = structuredClone(vectors[0]!.typed_data);
    Object.assign(data.message, wrong);
    let refused = false;
    try {
      digest(data);
    } catch {
      refused = true;
    }
    equal(refused, true, JSON.stringify(wrong));
  }
});
