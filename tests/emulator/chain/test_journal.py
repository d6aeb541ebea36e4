"""A damaged journal: the chain uses the undamaged entries at its beginning, and reports the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from svcnb.emulator.chain import journal
from svcnb.emulator.chain.journal import BALANCE, START, TRANSACTION, Dump, Entry
from svcnb.emulator.platform.database import Connection, setting
from svcnb.emulator.platform.store import Store

payloads = st.lists(
    st.tuples(st.sampled_from([TRANSACTION, BALANCE]), st.binary(min_size=1, max_size=40)), min_size=1, max_size=12
)


def chained(pairs: list[tuple[str, bytes]]) -> list[Entry]:
    digest, entries = START, []
    for position, (kind, payload) in enumerate(pairs, 1):
        entries.append(journal.follow(digest, position, kind, 1_750_000_000 + position, payload))
        digest = entries[-1].digest
    return entries


# Damage of a row: a changed bit in a field, missing rows, or exchanged rows.
def flip(name: str) -> Callable[[Connection, int, list[Entry]], None]:
    def do(connection: Connection, at: int, entries: list[Entry]) -> None:
        value: Any = getattr(entries[at - 1], name)
        if isinstance(value, bytes):
            changed: Any = bytes([value[0] ^ 1]) + value[1:]
        else:
            changed = value + 1 if isinstance(value, int) else {TRANSACTION: BALANCE, BALANCE: TRANSACTION}[value]
        connection.run(f"UPDATE chain_journal SET {setting([name])} WHERE position = :at", **{name: changed}, at=at)  # noqa: S608 - our own names

    return do


def drop(connection: Connection, at: int, _entries: list[Entry]) -> None:
    connection.run("DELETE FROM chain_journal WHERE position = :at", at=at)


def stranger(connection: Connection, at: int, entries: list[Entry]) -> None:
    """Returns a valid row that continues another journal."""
    drop(connection, at, entries)
    other = journal.follow(b"\x01" * 32, at, TRANSACTION, 5, b"a transaction of another chain")
    connection.insert("chain_journal", **other._asdict())


DAMAGES = {
    "payload": flip("payload"),
    "digest": flip("digest"),
    "timestamp": flip("timestamp"),
    "kind": flip("kind"),
    "dropped": drop,
    "of another chain": stranger,
}


@pytest.fixture
def store():
    made = Store(None)
    yield made
    made.close()


def written(connection: Connection, entries: list[Entry]) -> None:
    for table in ("chain_journal", "chain_journal_cut", "chain_dumps"):
        connection.run(f"DELETE FROM {table}")  # noqa: S608 - our own names
    journal.append(connection, entries, [])


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_rows_are_moved_and_the_earlier_ones_are_used(store, damage):
    @given(payloads, st.data())
    def holds(pairs: list[tuple[str, bytes]], data: st.DataObject) -> None:
        entries = chained(pairs)
        at = data.draw(st.integers(1, len(entries)))

        def work(connection: Connection) -> None:
            written(connection, entries)
            DAMAGES[damage](connection, at, entries)
            if damage == "dropped" and at == 1 and len(entries) > 1:
                with pytest.raises(journal.JournalUnusable):  # no undamaged dump, so the chain refuses to start
                    journal.read(connection)
                return
            history = journal.read(connection)
            assert list(history.tail) == entries[: at - 1]
            lost = len(entries) - at + (damage != "dropped")
            assert history.cut == lost
            assert connection.value("SELECT count(*) FROM chain_journal_cut") == lost
            again = journal.read(connection)
            assert (list(again.tail), again.cut) == (entries[: at - 1], 0), "a second start must read the same"

        store.run_now(work)

    holds()


@given(payloads, st.data())
def test_a_dump_is_used_only_if_the_journal_contains_it(pairs: list[tuple[str, bytes]], data: st.DataObject):
    entries = chained(pairs)
    at = data.draw(st.integers(1, len(entries)))
    content = data.draw(st.binary(max_size=20))
    dump = Dump(at, entries[at - 1].digest, 1, "0x" + "00" * 32, content)
    foreign = data.draw(st.booleans())
    store = Store(None)

    def work(connection: Connection) -> None:
        written(connection, entries)
        journal.save_dump(connection, dump._replace(digest=b"\x02" * 32) if foreign else dump)
        history = journal.read(connection)
        assert history.dump == (None if foreign else dump)
        assert list(history.tail) == (entries if foreign else entries[at:])

    try:
        store.run_now(work)
    finally:
        store.close()


@given(st.binary(max_size=60), st.integers(0, 2**64), st.text(max_size=40))
def test_only_the_bytes_of_a_snapshot_are_accepted(content: bytes, place: int, genesis: str):
    dump = Dump(place, b"\x03" * 32, 7, "0x" + "11" * 32, content)
    packed = journal.pack(dump, genesis)
    assert journal.unpack(packed, genesis) == dump
    with pytest.raises(journal.SnapshotUnusable):
        journal.unpack(packed, genesis + "x")
    with pytest.raises(journal.SnapshotUnusable):
        journal.unpack(packed + b"\0", genesis)


@given(st.binary(max_size=200))
def test_bytes_that_are_not_a_snapshot_raise_the_right_error(data: bytes):
    with pytest.raises(journal.SnapshotUnusable):
        journal.unpack(data, "")
    with pytest.raises(journal.SnapshotUnusable):
        journal.unpack(data + b"\n", "")
