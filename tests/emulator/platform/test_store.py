"""The database thread. Acknowledged changes are durable, and failed functions change nothing."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import methodcaller
from pathlib import Path

import pytest

from svcnb.emulator.errors import StateUnusable
from svcnb.emulator.platform.database import Connection, ConstraintBroken, SqliteConnection
from svcnb.emulator.platform.schema import get_meta, set_meta
from svcnb.emulator.platform.store import StatementRefused, Store, StoreUnavailable


@pytest.fixture
def store(store_url: str | None) -> Iterator[Store]:
    opened = Store(store_url)
    yield opened
    opened.close()


def _fail(connection: Connection) -> None:
    set_meta(connection, "half", "written")
    raise KeyError("on purpose")


async def test_a_function_that_raises_changes_nothing(store: Store) -> None:
    with pytest.raises(KeyError, match="on purpose"):
        await store.run(_fail)
    assert await store.run(lambda connection: get_meta(connection, "half")) is None


async def test_a_failure_in_a_shared_commit_undoes_only_itself(store: Store) -> None:
    results = await asyncio.gather(
        *(store.run(partial(set_meta, name=f"row{n}", value=str(n))) for n in range(40)),
        store.run(_fail),
        *(store.run(partial(set_meta, name=f"row{n}", value=str(n))) for n in range(40, 80)),
        return_exceptions=True,
    )
    assert [type(result) for result in results if result is not None] == [KeyError]
    kept = await store.run(lambda connection: [get_meta(connection, f"row{n}") for n in range(80)])
    assert kept == [str(n) for n in range(80)]
    assert await store.run(lambda connection: get_meta(connection, "half")) is None


async def test_a_violated_constraint_is_raised_in_its_caller(store: Store) -> None:
    await store.run(lambda connection: connection.insert("meta", name="once", value="1"))
    with pytest.raises(ConstraintBroken):
        await store.run(lambda connection: connection.insert("meta", name="once", value="1"))


async def test_a_database_failure_is_503_and_free(store: Store) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        await store.run(lambda connection: connection.rows("SELECT * FROM nowhere"))
    assert caught.value.status == 503
    assert "nothing was charged" in caught.value.message
    assert await store.run(lambda connection: get_meta(connection, "schema_version"))


async def test_an_acknowledged_write_is_there_after_reopening(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'state.db'}"
    first = Store(url)
    await first.run(lambda connection: set_meta(connection, "kept", "yes"))
    first.close()
    second = Store(url)
    assert await second.run(lambda connection: get_meta(connection, "kept")) == "yes"
    second.close()


def test_a_damaged_file_is_refused_with_the_next_step(tmp_path: Path) -> None:
    damaged = tmp_path / "state.db"
    damaged.write_bytes(b"this is no database" * 100)
    with pytest.raises(StateUnusable, match=r"cannot be opened.*restore the file"):
        Store(f"sqlite:///{damaged}")
    assert damaged.read_bytes() == b"this is no database" * 100


def test_a_server_that_does_not_respond_is_reported_with_the_next_step() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StateUnusable, match=r"cannot be opened.*check that the server is running"):
        Store("postgresql://svcnb@127.0.0.1:1/name")


def test_a_state_of_another_schema_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'state.db'}"
    first = Store(url)
    first.run_now(lambda connection: set_meta(connection, "schema_version", "999"))
    first.close()
    with pytest.raises(StateUnusable, match="999"):
        Store(url)


async def test_a_database_of_another_kind_is_refused() -> None:
    with pytest.raises(StateUnusable, match="sqlite:// or postgresql://"):
        Store("mysql://somewhere/name")


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("sqlite://relative.db", "only two slashes before the path"),
        ("name.db", "cannot be parsed"),
        ("postgresql://user:secret@host:port/name", "not a number from 0 to 65535"),
    ],
)
def test_an_invalid_url_is_rejected_with_the_reason(url: str, problem: str) -> None:
    with pytest.raises(StateUnusable, match=problem) as caught:
        Store(url)
    assert "secret" not in str(caught.value)


async def test_text_of_users_is_returned_unchanged(store: Store) -> None:
    texts = ["", "plain", "nul \0 in it", "\\0", "\\", "\\\0", "\\\\0\0\\", "\u20ac"]

    def work(connection: Connection) -> list[str | None]:
        connection.run("CREATE TABLE kept_texts (n integer, text text)")
        for n, given in enumerate(texts):
            connection.insert("kept_texts", n=n, text=connection.escaped(given))
        return [connection.unescaped(text) for text in connection.column("SELECT text FROM kept_texts ORDER BY n")]

    assert await store.run(work) == texts


# --- no endless waits ------------------------------------------------------------------------------------------------


async def test_calls_after_the_close_fail_immediately(store: Store) -> None:
    await store.run(lambda connection: set_meta(connection, "kept", "yes"))
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        async with asyncio.timeout(30):
            await store.run(lambda connection: get_meta(connection, "kept"))
    with pytest.raises(StoreUnavailable, match="closed"):
        store.run_now(lambda connection: get_meta(connection, "kept"))
    store.close()  # a second call has no effect


def test_the_close_waits_for_a_function_in_another_thread() -> None:
    store = Store()
    began, gate = threading.Event(), threading.Event()

    def slow(connection: Connection) -> str | None:
        began.set()
        gate.wait(60)
        return get_meta(connection, "schema_version")

    with ThreadPoolExecutor(2) as threads:
        asked = threads.submit(store.run_now, slow)
        assert began.wait(60)
        ending = threads.submit(store.close)
        while not store._closed:
            time.sleep(0.001)
        gate.set()
        assert asked.result(60) is not None
        ending.result(60)


async def test_queued_functions_run_before_the_close(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'state.db'}")
    works = [asyncio.ensure_future(store.run(partial(set_meta, name=f"row{n}", value=str(n)))) for n in range(50)]
    await asyncio.sleep(0)  # the functions wait in the queue
    store.close()
    await asyncio.gather(*works)
    again = Store(f"sqlite:///{tmp_path / 'state.db'}")
    assert await again.run(lambda connection: [get_meta(connection, f"row{n}") for n in range(50)]) == [
        str(n) for n in range(50)
    ]
    again.close()


async def test_an_unexpected_error_does_not_end_the_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(f"sqlite:///{tmp_path / 'state.db'}")
    broken = threading.Event()

    def begin(connection: SqliteConnection) -> None:
        if broken.is_set():
            raise RuntimeError("nobody thought of this")
        as_ever(connection)

    as_ever = SqliteConnection._begin
    monkeypatch.setattr(SqliteConnection, "_begin", begin)

    began, gate = threading.Event(), threading.Event()

    def hold(_: Connection) -> None:
        began.set()
        gate.wait(60)

    waiting = [asyncio.ensure_future(store.run(hold))]
    await asyncio.to_thread(began.wait, 60)
    broken.set()
    # Functions that wait for a slow function share one commit.
    waiting += [asyncio.ensure_future(store.run(partial(set_meta, name=f"row{n}", value="1"))) for n in range(3)]
    await asyncio.sleep(0)
    gate.set()
    async with asyncio.timeout(60):
        *_, one, two, three = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(each, (RuntimeError, StoreUnavailable)) for each in (one, two, three))
        broken.clear()
        assert await store.run(lambda connection: [get_meta(connection, f"row{n}") for n in range(3)]) == [None] * 3
    store.close()


def _refusing(store: Store) -> list[str]:
    """Statements that create a table which rejects every row."""
    if store.shared:
        return [
            "CREATE TABLE refusing (n integer)",
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$",
            "CREATE TRIGGER refuse BEFORE INSERT ON refusing FOR EACH ROW EXECUTE FUNCTION refuse()",
        ]
    return [
        "CREATE TABLE refusing (n integer)",
        "CREATE TRIGGER refuse BEFORE INSERT ON refusing BEGIN SELECT RAISE(ABORT, 'refused'); END",
    ]


async def test_permanent_and_temporary_errors_are_distinguished(store: Store) -> None:
    for statement in _refusing(store):
        await store.run(methodcaller("run", statement))
    with pytest.raises((StatementRefused, ConstraintBroken), match="refused"):
        await store.run(lambda connection: connection.insert("refusing", n=1))
    assert await store.run(lambda connection: get_meta(connection, "schema_version"))


async def test_errors_do_not_contain_the_data_of_the_statement(store: Store) -> None:
    await store.run(lambda connection: connection.insert("meta", name="once", value="the secret"))
    with pytest.raises(ConstraintBroken) as caught:
        await store.run(lambda connection: connection.insert("meta", name="once", value="the secret"))
    assert "the secret" not in str(caught.value)


def _note(order: list[str], what: str, _: Connection) -> None:
    order.append(what)


async def test_long_work_does_not_block_the_event_loop_and_keeps_the_order(store: Store) -> None:
    order: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def long(_: Connection) -> None:
        begun.set()
        assert go_on.wait(60)
        order.append("long")

    first = asyncio.create_task(store.run_long(long))
    assert await asyncio.to_thread(begun.wait, 60)  # the event loop continues while it waits for the function
    later = [asyncio.create_task(store.run(partial(_note, order, str(n)))) for n in range(3)]
    await asyncio.sleep(0)
    assert order == []
    go_on.set()
    await asyncio.gather(first, *later)
    assert order == ["long", "0", "1", "2"]
    assert await store.run(lambda _: threading.current_thread() is threading.main_thread()) == store.immediate


async def test_long_work_that_is_cancelled_before_it_begins_is_not_done(store: Store) -> None:
    begun, go_on = threading.Event(), threading.Event()
    done: list[str] = []

    def wait(_: Connection) -> None:
        begun.set()
        assert go_on.wait(60)

    first = asyncio.create_task(store.run_long(wait))
    assert await asyncio.to_thread(begun.wait, 60)
    second = asyncio.create_task(store.run_long(lambda _: done.append("second")))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    go_on.set()
    await first
    assert await store.run(lambda _: list(done)) == []
