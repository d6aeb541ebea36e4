"""What the chain accepted, in the database: enough to build the very same chain again.

Every entry carries a digest of itself and of the entry before it. A tail that does not add up is cut off and set aside,
never guessed at. An entry is confirmed with the block that it led to, together with the next write; on replay that
block must come out again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Integer,
    LargeBinary,
    String,
    Table,
    delete,
    func,
    insert,
    select,
    update,
)

from svcnb.emulator import leases
from svcnb.emulator.store import StoreUnavailable, get_meta, metadata, set_meta

TRANSACTION: Final = "transaction"
BALANCE: Final = "balance"
START: Final = bytes(32)
"""Digest before the first entry."""
_GENESIS: Final = "chain_genesis"
_LEASE: Final = "chain"
_KEPT_DUMPS: Final = 2

entries = Table(
    "chain_journal",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("timestamp", BigInteger, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("withdrawn", Boolean, nullable=False, default=False),
    Column("block_hash", String(66)),
)

cut = Table(
    "chain_journal_cut",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("kind", String(16)),
    Column("timestamp", BigInteger),
    Column("payload", LargeBinary),
    Column("digest", LargeBinary),
)

dumps = Table(
    "chain_dumps",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False),
    Column("timestamp", BigInteger, nullable=False),
    Column("block_hash", String(66), nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("content_sha256", LargeBinary, nullable=False),
)

snapshots = Table(
    "chain_snapshots",
    metadata,
    Column("name", String, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)


@dataclass(frozen=True)
class Entry:
    """One thing that changed the chain.

    Attributes:
        position: Its place, counted from 1.
        kind: `TRANSACTION`, with the signed transaction as payload, or `BALANCE`, with address and wei.
        timestamp: Unix seconds of the block.
        payload: The bytes.
        digest: Over this entry and the digest before it.
        withdrawn: Whether the chain refused it after all.
        block_hash: The block that came of it, once that is known.
    """

    position: int
    kind: str
    timestamp: int
    payload: bytes
    digest: bytes
    withdrawn: bool = False
    block_hash: str | None = None


@dataclass(frozen=True)
class Dump:
    """The chain's whole state after an entry.

    Attributes:
        position: That entry's place; 0 before the first.
        digest: That entry's digest.
        timestamp: Unix seconds of the latest block.
        block_hash: Hash of the latest block.
        content: What the node's dump function gave.
    """

    position: int
    digest: bytes
    timestamp: int
    block_hash: str
    content: bytes


@dataclass(frozen=True)
class History:
    """What the database holds of the chain.

    Attributes:
        dump: The newest usable dump, if any.
        tail: The entries after it, or all.
        cut: How many entries of the tail were damaged and set aside.
    """

    dump: Dump | None
    tail: Sequence[Entry]
    cut: int


def follow(
    previous: bytes, position: int, kind: str, timestamp: int, payload: bytes, *, block_hash: str | None = None
) -> Entry:
    """The entry that comes after a digest."""
    head = f"{position}\0{kind}\0{timestamp}\0{len(payload)}\0".encode()
    return Entry(
        position, kind, timestamp, payload, hashlib.sha256(previous + head + payload).digest(), block_hash=block_hash
    )


def balance_payload(address: str, wei: int) -> bytes:
    """Payload of a `BALANCE` entry."""
    return bytes.fromhex(address[2:]) + wei.to_bytes(32, "big")


def read_balance(payload: bytes) -> tuple[str, int]:
    """Address and wei of a `BALANCE` entry."""
    return "0x" + payload[:20].hex(), int.from_bytes(payload[20:], "big")


class JournalUnusable(Exception):
    """The journal cannot be read any more. The text names the next step."""


# --- functions for Store.run ------------------------------------------------------------------------------------------


def genesis_text(connection: Connection, proposed: str) -> str:
    """What fixes the first block: as noted at the first start, else as proposed, which is noted."""
    known = get_meta(connection, _GENESIS)
    if known is None:
        set_meta(connection, _GENESIS, proposed)
    return known or proposed


def is_ours(connection: Connection) -> bool:
    """Whether this server keeps the journal: of several that share a database, one at a time may."""
    return leases.take(connection, _LEASE)


def append(connection: Connection, new: Sequence[Entry], confirmed: Sequence[tuple[int, str]]) -> None:
    """Writes entries, and what is known by now about earlier ones.

    Raises:
        StoreUnavailable: Another server has taken over the journal while this one had lost the database.
    """
    if not is_ours(connection):
        raise StoreUnavailable("another server keeps the chain of this database now")
    if new:
        connection.execute(insert(entries), [vars(entry) for entry in new])
    for position, block_hash in confirmed:
        connection.execute(update(entries).where(entries.c.position == position).values(block_hash=block_hash))


def withdraw(connection: Connection, position: int) -> None:
    """Notes that the chain refused an entry. It keeps its place, so that the digests still add up."""
    connection.execute(update(entries).where(entries.c.position == position).values(withdrawn=True))


def save_dump(connection: Connection, dump: Dump) -> None:
    """Keeps a dump, and the one before it in case this one is damaged."""
    connection.execute(delete(dumps).where(dumps.c.position == dump.position))
    connection.execute(insert(dumps).values(**vars(dump), content_sha256=hashlib.sha256(dump.content).digest()))
    kept = (
        connection.execute(select(dumps.c.position).order_by(dumps.c.position.desc()).limit(_KEPT_DUMPS))
        .scalars()
        .all()
    )
    connection.execute(delete(dumps).where(dumps.c.position < min(kept)))


def read(connection: Connection) -> History:
    """Everything needed to build the chain again. A damaged tail is set aside.

    Raises:
        JournalUnusable: What the entries stand on is gone.
    """
    base = next((dump for dump in _dumps(connection) if _fits(connection, dump)), None)
    position, digest = (base.position, base.digest) if base else (0, START)
    query = select(entries).where(entries.c.position > position).order_by(entries.c.position)
    rows = [Entry(**row._mapping) for row in connection.execute(query)]  # noqa: SLF001 - SQLAlchemy's public name
    if base is None and rows and rows[0].position != 1:
        raise JournalUnusable(
            f"the chain's journal begins at entry {rows[0].position} and the dump it stands on is damaged: "
            "restore the state from a copy, or start with another state folder"
        )
    sound: list[Entry] = []
    for row in rows:
        expected = follow(digest, position + 1, row.kind, row.timestamp, row.payload)
        if row.position != position + 1 or row.digest != expected.digest:
            break
        sound.append(row)
        position, digest = row.position, row.digest
    if damaged := rows[len(sound) :]:
        _set_aside(connection, damaged)
    return History(base, sound, len(damaged))


def restore(connection: Connection, dump: Dump) -> None:
    """Goes back to a dump: what came after it is removed, and if it is not from this history, so is all before."""
    known = connection.execute(select(entries.c.digest).where(entries.c.position == dump.position)).scalar_one_or_none()
    if known == dump.digest:
        connection.execute(delete(entries).where(entries.c.position > dump.position))
        connection.execute(delete(dumps).where(dumps.c.position > dump.position))
    else:
        connection.execute(delete(entries))
        connection.execute(delete(dumps))
    save_dump(connection, dump)


def save_snapshot(connection: Connection, name: str, content: bytes) -> None:
    """Keeps a snapshot under a name; one of that name is replaced."""
    connection.execute(delete(snapshots).where(snapshots.c.name == name))
    connection.execute(insert(snapshots).values(name=name, content=content))


def read_snapshot(connection: Connection, name: str) -> bytes | None:
    """The snapshot of that name, None when there is none."""
    return connection.execute(select(snapshots.c.content).where(snapshots.c.name == name)).scalar_one_or_none()


# --- snapshots as bytes -----------------------------------------------------------------------------------------------


class SnapshotUnusable(ValueError):
    """The bytes are no snapshot of this chain."""


def pack(dump: Dump, genesis: str) -> bytes:
    """A dump as bytes that can be kept anywhere."""
    head: dict[str, Any] = {
        "format": 1,
        "genesis": genesis,
        "position": dump.position,
        "digest": dump.digest.hex(),
        "timestamp": dump.timestamp,
        "block_hash": dump.block_hash,
        "sha256": hashlib.sha256(dump.content).hexdigest(),
    }
    return json.dumps(head).encode() + b"\n" + dump.content


def unpack(data: bytes, genesis: str) -> Dump:
    """A dump from its bytes.

    Raises:
        SnapshotUnusable: Damaged, or of a chain with another first block.
    """
    line, _, content = data.partition(b"\n")
    try:
        head = json.loads(line)
        if head["format"] != 1 or head["sha256"] != hashlib.sha256(content).hexdigest():
            raise SnapshotUnusable("the chain snapshot is damaged or of another version: take a new one")
        dump = Dump(head["position"], bytes.fromhex(head["digest"]), head["timestamp"], head["block_hash"], content)
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, SnapshotUnusable):
            raise
        raise SnapshotUnusable("the bytes are no chain snapshot") from error
    if head["genesis"] != genesis:
        raise SnapshotUnusable("the snapshot is of a chain with another first block: restore it where it was taken")
    return dump


# --- reading ----------------------------------------------------------------------------------------------------------


def _dumps(connection: Connection) -> list[Dump]:
    """The undamaged dumps, newest first."""
    rows = connection.execute(select(dumps).order_by(dumps.c.position.desc()))
    return [
        Dump(row.position, row.digest, row.timestamp, row.block_hash, row.content)
        for row in rows
        if hashlib.sha256(row.content).digest() == row.content_sha256
    ]


def _fits(connection: Connection, dump: Dump) -> bool:
    """Whether the journal goes through a dump's entry, or begins right after it."""
    known = connection.execute(select(entries.c.digest).where(entries.c.position == dump.position)).scalar_one_or_none()
    if known is not None:
        return bool(known == dump.digest)
    first = connection.execute(select(func.min(entries.c.position))).scalar_one()
    return first is None or first == dump.position + 1


def _set_aside(connection: Connection, damaged: Sequence[Entry]) -> None:
    kept = ("position", "kind", "timestamp", "payload", "digest")
    connection.execute(insert(cut), [{name: getattr(entry, name) for name in kept} for entry in damaged])
    connection.execute(delete(entries).where(entries.c.position >= damaged[0].position))
    connection.execute(delete(dumps).where(dumps.c.position >= damaged[0].position))
