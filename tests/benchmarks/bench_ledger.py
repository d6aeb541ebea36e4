"""Charges per second in the ledger, compared with sqlite3 and the same two writes, interleaved in one run."""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import time
from itertools import count
from pathlib import Path

import pytest

from svcnb.emulator.billing.ledger import Ledger
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.store import Store
from tests.emulator.billing.charging import charge

ROUNDS = 5
CHARGES = 600
AT_ONCE = 64
WALLET = "0x" + "a" * 40


def bare(path: Path, numbers: count[int]) -> float:
    """Returns the charges per second of one connection, with WAL, synchronous=FULL and one transaction each."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS balances (account TEXT PRIMARY KEY, cents INTEGER)")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY, account TEXT, cents INTEGER, kind TEXT,"
        " reason TEXT, reference TEXT UNIQUE, request_id TEXT, at REAL)"
    )
    connection.execute("INSERT OR IGNORE INTO balances VALUES (?, 1000000)", (WALLET,))
    begun = time.perf_counter()
    for _ in range(CHARGES):
        request = f"r{next(numbers)}"
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "INSERT INTO entries VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
            (WALLET, -1, "charge", "bench", f"request:{request}", request, 0.0),
        )
        connection.execute("UPDATE balances SET cents = cents - 1 WHERE account = ?", (WALLET,))
        connection.execute("COMMIT")
    taken = time.perf_counter() - begun
    connection.close()
    return CHARGES / taken


async def ours(ledger: Ledger, numbers: count[int], at_once: int) -> float:
    """Returns the charges per second of the ledger with this number of concurrent callers."""

    async def caller() -> None:
        for _ in range(CHARGES // at_once):
            await charge(ledger, WALLET, 1, reason="bench", request_id=f"r{next(numbers)}")

    begun = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(at_once)))
    return CHARGES // at_once * at_once / (time.perf_counter() - begun)


async def test_charges_keep_up_with_bare_sqlite(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'ledger.db'}")
    ledger = Ledger(store, Clock())
    await ledger.add_credit(WALLET, 10_000_000, reason="bench", reference="bench")
    numbers: count[int] = count()
    seen: dict[str, list[float]] = {"bare": [], "one at a time": [], "at once": []}
    for _ in range(ROUNDS):
        seen["bare"].append(bare(tmp_path / "bare.db", numbers))
        seen["one at a time"].append(await ours(ledger, numbers, 1))
        seen["at once"].append(await ours(ledger, numbers, AT_ONCE))
    assert await ledger.verify() == []
    store.close()
    rates = {name: statistics.median(rate) for name, rate in seen.items()}
    print("\n" + "  ".join(f"{name} {rate:.0f}/s ({rate / rates['bare']:.2f}x)" for name, rate in rates.items()))
    if rates["bare"] > 50_000:
        pytest.skip("this disk does not wait for its writes, so there is nothing to share")
    # Sequential charges need two thread switches in addition to the disk, because the event loop must not wait for a
    # disk.
    assert rates["one at a time"] >= 0.25 * rates["bare"]
    assert rates["at once"] >= 5 * rates["bare"]
