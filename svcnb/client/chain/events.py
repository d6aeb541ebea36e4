"""Reader of the contract's events. If a node rejects a range of blocks, the reader queries two smaller ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from svcnb.client.calls import Flow
from svcnb.client.chain import abi
from svcnb.client.chain.access import ChainAccess
from svcnb.client.chain.rpc import RpcError
from svcnb.protocol.contract import AbiError, events

Topic = str | Sequence[str] | None


@dataclass(frozen=True)
class Log:
    """Decoded event of the contract.

    Attributes:
        event: Name of the event.
        args: Fields of the event by name.
        block: Number of the block.
        index: Position of the log in the block, counted from 0.
        transaction_hash: Hash of the transaction that caused the event.
    """

    event: str
    args: dict[str, Any]
    block: int
    index: int
    transaction_hash: str


def topic(value: int | str) -> str:
    """Returns the topic of an indexed number or address: ``0x`` followed by 64 hex digits."""
    return f"0x{int(value, 16) if isinstance(value, str) else value:064x}"


def event_topic(name: str) -> str:
    """Returns the first topic of the contract's event with a name: the hash of the event's signature, as ``0x`` hex."""
    return next("0x" + found.hex() for found, event in events().items() if event.name == name)


def read_logs(chain: ChainAccess, topics: Sequence[Topic], *, last: int | None = None) -> Flow[list[Log]]:
    """Reads and returns the contract's events that match the topics, oldest first.

    Args:
        chain: Access to the chain.
        topics: Required topics of an event, in order. None matches any topic, and a list matches each of its values.
        last: Number of the last block. None means the latest block.

    Raises:
        ChainError: The chain could not be queried.
    """
    contract = (yield from chain.node()).contract_address
    if last is None:
        last = int((yield from chain.rpc("eth_blockNumber")), 16)
    found: list[Log] = []
    ranges = [(0, last)]
    while ranges:
        begin, end = ranges.pop()
        if begin > end:
            continue
        query = {"address": contract, "fromBlock": hex(begin), "toBlock": hex(end), "topics": list(topics)}
        try:
            entries = yield from chain.rpc("eth_getLogs", query)
        except RpcError:
            # Public nodes limit the number of blocks or logs in a query. Their error messages differ.
            if begin == end:
                raise
            middle = (begin + end) // 2
            ranges += [(middle + 1, end), (begin, middle)]
            continue
        found += [log for entry in entries if (log := _read(entry)) is not None]
    return sorted(found, key=lambda log: (log.block, log.index))


def _read(entry: dict[str, Any]) -> Log | None:
    topics = [bytes.fromhex(text[2:]) for text in entry["topics"]]
    event = events().get(topics[0]) if topics else None
    if event is None:
        return None  # a later version of the contract emitted this event
    try:
        args = event.decode_log(abi, topics, bytes.fromhex(entry["data"][2:]))
    except AbiError:
        return None
    return Log(event.name, args, int(entry["blockNumber"], 16), int(entry["logIndex"], 16), entry["transactionHash"])
