/** JSON-RPC interface of the development chain: the methods that `svcnb.emulator.chain` uses or forwards. */
import { bytesToHex, keccak256 } from "./hashing.ts";
import { accessList, call, estimate } from "./calls.ts";
import { Chain } from "./chain.ts";
import type { Genesis, Mined } from "./chain.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "./errors.ts";
import { Filters, logs } from "./logs.ts";
import { blockShape, paidPrice, receiptShape, transactionShape } from "./shapes.ts";
import { address, data, hash, hex, object, quantity, word } from "./values.ts";
import type { Json, JsonObject } from "./values.ts";

const TIP = 10n ** 9n;
const LATEST: ReadonlySet<Json | undefined> = new Set([undefined, null, "latest", "pending", "safe", "finalized"]);

type Method = (params: Json[]) => Json | Promise<Json>;

export class DevelopmentNode {
  #chain: Chain;
  #methods: ReadonlyMap<string, Method>;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(chain: Chain) {
    this.#chain = chain;
    this.#methods = new Map(Object.entries({ ...reading(chain), ...writing(chain) }));
  }

  /** @param genesis `Genesis` as JSON text. */
  static async create(genesis: string): Promise<DevelopmentNode> {
    return new DevelopmentNode(await Chain.create(JSON.parse(genesis) as Genesis));
  }

  /**
   * Processes one request after all earlier requests.
   *
   * @param params Parameters as a JSON array.
   * @returns JSON text: `{"result": ...}` or `{"error": {"code": ..., "message": ...}}`.
   */
  request(method: string, params: string): Promise<string> {
    const answer = this.#last.then(() => this.#answer(method, params));
    this.#last = answer;
    return answer;
  }

  async #answer(name: string, params: string): Promise<string> {
    try {
      const method = this.#methods.get(name);
      if (method === undefined) throw new RpcError(METHOD_NOT_FOUND, `the method ${name} does not exist`);
      return JSON.stringify({ result: await method(JSON.parse(params)) });
    } catch (error) {
      if (!(error instanceof RpcError)) {
        return JSON.stringify({ error: { code: INTERNAL_ERROR, message: String((error as Error).message ?? error) } });
      }
      const { code, message, data } = error;
      return JSON.stringify({ error: data === undefined ? { code, message } : { code, message, data } });
    }
  }
}

function finder(chain: Chain): (given: Json | undefined) => Mined {
  return (given) => {
    if (LATEST.has(given)) return chain.latest;
    if (given !== null && typeof given === "object" && !Array.isArray(given)) {
      if (given.blockHash === undefined) return finder(chain)(given.blockNumber);
      const found = chain.byHash(hash(given.blockHash, "blockHash"));
      if (found !== undefined) return found;
      throw new RpcError(INVALID_PARAMS, "unknown block");
    }
    const number = given === "earliest" ? BigInt(chain.first) : quantity(given, "block number")!;
    const found = chain.at(number);
    if (found !== undefined) return found;
    const bounds = `block height is ${chain.height} but requested was ${number}`;
    throw new RpcError(INVALID_PARAMS, `BlockOutOfRangeError: ${bounds}`);
  };
}

