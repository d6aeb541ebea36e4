"""Scanner that starts runs for logs of a chain (docs/service/triggers.md#sources-of-runs).

Every trigger has its own position on its chain, which is the next block to read. A poll reads at most
`CHAIN_EVENT_SCAN_BLOCKS` blocks from this position, and only blocks with enough confirmations. One database transaction
admits one run per log and advances the position. If the queue is full, the remaining logs wait for the next poll.

The id of a run depends on the log's chain, transaction and content, and on the log's index among equal logs of the
transaction. The id does not depend on the block. Therefore, the log does not start a second run if a reorganisation
moves the transaction to another block.

The scanner stores the hash of the last block that it has read. A different hash reveals a reorganisation of more blocks
than the number of confirmations. The scanner then reads the last 128 blocks again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from svcnb.emulator.errors import ChainUnavailable
from svcnb.emulator.platform import abi
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.json_rpc import Rpc
from svcnb.emulator.platform.offload import offload
from svcnb.emulator.platform.store import Store, StoreUnavailable
from svcnb.emulator.triggers.admission import admit, is_admitted, room, run_id
from svcnb.emulator.triggers.rules import ChainEventConfig, chain_event
from svcnb.emulator.triggers.scanner import Scanner
from svcnb.emulator.triggers.store import (
    TriggerRecord,
    change_trigger,
    enabled_triggers,
    find_trigger,
    from_json,
    to_json,
)
from svcnb.protocol.event_signature import Reading, UndecodableLog
from svcnb.protocol.hashes import keccak256
from svcnb.protocol.json_rpc import RpcError
from svcnb.protocol.limits import CHAIN_EVENT_LOOK_BACK_BLOCKS, CHAIN_EVENT_SCAN_BLOCKS
from svcnb.protocol.wire.triggers import CHAIN_IDS, ChainName

_LOG = logging.getLogger(__name__)
_REORG_BLOCKS: Final = 128
_AT_ONCE: Final = 8


@dataclass(frozen=True)
class WatchedChain:
    """Chain that triggers can watch.

    Attributes:
        name: Name of the chain in a trigger's settings.
        rpc: JSON-RPC connection to the chain.
        confirmations: Number of blocks that must follow a block before the scanner reads the block.
    """

    name: ChainName
    rpc: Rpc
    confirmations: int


@dataclass
class _Batch:
    """Event logs from a range of blocks that match the settings of one trigger."""

    trigger: TriggerRecord
    config: ChainEventConfig
    first: int
    last: int
    last_hash: str | None
    logs: list[dict[str, Any]] = field(default_factory=list)


class ChainEvents(Scanner):
    """Scanner of one chain. See `Scanner` for the other arguments.

    Args:
        chain: The chain to watch.
    """

    what = "chain events"

    def __init__(
        self, chain: WatchedChain, store: Store, clock: Clock, interval_s: float, *, wake: Callable[[str], None]
    ) -> None:
        super().__init__(store, clock, interval_s, wake)
        self._chain = chain

    async def _round(self) -> None:
        triggers = await self._store.run_long(self._watching)
        if not triggers:
            await self._woken.wait()
            self._next_look = self._clock.now()
            return
        now = self._clock.now()
        self._next_look = min(self._next_look, now + self._interval_s)  # a user can set the clock back
        if self._next_look > now:
            await self._timer.until(self._next_look, self._woken)
            return
        is_done = await self._poll(triggers)
        # After a clock jump, poll as often as if the time had passed normally, until a poll finds no new logs.
        self._next_look = now + self._interval_s if is_done else self._next_look + self._interval_s

    def _watching(self, connection: Connection) -> list[TriggerRecord]:
        found = enabled_triggers(connection, "chain_event")
        return [trigger for trigger in found if from_json(trigger.config)["chain"].lower() == self._chain.name]

    async def _poll(self, triggers: list[TriggerRecord]) -> bool:
        """Reads the chain once for all triggers. Returns False if more blocks can be read for a trigger immediately."""
        try:
            head = await self._chain.rpc.number()
        except (ChainUnavailable, RpcError) as error:
            _LOG.warning("chain %s: %.300s", self._chain.name, error)
            return True
        limit = asyncio.Semaphore(_AT_ONCE)

        async def one(trigger: TriggerRecord) -> bool:
            async with limit:
                try:
                    return await self._read(trigger, head)
                except (ChainUnavailable, RpcError) as error:
                    _LOG.warning("chain %s, trigger %s: %.300s", self._chain.name, trigger.id, error)
                except StoreUnavailable:
                    raise
                except Exception:  # noqa: BLE001 - the error must not delay other triggers
                    _LOG.exception("chain %s, trigger %s: the logs cannot be read", self._chain.name, trigger.id)
                return True

        return all(await asyncio.gather(*map(one, triggers)))

    async def _read(self, trigger: TriggerRecord, head: int) -> bool:
        config = chain_event(from_json(trigger.config))
        safe = head - self._chain.confirmations
        first = trigger.next_block
        if first is None:
            first = config.start_block
            if first is None:
                first = max(0, head - CHAIN_EVENT_LOOK_BACK_BLOCKS)
        elif trigger.last_block_hash is not None and await self._is_reorganised(first, trigger.last_block_hash, head):
            lowest = config.start_block or 0
            _LOG.warning("chain %s was reorganised below block %s: reading blocks again", self._chain.name, first)
            first = max(lowest, min(first, safe + 1) - _REORG_BLOCKS)
        if first > safe:
            return True
        batch = await self._fetch(trigger, config, first, min(safe, first + CHAIN_EVENT_SCAN_BLOCKS - 1))
        complete, admitted = await self._store.run_long(
            lambda connection: _admit_logs(connection, batch, self._chain.name, self._clock.now())
        )
        if admitted:
            self._wake_queue(trigger.id)
        return not complete or batch.last >= safe

    async def _is_reorganised(self, first: int, last_hash: str, head: int) -> bool:
        return first - 1 > head or await self._chain.rpc.block_hash(first - 1) != last_hash

    async def _fetch(self, trigger: TriggerRecord, config: ChainEventConfig, first: int, last: int) -> _Batch:
        while True:
            # Request the hash before the logs. If a reorganisation happens between the two requests, the next poll
            # detects the reorganisation and reads the blocks again.
            last_hash = await self._chain.rpc.block_hash(last)
            question = {
                "fromBlock": hex(first),
                "toBlock": hex(last),
                "address": config.address,
                "topics": config.topics,
            }
            try:
                logs = await self._chain.rpc.request("eth_getLogs", question)
            except RpcError:
                # Providers limit the range or the number of results with different messages, so any error halves the
                # range.
                if first == last:
                    raise
                last = first + (last - first) // 2
                continue
            # As in Geth, a filter does not match a log with fewer topics, even if the additional topics of the filter
            # are wildcards. Some nodes behave differently.
            kept = await offload(_usable, logs, len(config.topics))
            return _Batch(trigger, config, first, last, last_hash, kept)


def _usable(logs: list[dict[str, Any]], topics: int) -> list[dict[str, Any]]:
    kept = [log for log in logs if not log.get("removed") and len(log["topics"]) >= topics]
    return sorted(kept, key=_position)


def _position(log: dict[str, Any]) -> tuple[int, int]:
    return int(log["blockNumber"], 16), int(log["logIndex"], 16)


def _admit_logs(connection: Connection, batch: _Batch, chain: ChainName, now: float) -> tuple[bool, int]:
    """Admits runs for a batch until the queue is full.

    Returns:
        Whether every log of the batch has a run, and the number of new runs. If the queue is full or the trigger has
        changed, the first value is False.
    """
    trigger = find_trigger(connection, batch.trigger.id)
    before = batch.trigger
    if (
        trigger is None
        or not trigger.enabled
        or (trigger.config, trigger.next_block)
        != (
            before.config,
            before.next_block,
        )
    ):
        return False, 0  # the trigger changed during the request, and the next poll reads again
    space = room(connection, trigger)
    admitted, seen = 0, Counter[str]()
    for log in batch.logs:
        contents = _contents(log)
        seen[contents] += 1
        identifier = run_id(trigger.id, f"{chain}:{contents}:{seen[contents]}")
        if is_admitted(connection, identifier):
            continue
        if admitted == space:
            _move(connection, trigger.id, int(log["blockNumber"], 16), None)
            return False, admitted
        given = {"source": "chain_event", "event": event_of(log, batch.config)}
        admit(connection, trigger, identifier, to_json(given), now)
        admitted += 1
    _move(connection, trigger.id, batch.last + 1, batch.last_hash)
    return True, admitted


def _move(connection: Connection, trigger_id: str, next_block: int, last_hash: str | None) -> None:
    change_trigger(connection, trigger_id, {"next_block": next_block, "last_block_hash": last_hash})


def _contents(log: dict[str, Any]) -> str:
    digest = keccak256("\n".join([*log["topics"], log["data"]]).lower().encode()).hex()
    return f"{log['transactionHash'].lower()}:{digest}"


def event_of(log: dict[str, Any], config: ChainEventConfig) -> dict[str, Any]:
    """Returns the field ``event`` of a run's params.

    Returns:
        The fields from docs/service/triggers.md#sources-of-runs, and the object ``decoded_as``. Its field ``indexed``
        lists the arguments that the scanner decoded as indexed. ``marked`` is whether the signature contains the word
        indexed for them. ``ambiguous`` is whether the log also matches with a different choice of indexed arguments.

        If the log does not match the signature, ``decoded`` is empty, and ``decode_error`` contains the reason in place
        of ``decoded_as``. The run starts even in this case.
    """
    decoded: dict[str, Any]
    details: dict[str, Any]
    try:
        reading = config.event.read(abi, log["topics"], log["data"])
        decoded, details = reading.values, {"decoded_as": _decoded_as(reading)}
    except UndecodableLog as error:
        decoded, details = {}, {"decode_error": error.message}
    return {
        "source": "chain_event",
        "chain_key": config.chain,
        "chain_id": CHAIN_IDS[config.chain],
        "contract_address": config.address,
        "event_signature": config.signature,
        "topic0": config.event.topic0,
        "block_number": int(log["blockNumber"], 16),
        "transaction_hash": log["transactionHash"],
        "log_index": int(log["logIndex"], 16),
        "address": log["address"].lower(),
        "topics": log["topics"],
        "data": log["data"],
        "decoded": decoded,
        **details,
        "raw_log": {
            name: log[name] for name in ("address", "topics", "data", "blockNumber", "transactionHash", "logIndex")
        },
    }


def _decoded_as(reading: Reading) -> dict[str, Any]:
    indexed = [f"arg{place}" for place in reading.indexed]
    return {"indexed": indexed, "marked": reading.marked, "ambiguous": reading.ambiguous}
