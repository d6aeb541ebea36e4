"""Storage failures whose tests are slow or need a mount: ``pytest tests/faults -o python_files=fault_*.py -s``."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from svcnb import Unavailable
from svcnb.client.config import Retries
from svcnb.launch import Emulator, StateFolderUnusable

pytestmark = [pytest.mark.chain, pytest.mark.slow]
ONCE = Retries(attempts=1)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Separate file system in memory, of 8 MB."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("needs the right to mount")
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "svcnb-test", str(place)], check=True)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_locked_database_causes_a_wait_or_an_error(start_emulator: Callable[..., Emulator], tmp_path: Path) -> None:
    emulator = start_emulator(state=str(tmp_path / "state"), starter_credits=1_000)
    account = emulator.client().accounts.create("held")
    svc = emulator.client(api_key=account.api_key, retries=ONCE, timeout=60)
    with closing(sqlite3.connect(tmp_path / "state" / "svcnb.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="locked"):
            svc.groups.create("held up")
        other.execute("ROLLBACK")
    svc.groups.create("free")
    assert [group.name for group in svc.groups.list()] == ["free"]
    assert svc.billing.balance().available_cents == 999


def test_a_full_file_system_recovers(start_emulator: Callable[..., Emulator], small_disk: Path) -> None:
    emulator = start_emulator(state=str(small_disk / "state"), starter_credits=100_000)
    account = emulator.client().accounts.create("full")
    svc = emulator.client(api_key=account.api_key, retries=ONCE)
    ballast = small_disk / "ballast"
    free = os.statvfs(small_disk)
    ballast.write_bytes(bytes(free.f_bavail * free.f_frsize - 65_536))
    made: list[str] = []
    with suppress(Unavailable):
        while len(made) < 2_000:
            made.append(svc.groups.create(f"group {len(made)}").name)
    with pytest.raises(Unavailable, match="nothing was charged"):
        svc.groups.create("still full")
    begun = time.monotonic()
    ballast.unlink()
    svc.groups.create("room")
    print(f"{len(made)} writes before the disk was full; whole {time.monotonic() - begun:.2f} s after there was room")  # noqa: T201
    emulator.stop()
    again = start_emulator(state=str(small_disk / "state"))
    svc = again.client(api_key=account.api_key)
    assert [group.name for group in svc.groups.list()] == [*made, "room"]
    # The disk may have been too full for the charge of the last write. That write is then free, but never charged
    # without effect.
    spent = 100_000 - svc.billing.balance().available_cents
    assert len(made) <= spent <= len(made) + 1


def test_a_file_system_becomes_read_only_and_writable_again(
    start_emulator: Callable[..., Emulator], small_disk: Path
) -> None:
    def remount(mode: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{mode}", str(small_disk)], check=True)

    emulator = start_emulator(state=str(small_disk / "state"), starter_credits=1_000)
    account = emulator.client().accounts.create("read-only")
    svc = emulator.client(api_key=account.api_key, retries=ONCE)
    svc.groups.create("before")
    emulator.stop()
    remount("ro")
    with pytest.raises(StateFolderUnusable, match="use a writable folder"):
        start_emulator(state=str(small_disk / "state"))
    remount("rw")
    again = start_emulator(state=str(small_disk / "state"))
    svc = again.client(api_key=account.api_key)
    assert [group.name for group in svc.groups.list()] == ["before"]
    svc.groups.create("after")
