"""Saved states: database, chain, clock and randomness together, by name."""

from __future__ import annotations

import base64
import json
import time
import zlib
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Column, Connection, Float, LargeBinary, String, Table, delete, insert, select

from svcnb.emulator.billing.shared_holds import table as held_by_servers
from svcnb.emulator.store import meta, metadata, number_on

if TYPE_CHECKING:
    from svcnb.emulator.service import Service

_BYTES: Final = "$bytes"

table = Table(
    "snapshots",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("taken_at", Float, nullable=False),
    Column("clock", String, nullable=False),
    Column("randomness", String, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("chain", LargeBinary, nullable=False),
)

# What belongs to the emulator itself and not to the world that it holds: never saved, never wiped.
_OURS: Final = frozenset({table.name, meta.name, held_by_servers.name})
_CHAIN: Final = "chain_"
"""How names of the chain's own tables begin; the chain saves itself."""


class Snapshots:
    """The saved states of one emulator, kept in its database.

    Args:
        service: The emulator.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._start = (service.clock.state(), service.randomness.state())

    async def names(self) -> list[dict[str, Any]]:
        """Every snapshot's name and time (Unix seconds of the machine's clock), oldest first."""
        query = select(table.c.name, table.c.taken_at).order_by(table.c.taken_at)
        return await self._service.store.run(
            lambda connection: [dict(row) for row in connection.execute(query).mappings()]
        )

    async def take(self, name: str) -> None:
        """Saves the state; one of the same name is replaced.

        Args:
            name: What to call it.
        """
        service = self._service
        async with service.traffic.exclusive():
            await service.runs.flush()
            chain = await service.chain.export_snapshot()
            clock, randomness = json.dumps(service.clock.state()), json.dumps(service.randomness.state())

            def work(connection: Connection) -> None:
                row = {"name": name, "taken_at": time.time(), "clock": clock, "randomness": randomness, "chain": chain}
                connection.execute(delete(table).where(table.c.name == name))
                connection.execute(insert(table).values(**row, content=_pack(connection)))

            await service.store.run(work)

    async def restore(self, name: str) -> bool:
        """Goes back to a saved state.

        Args:
            name: Its name.

        Returns:
            Whether there is one of that name.
        """
        service = self._service
        async with service.traffic.exclusive():
            await service.runs.flush()

            query = select(table).where(table.c.name == name)
            row = await service.store.run(lambda connection: connection.execute(query).mappings().one_or_none())
            if row is None:
                return False
            await service.chain.import_snapshot(row["chain"])
            await service.store.run(lambda connection: _unpack(connection, row["content"]))
            service.randomness.restore(json.loads(row["randomness"]))
            service.clock.restore(json.loads(row["clock"]))
            await self._forget()
        return True

    async def remove(self, name: str) -> bool:
        """Forgets a snapshot.

        Args:
            name: Its name.

        Returns:
            Whether there was one of that name.
        """
        statement = delete(table).where(table.c.name == name)
        return bool(await self._service.store.run(lambda connection: connection.execute(statement).rowcount))

    async def reset(self) -> None:
        """Goes back to the start: no accounts, a fresh chain, the clock as it was set; snapshots are kept."""
        service = self._service
        async with service.traffic.exclusive():
            await service.runs.flush()
            clock, randomness = self._start
            service.randomness.restore(randomness)
            service.clock.restore(clock)
            await service.replace_chain(lambda: service.store.run(lambda connection: _wipe(connection, chain=True)))
            await self._forget()

    async def _forget(self) -> None:
        self._service.sources.clear()
        self._service.directory.forget()
        await self._service.triggers.reload()


def _pack(connection: Connection) -> bytes:
    content = {
        each.name: [[_plain(value) for value in row] for row in connection.execute(select(each))]
        for each in metadata.sorted_tables
        if each.name not in _OURS and not each.name.startswith(_CHAIN)
    }
    return zlib.compress(json.dumps(content, separators=(",", ":")).encode(), 1)


def _unpack(connection: Connection, packed: bytes) -> None:
    content: dict[str, list[list[Any]]] = json.loads(zlib.decompress(packed))
    _wipe(connection)
    for each in metadata.sorted_tables:
        if rows := content.get(each.name):
            names = [column.name for column in each.columns]
            connection.execute(insert(each), [dict(zip(names, map(_rich, row), strict=True)) for row in rows])
            number_on(connection, each)


def _wipe(connection: Connection, *, chain: bool = False) -> None:
    for each in reversed(metadata.sorted_tables):
        if each.name not in _OURS and (chain or not each.name.startswith(_CHAIN)):
            connection.execute(delete(each))


def _plain(value: Any) -> Any:
    return {_BYTES: base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _rich(value: Any) -> Any:
    return base64.b64decode(value[_BYTES]) if isinstance(value, dict) and _BYTES in value else value
