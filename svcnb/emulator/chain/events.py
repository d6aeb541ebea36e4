"""Decoded events of the contract, for caches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from svcnb.emulator.platform import abi
from svcnb.emulator.platform.offload import offload
from svcnb.protocol import contract
from svcnb.protocol.contract import AbiError

log = logging.getLogger(__name__)
_MANY: Final = 100
RESET: Final = "reset"
"""Name of the artificial event that reports a reset of the chain. Cached data can then be outdated."""


class ChainEvent(NamedTuple):
    """Event of the contract.

    Attributes:
        name: Name of the event, or `RESET`.
        args: Fields of the event, by name. Empty for `RESET`.
        block_number: Number of the block that contains the event. For `RESET`, the number of the latest block.
        transaction_hash: Hash of the transaction that emitted the event, as 0x hex. Empty for `RESET`.
        log_index: Index of the event in the block. 0 for `RESET`.
    """

    name: str
    args: Mapping[str, Any] = MappingProxyType({})
    block_number: int = 0
    transaction_hash: str = ""
    log_index: int = 0


Listener = Callable[[ChainEvent], None]


class Listeners(list[Listener]):
    """List of event listeners. An error in one listener does not affect the other listeners."""

    def notify(self, event: ChainEvent) -> None:
        """Calls all listeners with an event."""
        for listener in self:
            try:
                listener(event)
            except Exception:
                log.exception("a listener of contract events failed: event %s", event.name)


async def ignore(_receipt: dict[str, Any]) -> None:
    """Ignores a receipt. Default value of receipt callbacks."""


async def read_events(logs: list[dict[str, Any]], address: str) -> list[ChainEvent]:
    """Returns the contract's events in logs, in the order of the logs. Skips the same logs as `events_of`.

    The function decodes long lists outside the event loop, because one transaction can have 80,000 logs.

    Args:
        logs: Logs as in a receipt or in the result of eth_getLogs.
        address: Address of the contract, in lowercase.
    """
    if len(logs) > _MANY:
        return await offload(lambda: list(events_of(logs, address)))
    return list(events_of(logs, address))


def events_of(logs: list[dict[str, Any]], address: str) -> Iterator[ChainEvent]:
    """Yields the contract's events in logs, in the order of the logs. Skips other contracts and unknown events.

    Args:
        logs: Logs as in a receipt or in the result of eth_getLogs.
        address: Address of the contract, in lowercase.
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
            args = event.decode_log(abi, topics, bytes.fromhex(log["data"][2:]))
        except AbiError:
            continue  # an upgraded facet can emit an event of the same name with other fields
        yield ChainEvent(
            event.name, args, int(log["blockNumber"], 16), log["transactionHash"], int(log["logIndex"], 16)
        )
