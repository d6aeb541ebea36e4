export { keccak_256 as keccak256 } from "@noble/hashes/sha3";
export { bytesToHex } from "@ethereumjs/util";
