/** Logs of past blocks, and filters that record how far their caller has read. */
import { bytesToHex } from "@ethereumjs/util";
import type { Chain, Mined } from "./chain.ts";
import { INVALID_PARAMS, RpcError, SERVER_ERROR } from "./errors.ts";
import { logShapes } from "./shapes.ts";
import type { LogShape } from "./shapes.ts";
import { address, hash, object } from "./values.ts";
import type { Json } from "./values.ts";

const MOST_TOPICS = 4;
const MOST_FILTERS = 1_000;

type BlockOf = (given: Json | undefined) => Mined;

interface Wanted {
  readonly blockHash: string | null;
  readonly from: Json | undefined;
  readonly to: Json | undefined;
  readonly addresses: ReadonlySet<string> | null;
  readonly topics: readonly (ReadonlySet<string> | null)[];
}

function read(given: Json | undefined): Wanted {
  const filter = object(given, "filter");
  const topics = filter.topics ?? [];
  if (!Array.isArray(topics) || topics.length > MOST_TOPICS) {
    throw new RpcError(INVALID_PARAMS, `invalid topics: expected a list of at most ${MOST_TOPICS} topics`);
  }
  return {
    blockHash: filter.blockHash === undefined || filter.blockHash === null ? null : hash(filter.blockHash, "blockHash"),
    from: filter.fromBlock,
    to: filter.toBlock,
    addresses: oneOf(filter.address, (each) => address(each, "address").toString()),
    topics: topics.map((topic) => oneOf(topic, (each) => hash(each, "topic"))),
  };
}

function oneOf(given: Json | undefined, one: (each: Json) => string): ReadonlySet<string> | null {
  if (given === undefined || given === null) return null;
  const found = Array.isArray(given) ? given.map(one) : [one(given)];
  return found.length === 0 ? null : new Set(found);
}

function matches(log: LogShape, { addresses, topics }: Wanted): boolean {
  if (addresses !== null && !addresses.has(log.address)) return false;
  return topics.every((allowed, at) => at < log.topics.length && (allowed === null || allowed.has(log.topics[at]!)));
}

export function logs(chain: Chain, given: Json | undefined, blockOf: BlockOf): LogShape[] {
  const wanted = read(given);
  let blocks: Mined[];
  if (wanted.blockHash !== null) {
    const found = chain.byHash(wanted.blockHash);
    if (found === undefined) throw new RpcError(SERVER_ERROR, "unknown block");
    blocks = [found];
  } else {
    const from = Number(blockOf(wanted.from ?? "latest").block.header.number);
    const to = Number(blockOf(wanted.to ?? "latest").block.header.number);
    blocks = chain.mined.slice(from - chain.first, to - chain.first + 1);
  }
  return blocks.flatMap(logShapes).filter((log) => matches(log, wanted));
}

/** Filters by id. Each filter records the number of the next block to read. */
export class Filters {
  #filters = new Map<string, { readonly wanted: Json | null; next: bigint }>();
  #chain: Chain;

  constructor(chain: Chain) {
    this.#chain = chain;
  }

  /** @param wanted Criteria for logs, or null for blocks. */
  add(wanted: Json | null): string {
    if (wanted !== null) read(wanted);
    if (this.#filters.size >= MOST_FILTERS) this.#filters.delete(this.#filters.keys().next().value!);
    const id = bytesToHex(crypto.getRandomValues(new Uint8Array(16)));
    this.#filters.set(id, { wanted, next: this.#chain.height + 1n });
    return id;
  }

  remove(id: Json | undefined): boolean {
    return this.#filters.delete(String(id));
  }

  changes(id: Json | undefined): Json {
    const filter = this.#found(id);
    const fresh = this.#chain.mined.filter(({ block }) => block.header.number >= filter.next);
    filter.next = this.#chain.height + 1n;
    if (filter.wanted === null) return fresh.map(({ block }) => bytesToHex(block.hash()));
    const wanted = read(filter.wanted);
    return fresh.flatMap(logShapes).filter((log) => matches(log, wanted));
  }

  all(id: Json | undefined, blockOf: BlockOf): Json {
    const filter = this.#found(id);
    return filter.wanted === null ? [] : logs(this.#chain, filter.wanted, blockOf);
  }

  #found(id: Json | undefined) {
    const found = this.#filters.get(String(id));
    if (found === undefined) throw new RpcError(SERVER_ERROR, "filter not found");
    return found;
  }
}
