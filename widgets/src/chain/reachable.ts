/** Trie nodes that belong to one state: the account trie, the storage tries and the contract codes. */
import { RLP } from "@ethereumjs/rlp";
import { bytesToUnprefixedHex, hexToBytes, KECCAK256_NULL_S, KECCAK256_RLP_S } from "@ethereumjs/util";

/** Prefix of contract codes among the keys of an @ethereumjs state manager. */
const CODE = "63";
const HASH_BYTES = 32;
const LEAF_FLAG = 0x20;

type Get = (key: string) => string | undefined;
type Node = (Uint8Array | Node)[];

/** Returns the nodes and the codes of a state by key, as in the database. */
export function reachable(root: Uint8Array, get: Get): Record<string, string> {
  const found: Record<string, string> = {};
  walk(bytesToUnprefixedHex(root), get, found, (value) => {
    const [, , storageRoot, codeHash] = RLP.decode(value) as Uint8Array[];
    const storage = bytesToUnprefixedHex(storageRoot!);
    if (`0x${storage}` !== KECCAK256_RLP_S) walk(storage, get, found, () => {});
    const code = bytesToUnprefixedHex(codeHash!);
    if (`0x${code}` === KECCAK256_NULL_S) return;
    for (const key of [CODE + code, code]) {
      const bytes = get(key);
      if (bytes !== undefined) found[key] = bytes;
    }
  });
  return found;
}

function walk(hash: string, get: Get, found: Record<string, string>, onValue: (value: Uint8Array) => void): void {
  if (hash in found) return;
  const raw = get(hash);
  if (raw === undefined) return; // an empty trie
  found[hash] = raw;
  visit(RLP.decode(hexToBytes(`0x${raw}`)) as Node, get, found, onValue);
}

function visit(node: Node, get: Get, found: Record<string, string>, onValue: (value: Uint8Array) => void): void {
  const follow = (child: Uint8Array | Node) => {
    if (Array.isArray(child)) visit(child, get, found, onValue);
    else if (child.length === HASH_BYTES) walk(bytesToUnprefixedHex(child), get, found, onValue);
  };
  if (node.length === 2) {
    const [path, below] = node as [Uint8Array, Uint8Array | Node];
    if ((path[0]! & LEAF_FLAG) !== 0) onValue(below as Uint8Array);
    else follow(below);
  } else {
    node.slice(0, 16).forEach(follow);
  }
}
