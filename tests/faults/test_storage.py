"""A full disk, and a deleted database. Calls fail without a charge, and succeed again without a restart.

`fault_storage` tests a locked database, a full file system and a read-only one.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from svcnb import Unavailable
from svcnb.client.config import Retries
from svcnb.launch import Emulator

pytestmark = [pytest.mark.chain, pytest.mark.slow]
linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of a running process are set by prlimit")
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@pytest.fixture
def start(start_emulator: Callable[..., Emulator], tmp_path: Path) -> Callable[..., Emulator]:
    return lambda **settings: start_emulator(state=str(tmp_path / "state"), starter_credits=1_000, **settings)


@contextmanager
def full_disk(emulator: Emulator, state: Path) -> Iterator[None]:
    """Limits the size of the emulator's files to the present size of the largest database file."""
    largest = max(file.stat().st_size for file in state.iterdir())
    resource.prlimit(emulator.pid, resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(emulator.pid, resource.RLIMIT_FSIZE, UNLIMITED)


def names(svc: Any) -> list[str]:
    return [group.name for group in svc.groups.list()]


@linux
def test_on_a_full_disk_writes_are_refused_and_free_until_there_is_free_space(start, tmp_path):
    emulator = start()
    account = emulator.client().accounts.create("full")
    svc = emulator.client(api_key=account.api_key, retries=Retries(attempts=1))
    svc.groups.create("before")
    made = ["before"]
    with full_disk(emulator, tmp_path / "state"):
        with suppress(Unavailable):
            while len(made) < 400:  # the process first uses the free space inside the files
                made.append(svc.groups.create(f"during {len(made)}").name)
        with pytest.raises(Unavailable, match="nothing was charged"):
            svc.groups.create("no room")
        assert names(svc) == made, "reading goes on"
        before = svc.billing.balance().available_cents
    svc.groups.create("after")
    assert names(svc) == [*made, "after"]
    assert svc.billing.balance().available_cents == before - 1
    # The disk may have been too full for the charge of the last write. That write is then free, but never charged
    # without effect.
    assert len(made) - 1 <= 1_000 - before <= len(made), "a refused write was charged"
    emulator.stop()
    again = start()
    assert names(again.client(api_key=account.api_key)) == [*made, "after"]


@linux
def test_a_node_that_crashes_on_a_full_disk_restarts_when_there_is_free_space(start, tmp_path, find_processes):
    """A rebuild of the chain needs the database. A temporary failure must not stop the chain permanently."""
    emulator = start()
    svc = emulator.client()
    account = svc.accounts.create("both")
    svc = emulator.client(api_key=account.api_key, retries=Retries(attempts=1))
    svc.groups.create("before")
    with full_disk(emulator, tmp_path / "state"):
        with suppress(Unavailable):
            for number in range(400):
                svc.groups.create(f"during {number}")
        made = names(svc)
        (node,) = find_processes(emulator, "chain node")
        os.kill(node, signal.SIGKILL)
        with pytest.raises(Unavailable):
            svc.groups.create("lost twice")
    patient = emulator.client(api_key=account.api_key)
    patient.groups.create("after")
    assert names(patient) == [*made, "after"]


def test_a_deleted_database_receives_no_more_writes(start, tmp_path):
    """Without a check, SQLite writes to the deleted file, and every response with 200 is false."""
    emulator = start()
    account = emulator.client().accounts.create("gone")
    svc = emulator.client(api_key=account.api_key, retries=Retries(attempts=1))
    (tmp_path / "state" / "svcnb.db").rename(tmp_path / "elsewhere.db")
    with pytest.raises(Unavailable, match="moved or deleted"):
        svc.groups.create("to nowhere")
    (tmp_path / "elsewhere.db").rename(tmp_path / "state" / "svcnb.db")
    svc.groups.create("back")
    assert names(svc) == ["back"]
