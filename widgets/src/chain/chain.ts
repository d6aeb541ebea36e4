/**
 * Development chain on @ethereumjs/vm, with one block for each transaction. The chain stores all past states.
 *
 * `node.ts` processes one request at a time, so methods of this class never run concurrently.
 */
import { createBlock, createBlockFromRLP } from "@ethereumjs/block";
import type { Block, HeaderData } from "@ethereumjs/block";
import { createCustomCommon, Hardfork, Mainnet } from "@ethereumjs/common";
import type { Common } from "@ethereumjs/common";
import { createMPT, MerklePatriciaTrie } from "@ethereumjs/mpt";
import { RLP } from "@ethereumjs/rlp";
import { Caches, MerkleStateManager } from "@ethereumjs/statemanager";
import { createTxFromRLP } from "@ethereumjs/tx";
import type { TypedTransaction } from "@ethereumjs/tx";
import {
  Account,
  bytesToHex,
  createAddressFromString,
  hexToBytes,
  KECCAK256_RLP,
  MapDB,
  SECP256K1_ORDER_DIV_2,
} from "@ethereumjs/util";
import type { Address, PrefixedHexString } from "@ethereumjs/util";
import { createVM, encodeReceipt, runTx } from "@ethereumjs/vm";
import type { TxReceipt, VM } from "@ethereumjs/vm";
import { INVALID_PARAMS, REJECTED, RpcError, SERVER_ERROR } from "./errors.ts";
import { DETERMINISTIC_DEPLOYER, HISTORY, HISTORY_CODE, HISTORY_SLOTS } from "./predeployed.ts";
import { reachable } from "./reachable.ts";
import { word } from "./values.ts";

/** Parameters of the first block: `svcnb.emulator.chain.genesis.Genesis` in JSON. */
export interface Genesis {
  readonly chain_id: number;
  readonly timestamp: number;
  readonly balances: Readonly<Record<string, number | string>>;
  readonly gas_limit: number;
  readonly base_fee: number;
}

/** Result of the transaction of a block. */
export interface Executed {
  readonly tx: TypedTransaction;
  readonly sender: string;
  readonly receipt: TxReceipt;
  readonly gasUsed: bigint;
  readonly created: string | null;
}

export interface Mined {
  readonly block: Block;
  readonly stateRoot: Uint8Array;
  /** Null in the first block. */
  readonly executed: Executed | null;
}

interface Mark {
  readonly height: number;
  readonly root: Uint8Array;
  readonly nextTimestamp: bigint | null;
}

