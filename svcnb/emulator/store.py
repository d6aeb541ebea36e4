"""The database: one thread, one connection, one commit for all that waits.

Each area of the emulator defines its tables on `metadata` and hands short functions to `Store.run`. They run one after
another on the database thread; whatever queued up meanwhile shares one commit, which is what makes a durable write
cheap under load, and an await returns only after that commit. In memory there is no disk to wait for, and the trip to
a thread and back costs more than the work: there they run at once, where they are called.

SQLite belongs to one emulator. A PostgreSQL may be shared by several servers: their transactions come one after
another there too, by a lock of the database, so that what a function has read stays true until it has written.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from typing import Any, Final, TypeAlias, TypeVar, cast

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    String,
    Table,
    Text,
    TextClause,
    TypeDecorator,
    create_engine,
    event,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.pool import StaticPool

from svcnb.emulator.errors import StateUnusable, Unavailable
from svcnb.emulator.statements import Statement

T = TypeVar("T")
_LOG = logging.getLogger(__name__)

metadata = MetaData()
SCHEMA_VERSION = "2"
_LARGEST_GROUP = 64
_POSTGRES: Final = "postgresql"
_LOCK: Final = 0x73766362
"""Number of the lock that a transaction holds among the servers of one PostgreSQL."""
_WAITS: Final = "-c lock_timeout=10s -c idle_in_transaction_session_timeout=30s -c statement_timeout=60s"
"""A server that hangs in the middle of a transaction must not stop the others for good."""

_Work: TypeAlias = Callable[[Connection], object]
_Answer: TypeAlias = tuple[object, BaseException | None]
"""What a function returned, or what its caller gets instead."""

meta = Table("meta", metadata, Column("name", String, primary_key=True), Column("value", String, nullable=False))


class StoreUnavailable(Unavailable):
    """The database cannot be read or written. Nothing of the failed call was kept."""

    def __init__(self, detail: str) -> None:
        super().__init__("the database", detail)


class StatementRefused(StoreUnavailable):
    """The database is there and does not take this statement; it would not take it later either."""


class AnyText(TypeDecorator[str]):
    """Text of users that may hold NUL, which PostgreSQL has no place for: there it is written as an escape."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        """As it is written."""
        if value is None or dialect.name != _POSTGRES:
            return value
        return value.replace("\\", "\\\\").replace("\0", "\\0")

    def process_result_value(self, value: str | None, dialect: Any) -> str | None:
        """As it was given."""
        if value is None or dialect.name != _POSTGRES:
            return value
        return "\\".join(part.replace("\\0", "\0") for part in value.split("\\\\"))


class Store:
    """The emulator's database.

    Args:
        url: SQLAlchemy URL, or None for SQLite in memory. ``postgresql://user:password@host/name`` needs the extra
            ``svcnb[postgres]``.

    Raises:
        StateUnusable: The database is damaged, not ours, or of another schema version.
    """

    def __init__(self, url: str | None = None) -> None:
        self.url = url
        try:
            self._engine = _engine(url)
        except (ArgumentError, ValueError) as error:
            # The text of a URL may hold a password, so it is not repeated.
            raise StateUnusable(
                "the database URL cannot be used: write sqlite:////absolute/path.db, or "
                "postgresql://user:password@host/name with the extra svcnb[postgres]"
            ) from error
        self._queue: queue.SimpleQueue[tuple[_Work, Future[object]] | None] = queue.SimpleQueue()
        self._at_work = threading.Lock()
        self._door = threading.Lock()
        self._closed = False
        try:
            self._connection = self._opened()
        except SQLAlchemyError as error:
            raise StateUnusable(
                f"the database at {_shown(url)} cannot be opened ({_short(error)}): move it away to start afresh, "
                "or restore it from a copy"
            ) from error
        self._file = _File(url)
        self._thread: threading.Thread | None = None
        if not self.immediate:
            self._thread = threading.Thread(target=self._serve, name="svcnb-store", daemon=True)
            self._thread.start()

    @property
    def shared(self) -> bool:
        """Whether other servers may use the same database at this moment."""
        return self._engine.dialect.name == _POSTGRES

    @property
    def immediate(self) -> bool:
        """Whether work is done at once, so that nothing is won by gathering it: the database is in memory."""
        return self.url is None

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Runs ``work`` in a transaction and returns after its commit.

        Args:
            work: Short function that only talks to the database. If it raises, its own changes are undone.

        Returns:
            What ``work`` returned.

        Raises:
            StoreUnavailable: The database failed, or was closed; nothing was kept.
        """
        if self.immediate:
            return self._at_once(work)
        return await asyncio.wrap_future(self._submit(work))

    def run_now(self, work: Callable[[Connection], T]) -> T:
        """As `run`, for callers without an event loop, such as start-up."""
        return self._at_once(work) if self.immediate else self._submit(work).result()

    def close(self) -> None:
        """Finishes what is queued and closes the database; what comes later fails. May be called twice."""
        with self._door:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        if self._thread is not None:
            self._thread.join()
        with self._at_work:  # a thread may be in the middle of something
            with suppress(SQLAlchemyError):
                self._connection.close()
            self._engine.dispose()

    # --- in memory ----------------------------------------------------------------------------------------------

    def _at_once(self, work: Callable[[Connection], T]) -> T:
        with self._at_work:  # callers may be of several threads
            if self._closed:
                raise _closed()
            [(value, problem)] = self._commit([work])
        if problem is not None:
            raise problem
        return cast("T", value)

    # --- the database thread ------------------------------------------------------------------------------------

    def _submit(self, work: Callable[[Connection], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._door:  # behind the end of the queue it would wait for ever
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
                self._connection = self._engine.connect()
            return [self._alone(works[0])] if len(works) == 1 else self._together(works)
        except Exception as error:  # noqa: BLE001 - whatever it is, the thread lives on, or all callers wait for ever
            if not isinstance(error, (SQLAlchemyError, _FileGone)):
                _LOG.exception("a transaction failed")
            failure = StoreUnavailable(_short(error))
            with suppress(Exception):
                self._connection.close()
            return [(None, failure)] * len(works)

    def _alone(self, work: _Work) -> _Answer:
        # A savepoint would protect others in the group; alone it is a fifth of the time of a small write.
        try:
            with self._connection.begin():
                return work(self._connection), None
        except BaseException as error:  # noqa: BLE001 - the caller gets it, the thread lives on
            return None, _for_caller(error)

    def _together(self, works: list[_Work]) -> list[_Answer]:
        answers: list[_Answer] = []
        with self._connection.begin():
            for work in works:
                try:
                    with self._connection.begin_nested():
                        answers.append((work(self._connection), None))
                except BaseException as error:  # noqa: BLE001 - the caller gets it, the thread lives on
                    answers.append((None, _for_caller(error)))
        return answers

    # --- opening ------------------------------------------------------------------------------------------------

    def _opened(self) -> Connection:
        """A connection to a database that is ours; on any failure nothing stays open."""
        with ExitStack() as on_failure:
            on_failure.callback(self._engine.dispose)
            connection = on_failure.enter_context(self._engine.connect())
            self._prepare(connection)
            on_failure.pop_all()
        return connection

    def _prepare(self, connection: Connection) -> None:
        with connection.begin():
            if inspect(connection).has_table(meta.name):
                seen = get_meta(connection, "schema_version")
                if seen != SCHEMA_VERSION:
                    raise StateUnusable(
                        f"the state at {_shown(self.url)} is of version {seen}; this svcnb reads {SCHEMA_VERSION}: "
                        "use the svcnb that wrote it, or start with another state folder"
                    )
            metadata.create_all(connection, checkfirst=self.url is not None)  # memory is empty at first, surely
            set_meta(connection, "schema_version", SCHEMA_VERSION)


class _FileGone(Exception):
    """The database's file is no longer where it was."""


class _File:
    """Which file the database is, to see that it still is.

    SQLite goes on with a file that was removed or moved away, and what it writes there is lost; one system call before
    each commit, a microsecond, keeps the emulator from acknowledging such a write.
    """

    def __init__(self, url: str | None) -> None:
        parsed = None if url is None else make_url(url)
        on_disk = parsed is not None and parsed.get_backend_name() == "sqlite" and parsed.database
        self._path = parsed.database if on_disk and parsed and parsed.database != ":memory:" else None
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


def get_meta(connection: Connection, name: str) -> str | None:
    """One value of the state's own notes, such as its schema version."""
    return connection.execute(select(meta.c.value).where(meta.c.name == name)).scalar_one_or_none()


def set_meta(connection: Connection, name: str, value: str) -> None:
    """Keeps one value among the state's own notes."""
    if not connection.execute(update(meta).where(meta.c.name == name).values(value=value)).rowcount:
        connection.execute(insert(meta).values(name=name, value=value))


def number_on(connection: Connection, table: Table) -> None:
    """Lets a table number its next rows after those that were written with numbers of their own."""
    column = table.autoincrement_column
    if column is not None and connection.dialect.name == _POSTGRES:
        sequence = func.pg_get_serial_sequence(table.name, column.name)
        connection.execute(select(func.setval(sequence, select(func.max(column)).scalar_subquery())))


def session_name(connection: Connection) -> str | None:
    """Names this server's connection among all that the database ever had; None where nobody else can have any."""
    if connection.dialect.name != _POSTGRES:
        return None
    # Kept with the connection, which has one name for as long as it lives.
    known = connection.info.get(_SESSION_NAME)
    if known is None:
        known = connection.info[_SESSION_NAME] = connection.execute(_SESSION).scalar_one()
    return str(known)


def session_lives(connection: Connection, name: str) -> bool:
    """Whether the server that a `session_name` belongs to is still connected."""
    return connection.dialect.name == _POSTGRES and connection.execute(_LIVES, {"name": name}).scalar_one()


def living_sessions() -> TextClause:
    """A subquery: the names of all that are connected to a PostgreSQL now."""
    return text(f"SELECT {_SESSION_NAME} FROM pg_stat_activity WHERE backend_start IS NOT NULL")  # noqa: S608 - our own text


_SESSION_NAME: Final = "pid || '@' || extract(epoch from backend_start)"
_SESSION: Final = text(f"SELECT {_SESSION_NAME} FROM pg_stat_activity WHERE pid = pg_backend_pid()")  # noqa: S608 - our own text
_LIVES: Final = text(f"SELECT count(*) > 0 FROM pg_stat_activity WHERE {_SESSION_NAME} = :name")  # noqa: S608 - our own text


_BEGIN: Final = Statement(text("BEGIN IMMEDIATE"))


def _engine(url: str | None) -> Engine:
    if url is None:
        engine = create_engine(
            "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}, hide_parameters=True
        )
    elif make_url(url).get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"check_same_thread": False, "timeout": 10}, hide_parameters=True)
    else:
        return _shared_engine(url)

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: object) -> None:
        # The driver must not open transactions by itself, or savepoints would commit early.
        connection.isolation_level = None
        cursor = connection.cursor()
        if url is not None:
            cursor.execute("PRAGMA journal_mode=WAL")
            # FULL: an acknowledged write survives the machine losing power, not only the process dying.
            cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        _BEGIN.rows(connection, {})

    return engine


