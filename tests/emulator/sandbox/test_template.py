"""Processes of `v8` that are copies of a warm process: they work like others, but share no random numbers."""

from __future__ import annotations

import os
import platform
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() not in {"x86_64", "aarch64"}, reason="copies need Linux"
    ),
]
ENGINES = ("v8",)
WORKS = "const main = () => 1"


def ready(room: Any) -> list[Any]:
    return list(room.engine._pool._ready)


def template(room: Any) -> int | None:
    """Returns the oldest process with the argument of a template and its copies, without copies that are ready.

    An idle pool stops its template and keeps the copies.
    """
    copies = {isolate.pid for isolate in ready(room)}
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                words = (place / "cmdline").read_bytes().split(b"\0")
                fields = (place / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            own = int(place.name) not in copies and int(fields[1]) == room.engine._pool._host.pid
            if b"template" in words and own:
                found.append((int(fields[19]), int(place.name)))
    return min(found)[1] if found else None


def is_copy(pid: int) -> bool:
    """Returns whether a process is a copy, which has the command line of the template."""
    return b"template" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


def warm(room: Any) -> None:
    """Uses processes until all spares are copies."""
    for _ in range(5):
        room.value(WORKS)

    def copied() -> bool:
        alive = template(room) is not None
        if all(is_copy(isolate.pid) for isolate in ready(room)) and len(ready(room)) > 1 and alive:
            return True
        if alive:
            time.sleep(0.5)
        room.value(WORKS)
        return False

    room.until(copied, "every spare is a copy of the template")


@pytest.fixture
def copies(room: Any) -> Any:
    warm(room)
    return room


def test_copies_work_like_other_processes_with_different_random_numbers(copies: Any) -> None:
    assert copies.value(
        """const main = async () => {
          await new Promise((done) => setTimeout(done, 5));
          const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(3));
          const key = await Svc.Actions.getSvcActionPrivateKey();
          return [digest.byteLength, key.length, Object.prototype.toString.call(1)];
        }"""
    ) == [32, 66, "[object Number]"]
    draw = """const main = () =>
      [Math.random(), crypto.randomUUID(), ethers.utils.hexlify(ethers.utils.randomBytes(16)), Wallet()];
      const Wallet = () => ethers.Wallet.createRandom().privateKey;"""
    drawn = [value for _ in range(12) for value in copies.value(draw)]
    assert len(set(drawn)) == len(drawn)
    assert all(0 <= value < 1 for value in drawn[::4])
    assert len({isolate.pid for isolate in ready(copies)}) == len(ready(copies))


def test_a_copy_ends_at_its_limits_like_any_other_process(copies: Any) -> None:
    assert "maximum runtime" in copies.error("const main = () => { for (;;); }", timeout_ms=300)
    fill = "const main = () => { const all = []; for (;;) all.push(new Array(1e5).fill(all.length)); }"
    assert "maximum memory" in copies.error(fill, memory_limit_mb=128)
    assert copies.error("const main = () => { throw new Error('no'); }").startswith("Uncaught (in promise) Error: no")
    assert copies.value(WORKS) == 1


def test_a_changed_array_prototype_has_the_same_result_on_all_engines(copies: Any) -> None:
    define = 'Object.defineProperty(Array.prototype, "0", { get: () => 7, configurable: true })'
    assert copies.value(f"const main = () => {{ {define}; return []; }}") is not None


def shared(pid: int) -> set[str]:
    """Returns the files that a process maps as shared, so that it sees changes by other processes."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {line.split()[-1] for line in lines if line.split()[1][3] == "s" and "/" in line.split()[-1]}


def test_no_other_process_maps_the_files_that_copies_map(copies: Any) -> None:
    """Copies do not have the template's locks, so another process can truncate these files (SIGBUS)."""
    lost = template(copies)
    assert lost is not None
    copy = ready(copies)[-1].pid
    os.kill(lost, signal.SIGKILL)
    copies.value(WORKS)

    def separate() -> Any:
        return next((isolate.pid for isolate in ready(copies) if not is_copy(isolate.pid)), None)

    copies.until(lambda: separate() is not None, "a process starts without a template")
    assert shared(separate())
    assert shared(copy).isdisjoint(shared(separate()))


def test_a_lost_template_is_replaced_without_a_failed_run(copies: Any) -> None:
    lost = template(copies)
    assert lost is not None
    os.kill(lost, signal.SIGKILL)
    for _ in range(4):
        assert copies.value(WORKS) == 1
    warm(copies)
    assert template(copies) != lost
