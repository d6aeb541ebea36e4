/**
 * CID of an action, and the hash with which the contract identifies the action. The kernel's implementation is
 * `svcnb/protocol/cid.py`. The tests of both implementations use `tests/vectors/cid.json` and `hashes.json`.
 *
 * A file consists of chunks of 256 KiB. Each chunk is in a UnixFS message inside its own dag-pb node (a leaf). While
 * there is more than one node, each group of at most 174 nodes gets a parent, which lists their hashes and sizes.
 */
import { sha256 } from "@noble/hashes/sha2";
import { keccak_256 } from "@noble/hashes/sha3";

/** See docs/service/limits.md#limits-of-the-service, docs/service/keys.md#content-identifiers. */
const CHUNK_BYTES = 262_144;
const MAX_LINKS = 174;

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const encoder = new TextEncoder();

interface Node {
  digest: Uint8Array;
  /** Number of bytes of the file below this node. */
  file: number;
  /** Number of bytes of its block and of all blocks below it. */
  dag: number;
}

/** Returns the UTF-8 bytes of a source, which determine its CID. */
export function sourceBytes(source: string): Uint8Array {
  return encoder.encode(source);
}

/** Returns the CIDv0 of bytes: 46 characters that start with Qm. */
export function cid(bytes: Uint8Array): string {
  let nodes: Node[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += CHUNK_BYTES) {
    nodes.push(leaf(bytes.subarray(at, at + CHUNK_BYTES)));
  }
  while (nodes.length > 1) {
    const parents: Node[] = [];
    for (let at = 0; at < nodes.length; at += MAX_LINKS) parents.push(parent(nodes.slice(at, at + MAX_LINKS)));
    nodes = parents;
  }
  return base58(join([Uint8Array.of(0x12, 0x20), nodes[0]!.digest])); // a sha2-256 multihash
}

/** Returns the keccak256 hash of the CID's text, as 0x and hex digits. */
export function hashedCid(cid: string): string {
  return "0x" + Array.from(keccak_256(encoder.encode(cid)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function leaf(chunk: Uint8Array): Node {
  const size = varint(chunk.length);
  const data = join([
    Uint8Array.of(0x08, 0x02), // a file
    ...(chunk.length > 0 ? [Uint8Array.of(0x12), size, chunk] : []),
    Uint8Array.of(0x18),
    size,
  ]);
  return block([Uint8Array.of(0x0a), varint(data.length), data], chunk.length, 0);
}

function parent(children: Node[]): Node {
  const links: Uint8Array[] = [];
  const sizes: Uint8Array[] = [];
  for (const { digest, file, dag } of children) {
    const link = join([
      Uint8Array.of(0x0a, 0x22, 0x12, 0x20),
      digest,
      Uint8Array.of(0x12, 0x00, 0x18), // no name, then the size
      varint(dag),
    ]);
    links.push(Uint8Array.of(0x12), varint(link.length), link);
    sizes.push(Uint8Array.of(0x20), varint(file));
  }
  const file = children.reduce((sum, child) => sum + child.file, 0);
  const below = children.reduce((sum, child) => sum + child.dag, 0);
  const data = join([Uint8Array.of(0x08, 0x02, 0x18), varint(file), ...sizes]);
  return block([...links, Uint8Array.of(0x0a), varint(data.length), data], file, below);
}

function block(parts: Uint8Array[], file: number, below: number): Node {
  const bytes = join(parts);
  return { digest: sha256(bytes), file, dag: below + bytes.length };
}

/** Encodes an unsigned number in base 128, lowest group first. */
function varint(number: number): Uint8Array {
  const groups: number[] = [];
  for (; number > 0x7f; number = Math.floor(number / 128)) groups.push(number % 128 | 0x80);
  return Uint8Array.of(...groups, number);
}

function join(parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Encodes bytes in base 58. A multihash never starts with a zero byte, which base 58 would encode differently. */
function base58(bytes: Uint8Array): string {
  let number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = "";
  for (; number > 0n; number /= 58n) text = ALPHABET[Number(number % 58n)] + text;
  return text;
}
