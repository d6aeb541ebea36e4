"""Journal of the chain in the database. It contains what the chain accepted, enough to rebuild the same chain.

Every entry carries a digest of itself and of the entry before it. If the digests of a tail do not match, it is cut off
and set aside; its content is never guessed. The next write confirms an entry with the hash of its block. A replay must
result in the same block.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from svcnb.emulator.platform import leases
from svcnb.emulator.platform.database import Connection, inserting
from svcnb.emulator.platform.schema import Table, get_meta, set_meta
from svcnb.emulator.platform.store import StoreUnavailable

TRANSACTION: Final = "transaction"
BALANCE: Final = "balance"
START: Final = bytes(32)
"""Digest before the first entry."""
_GENESIS: Final = "chain_genesis"
_LEASE: Final = "chain"
_KEPT_DUMPS: Final = 2

Table(
    "chain_journal",
    """
    position INTEGER NOT NULL PRIMARY KEY,
    kind VARCHAR(16) NOT NULL,
    timestamp BIGINT NOT NULL,
    payload BYTES NOT NULL,
    digest BYTES NOT NULL,
    withdrawn BOOLEAN NOT NULL,
    block_hash VARCHAR(66)
    """,
)

CUT: Final = Table(
    "chain_journal_cut",
    """
    id NUMBERED,
    position INTEGER NOT NULL,
    kind VARCHAR(16),
    timestamp BIGINT,
    payload BYTES,
    digest BYTES
    """,
)

Table(
    "chain_dumps",
    """
    position INTEGER NOT NULL PRIMARY KEY,
    digest BYTES NOT NULL,
    timestamp BIGINT NOT NULL,
    block_hash VARCHAR(66) NOT NULL,
    content BYTES NOT NULL,
    content_sha256 BYTES NOT NULL
    """,
)

Table("chain_snapshots", "name VARCHAR NOT NULL PRIMARY KEY, content BYTES NOT NULL")


class Entry(NamedTuple):
    """One change of the chain.

    Attributes:
        position: Its position, counted from 1.
        kind: `TRANSACTION`, with the signed transaction as payload, or `BALANCE`, with address and wei.
        timestamp: Unix seconds of the block.
        payload: The bytes.
        digest: The hash of this entry and the digest before it.
        withdrawn: Whether the chain refused it after it was written.
        block_hash: The hash of its block, once it is available.
    """

    position: int
    kind: str
    timestamp: int
    payload: bytes
    digest: bytes
    withdrawn: bool = False
    block_hash: str | None = None


class Dump(NamedTuple):
    """The chain's whole state after an entry.

    Attributes:
        position: That entry's position; 0 before the first.
        digest: That entry's digest.
        timestamp: Unix seconds of the latest block.
        block_hash: Hash of the latest block.
        content: The output of the node's dump function.
    """

    position: int
    digest: bytes
    timestamp: int
    block_hash: str
    content: bytes


class History(NamedTuple):
    """The chain's history in the database.

    Attributes:
        dump: The newest usable dump, if any.
        tail: The entries after the dump, or all entries.
        cut: How many entries of the tail were damaged and set aside.
    """

    dump: Dump | None
    tail: Sequence[Entry]
    cut: int


_INSERT_ENTRY: Final = inserting("chain_journal", Entry._fields)


def follow(
    previous: bytes, position: int, kind: str, timestamp: int, payload: bytes, *, block_hash: str | None = None
) -> Entry:
    """The next entry after a digest."""
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
    """The journal is unreadable. The text names the next step."""


# --- functions for Store.run ------------------------------------------------------------------------------------------


def genesis_text(connection: Connection, proposed: str) -> str:
    """The text of the first block: as recorded at the first start, else as proposed. In that case it is recorded."""
    known = get_meta(connection, _GENESIS)
    if known is None:
        set_meta(connection, _GENESIS, proposed)
    return known or proposed


def is_ours(connection: Connection) -> bool:
    """Whether this server writes the journal. Of several servers that share a database, only one may at a time."""
    return leases.take(connection, _LEASE)


def append(connection: Connection, new: Sequence[Entry], confirmed: Sequence[tuple[int, str]]) -> None:
    """Writes entries, and the block hashes that are now available for earlier ones.

    Raises:
        StoreUnavailable: Another server took over the journal while this one had no connection to the database.
    """
    if not is_ours(connection):
        raise StoreUnavailable("another server keeps the chain of this database now")
    connection.each(_INSERT_ENTRY, map(Entry._asdict, new))
    for position, block_hash in confirmed:
        connection.run(
            "UPDATE chain_journal SET block_hash = :block_hash WHERE position = :position",
            block_hash=block_hash,
            position=position,
        )


def withdraw(connection: Connection, position: int) -> None:
    """Records that the chain refused an entry. The entry stays in its position, so that the digests still match."""
    connection.run("UPDATE chain_journal SET withdrawn = :yes WHERE position = :position", yes=True, position=position)


def save_dump(connection: Connection, dump: Dump) -> None:
    """Saves a dump, and keeps the one before it in case this one is damaged."""
    connection.run("DELETE FROM chain_dumps WHERE position = :position", position=dump.position)
    connection.insert("chain_dumps", **dump._asdict(), content_sha256=hashlib.sha256(dump.content).digest())
    kept = connection.column("SELECT position FROM chain_dumps ORDER BY position DESC LIMIT :kept", kept=_KEPT_DUMPS)
    connection.run("DELETE FROM chain_dumps WHERE position < :oldest", oldest=min(kept))


def read(connection: Connection) -> History:
    """Reads everything needed to rebuild the chain. A damaged tail is set aside.

    Raises:
        JournalUnusable: The dump before the entries is missing.
    """
    base = next((dump for dump in _dumps(connection) if _fits(connection, dump)), None)
    position, digest = (base.position, base.digest) if base else (0, START)
    tail = "SELECT * FROM chain_journal WHERE position > :position ORDER BY position"
    # SQLite has no boolean type.
    rows = [Entry(**row | {"withdrawn": bool(row["withdrawn"])}) for row in connection.records(tail, position=position)]
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
    """Restores a dump. Deletes all entries after it, and if it is from another history, also all before it."""
    kept = dump.position if _digest_at(connection, dump.position) == dump.digest else -1
    for table in ("chain_journal", "chain_dumps"):
        connection.run(f"DELETE FROM {table} WHERE position > :kept", kept=kept)  # noqa: S608 - our own names
    save_dump(connection, dump)


def save_snapshot(connection: Connection, name: str, content: bytes) -> None:
    """Saves a snapshot under a name. Replaces a snapshot of that name."""
    connection.run("DELETE FROM chain_snapshots WHERE name = :name", name=name)
    connection.insert("chain_snapshots", name=name, content=content)


def read_snapshot(connection: Connection, name: str) -> bytes | None:
    """The snapshot of that name, or None when it does not exist."""
    found: bytes | None = connection.value("SELECT content FROM chain_snapshots WHERE name = :name", name=name)
    return found


# --- snapshots as bytes -----------------------------------------------------------------------------------------------


class SnapshotUnusable(ValueError):
    """The bytes are not a snapshot of this chain."""


def pack(dump: Dump, genesis: str) -> bytes:
    """Encodes a dump as bytes that can be stored anywhere."""
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
    """Decodes a dump from its bytes.

    Raises:
        SnapshotUnusable: The bytes are damaged, or belong to a chain with another first block.
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
    rows = connection.records("SELECT * FROM chain_dumps ORDER BY position DESC")
    return [Dump(**row) for row in rows if hashlib.sha256(row["content"]).digest() == row.pop("content_sha256")]


def _fits(connection: Connection, dump: Dump) -> bool:
    """Whether the journal contains a dump's entry, or begins directly after it."""
    known = _digest_at(connection, dump.position)
    if known is not None:
        return known == dump.digest
    first = connection.value("SELECT min(position) FROM chain_journal")
    return first is None or first == dump.position + 1


def _digest_at(connection: Connection, position: int) -> bytes | None:
    """Digest of an entry, None when there is no entry at that position."""
    found: bytes | None = connection.value(
        "SELECT digest FROM chain_journal WHERE position = :position", position=position
    )
    return found


def _set_aside(connection: Connection, damaged: Sequence[Entry]) -> None:
    kept = ("position", "kind", "timestamp", "payload", "digest")
    connection.each(
        inserting("chain_journal_cut", kept), ({name: getattr(entry, name) for name in kept} for entry in damaged)
    )
    for table in ("chain_journal", "chain_dumps"):
        connection.run(f"DELETE FROM {table} WHERE position >= :first", first=damaged[0].position)  # noqa: S608 - our own names
