/**
 * The four envelopes that a wallet signs (EIP-712), and their digest. The kernel's implementation is
 * `svcnb/protocol/typed_data.py`. The tests of both implementations use `tests/vectors/eip712.json`.
 */
import { keccak_256 } from "@noble/hashes/sha3";

/** Purpose of a signature, which is the `primaryType` of its envelope. */
export type Flow = "CreateWallet" | "ConvertAccount" | "AddUsageApiKey" | "BillingAuth";

export const FLOWS: readonly Flow[] = ["CreateWallet", "ConvertAccount", "AddUsageApiKey", "BillingAuth"];

export interface Field {
  name: string;
  type: string;
}

export interface Envelope {
  types: Record<string, Field[]>;
  primaryType: string;
  domain: { name: string; version: string; chainId: string };
  message: { address: string; issuedAt: string };
}

const DOMAIN_FIELDS: readonly Field[] = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
];
const MESSAGE_FIELDS: readonly Field[] = [
  { name: "address", type: "address" },
  { name: "issuedAt", type: "uint256" },
];
const WORD = 32;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const NUMBER = /^(0x[0-9a-fA-F]+|\d+)$/;

/** Builds the envelope of a flow as JSON, in the format of `eth_signTypedData_v4`. */
export function envelope(
  flow: Flow,
  address: string,
  chainId: number | bigint | string,
  issuedAt: number | bigint | string,
  domainName = "Svc ChainSecured",
): Envelope {
  return {
    types: { EIP712Domain: [...DOMAIN_FIELDS], [flow]: [...MESSAGE_FIELDS] },
    primaryType: flow,
    domain: { name: domainName, version: "1", chainId: String(chainId) },
    message: { address, issuedAt: String(issuedAt) },
  };
}

/** Returns the 32 bytes that a wallet signs, as 0x and hex digits. */
export function digest(typedData: Envelope): string {
  return hex(
    keccak_256(concat([Uint8Array.of(0x19, 0x01), domainSeparator(typedData), structHash(typedData)])),
  );
}

/** Returns the hash of the domain: service, version and chain. */
export function domainSeparator({ domain }: Envelope): Uint8Array {
  return keccak_256(concat([
    typeHash("EIP712Domain", DOMAIN_FIELDS),
    keccak_256(utf8(domain.name)),
    keccak_256(utf8(domain.version)),
    word(domain.chainId),
  ]));
}

/**
 * Returns the hash of the message with the type from the envelope. A wrong order of fields therefore changes the hash.
 */
export function structHash({ types, primaryType, message }: Envelope): Uint8Array {
  const fields = types[primaryType] ?? [];
  const values = fields.map(({ name, type }) => encoded(type, message[name as keyof Envelope["message"]]));
  return keccak_256(concat([typeHash(primaryType, fields), ...values]));
}

/** Returns the hash of a type's text, for example `CreateWallet(address address,uint256 issuedAt)`. */
export function typeHash(name: string, fields: readonly Field[]): Uint8Array {
  return keccak_256(utf8(`${name}(${fields.map((field) => `${field.type} ${field.name}`).join(",")})`));
}

/** Returns bytes as 0x and hex digits. */
export function hex(bytes: Uint8Array): string {
  return "0x" + Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function encoded(type: string, value: string | undefined): Uint8Array {
  if (value === undefined) throw new TypeError(`the message has no field of type ${type}`);
  if (type === "uint256") return word(value);
  if (type !== "address") throw new TypeError(`unsupported type ${type}: expected address or uint256`);
  if (ADDRESS.test(value)) return word(value);
  throw new TypeError(`invalid address ${JSON.stringify(value)}: expected 0x and 40 hex digits`);
}

function word(value: string): Uint8Array {
  if (!NUMBER.test(value)) {
    throw new TypeError(`invalid number ${JSON.stringify(value)}: expected decimal digits, or 0x and hex digits`);
  }
  const digits = BigInt(value).toString(16).padStart(2 * WORD, "0");
  if (digits.length > 2 * WORD) throw new RangeError(`the number ${value} has more than 256 bits`);
  return Uint8Array.from({ length: WORD }, (_, index) => parseInt(digits.slice(2 * index, 2 * index + 2), 16));
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let position = 0;
  for (const part of parts) {
    whole.set(part, position);
    position += part.length;
  }
  return whole;
}