function reading(chain: Chain): Record<string, Method> {
  const blockOf = finder(chain);
  const filters = new Filters(chain);
  const { vm } = chain;
  const known = (given: Json | undefined): Mined | null => {
    try {
      return blockOf(given);
    } catch (error) {
      if (error instanceof RpcError && error.message.startsWith("Block")) return null;
      throw error;
    }
  };
  const on = async <T>(block: Json | undefined, work: () => Promise<T>): Promise<T> => {
    const mined = blockOf(block);
    if (mined === chain.latest) return await work();
    await chain.requireState(mined);
    return await chain.on(mined, work);
  };
  const accountAt = (who: Json | undefined, block: Json | undefined) =>
    on(block, () => vm.stateManager.getAccount(address(who, "address")));
  const stateOf = async (block: Json | undefined): Promise<Mined> => {
    const mined = blockOf(block);
    if (mined !== chain.latest) await chain.requireState(mined);
    return mined;
  };
  const inBlock = (mined: Mined | null | undefined, index: Json | undefined) =>
    mined && quantity(index, "index") === 0n ? transactionShape(mined) : null;
  const count = (mined: Mined | null | undefined) => mined ? hex(mined.executed === null ? 0 : 1) : null;
  return {
    eth_chainId: () => hex(chain.chainId),
    eth_accounts: () => [],
    eth_syncing: () => false,
    net_version: () => String(chain.chainId),
    net_listening: () => true,
    web3_clientVersion: () => "ethereumjs",
    web3_sha3: ([bytes]) => bytesToHex(keccak256(data(bytes, "data"))),
    eth_blockNumber: () => hex(chain.height),
    eth_gasPrice: () => hex((chain.next().baseFeePerGas as bigint) + TIP),
    eth_maxPriorityFeePerGas: () => hex(TIP),
    eth_feeHistory: ([blocks, newest, percentiles]) => feeHistory(chain, blocks, blockOf(newest), percentiles),
    eth_getBalance: async ([who, block]) => hex((await accountAt(who, block))?.balance ?? 0n),
    eth_getTransactionCount: async ([who, block]) => hex((await accountAt(who, block))?.nonce ?? 0n),
    eth_getCode: async ([who, block]) =>
      bytesToHex(await on(block, () => vm.stateManager.getCode(address(who, "address")))),
    eth_getStorageAt: async ([who, slot, block]) => {
      const key = word(quantity(slot, "slot") ?? 0n);
      const value = await on(block, () => vm.stateManager.getStorage(address(who, "address"), key));
      return bytesToHex(value).replace("0x", "0x" + "0".repeat(64 - 2 * value.length));
    },
    eth_call: async ([what, block, , overrides]) => await call(chain, await stateOf(block), what, overrides),
    eth_estimateGas: async ([what, block, , overrides]) => await estimate(chain, await stateOf(block), what, overrides),
    eth_createAccessList: async ([what, block]) => await accessList(chain, await stateOf(block), what),
    eth_getBlockByNumber: ([block, whole]) => {
      const found = known(block);
      return found && blockShape(found, whole === true);
    },
    eth_getBlockByHash: ([block, whole]) => {
      const found = chain.byHash(hash(block, "block hash"));
      return found === undefined ? null : blockShape(found, whole === true);
    },
    eth_getBlockReceipts: ([block]) => {
      const found = known(block);
      return found && (found.executed === null ? [] : [receiptShape(found)]);
    },
    eth_getBlockTransactionCountByHash: ([block]) => count(chain.byHash(hash(block, "block hash"))),
    eth_getBlockTransactionCountByNumber: ([block]) => count(known(block)),
    eth_getTransactionByBlockHashAndIndex: ([block, index]) => inBlock(chain.byHash(hash(block, "block hash")), index),
    eth_getTransactionByBlockNumberAndIndex: ([block, index]) => inBlock(known(block), index),
    eth_getTransactionByHash: ([tx]) => {
      const found = chain.byTransaction(hash(tx, "transaction hash"));
      return found === undefined ? null : transactionShape(found);
    },
    eth_getTransactionReceipt: ([tx]) => {
      const found = chain.byTransaction(hash(tx, "transaction hash"));
      return found === undefined ? null : receiptShape(found);
    },
    eth_getLogs: ([filter]) => logs(chain, filter, blockOf),
    eth_newFilter: ([filter]) => filters.add(object(filter, "filter")),
    eth_newBlockFilter: () => filters.add(null),
    eth_getFilterChanges: ([id]) => filters.changes(id),
    eth_getFilterLogs: ([id]) => filters.all(id, blockOf),
    eth_uninstallFilter: ([id]) => filters.remove(id),
  };
}

function writing(chain: Chain): Record<string, Method> {
  return {
    eth_sendRawTransaction: async ([raw]) => {
      const { executed } = await chain.send(data(raw, "transaction"));
      return bytesToHex(executed!.tx.hash());
    },
    eth_sendRawTransactionSync: async ([raw]) => receiptShape(await chain.send(data(raw, "transaction"))),
    evm_setNextBlockTimestamp: ([seconds]) => {
      chain.setNextTimestamp(quantity(seconds, "timestamp")!);
      return null;
    },
    anvil_setNextBlockBaseFeePerGas: ([wei]) => {
      chain.setNextBaseFee(quantity(wei, "base fee")!);
      return null;
    },
    anvil_setBalance: async ([who, wei]) => {
      await chain.setBalance(address(who, "address"), quantity(wei, "balance")!);
      return null;
    },
    evm_snapshot: () => hex(chain.mark()),
    evm_revert: async ([mark]) => await chain.revert(Number(quantity(mark, "mark"))),
    anvil_dumpState: async () => bytesToHex(new TextEncoder().encode(await chain.dump())),
    anvil_loadState: async ([dump]) => {
      await chain.load(new TextDecoder().decode(data(dump, "dump")));
      return true;
    },
  };
}

function feeHistory(chain: Chain, count: Json | undefined, newest: Mined, percentiles: Json | undefined): Json {
  const end = newest.block.header.number;
  const wanted = quantity(count, "block count") ?? 1n;
  const first = end + 1n > wanted + BigInt(chain.first) ? end + 1n - wanted : BigInt(chain.first);
  const blocks = chain.mined.slice(Number(first) - chain.first, Number(end) - chain.first + 1);
  const fees = blocks.map(({ block }) => hex(block.header.baseFeePerGas!));
  const answer: JsonObject = {
    baseFeePerGas: [...fees, hex(chain.feeAfter(newest))],
    gasUsedRatio: blocks.map(({ block: { header } }) => Number(header.gasUsed) / Number(header.gasLimit)),
    baseFeePerBlobGas: [...blocks.map(() => "0x1"), "0x1"],
    blobGasUsedRatio: blocks.map(() => 0),
    oldestBlock: hex(first),
  };
  if (Array.isArray(percentiles)) answer.reward = blocks.map((mined) => tips(mined, percentiles.length));
  return answer;
}

/** A block contains at most one transaction, so each percentile is the tip of that transaction. */
function tips({ block, executed }: Mined, count: number): string[] {
  const fee = block.header.baseFeePerGas!;
  return Array.from({ length: count }, () => hex(executed === null ? 0n : paidPrice(executed, fee) - fee));
}
