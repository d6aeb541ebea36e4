"""Journal of the chain in the database. It contains all changes, so the emulator can rebuild the chain from it.

Each entry contains a digest of its own content and of the previous entry's digest. If the digest of an entry does not
match, the module moves this entry and all later entries to another table. When the block of a transaction exists, the
module adds the block's hash to the entry. A replay of the entry must result in the same block.
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
"""Value that the first entry uses as the digest of the previous entry."""
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

# No longer in use. The removal of a table needs a new version of the schema.
Table("chain_snapshots", "name VARCHAR NOT NULL PRIMARY KEY, content BYTES NOT NULL")


class Entry(NamedTuple):
    """Change of the chain.

    Attributes:
        position: Position in the journal, counted from 1.
        kind: `TRANSACTION`, or `BALANCE` for an account that received newly created ether.
        timestamp: Timestamp of the transaction's block, or time of the balance change, in Unix seconds.
        payload: The signed transaction, or the result of `balance_payload`.
        digest: Hash of this entry and of the previous entry's digest.
        withdrawn: Whether the chain rejected the entry after its write to the journal.
        block_hash: Hash of the transaction's block. None for a balance, and before the block is recorded.
    """

    position: int
    kind: str
    timestamp: int
    payload: bytes
    digest: bytes
    withdrawn: bool = False
    block_hash: str | None = None


class Dump(NamedTuple):
    """Copy of the whole state of the chain after a journal entry.

    Attributes:
        position: Position of the entry, or 0 if the dump precedes all entries.
        digest: Digest of the entry, or `START` if the dump precedes all entries.
        timestamp: Timestamp of the latest block, in Unix seconds.
        block_hash: Hash of the latest block.
        content: Output of the node's dump function.
    """

    position: int
    digest: bytes
    timestamp: int
    block_hash: str
    content: bytes


class History(NamedTuple):
    """History of the chain from the database.

    Attributes:
        dump: Newest usable dump, or None.
        tail: Entries after the dump, or all entries if there is no dump.
        cut: Number of damaged entries at the end of the journal. These entries are now in another table.
    """

    dump: Dump | None
    tail: Sequence[Entry]
    cut: int


_INSERT_ENTRY: Final = inserting("chain_journal", Entry._fields)


def follow(
    previous: bytes, position: int, kind: str, timestamp: int, payload: bytes, *, block_hash: str | None = None
) -> Entry:
    """Returns a new journal entry, which follows the entry with the digest ``previous``."""
    head = f"{position}\0{kind}\0{timestamp}\0{len(payload)}\0".encode()
    return Entry(
        position, kind, timestamp, payload, hashlib.sha256(previous + head + payload).digest(), block_hash=block_hash
    )


def balance_payload(address: str, wei: int) -> bytes:
    """Returns the payload of a `BALANCE` entry: the address (20 bytes) and the balance in wei (32 bytes)."""
    return bytes.fromhex(address[2:]) + wei.to_bytes(32, "big")


def read_balance(payload: bytes) -> tuple[str, int]:
    """Returns the address and the balance in wei from the payload of a `BALANCE` entry."""
    return "0x" + payload[:20].hex(), int.from_bytes(payload[20:], "big")


class JournalUnusable(Exception):
    """Error for an unreadable journal. The message contains the fix."""


# --- functions for Store.run ------------------------------------------------------------------------------------------


def genesis_text(connection: Connection, proposed: str) -> str:
    """Returns the recorded parameters of the first block.

    At the first start, the function records and returns the proposed parameters.
    """
    known = get_meta(connection, _GENESIS)
    if known is None:
        set_meta(connection, _GENESIS, proposed)
    return known or proposed


def may_write(connection: Connection) -> bool:
    """Acquires the lease on the journal if the lease is free, and returns whether this server now has the lease.

    If several servers share a database, only the server with the lease can write the journal.
    """
    return leases.take(connection, _LEASE)


def append(connection: Connection, new: Sequence[Entry], confirmed: Sequence[tuple[int, str]]) -> None:
    """Writes new entries, and the block hashes of entries that the journal already contains.

    Args:
        connection: Connection inside a transaction.
        new: New entries, in order.
        confirmed: Pairs of the position of an entry in the journal and the hash of its block.

    Raises:
        StoreUnavailable: Another server took over the journal while this server had no connection to the database.
    """
    if not may_write(connection):
        raise StoreUnavailable("another server now runs the chain of this database: stop one of the servers")
    connection.each(_INSERT_ENTRY, map(Entry._asdict, new))
    for position, block_hash in confirmed:
        connection.run(
            "UPDATE chain_journal SET block_hash = :block_hash WHERE position = :position",
            block_hash=block_hash,
            position=position,
        )


def withdraw(connection: Connection, position: int) -> None:
    """Records that the chain rejected an entry. The entry stays in the journal, so that the digests still match."""
    connection.run("UPDATE chain_journal SET withdrawn = :yes WHERE position = :position", yes=True, position=position)


def save_dump(connection: Connection, dump: Dump) -> None:
    """Saves a dump and deletes old dumps. Keeps the previous dump, because the new dump can be damaged."""
    connection.run("DELETE FROM chain_dumps WHERE position = :position", position=dump.position)
    connection.insert("chain_dumps", **dump._asdict(), content_sha256=hashlib.sha256(dump.content).digest())
    kept = connection.column("SELECT position FROM chain_dumps ORDER BY position DESC LIMIT :kept", kept=_KEPT_DUMPS)
    connection.run("DELETE FROM chain_dumps WHERE position < :oldest", oldest=min(kept))


def read(connection: Connection) -> History:
    """Returns all data for a rebuild of the chain. Moves damaged entries at the end to another table.

    Raises:
        JournalUnusable: The journal does not begin with entry 1, and no undamaged dump precedes its first entry.
    """
    base = next((dump for dump in _dumps(connection) if _fits(connection, dump)), None)
    position, digest = (base.position, base.digest) if base else (0, START)
    tail = "SELECT * FROM chain_journal WHERE position > :position ORDER BY position"
    rows = [
        Entry(**row)._replace(withdrawn=bool(row["withdrawn"]))  # SQLite has no boolean type
        for row in connection.records(tail, position=position)
    ]
    if base is None and rows and rows[0].position != 1:
        raise JournalUnusable(
            f"the chain's journal starts at entry {rows[0].position}, but the stored chain state before this entry is "
            "missing or damaged. Restore the state folder or the database from a copy, or use a different folder or "
            "database."
        )
    sound: list[Entry] = []
    for row in rows:
        expected = follow(digest, position + 1, row.kind, row.timestamp, row.payload)
        if row.position != position + 1 or row.digest != expected.digest:
            break
        sound.append(row)
        position, digest = row.position, row.digest
    if damaged := rows[len(sound) :]:
        _move_damaged(connection, damaged)
    return History(base, sound, len(damaged))


def restore(connection: Connection, dump: Dump) -> None:
    """Saves a dump as the current state, and deletes all later entries and dumps.

    If the dump is from a different history, the function deletes all entries and all other dumps.
    """
    kept = dump.position if _digest_at(connection, dump.position) == dump.digest else -1
    for table in ("chain_journal", "chain_dumps"):
        connection.run(f"DELETE FROM {table} WHERE position > :kept", kept=kept)  # noqa: S608 - our own names
    save_dump(connection, dump)


# --- snapshots as bytes -----------------------------------------------------------------------------------------------


class SnapshotUnusable(ValueError):
    """Error for bytes that are not a snapshot of this chain."""


def pack(dump: Dump, genesis: str) -> bytes:
    """Encodes a dump and the parameters of the first block as bytes, for `unpack`."""
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
    """Decodes a dump from the result of `pack`.

    Raises:
        SnapshotUnusable: The bytes are damaged, have a different format, or belong to a chain with a different first
            block.
    """
    line, _, content = data.partition(b"\n")
    try:
        head = json.loads(line)
        if head["format"] != 1:
            given = str(head["format"])[:20]
            raise SnapshotUnusable(f"the chain snapshot has format {given}: expected 1. Create a new snapshot.")
        if head["sha256"] != hashlib.sha256(content).hexdigest():
            raise SnapshotUnusable("the chain snapshot is damaged: use an undamaged copy, or create a new snapshot")
        dump = Dump(head["position"], bytes.fromhex(head["digest"]), head["timestamp"], head["block_hash"], content)
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, SnapshotUnusable):
            raise
        raise SnapshotUnusable("invalid chain snapshot: use an undamaged copy, or create a new snapshot") from error
    if head["genesis"] != genesis:
        raise SnapshotUnusable(
            "the snapshot belongs to a chain with a different first block: restore the snapshot on the chain from "
            "which it was taken"
        )
    return dump


# --- reading ----------------------------------------------------------------------------------------------------------


def _dumps(connection: Connection) -> list[Dump]:
    """Returns the undamaged dumps, newest first."""
    rows = connection.records("SELECT * FROM chain_dumps ORDER BY position DESC")
    return [Dump(**row) for row in rows if hashlib.sha256(row["content"]).digest() == row.pop("content_sha256")]


def _fits(connection: Connection, dump: Dump) -> bool:
    """Returns whether the journal contains a dump's entry or begins directly after it."""
    known = _digest_at(connection, dump.position)
    if known is not None:
        return known == dump.digest
    first = connection.value("SELECT min(position) FROM chain_journal")
    return first is None or first == dump.position + 1


def _digest_at(connection: Connection, position: int) -> bytes | None:
    """Returns the digest of an entry, or None if no entry has that position."""
    found: bytes | None = connection.value(
        "SELECT digest FROM chain_journal WHERE position = :position", position=position
    )
    return found


def _move_damaged(connection: Connection, damaged: Sequence[Entry]) -> None:
    kept = ("position", "kind", "timestamp", "payload", "digest")
    connection.each(
        inserting("chain_journal_cut", kept), ({name: getattr(entry, name) for name in kept} for entry in damaged)
    )
    for table in ("chain_journal", "chain_dumps"):
        connection.run(f"DELETE FROM {table} WHERE position >= :first", first=damaged[0].position)  # noqa: S608 - our own names
