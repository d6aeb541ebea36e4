/** Numbers, bytes and addresses of JSON-RPC requests. */
import { bytesToHex, createAddressFromString, hexToBytes } from "@ethereumjs/util";
import type { Address, PrefixedHexString } from "@ethereumjs/util";
import { INVALID_PARAMS, RpcError } from "./errors.ts";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

const MOST_DIGITS = 64;

export function hex(value: bigint | number): PrefixedHexString {
  return `0x${value.toString(16)}`;
}

/** Returns a number as 32 bytes. */
export function word(value: bigint): Uint8Array {
  return hexToBytes(`0x${value.toString(16).padStart(64, "0")}`);
}

/** Returns the beginning of a value for an error message. */
const shown = (value: Json | undefined) => (JSON.stringify(value) ?? "undefined").slice(0, 80);

/** Parses a number. Returns undefined if there is none. */
export function quantity(value: Json | undefined, name: string): bigint | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  if (typeof value === "string" && /^(0x[0-9a-f]+|[0-9]+)$/i.test(value) && value.length <= MOST_DIGITS + 2) {
    return BigInt(value);
  }
  throw new RpcError(INVALID_PARAMS, `invalid ${name} ${shown(value)}: expected a number as 0x hex`);
}

/** Parses bytes. Returns empty bytes if there are none. */
export function data(value: Json | undefined, name: string): Uint8Array {
  if (value === undefined || value === null) return new Uint8Array();
  if (typeof value !== "string" || !/^0x([0-9a-f]{2})*$/i.test(value)) {
    throw new RpcError(INVALID_PARAMS, `invalid ${name} ${shown(value)}: expected bytes as 0x hex`);
  }
  return hexToBytes(value as PrefixedHexString);
}

export function address(value: Json | undefined, name: string): Address {
  if (typeof value !== "string" || !/^0x[0-9a-f]{40}$/i.test(value)) {
    throw new RpcError(INVALID_PARAMS, `invalid ${name} ${shown(value)}: expected 0x and 40 hex digits`);
  }
  return createAddressFromString(value.toLowerCase());
}

/** Returns a hash as lowercase hex digits. */
export function hash(value: Json | undefined, name: string): string {
  if (typeof value !== "string" || !/^0x[0-9a-f]{64}$/i.test(value)) {
    throw new RpcError(INVALID_PARAMS, `invalid ${name} ${shown(value)}: expected 0x and 64 hex digits`);
  }
  return value.toLowerCase();
}

export function object(value: Json | undefined, name: string): JsonObject {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new RpcError(INVALID_PARAMS, `invalid ${name} ${shown(value)}: expected an object`);
  }
  return value;
}

export { bytesToHex };
