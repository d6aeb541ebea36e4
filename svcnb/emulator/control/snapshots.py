"""Named snapshots of the database, the chain, the clock and the random number generators."""

from __future__ import annotations

import base64
import json
import time
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from svcnb.emulator.billing.store import HOLDS
from svcnb.emulator.platform.database import Connection, inserting
from svcnb.emulator.platform.offload import offload
from svcnb.emulator.platform.schema import META, Table, tables
from svcnb.protocol.limits import MAX_SNAPSHOT_NAME_CHARS
from svcnb.protocol.nesting import parse

if TYPE_CHECKING:
    from svcnb.emulator.actions.store import RunLog
    from svcnb.emulator.chain.chain import Chain
    from svcnb.emulator.platform.clock import Clock
    from svcnb.emulator.platform.quiesce import Quiesce
    from svcnb.emulator.platform.randomness import Randomness
    from svcnb.emulator.platform.store import Store


_BYTES: Final = "$bytes"

_SNAPSHOTS: Final = Table(
    "snapshots",
    f"""
    name VARCHAR({MAX_SNAPSHOT_NAME_CHARS}) NOT NULL PRIMARY KEY,
    taken_at FLOAT NOT NULL,
    clock VARCHAR NOT NULL,
    randomness VARCHAR NOT NULL,
    content BYTES NOT NULL,
    chain BYTES NOT NULL
    """,
)

# Tables of the emulator itself, which are not part of the simulated state. Snapshots and resets do not change them.
_OURS: Final = frozenset({_SNAPSHOTS.name, META.name, HOLDS.name})
_CHAIN: Final = "chain_"
"""Prefix of the names of the chain's tables. The chain exports and restores its own tables."""


@dataclass(kw_only=True, eq=False, repr=False)
class Snapshots:
    """Snapshots of one emulator, stored in its database.

    Attributes:
        store: The database.
        chain: The chain, which saves its own state.
        clock: The emulator's clock.
        randomness: The emulator's random number generators.
        quiesce: Lock that delays requests during a replacement of the state.
        runs: The record of executions. Before a snapshot, the class waits until the database contains this record.
        on_exchange: Coroutine function to call after a replacement of the state, to clear caches.
    """

    store: Store
    chain: Chain
    clock: Clock
    randomness: Randomness
    quiesce: Quiesce
    runs: RunLog
    on_exchange: Callable[[], Awaitable[None]]

    def __post_init__(self) -> None:
        self._start = (self.clock.state(), self.randomness.state())

    async def names(self) -> list[dict[str, Any]]:
        """Returns the name and time of every snapshot (Unix seconds of the machine's clock), oldest first."""
        return await self.store.run(
            lambda connection: connection.records("SELECT name, taken_at FROM snapshots ORDER BY taken_at")
        )

    async def take(self, name: str) -> None:
        """Saves a snapshot. Replaces a snapshot with the same name."""
        async with self.quiesce.exclusive():
            await self.runs.flush()
            chain = await self.chain.export_snapshot()
            clock, randomness = json.dumps(self.clock.state()), json.dumps(self.randomness.state())

            content = await self.store.run_long(lambda connection: _packed(_content(connection)))

            def work(connection: Connection) -> None:
                row = {"name": name, "taken_at": time.time(), "clock": clock, "randomness": randomness, "chain": chain}
                _remove(connection, name)
                connection.insert("snapshots", **row, content=content)

            await self.store.run_long(work)

    async def restore(self, name: str) -> bool:
        """Restores a snapshot. Returns whether a snapshot with that name exists.

        Raises:
            ValueError: The time of the snapshot is outside the range of the clock. Earlier versions accepted any time.
        """
        async with self.quiesce.exclusive():
            await self.runs.flush()

            row = await self.store.run_long(
                lambda connection: connection.record("SELECT * FROM snapshots WHERE name = :name", name=name)
            )
            if row is None:
                return False
            self.clock.check(parse(row["clock"]))  # check the time before the state changes
            content = [await offload(_unpacked, row["content"])]
            await self.chain.import_snapshot(row["chain"])
            # Use another thread, so that the event loop does not have to free a hundred thousand values.
            await self.store.run_long(lambda connection: _write(connection, content.pop()))
            self.randomness.restore(parse(row["randomness"]))
            self.clock.restore(parse(row["clock"]))
            await self.on_exchange()
        return True

    async def remove(self, name: str) -> bool:
        """Deletes a snapshot. Returns whether a snapshot with that name existed."""
        return await self.store.run_long(lambda connection: _remove(connection, name))

    async def reset(self) -> None:
        """Restores the initial state: no accounts and a new chain. Keeps the snapshots.

        The clock and the random number generators start again with their initial values.
        """
        async with self.quiesce.exclusive():
            await self.runs.flush()
            clock, randomness = self._start
            self.randomness.restore(randomness)
            self.clock.restore(clock)
            await self.chain.restart(lambda: self.store.run_long(lambda connection: _wipe(connection, chain=True)))
            await self.on_exchange()


def _remove(connection: Connection, name: str) -> bool:
    return bool(connection.run("DELETE FROM snapshots WHERE name = :name", name=name))


def _content(connection: Connection) -> dict[str, list[Any]]:
    return {
        each.name: list(connection.rows(f"SELECT * FROM {each.name}"))  # noqa: S608 - the SQL contains no user input
        for each in tables()
        if each.name not in _OURS and not each.name.startswith(_CHAIN)
    }


def _packed(content: dict[str, list[Any]]) -> bytes:
    plain = {name: [[_plain(value) for value in row] for row in rows] for name, rows in content.items()}
    return zlib.compress(json.dumps(plain, separators=(",", ":")).encode(), 1)


def _unpacked(packed: bytes) -> dict[str, list[list[Any]]]:
    content: dict[str, list[list[Any]]] = parse(zlib.decompress(packed))
    return content


def _write(connection: Connection, content: dict[str, list[list[Any]]]) -> None:
    _wipe(connection)
    for each in tables():
        if rows := content.get(each.name):
            names = each.columns(connection)
            connection.each(
                inserting(each.name, names), (dict(zip(names, map(_rich, row), strict=True)) for row in rows)
            )
            each.number_on(connection)


def _wipe(connection: Connection, *, chain: bool = False) -> None:
    for each in reversed(tables()):
        if each.name not in _OURS and (chain or not each.name.startswith(_CHAIN)):
            connection.run(f"DELETE FROM {each.name}")  # noqa: S608 - the SQL contains no user input


def _plain(value: Any) -> Any:
    return {_BYTES: base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _rich(value: Any) -> Any:
    return base64.b64decode(value[_BYTES]) if isinstance(value, dict) and _BYTES in value else value