def _shared_engine(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() != _POSTGRES:
        raise StateUnusable(
            f"a database of the kind {parsed.get_backend_name()} cannot be used: give a URL of sqlite or postgresql"
        )
    try:
        engine = create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            hide_parameters=True,  # errors reach the log, and what is stored may be a secret
            connect_args={"connect_timeout": 5, "options": _WAITS, "application_name": "svcnb"},
        )
    except ModuleNotFoundError as error:
        raise StateUnusable(
            "PostgreSQL needs its driver, which is not installed: pip install 'svcnb[postgres]'"
        ) from error

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # As SQLite's BEGIN IMMEDIATE, among all servers: one transaction after another.
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")

    return engine


def _for_caller(error: BaseException) -> BaseException:
    """What a failed function's caller gets; a lost connection is everybody's, so it is raised."""
    if not isinstance(error, DBAPIError) or isinstance(error, IntegrityError):
        return error  # a constraint speaks to the code that wrote the row, not of the database's health
    if error.connection_invalidated:
        raise error
    return (StatementRefused if _is_final(error) else StoreUnavailable)(_short(error))


def is_refusal(error: BaseException) -> bool:
    """Whether what failed inside a transaction would fail later too, as the database itself is well."""
    return not isinstance(error, DBAPIError) or (not error.connection_invalidated and _is_final(error))


def _is_final(error: DBAPIError) -> bool:
    """Whether the statement is to blame, and not the state that the database is in."""
    if isinstance(error, (OperationalError, InterfaceError, InternalError)):
        return False
    # SQLite calls a damaged file by the general name, PostgreSQL what its functions raise.
    return type(error) is not DatabaseError or hasattr(error.orig, "sqlstate")


def _closed() -> StoreUnavailable:
    return StoreUnavailable("it was closed")


def _short(error: Exception) -> str:
    words = str(getattr(error, "orig", None) or error).splitlines()
    return words[0] if words else type(error).__name__


def _shown(url: str | None) -> str:
    return "memory" if url is None else make_url(url).render_as_string(hide_password=True)
