"""Database access with one thread, one connection, and one commit for all waiting functions.

Each area of the emulator declares its tables (`schema`) and passes short functions to `Store.run`. They run one after
another on the database thread. All functions in the queue share one commit, so that a durable write is cheap under
load, and an await returns only after that commit. In memory there is no disk to wait for, and a thread costs more than
the work. There functions run at once, in the calling thread.

SQLite belongs to one emulator. Several servers may share a PostgreSQL. A lock of the database makes their transactions
run one after another, too. So data that a function has read stays valid until it has written.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TypeAlias, TypeVar, cast

from svcnb.emulator.errors import StateUnusable, Unavailable
from svcnb.emulator.platform.database import (
    POSTGRESQL,
    SQLITE,
    Address,
    Connection,
    ConstraintBroken,
    DatabaseError,
    DriverMissing,
)
from svcnb.emulator.platform.schema import META, STATE, get_meta, set_meta, tables
from svcnb.migrations import UnreadableVersion, copy_path, program_version

T = TypeVar("T")
_LOG = logging.getLogger(__name__)

_LARGEST_GROUP: Final = 64
_VERSION: Final = "schema_version"
_WRITER: Final = "written_by"

_Work: TypeAlias = Callable[[Connection], object]
_Answer: TypeAlias = tuple[object, BaseException | None]
"""The return value of a function, or the error for its caller."""


class StoreUnavailable(Unavailable):
    """The database cannot be read or written. Nothing of the failed call was kept."""

    def __init__(self, detail: str) -> None:
        super().__init__("the database", detail)


class StatementRefused(StoreUnavailable):
    """The database works and refuses this statement; it would refuse it later too."""


class Store:
    """The emulator's database.

    Args:
        url: ``sqlite:////absolute/path.db``, ``postgresql://user:password@host/name`` (needs the extra
            the extra ``postgres``), or None for SQLite in memory.

    Raises:
        StateUnusable: The database is damaged, not ours, or of another schema version.
    """

    def __init__(self, url: str | None = None) -> None:
        self.url = url
        try:
            self._address = Address(url)
            if self._address.kind not in {SQLITE, POSTGRESQL}:
                raise StateUnusable(
                    f"a database of the kind {self._address.kind} cannot be used: give a URL of sqlite or postgresql"
                )
            self._connection = self._opened()
        except ValueError as error:
            # A URL may contain a password, so it is not repeated.
            raise StateUnusable(
                "the database URL cannot be used: write sqlite:////absolute/path.db, or "
                "postgresql://user:password@host/name with the extra postgres"
            ) from error
        except DriverMissing as error:
            raise StateUnusable(str(error)) from error
        except DatabaseError as error:
            raise StateUnusable(
                f"the database at {self._address} cannot be opened ({error}): move it away to start afresh, "
                "or restore it from a copy"
            ) from error
        self._queue: queue.SimpleQueue[tuple[_Work, Future[object]] | None] = queue.SimpleQueue()
        self._at_work = threading.Lock()
        self._door = threading.Lock()
        self._closed = False
        self._file = _File(self._address.path)
        self._thread: threading.Thread | None = None
        if not self.immediate:
            self._thread = threading.Thread(target=self._serve, name="svcnb-store", daemon=True)
            self._thread.start()

    @property
    def shared(self) -> bool:
        """Whether other servers may use the same database at the same time."""
        return self._address.kind == POSTGRESQL

    @property
    def immediate(self) -> bool:
        """Whether work is done at once, so that batching has no benefit: the database is in memory."""
        return self._address.kind == SQLITE and self._address.path is None

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Runs ``work`` in a transaction and returns after its commit.

        Args:
            work: Short function that only uses the database. If it raises, its own changes are undone.

        Returns:
            The return value of ``work``.

        Raises:
            StoreUnavailable: The database failed, or was closed; nothing was kept.
        """
        if self.immediate:
            return self._at_once(work)
        return await asyncio.wrap_future(self._submit(work))

    def run_now(self, work: Callable[[Connection], T]) -> T:
        """Runs ``work`` as `run` does, for callers without an event loop, such as start-up."""
        return self._at_once(work) if self.immediate else self._submit(work).result()

    def close(self) -> None:
        """Finishes queued work and closes the database. Later calls fail. May be called twice."""
        with self._door:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        if self._thread is not None:
            self._thread.join()
        with self._at_work:  # a thread may be running a function
            self._connection.close()

    # --- in memory ----------------------------------------------------------------------------------------------

    def _at_once(self, work: Callable[[Connection], T]) -> T:
        with self._at_work:  # callers may be in several threads
            if self._closed:
                raise _closed()
            [(value, problem)] = self._commit([work])
        if problem is not None:
            raise problem
        return cast("T", value)

    # --- the database thread ------------------------------------------------------------------------------------

    def _submit(self, work: Callable[[Connection], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._door:  # after the end of the queue it would wait for ever
            if self._closed:
                raise _closed()
            self._queue.put((work, future))  # type: ignore[arg-type]  # a future of T is one of object to the thread
        return future

    def _serve(self) -> None:
        while True:
            first = self._queue.get()
            if first is None:
                return
            group, last = [first], False
            while len(group) < _LARGEST_GROUP and not last:
                try:
                    waiting = self._queue.get_nowait()
                except queue.Empty:
                    break
                if waiting is None:
                    last = True
                else:
                    group.append(waiting)
            group = [item for item in group if item[1].set_running_or_notify_cancel()]
            answers = self._commit([work for work, _ in group])
            for (_, future), (value, problem) in zip(group, answers, strict=True):
                if problem is None:
                    future.set_result(value)
                else:
                    future.set_exception(problem)
            if last:
                return

    def _commit(self, works: list[_Work]) -> list[_Answer]:
        try:
            self._file.check()
            if self._connection.closed:
                self._connection = self._address.connect()
            return [self._alone(works[0])] if len(works) == 1 else self._together(works)
        except Exception as error:  # noqa: BLE001 - the thread must continue, or all callers wait for ever
            if not isinstance(error, (DatabaseError, _FileGone)):
                _LOG.exception("a transaction failed")
            failure = StoreUnavailable(_short(error))
            if not self.immediate:  # a database in memory would be lost
                self._connection.close()
            return [(None, failure)] * len(works)

    def _alone(self, work: _Work) -> _Answer:
        # A savepoint would protect the other functions of the group. For a single one it costs a fifth of a small
        # write.
        try:
            with self._connection.transaction():
                return work(self._connection), None
        except BaseException as error:  # noqa: BLE001 - the caller gets it, the thread continues
            return None, _for_caller(error)

    def _together(self, works: list[_Work]) -> list[_Answer]:
        answers: list[_Answer] = []
        with self._connection.transaction():
            for work in works:
                try:
                    with self._connection.savepoint():
                        answers.append((work(self._connection), None))
                except BaseException as error:  # noqa: BLE001 - the caller gets it, the thread continues
                    answers.append((None, _for_caller(error)))
        return answers

    # --- opening ------------------------------------------------------------------------------------------------

    def _opened(self) -> Connection:
        """Opens a connection to a database that is ours. After a failure nothing stays open."""
        with ExitStack() as on_failure:
            connection = self._address.connect()
            on_failure.callback(connection.close)
            with connection.transaction():
                found = self._version_of(connection)
            if found is not None and found < STATE.current and self._address.path is not None:
                connection.copy_to(copy_path(Path(self._address.path), found))
            with connection.transaction():
                self._prepare(connection)
            on_failure.pop_all()
        return connection

    def _prepare(self, connection: Connection) -> None:
        # Read again: another server may have migrated a shared database.
        found = self._version_of(connection)
        if found is not None and found < STATE.current:
            if connection.kind == POSTGRESQL:
                _copy_inside(connection, found)
            STATE.migrate(connection, found)
        for table in tables():
            table.create(connection)
        set_meta(connection, _VERSION, str(STATE.current))
        set_meta(connection, _WRITER, program_version())

    def _version_of(self, connection: Connection) -> int | None:
        """The version of a kept state, None when the database is empty."""
        if not connection.has_table(META.name):
            return None
        seen, writer = get_meta(connection, _VERSION), get_meta(connection, _WRITER)
        try:
            found = int(seen or "")
            STATE.needs_migration(found, self._address, writer or "")
        except ValueError:
            raise StateUnusable(f"the state at {self._address} is of no known version ({seen!r})") from None
        except UnreadableVersion as error:
            raise StateUnusable(f"{error}, or start with another state folder") from None
        return found


def _copy_inside(connection: Connection, found: int) -> None:
    """Copies all tables of a PostgreSQL into a schema of their own, in the transaction of the migration."""
    copy = f"svcnb_version_{found}"
    connection.run(f"CREATE SCHEMA {copy}")
    names = connection.column("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    for name in names:
        connection.run(f'CREATE TABLE {copy}."{name}" AS TABLE "{name}"')


class _FileGone(Exception):
    """The database's file is no longer where it was."""


class _File:
    """Identity of the database file, to check that the path still leads to it.

    SQLite continues with a file that was removed or moved away, and later writes to it are lost. One system call before
    each commit (a microsecond) prevents the emulator from acknowledging such a write.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._identity = self._seen()

    def check(self) -> None:
        if self._path is not None and self._seen() != self._identity:
            raise _FileGone(
                "the database's file was moved or removed while in use: put it back, or start the emulator again"
            )

    def _seen(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        try:
            found = os.stat(self._path)  # noqa: PTH116 - a third of the time of Path.stat, before every commit
        except OSError:
            return None
        return found.st_dev, found.st_ino


def _for_caller(error: BaseException) -> BaseException:
    """The error for the caller of a failed function. A lost connection concerns all callers, so it is raised."""
    if not isinstance(error, DatabaseError) or isinstance(error, ConstraintBroken):
        return error
    if error.lost:
        raise error
    return (StatementRefused if error.final else StoreUnavailable)(str(error))


def is_refusal(error: BaseException) -> bool:
    """Whether an error inside a transaction would also occur later, because the database itself works."""
    return not isinstance(error, DatabaseError) or (not error.lost and error.final)


def _closed() -> StoreUnavailable:
    return StoreUnavailable("it was closed")


def _short(error: Exception) -> str:
    words = str(error).splitlines()
    return words[0] if words else type(error).__name__