const ZERO_HASH = new Uint8Array(32);
const EMPTY_REQUESTS = hexToBytes("0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
const DUMP_VERSION = 1;

export class Chain {
  readonly common: Common;
  readonly chainId: bigint;
  /** Blocks, latest last. A chain from a dump does not contain the blocks before the dump. */
  mined: Mined[] = [];
  #vm: VM;
  #nodes: MapDB<string, string>;
  #byHash = new Map<string, Mined>();
  #byTransaction = new Map<string, Mined>();
  #first = 0;
  #gasLimit: bigint;
  #nextTimestamp: bigint | null = null;
  #nextBaseFee: bigint | null = null;
  #marks: Mark[] = [];

  private constructor(genesis: Genesis, common: Common, vm: VM, nodes: MapDB<string, string>) {
    this.common = common;
    this.chainId = BigInt(genesis.chain_id);
    this.#gasLimit = BigInt(genesis.gas_limit);
    this.#vm = vm;
    this.#nodes = nodes;
  }

  static async create(genesis: Genesis): Promise<Chain> {
    const common = createCustomCommon({ chainId: genesis.chain_id }, Mainnet, { hardfork: Hardfork.Prague });
    const nodes = new MapDB<string, string>();
    const trie = new MerklePatriciaTrie({ db: nodes, useKeyHashing: true, common });
    const stateManager = new MerkleStateManager({ trie, common, caches: new Caches() });
    const blocks = {
      getBlock: (number: number) => {
        const found = chain.at(BigInt(number));
        return Promise.resolve({ hash: () => found?.block.hash() ?? ZERO_HASH });
      },
      putBlock: () => Promise.resolve(),
      shallowCopy: () => blocks,
    };
    const vm = await createVM({ common, stateManager, blockchain: blocks });
    const chain: Chain = new Chain(genesis, common, vm, nodes);
    for (const [address, wei] of Object.entries(genesis.balances)) {
      await stateManager.putAccount(createAddressFromString(address), new Account(0n, BigInt(wei)));
    }
    for (const [address, code] of [[HISTORY, HISTORY_CODE], DETERMINISTIC_DEPLOYER] as const) {
      await stateManager.putCode(createAddressFromString(address), hexToBytes(code));
    }
    const header = chain.#header({ timestamp: BigInt(genesis.timestamp), baseFeePerGas: BigInt(genesis.base_fee) });
    chain.#add({ block: chain.#block(header, []), stateRoot: await stateManager.getStateRoot(), executed: null });
    return chain;
  }

  get vm(): VM {
    return this.#vm;
  }

  get latest(): Mined {
    return this.mined.at(-1)!;
  }

  get height(): bigint {
    return this.latest.block.header.number;
  }

  /** Number of the oldest block that is available. */
  get first(): number {
    return this.#first;
  }

  at(number: bigint): Mined | undefined {
    return this.mined[Number(number) - this.#first];
  }

  byHash(hash: string): Mined | undefined {
    return this.#byHash.get(hash);
  }

  byTransaction(hash: string): Mined | undefined {
    return this.#byTransaction.get(hash);
  }

  /** Returns the base fee after a block (EIP-1559). As in anvil, the first two blocks have the same base fee. */
  feeAfter({ block: { header } }: Mined): bigint {
    return header.number === 0n ? header.baseFeePerGas! : header.calcNextBaseFee();
  }

  /** Number, timestamp and base fee of the next block. */
  next(): HeaderData {
    const { header } = this.latest.block;
    const soonest = header.timestamp;
    return {
      number: header.number + 1n,
      parentHash: this.latest.block.hash(),
      timestamp: this.#nextTimestamp ?? soonest,
      baseFeePerGas: this.#nextBaseFee ?? this.feeAfter(this.latest),
      gasLimit: this.#gasLimit,
    };
  }

  /** Returns an empty block with this header, for the execution of a call. */
  around(data: HeaderData): Block {
    return this.#block(this.#header(data), []);
  }

  /** Runs `work` on the state after a block, and then reverts its changes. */
  async on<T>(mined: Mined, work: () => Promise<T>): Promise<T> {
    const { stateManager } = this.#vm;
    const isPast = mined !== this.latest;
    const root = isPast ? await stateManager.getStateRoot() : ZERO_HASH;
    if (isPast) await stateManager.setStateRoot(mined.stateRoot, true);
    await this.#vm.evm.journal.cleanup();
    await stateManager.checkpoint();
    try {
      return await work();
    } finally {
      await stateManager.revert();
      await this.#vm.evm.journal.cleanup();
      (stateManager as MerkleStateManager).originalStorageCache.clear();
      if (isPast) await stateManager.setStateRoot(root, true);
    }
  }

  // --- writing ------------------------------------------------------------------------------------------------------

  setNextTimestamp(seconds: bigint): void {
    if (seconds < this.latest.block.header.timestamp) {
      throw new RpcError(INVALID_PARAMS, "the timestamp is earlier than the timestamp of the latest block");
    }
    this.#nextTimestamp = seconds;
  }

  setNextBaseFee(wei: bigint): void {
    this.#nextBaseFee = wei;
  }

  async setBalance(address: Address, wei: bigint): Promise<void> {
    const { stateManager } = this.#vm;
    const account = await stateManager.getAccount(address) ?? new Account();
    account.balance = wei;
    await stateManager.putAccount(address, account);
    // Calls read the state after the latest block, which now includes this change.
    this.mined[this.mined.length - 1] = { ...this.latest, stateRoot: await stateManager.getStateRoot() };
    this.#index(this.latest);
  }

  /**
   * Executes a signed transaction in a new block. @throws {RpcError} The chain rejected the transaction. The state is
   * unchanged.
   */
  async send(raw: Uint8Array): Promise<Mined> {
    const tx = this.#read(raw);
    const header = this.#header(this.next());
    const { stateManager } = this.#vm;
    await stateManager.checkpoint();
    let result;
    try {
      await this.#rememberParent(header);
      const around = this.#block(header, []);
      result = await runTx(this.#vm, { tx, block: around, skipHardForkValidation: true });
      await stateManager.commit();
    } catch (error) {
      await stateManager.revert();
      throw new RpcError(REJECTED, (error as Error).message.replace(/ \(vm hf=.*$/s, ""));
    }
    const stateRoot = await stateManager.getStateRoot();
    const receipts = await createMPT({ common: this.common });
    await receipts.put(RLP.encode(0), encodeReceipt(result.receipt, tx.type));
    const block = this.#block({
      ...header,
      stateRoot,
      transactionsTrie: await this.#transactionsRoot(tx),
      receiptTrie: receipts.root(),
      logsBloom: result.bloom.bitvector,
      gasUsed: result.totalGasSpent,
    }, [tx]);
    this.#nextTimestamp = this.#nextBaseFee = null;
    const mined = {
      block,
      stateRoot,
      executed: {
        tx,
        sender: tx.getSenderAddress().toString(),
        receipt: result.receipt,
        gasUsed: result.totalGasSpent,
        created: tx.to === undefined ? result.createdAddress?.toString() ?? null : null,
      },
    };
    this.#add(mined);
    return mined;
  }

  /** Stores the parent's block hash where contracts can read it (EIP-2935). */
  async #rememberParent(header: HeaderData): Promise<void> {
    const slot = ((header.number as bigint) - 1n) % HISTORY_SLOTS;
    await this.#vm.stateManager.putStorage(
      createAddressFromString(HISTORY),
      word(slot),
      header.parentHash as Uint8Array,
    );
  }

  #read(raw: Uint8Array): TypedTransaction {
    let tx: TypedTransaction;
    try {
      tx = createTxFromRLP(raw, { common: this.common });
      if (tx.s === undefined || tx.s > SECP256K1_ORDER_DIV_2) throw new Error("s is in the upper half (EIP-2)");
      tx.getSenderAddress();
    } catch (error) {
      throw new RpcError(INVALID_PARAMS, `failed to decode signed transaction: ${(error as Error).message}`);
    }
    if (this.#byTransaction.has(bytesToHex(tx.hash()))) {
      throw new RpcError(REJECTED, "transaction already imported");
    }
    return tx;
  }

  // --- snapshots ----------------------------------------------------------------------------------------------------

  mark(): number {
    this.#marks.push({ height: this.mined.length, root: this.latest.stateRoot, nextTimestamp: this.#nextTimestamp });
    return this.#marks.length - 1;
  }

  /** Restores a snapshot, and deletes this and all later snapshots. Returns false for a missing snapshot. */
  async revert(number: number): Promise<boolean> {
    const mark = this.#marks[number];
    if (mark === undefined) return false;
    this.#marks.length = number;
    this.mined.length = mark.height;
    this.mined[mark.height - 1] = { ...this.latest, stateRoot: mark.root };
    this.#nextTimestamp = mark.nextTimestamp;
    this.#nextBaseFee = null;
    await this.#reset();
    return true;
  }

  async #reset(): Promise<void> {
    this.#byHash.clear();
    this.#byTransaction.clear();
    for (const mined of this.mined) this.#index(mined);
    await this.#vm.stateManager.setStateRoot(this.latest.stateRoot, true);
  }

  /** Returns all blocks and the latest state as text. */
  async dump(): Promise<string> {
    await this.#vm.stateManager.getStateRoot(); // writes cached changes
    const nodes = reachable(this.latest.stateRoot, (key) => this.#nodes._database.get(key));
    const blocks = this.mined.map(({ block, executed }) => ({
      header: bytesToHex(RLP.encode(block.header.raw())),
      tx: executed === null ? null : bytesToHex(executed.tx.serialize()),
      receipt: executed === null ? null : bytesToHex(encodeReceipt(executed.receipt, executed.tx.type)),
      logs: executed === null ? [] : executed.receipt.logs.map((log) => log.map(readable)),
      succeeded: executed !== null && (executed.receipt as { status?: number }).status === 1,
      created: executed?.created ?? null,
    }));
    return JSON.stringify({
      version: DUMP_VERSION,
      first: this.#first,
      blocks,
      nodes,
      root: bytesToHex(this.latest.stateRoot),
    });
  }

  /** Replaces the whole chain with a dump. A dump does not contain old states. */
  async load(text: string): Promise<void> {
    const dump = JSON.parse(text);
    if (dump.version !== DUMP_VERSION) throw new RpcError(INVALID_PARAMS, "the dump has a different version");
    for (const [key, value] of Object.entries(dump.nodes as Record<string, string>)) {
      this.#nodes._database.set(key, value);
    }
    this.#marks = [];
    this.#nextTimestamp = this.#nextBaseFee = null;
    this.#first = dump.first;
    this.mined = dump.blocks.map((item: DumpedBlock) => {
      const tx = item.tx === null ? null : createTxFromRLP(hexToBytes(item.tx), { common: this.common });
      const header = RLP.decode(hexToBytes(item.header));
      const body = [header, tx === null ? [] : [tx.type === 0 ? tx.raw() : tx.serialize()], [], []];
      const block = createBlockFromRLP(RLP.encode(body as never), { common: this.common, freeze: false });
      if (tx === null) return { block, stateRoot: ZERO_HASH, executed: null };
      const receipt = {
        status: item.succeeded ? 1 : 0,
        cumulativeBlockGasUsed: block.header.gasUsed,
        bitvector: block.header.logsBloom,
        logs: item.logs.map(([from, topics, data]) => [
          hexToBytes(from),
          topics.map((topic) => hexToBytes(topic)),
          hexToBytes(data),
        ]),
      } as unknown as TxReceipt;
      const sender = tx.getSenderAddress().toString();
      const executed = { tx, sender, receipt, gasUsed: block.header.gasUsed, created: item.created };
      return { block, stateRoot: block.header.stateRoot, executed };
    });
    this.mined[this.mined.length - 1] = { ...this.latest, stateRoot: hexToBytes(dump.root) };
    await this.#reset();
  }

  /** @throws {RpcError} The state of a block before the dump is not available. */
  async requireState(mined: Mined): Promise<void> {
    if (!await this.#vm.stateManager.hasStateRoot(mined.stateRoot)) {
      throw new RpcError(SERVER_ERROR, `the state of block ${mined.block.header.number} is no longer stored`);
    }
  }

  // --- blocks -------------------------------------------------------------------------------------------------------

  #header(data: HeaderData): HeaderData {
    return {
      stateRoot: KECCAK256_RLP,
      gasLimit: this.#gasLimit,
      difficulty: 0n,
      mixHash: ZERO_HASH,
      withdrawalsRoot: KECCAK256_RLP,
      blobGasUsed: 0n,
      excessBlobGas: 0n,
      parentBeaconBlockRoot: ZERO_HASH,
      requestsHash: EMPTY_REQUESTS,
      ...data,
    };
  }

  #block(header: HeaderData, transactions: TypedTransaction[]): Block {
    return createBlock({ header, transactions, withdrawals: [] }, {
      common: this.common,
      freeze: false,
      skipConsensusFormatValidation: true,
    });
  }

  async #transactionsRoot(tx: TypedTransaction): Promise<Uint8Array> {
    const trie = await createMPT({ common: this.common });
    await trie.put(RLP.encode(0), tx.serialize());
    return trie.root();
  }

  #add(mined: Mined): void {
    this.mined.push(mined);
    this.#index(mined);
  }

  #index(mined: Mined): void {
    this.#byHash.set(bytesToHex(mined.block.hash()), mined);
    if (mined.executed !== null) this.#byTransaction.set(bytesToHex(mined.executed.tx.hash()), mined);
  }
}

type Hex = PrefixedHexString;

interface DumpedBlock {
  readonly header: Hex;
  readonly tx: Hex | null;
  readonly logs: [Hex, Hex[], Hex][];
  readonly succeeded: boolean;
  readonly created: string | null;
}

function readable(part: Uint8Array | Uint8Array[]): Hex | Hex[] {
  return Array.isArray(part) ? part.map((each) => bytesToHex(each)) : bytesToHex(part);
}
