/** Blocks, transactions, receipts and logs in the format of JSON-RPC. */
import { bytesToHex } from "@ethereumjs/util";
import type { Executed, Mined } from "./chain.ts";
import { hex } from "./values.ts";
import type { Json, JsonObject } from "./values.ts";

/** Returns a block with its transaction, or only with the hash of its transaction. */
export function blockShape({ block, executed }: Mined, whole: boolean): JsonObject {
  const shown = block.header.toJSON() as Record<string, string | undefined>;
  return {
    hash: bytesToHex(block.hash()),
    parentHash: shown.parentHash!,
    sha3Uncles: shown.uncleHash!,
    miner: shown.coinbase!,
    stateRoot: shown.stateRoot!,
    transactionsRoot: shown.transactionsTrie!,
    receiptsRoot: shown.receiptTrie!,
    logsBloom: shown.logsBloom!,
    difficulty: "0x0",
    number: hex(block.header.number),
    gasLimit: hex(block.header.gasLimit),
    gasUsed: hex(block.header.gasUsed),
    timestamp: hex(block.header.timestamp),
    extraData: shown.extraData!,
    mixHash: shown.mixHash!,
    nonce: shown.nonce!,
    baseFeePerGas: hex(block.header.baseFeePerGas!),
    withdrawalsRoot: shown.withdrawalsRoot!,
    blobGasUsed: "0x0",
    excessBlobGas: "0x0",
    parentBeaconBlockRoot: shown.parentBeaconBlockRoot!,
    requestsHash: shown.requestsHash!,
    totalDifficulty: "0x0",
    size: hex(block.serialize().length),
    uncles: [],
    transactions: executed === null
      ? []
      : [whole ? transactionShape({ block, executed } as Mined) : bytesToHex(executed.tx.hash())],
    withdrawals: [],
  };
}

/** Returns the effective gas price of a transaction, in wei. */
export function paidPrice({ tx }: Executed, baseFee: bigint): bigint {
  return tx.getEffectivePriorityFee(baseFee) + baseFee;
}

export function transactionShape({ block, executed }: Mined): JsonObject | null {
  if (executed === null) return null;
  const { tx, sender } = executed;
  const shown = tx.toJSON();
  const baseFee = block.header.baseFeePerGas!;
  const isTyped = tx.type !== 0;
  return {
    type: hex(tx.type),
    ...(shown.chainId === undefined ? {} : { chainId: shown.chainId }),
    nonce: hex(tx.nonce),
    gas: hex(tx.gasLimit),
    ...("maxFeePerGas" in tx
      ? { maxFeePerGas: hex(tx.maxFeePerGas), maxPriorityFeePerGas: hex(tx.maxPriorityFeePerGas) }
      : {}),
    to: tx.to?.toString() ?? null,
    value: hex(tx.value),
    ...("accessList" in tx ? { accessList: shown.accessList as unknown as Json } : {}),
    input: bytesToHex(tx.data),
    r: hex(tx.r!),
    s: hex(tx.s!),
    ...(isTyped ? { yParity: hex(tx.v!) } : {}),
    v: hex(tx.v!),
    hash: bytesToHex(tx.hash()),
    blockHash: bytesToHex(block.hash()),
    blockNumber: hex(block.header.number),
    transactionIndex: "0x0",
    from: sender,
    gasPrice: hex(paidPrice(executed, baseFee)),
    blockTimestamp: hex(block.header.timestamp),
  };
}

export function receiptShape(mined: Mined): JsonObject | null {
  const { block, executed } = mined;
  if (executed === null) return null;
  const { tx, sender, receipt, created } = executed;
  return {
    type: hex(tx.type),
    status: hex((receipt as { status?: number }).status ?? 0),
    cumulativeGasUsed: hex(executed.gasUsed),
    logs: logShapes(mined),
    logsBloom: bytesToHex(block.header.logsBloom),
    transactionHash: bytesToHex(tx.hash()),
    transactionIndex: "0x0",
    blockHash: bytesToHex(block.hash()),
    blockNumber: hex(block.header.number),
    gasUsed: hex(executed.gasUsed),
    effectiveGasPrice: hex(paidPrice(executed, block.header.baseFeePerGas!)),
    blobGasPrice: "0x1",
    from: sender,
    to: tx.to?.toString() ?? null,
    contractAddress: created,
    blockTimestamp: Number(block.header.timestamp),
  };
}

export interface LogShape extends JsonObject {
  address: string;
  topics: string[];
}

export function logShapes({ block, executed }: Mined): LogShape[] {
  if (executed === null) return [];
  return executed.receipt.logs.map(([from, topics, data], index) => ({
    address: bytesToHex(from),
    topics: topics.map((topic) => bytesToHex(topic)),
    data: bytesToHex(data),
    blockHash: bytesToHex(block.hash()),
    blockNumber: hex(block.header.number),
    blockTimestamp: hex(block.header.timestamp),
    transactionHash: bytesToHex(executed.tx.hash()),
    transactionIndex: "0x0",
    logIndex: hex(index),
    removed: false,
  }));
}
