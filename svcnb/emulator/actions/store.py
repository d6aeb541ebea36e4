"""Record of executions: one row each, the newest kept. Sources, parameters and responses may hold secrets: not kept."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple

from svcnb.emulator.platform.database import Connection, inserting
from svcnb.emulator.platform.schema import Table
from svcnb.emulator.platform.store import Store
from svcnb.protocol.limits import KEPT_EXECUTION_BYTES

_LOG = logging.getLogger(__name__)
KEPT: Final = 10_000
_SPARE: Final = 256
_SPARE_BYTES: Final = 8 * 1024 * 1024
_LAG_S: Final = 0.02
_FREE_TEXT: Final = ("correlation_id", "error", "logs", "trace")

Table(
    "executions",
    """
    id NUMBERED,
    request_id VARCHAR(64) NOT NULL UNIQUE,
    correlation_id TEXT NOT NULL,
    cid VARCHAR(64) NOT NULL,
    api_key_hash VARCHAR(66) NOT NULL,
    billing_wallet VARCHAR(42) NOT NULL,
    status VARCHAR(16) NOT NULL,
    http_status INTEGER NOT NULL,
    error TEXT,
    error_kind VARCHAR(32),
    logs TEXT NOT NULL,
    trace TEXT,
    cost_cents INTEGER NOT NULL,
    started_at FLOAT NOT NULL,
    elapsed_ms FLOAT NOT NULL
    """,
    executions_by_time="(started_at)",
)


class Execution(NamedTuple):
    """One execution.

    Attributes:
        request_id: The id of the request.
        correlation_id: The caller's own id, empty for none. For a run of a trigger it is the id of that run.
        cid: CID of the source.
        api_key_hash: Hash of the calling key, ``0x`` + 64 hex digits.
        billing_wallet: The wallet of the account that pays.
        status: ``success``, ``failed`` or ``refused``.
        http_status: The status of the answer.
        error: The text of the error.
        error_kind: ``throw``, ``syntax``, ``timeout``, ``memory``, ``funds``, ``host``, ``permission`` or
            ``unavailable``.
        logs: The output of the action.
        trace: The operations of the engine, as JSON text.
        cost_cents: The charged amount.
        started_at: Unix seconds by the emulator's clock.
        elapsed_ms: Wall clock of the run, in milliseconds.
    """

    request_id: str
    cid: str
    api_key_hash: str
    billing_wallet: str
    status: str
    http_status: int
    logs: str
    cost_cents: int
    started_at: float
    elapsed_ms: float
    correlation_id: str = ""
    error: str | None = None
    error_kind: str | None = None
    trace: str | None = None


# The newest are kept, as long as their texts together are within the limit.
_DELETE_BEYOND: Final = """
    DELETE FROM executions WHERE id <= (
        SELECT max(id) FROM (
            SELECT id, sum(
                coalesce(length(logs), 0) + coalesce(length(trace), 0) + coalesce(length(error), 0)
                + length(correlation_id)
            ) OVER (ORDER BY id DESC) AS total
            FROM executions
        ) AS sizes
        WHERE total > :most
    )
    """
_INSERT: Final = inserting("executions", Execution._fields)


class RunLog:
    """Writes executions to the database after the answers. A caller never waits for the write, a reader always does.

    Args:
        store: The database.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[Execution] = []
        self._writer: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._since_trim = _SPARE
        self._bytes_since_trim = 0

    def add(self, execution: Execution) -> None:
        """Adds an execution, which is written soon."""
        self._waiting.append(execution)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.ensure_future(self._write())

    async def flush(self) -> None:
        """Waits until everything added so far is written."""
        if self._writer is not None:
            self._hurry.set()
            await asyncio.shield(self._writer)  # cancelling a reader must not cancel the writer

    async def recent(self, limit: int = 100, offset: int = 0) -> list[dict[str, Any]]:
        """Executions, newest first, without their traces.

        Args:
            limit: Maximum of executions.
            offset: How many of the newest to skip.
        """
        await self.flush()
        shown = ", ".join(name for name in Execution._fields if name != "trace")
        query = f"SELECT {shown} FROM executions ORDER BY id DESC LIMIT :limit OFFSET :offset"  # noqa: S608 - our own names
        return await self._store.run(
            lambda connection: [
                _shown(connection, row) for row in connection.records(query, limit=limit, offset=offset)
            ]
        )

    async def one(self, request_id: str) -> dict[str, Any] | None:
        """One execution with its trace, None when that request has none.

        Args:
            request_id: The answer's X-Request-Id.
        """
        await self.flush()

        def work(connection: Connection) -> dict[str, Any] | None:
            row = connection.record("SELECT * FROM executions WHERE request_id = :id", id=request_id)
            return None if row is None else _shown(connection, row)

        found = await self._store.run(work)
        if found is not None:
            del found["id"]
            found["trace"] = None if found["trace"] is None else json.loads(found["trace"])
        return found

    async def _write(self) -> None:
        self._hurry.clear()
        # The charge of the same call goes to the same database, and a caller waits for it.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), _LAG_S)
        while self._waiting:
            rows, self._waiting = self._waiting, []
            self._since_trim += len(rows)
            self._bytes_since_trim += sum(map(_size, rows))
            trim = self._since_trim >= _SPARE or self._bytes_since_trim >= _SPARE_BYTES
            if trim:
                self._since_trim = self._bytes_since_trim = 0
            try:
                await self._store.run(partial(_insert, rows=[_row(execution) for execution in rows], trim=trim))
            except Exception as error:  # noqa: BLE001 - after any error
                # The history is only a convenience: callers have their answers, and the next executions are written
                # again. Further lines of a database error may repeat the row, which contains the logs of an action.
                _LOG.warning("%d executions could not be written down: %s", len(rows), str(error).partition("\n")[0])


def _size(execution: Execution) -> int:
    return sum(len(text) for name in _FREE_TEXT if (text := getattr(execution, name)))


def _insert(connection: Connection, *, rows: list[dict[str, Any]], trim: bool) -> None:
    connection.each(_INSERT, [row | {name: connection.escaped(row[name]) for name in _FREE_TEXT} for row in rows])
    if trim:
        newest = connection.value("SELECT max(id) FROM executions")
        connection.run("DELETE FROM executions WHERE id <= :oldest", oldest=newest - KEPT)
        connection.run(_DELETE_BEYOND, most=KEPT_EXECUTION_BYTES)


def _shown(connection: Connection, row: dict[str, Any]) -> dict[str, Any]:
    return row | {name: connection.unescaped(row[name]) for name in _FREE_TEXT if name in row}


def _row(execution: Execution) -> dict[str, Any]:
    row = execution._asdict()
    # JavaScript text may contain unpaired surrogates and zero bytes, which databases refuse.
    for name in _FREE_TEXT:
        if value := row[name]:
            row[name] = value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    return row
