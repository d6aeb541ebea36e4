"""Record of the newest executions, without sources, parameters and responses, because these can contain secrets."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple

from svcnb.emulator.platform.database import Connection, inserting
from svcnb.emulator.platform.offload import LARGE_BYTES
from svcnb.emulator.platform.schema import Table
from svcnb.emulator.platform.store import Store
from svcnb.protocol.limits import KEPT_EXECUTION_BYTES, KEPT_EXECUTIONS, MAX_EXECUTIONS_PAGE_BYTES

_LOG = logging.getLogger(__name__)
_PORTION: Final = 50
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
    """Execution of an action, or a rejected request to execute an action.

    Attributes:
        request_id: Id that the server gave the request (the response header X-Request-Id).
        correlation_id: Id from the request header X-Correlation-Id, or an empty string. For the run of a trigger, this
            is the id of that run.
        cid: CID of the source, which identifies the action.
        api_key_hash: Hash of the caller's key as ``0x`` and 64 hex digits.
        billing_wallet: Address of the wallet that identifies the paying account.
        status: ``success``, ``failed``, or ``refused`` if the run did not start.
        http_status: HTTP status of the response, or 499 if the caller closed the connection.
        error: Error message that the caller received, or None if the run succeeded.
        error_kind: ``throw``, ``syntax``, ``timeout``, ``memory``, ``funds``, ``host``, ``unsupported``,
            ``permission``, ``unavailable`` or ``disconnected``. None if the run succeeded.
        logs: Text that the action wrote to the console.
        trace: The operations that the engine recorded, as JSON text. None if the run did not start or finish.
        cost_cents: Amount that the service charged for the run, in cents. 0 for a free run.
        started_at: Time before the permission check and the wait in the queue, in Unix seconds of the emulator's clock.
        elapsed_ms: Wall-clock time since ``started_at``, in milliseconds, including the wait in the queue.
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


# Keep the newest executions whose total text size is within the limit.
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
    """Record of executions. A background task writes the executions, and `recent` and `one` wait for this task.

    Args:
        store: The database.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[Execution] = []
        self._writer: asyncio.Task[None] | None = None
        self._flush_now = asyncio.Event()
        self._since_trim = _SPARE
        self._bytes_since_trim = 0

    def add(self, execution: Execution) -> None:
        """Adds an execution, and returns before the write to the database."""
        self._waiting.append(execution)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.ensure_future(self._write())

    async def flush(self) -> None:
        """Waits until the database contains all executions that were added before this call."""
        if self._writer is not None:
            self._flush_now.set()
            await asyncio.shield(self._writer)  # the cancellation of a reader must not cancel the writer

    async def recent(self, limit: int = 100, offset: int = 0) -> list[dict[str, Any]]:
        """Returns executions without their traces, newest first.

        The method returns fewer executions if their texts exceed `MAX_EXECUTIONS_PAGE_BYTES` characters in total. The
        result contains at least one execution, if any is left after ``offset``.

        Args:
            limit: Maximum number of executions.
            offset: Number of the newest executions to skip.
        """
        await self.flush()
        return await self._store.run_long(partial(_page, limit=limit, offset=offset))

    async def one(self, request_id: str) -> dict[str, Any] | None:
        """Returns one execution with its trace, or None if the record does not contain that request.

        Args:
            request_id: The X-Request-Id of the response.
        """
        await self.flush()

        def work(connection: Connection) -> dict[str, Any] | None:
            row = connection.record("SELECT * FROM executions WHERE request_id = :id", id=request_id)
            if row is None:
                return None
            found = _shown(connection, row)
            del found["id"]
            return found | {"trace": None if found["trace"] is None else json.loads(found["trace"])}

        return await self._store.run_long(work)

    async def _write(self) -> None:
        self._flush_now.clear()
        # Let the charge for the same call use the database first, because the caller waits for the charge.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._flush_now.wait(), _LAG_S)
        while self._waiting:
            rows, self._waiting = self._waiting, []
            size = sum(map(_size, rows))
            self._since_trim += len(rows)
            self._bytes_since_trim += size
            trim = self._since_trim >= _SPARE or self._bytes_since_trim >= _SPARE_BYTES
            if trim:
                self._since_trim = self._bytes_since_trim = 0
            run = self._store.run_long if trim or size > LARGE_BYTES else self._store.run
            try:
                await run(partial(_insert, executions=rows, trim=trim))
            except Exception as error:  # noqa: BLE001 - the task must continue after any error
                # The loss is acceptable, because the callers have received their responses, and the writer stores later
                # executions. Log only the first line of a database error, because the other lines can repeat the row
                # with an action's logs.
                _LOG.warning("could not store %d executions: %s", len(rows), str(error).partition("\n")[0])


def _size(execution: Execution) -> int:
    return sum(len(text) for name in _FREE_TEXT if (text := getattr(execution, name)))


def _insert(connection: Connection, *, executions: list[Execution], trim: bool) -> None:
    connection.each(_INSERT, (_row(connection, execution) for execution in executions))
    if trim:
        newest = connection.value("SELECT max(id) FROM executions")
        connection.run("DELETE FROM executions WHERE id <= :oldest", oldest=newest - KEPT_EXECUTIONS)
        connection.run(_DELETE_BEYOND, most=KEPT_EXECUTION_BYTES)


def _page(connection: Connection, *, limit: int, offset: int) -> list[dict[str, Any]]:
    names = [name for name in Execution._fields if name != "trace"]
    query = f"SELECT {', '.join(names)} FROM executions ORDER BY id DESC LIMIT :limit OFFSET :offset"  # noqa: S608 - the SQL contains no user input
    found: list[dict[str, Any]] = []
    size = 0
    while len(found) < limit:
        wanted = min(_PORTION, limit - len(found))
        rows = connection.records(query, limit=wanted, offset=offset + len(found))
        for row in rows:
            size += sum(len(text) for name in _FREE_TEXT if (text := row.get(name)))
            if found and size > MAX_EXECUTIONS_PAGE_BYTES:
                return found
            found.append(_shown(connection, row))
        if len(rows) < wanted:
            break
    return found


def _shown(connection: Connection, row: dict[str, Any]) -> dict[str, Any]:
    return row | {name: connection.unescaped(row[name]) for name in _FREE_TEXT if name in row}


def _row(connection: Connection, execution: Execution) -> dict[str, Any]:
    row = execution._asdict()
    # JavaScript strings can contain unpaired surrogates and NUL characters, which databases cannot store.
    for name in _FREE_TEXT:
        if value := row[name]:
            row[name] = value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
        row[name] = connection.escaped(row[name])
    return row
