"""Database access through one thread and one connection, with one commit for all waiting functions.

Each package of the emulator declares its tables (`schema`) and passes short functions to `Store.run`. The functions run
in sequence on the database thread. All functions in the queue share one commit, which makes durable writes cheap under
load. `Store.run` returns after the commit.

With a database in memory, functions run immediately in the calling thread, because a switch to another thread takes
longer than the work itself. Only `Store.run_long` uses the database thread. Until a call of `Store.run_long` has
finished, calls of `Store.run` also use this thread.

Only one emulator can use an SQLite database. Several servers can share a PostgreSQL database, where a lock ensures that
their transactions also run in sequence. The data that a function reads therefore stays valid until its commit.
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
    Connection,
    ConstraintBroken,
    DatabaseError,
    DriverMissing,
    InvalidDatabaseUrl,
)
from svcnb.emulator.platform.database_url import Address
from svcnb.emulator.platform.schema import META, STATE, get_meta, set_meta, tables
from svcnb.migrations import UnreadableVersion, copy_path, program_version
from svcnb.protocol.in_page import IN_PAGE

T = TypeVar("T")
_LOG = logging.getLogger(__name__)

_LARGEST_GROUP: Final = 64
_VERSION: Final = "schema_version"
_WRITER: Final = "written_by"

_Work: TypeAlias = Callable[[Connection], object]
_Answer: TypeAlias = tuple[object, BaseException | None]
"""Return value of a function, or the error to raise in its caller."""


class StoreUnavailable(Unavailable):
    """Error for a database that cannot be read or written. The failed call changed nothing."""

    def __init__(self, detail: str) -> None:
        super().__init__("the database", detail)


class StatementRefused(StoreUnavailable):
    """Error for a statement that a working database rejects. A retry also fails."""


class Store:
    """Database of an emulator.

    Args:
        url: ``sqlite:////absolute/path.db``, ``postgresql://user:password@host/name`` (needs the ``postgres`` extra),
            or None for SQLite in memory.

    Raises:
        StateUnusable: The URL is invalid. The database cannot be opened, is damaged, belongs to another program, or has
            a version that this svcnb cannot read.
    """

    def __init__(self, url: str | None = None) -> None:
        self.url = url
        try:
            self._address = Address(url)
            if self._address.kind not in {SQLITE, POSTGRESQL}:
                raise StateUnusable(
                    f"the database type {self._address.kind} is not supported: use a URL that starts with sqlite:// or postgresql://"
                )
            self._connection = self._opened()
        except (InvalidDatabaseUrl, DriverMissing) as error:
            raise StateUnusable(str(error)) from error
        except ValueError as error:
            # The message omits the URL, because it can contain a password.
            raise StateUnusable(
                "the database URL is invalid: use sqlite:////absolute/path.db, or "
                "postgresql://user:password@host/name with the `postgres` extra"
            ) from error
        except DatabaseError as error:
            next_step = (
                "check the path, restore the file from a copy, or start with a different database or state folder"
            )
            if self._address.kind == POSTGRESQL:
                next_step = "check that the server is running, and that the URL, the user and the password are correct"
            raise StateUnusable(f"the database at {self._address} cannot be opened ({error}): {next_step}") from error
        self._queue: queue.SimpleQueue[tuple[_Work, Future[object]] | None] = queue.SimpleQueue()
        self._at_work = threading.Lock()
        self._queue_lock = threading.Lock()
        self._closed = False
        self._queued = 0
        """Number of functions in the queue or in progress on the database thread."""
        self._file = _File(self._address.path)
        self._thread: threading.Thread | None = None
        if not self.immediate:
            self._start_thread()

    @property
    def shared(self) -> bool:
        """Whether other servers can use the same database at the same time."""
        return self._address.kind == POSTGRESQL

    @property
    def immediate(self) -> bool:
        """Whether functions run immediately, because the database is in memory or in a browser page.

        In this case, it is not faster to combine several functions in one commit.
        """
        return self._address.kind == SQLITE and (self._address.path is None or IN_PAGE)

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Runs ``work`` in a transaction and returns after its commit.

        Args:
            work: Short function that only uses the database. If ``work`` raises an exception, the store rolls back the
                changes of ``work`` and raises the exception in the caller.

        Returns:
            The return value of ``work``.

        Raises:
            StoreUnavailable: The database failed or is closed. The database contains none of the changes.
        """
        # Queue after the waiting functions, so that functions run in the order of their calls.
        if self.immediate and not self._queued:
            return self._at_once(work)
        return await asyncio.wrap_future(self._submit(work))

    async def run_long(self, work: Callable[[Connection], T]) -> T:
        """Runs ``work`` like `run`, but never in the calling thread, except in a browser page.

        Use this method for work that can take milliseconds.

        Args:
            work: Function that uses only the database and values that no other thread changes.

        Returns:
            The return value of ``work``.

        Raises:
            StoreUnavailable: The database failed or is closed. The database contains none of the changes.
        """
        if IN_PAGE:  # a page has one thread
            return await self.run(work)
        return await asyncio.wrap_future(self._submit(work))

    def run_now(self, work: Callable[[Connection], T]) -> T:
        """Runs ``work`` like `run`, for callers without an event loop, such as the start."""
        return self._at_once(work) if self.immediate else self._submit(work).result()

    def close(self) -> None:
        """Finishes the queued functions and closes the database. Later calls of `run` fail."""
        with self._queue_lock:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        if self._thread is not None:
            self._thread.join()
        with self._at_work:  # another thread can be running a function
            self._connection.close()

    # --- in memory ----------------------------------------------------------------------------------------------

    def _at_once(self, work: Callable[[Connection], T]) -> T:
        with self._at_work:  # callers can be in several threads
            if self._closed:
                raise _closed()
            [(value, problem)] = self._commit([work])
        if problem is not None:
            raise problem
        return cast("T", value)

    # --- the database thread ------------------------------------------------------------------------------------

    def _start_thread(self) -> None:
        self._thread = threading.Thread(target=self._serve, name="svcnb-store", daemon=True)
        self._thread.start()

    def _submit(self, work: Callable[[Connection], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._queue_lock:  # a function after the end marker of the queue (None) never runs
            if self._closed:
                raise _closed()
            if self._thread is None:
                self._start_thread()
            self._queued += 1
            self._queue.put((work, future))  # type: ignore[arg-type]  # for the thread, T is object
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
            taken = len(group)
            group = [item for item in group if item[1].set_running_or_notify_cancel()]
            with self._at_work:  # in memory, callers without an event loop also use the connection
                answers = self._commit([work for work, _ in group]) if group else []
            with self._queue_lock:
                self._queued -= taken
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
            return [self._run_one(works[0])] if len(works) == 1 else self._together(works)
        except Exception as error:  # noqa: BLE001 - the thread must continue, or all callers wait forever
            if not isinstance(error, (DatabaseError, _FileMissing)):
                _LOG.exception("a database transaction failed")
            failure = StoreUnavailable(_short(error))
            if not self.immediate:  # closing a database in memory deletes it
                self._connection.close()
            return [(None, failure)] * len(works)

    def _run_one(self, work: _Work) -> _Answer:
        # Use no savepoint here. A savepoint protects only the other functions of a group, and takes a fifth of the time
        # of a small write.
        try:
            with self._connection.transaction():
                return work(self._connection), None
        except BaseException as error:  # noqa: BLE001 - the caller receives it, and the thread continues
            return None, _for_caller(error)

    def _together(self, works: list[_Work]) -> list[_Answer]:
        answers: list[_Answer] = []
        with self._connection.transaction():
            for work in works:
                try:
                    with self._connection.savepoint():
                        answers.append((work(self._connection), None))
                except BaseException as error:  # noqa: BLE001 - the caller receives it, and the thread continues
                    answers.append((None, _for_caller(error)))
        return answers

    # --- opening ------------------------------------------------------------------------------------------------

    def _opened(self) -> Connection:
        """Opens a connection, and creates or migrates the emulator's tables. Closes the connection after an error."""
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
        # Read the version again, because another server may have migrated a shared database in the meantime.
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
        """Returns the version of a stored state, or None if the database is empty."""
        if not connection.has_table(META.name):
            return None
        seen, writer = get_meta(connection, _VERSION), get_meta(connection, _WRITER)
        try:
            found = int(seen or "")
            STATE.needs_migration(found, self._address, writer or "")
        except ValueError:
            raise StateUnusable(
                f"the state at {self._address} has the invalid version {seen!r}: expected an integer. Restore the "
                "state from a copy, or start with a different state folder."
            ) from None
        except UnreadableVersion as error:
            raise StateUnusable(f"{error}, or start with a different state folder") from None
        return found


def _copy_inside(connection: Connection, found: int) -> None:
    """Copies all tables of a PostgreSQL database to a separate schema, in the transaction of the migration."""
    copy = f"svcnb_version_{found}"
    connection.run(f"CREATE SCHEMA {copy}")
    names = connection.column("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    for name in names:
        connection.run(f'CREATE TABLE {copy}."{name}" AS TABLE "{name}"')


class _FileMissing(Exception):
    """Error for a moved or deleted database file."""


class _File:
    """Identity of the database file, to check that the path still refers to the same file.

    SQLite continues to write to a moved or deleted file, and loses these writes. A system call before each commit (one
    microsecond) prevents the emulator from acknowledging such a write.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._identity = self._seen()

    def check(self) -> None:
        if self._path is not None and self._seen() != self._identity:
            raise _FileMissing(
                "the database file was moved or deleted while the emulator used it: restore the file, or restart the "
                "emulator"
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
    """Converts the error of a failed function to the error that its caller receives.

    If the connection is lost, `_for_caller` raises the error instead, because the loss affects all callers.
    """
    if not isinstance(error, DatabaseError) or isinstance(error, ConstraintBroken):
        return error
    if error.lost:
        raise error
    return (StatementRefused if error.final else StoreUnavailable)(str(error))


def is_refusal(error: BaseException) -> bool:
    """Returns whether a retry of the function that raised ``error`` would fail with the same error.

    The result is False for an error that can be temporary, such as a lost connection.
    """
    return not isinstance(error, DatabaseError) or (not error.lost and error.final)


def _closed() -> StoreUnavailable:
    return StoreUnavailable("the emulator closed its database")


def _short(error: Exception) -> str:
    words = str(error).splitlines()
    return words[0] if words else type(error).__name__
