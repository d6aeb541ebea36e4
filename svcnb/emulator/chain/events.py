"""Decoded events of the contract, for caches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from svcnb.protocol import contract
from svcnb.protocol.abi import AbiError

RESET: Final = "reset"
"""Name of an event that no contract emits. It means that the chain was reset, and that cached data may be wrong."""


class ChainEvent(NamedTuple):
    """One event of the contract.

    Attributes:
        name: Its name, or `RESET`.
        args: Its fields by name.
        block_number: The block that contains it.
        transaction_hash: The transaction that contains it, 0x hex.
        log_index: Its index in the block.
    """

    name: str
    args: Mapping[str, Any] = MappingProxyType({})
    block_number: int = 0
    transaction_hash: str = ""
    log_index: int = 0


Listener = Callable[[ChainEvent], None]


def events_of(logs: list[dict[str, Any]], address: str) -> Iterator[ChainEvent]:
    """The contract's events among logs, in order.

    Args:
        logs: In the form of a receipt or of an answer to eth_getLogs.
        address: The contract, lowercase.
    """
    known = contract.events()
    for log in logs:
        if log["address"].lower() != address or not log["topics"]:
            continue
        topics = [bytes.fromhex(topic[2:]) for topic in log["topics"]]
        event = known.get(topics[0])
        if event is None:
            continue
        try:
            args = event.decode_log(topics, bytes.fromhex(log["data"][2:]))
        except AbiError:
            continue  # an upgraded function may emit an event of the same name with other fields
        yield ChainEvent(
            event.name, args, int(log["blockNumber"], 16), log["transactionHash"], int(log["logIndex"], 16)
        )
