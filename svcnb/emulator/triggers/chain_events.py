"""Watcher that starts runs by logs (specification 4.5; reference facts 10.3).

Every trigger has its own position on its chain: the next block to read. A poll reads from there up to the newest block
that has enough confirmations. In one transaction it admits one run per log and advances the position. If the queue is
full, the log and all logs after it wait for the next poll.

The run's id is derived from the log: its chain, its transaction, its contents, and its index among equal logs of that
transaction. The id does not depend on the block. When a reorganisation moves the transaction into another block, it is
the same log, and it has already had its run.

The hash of the last block read reveals a reorganisation deeper than the confirmations. The last blocks are then read
again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.store import Store, StoreUnavailable
from svcnb.emulator.triggers.admission import admit, is_admitted, room, run_id
from svcnb.emulator.triggers.rpc import Rpc, RpcTrouble
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
from svcnb.protocol.wire.triggers import CHAIN_IDS, ChainName

_LOG = logging.getLogger(__name__)
_MAX_BLOCKS: Final = 500
_LOOK_BACK_BLOCKS: Final = 100
_REORG_BLOCKS: Final = 128
_AT_ONCE: Final = 8


@dataclass(frozen=True)
class WatchedChain:
    """A chain that triggers can watch.

    Attributes:
        name: Its name in a trigger's settings.
        rpc: The JSON-RPC connection to it.
        confirmations: How many blocks must follow a log's block.
    """

    name: ChainName
    rpc: Rpc
    confirmations: int


@dataclass
class _Batch:
    """The result of one read of a chain for one trigger."""

    trigger: TriggerRecord
    config: ChainEventConfig
    first: int
    last: int
    last_hash: str | None
    logs: list[dict[str, Any]] = field(default_factory=list)


class ChainEvents(Scanner):
    """Watcher of one chain. Further arguments are those of `Scanner`.

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
        triggers = await self._store.run(self._watching)
        if not triggers:
            await self._poke.wait()
            self._next_look = self._clock.now()
            return
        now = self._clock.now()
        self._next_look = min(self._next_look, now + self._interval_s)  # the clock may have been set back
        if self._next_look > now:
            await self._timer.until(self._next_look, self._poke)
            return
        is_done = await self._poll(triggers)
        # After a clock jump, polls happen as often as if the time had passed normally, until nothing new is found.
        self._next_look = now + self._interval_s if is_done else self._next_look + self._interval_s

    def _watching(self, connection: Connection) -> list[TriggerRecord]:
        found = enabled_triggers(connection, "chain_event")
        return [trigger for trigger in found if from_json(trigger.config)["chain"].lower() == self._chain.name]

    async def _poll(self, triggers: list[TriggerRecord]) -> bool:
        """Reads the chain once for all triggers. Returns whether all triggers have read everything."""
        try:
            head = await self._chain.rpc.number()
        except RpcTrouble as error:
            _LOG.warning("chain %s: %s", self._chain.name, error)
            return True
        limit = asyncio.Semaphore(_AT_ONCE)

        async def one(trigger: TriggerRecord) -> bool:
            async with limit:
                try:
                    return await self._read(trigger, head)
                except RpcTrouble as error:
                    _LOG.warning("chain %s, trigger %s: %s", self._chain.name, trigger.id, error)
                except StoreUnavailable:
                    raise
                except Exception:  # noqa: BLE001 - it must not delay the logs of other triggers
                    _LOG.exception("chain %s, trigger %s: its logs could not be read", self._chain.name, trigger.id)
                return True

        return all(await asyncio.gather(*map(one, triggers)))

    async def _read(self, trigger: TriggerRecord, head: int) -> bool:
        config = chain_event(from_json(trigger.config))
        safe = head - self._chain.confirmations
        first = trigger.next_block
        if first is None:
            first = config.start_block if config.start_block is not None else max(0, head - _LOOK_BACK_BLOCKS)
        elif trigger.last_block_hash is not None and await self._is_reorganised(first, trigger.last_block_hash, head):
            lowest = config.start_block or 0
            _LOG.warning("chain %s was reorganised below block %s: reading again", self._chain.name, first)
            first = max(lowest, min(first, safe + 1) - _REORG_BLOCKS)
        if first > safe:
            return True
        batch = await self._fetch(trigger, config, first, min(safe, first + _MAX_BLOCKS - 1))
        complete, admitted = await self._store.run(
            lambda connection: _admit_logs(connection, batch, self._chain.name, self._clock.now())
        )
        if admitted:
            self._wake(trigger.id)
        return not complete or batch.last >= safe

    async def _is_reorganised(self, first: int, last_hash: str, head: int) -> bool:
        return first - 1 > head or await self._chain.rpc.block_hash(first - 1) != last_hash

    async def _fetch(self, trigger: TriggerRecord, config: ChainEventConfig, first: int, last: int) -> _Batch:
        while True:
            # The hash is requested first. If the chain reorganises in between, the next poll detects it and reads
            # again.
            last_hash = await self._chain.rpc.block_hash(last)
            question = {
                "fromBlock": hex(first),
                "toBlock": hex(last),
                "address": config.address,
                "topics": config.topics,
            }
            try:
                logs = await self._chain.rpc.call("eth_getLogs", question)
            except RpcTrouble as error:
                # Providers limit ranges or results, each with a different message: request half the range.
                if error.code is None or first == last:
                    raise
                last = first + (last - first) // 2
                continue
            # A filter list longer than the topics of a log matches nothing, not even with wildcards, as on geth. Other
            # nodes differ.
            wanted = len(config.topics)
            kept = [log for log in logs if not log.get("removed") and len(log["topics"]) >= wanted]
            kept.sort(key=_place)
            return _Batch(trigger, config, first, last, last_hash, kept)


def _place(log: dict[str, Any]) -> tuple[int, int]:
    return int(log["blockNumber"], 16), int(log["logIndex"], 16)


def _admit_logs(connection: Connection, batch: _Batch, chain: ChainName, now: float) -> tuple[bool, int]:
    """Admits the runs of a batch until the queue is full. Returns whether all were admitted, and how many."""
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
        return False, 0  # changed during the request to the chain: the next poll handles it
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
    """The ``event`` of a run's params.

    Args:
        log: As ``eth_getLogs`` returns it.
        config: The trigger's settings.

    Returns:
        The members of reference facts 10.3, and ``decoded_as``. That says which arguments were read as indexed, whether
        the signature marked them, and whether another choice would also fit the log. If the log does not fit the
        signature, ``decoded`` is empty and ``decode_error`` gives the reason, because losing the run would be worse.
    """
    decoded: dict[str, Any]
    details: dict[str, Any]
    try:
        reading = config.event.read(log["topics"], log["data"])
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
