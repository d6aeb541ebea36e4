"""Fifty learners do lessons 1 and 6 at the same time on one emulator, through the desk, as in a workshop.

Heavy, so run by name: ``pytest tests/workshop/fifty_learners.py -s``. Every learner runs the very cells of the
notebooks, in a namespace and a thread of their own; the emulator and the desk are the real ones.
"""

from __future__ import annotations

import hashlib
import json
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import svcnb
from svcnb.client.chain_secured import door
from svcnb.client.chain_secured.pending import PendingFolder
from svcnb.control import EmulatorControl
from svcnb.launch import Emulator
from svcnb.workshop import Workshop

ROOT = Path(__file__).resolve().parents[2]
LEARNERS = 50
LESSONS = ("01-quickstart", "06-chain-secured")
ALLOWED_S = 5.0
READING_S = 4.0
"""Seconds that a learner looks at a result before the next cell; less than any person needs."""


def cells(lesson: str) -> list[str]:
    notebook = json.loads((ROOT / f"notebooks/{lesson}.ipynb").read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


class Package:
    """svcnb as one learner's kernel sees it: the environment of a thread is that of the whole process."""

    def __init__(self, emulator: EmulatorControl, token: str) -> None:
        self._emulator, self._token = emulator, token

    def lesson(self, _name: str, **_settings: object) -> EmulatorControl:
        return self._emulator

    def practice_key(self, number: int) -> str:
        return "0x" + hashlib.sha256(f"{self._token} {number}".encode()).hexdigest()

    def __getattr__(self, name: str) -> Any:
        return getattr(svcnb, name)


def quiet(*_shown: object) -> None:
    """Shows nothing: fifty notebooks at once."""


@dataclass
class Walk:
    """What one learner did."""

    name: str
    took_s: dict[str, float] = field(default_factory=dict)
    wallets: list[str] = field(default_factory=list)
    error: str = ""


def walk(room: Workshop, name: str, start: threading.Barrier, pause_s: float) -> Walk:
    done, token = Walk(name), room.learner(name).token
    place = room.environment(name)
    handle = EmulatorControl(
        place["SVC_BASE_URL"],
        control_token=token,
        names={"control_url": f"{place['SVC_WORKSHOP_URL']}/control"},
    )
    start.wait(120)
    reading = threading.Event()  # never set: it only measures time
    reading.wait(pause_s * int(name[-2:]) / LEARNERS)
    try:
        for lesson in LESSONS:
            space: dict[str, Any] = {"svcnb": Package(handle, token), "display": quiet, "print": quiet}
            for number, source in enumerate(cells(lesson)):
                begun = time.perf_counter()
                exec(source.replace("import svcnb\n", ""), space)  # noqa: S102 - our own lessons
                done.took_s[f"{lesson}:{number}"] = time.perf_counter() - begun
                reading.wait(pause_s)
            done.wallets.append(space["wallet"].address)
    except Exception as error:  # noqa: BLE001 - it is told below
        done.error = f"{type(error).__name__}: {error}"
    finally:
        handle.close()
    return done


@pytest.mark.chain
@pytest.mark.engine
@pytest.mark.parametrize("pause_s", [READING_S, 0.0], ids=["reading", "all at once"])
def test_fifty_learners_finish_without_disturbing_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pause_s: float
) -> None:
    # Mints under way are kept in the learner's home, of which fifty threads of one process have one together.
    monkeypatch.setattr(door, "PendingFolder", lambda: PendingFolder(tmp_path / threading.current_thread().name))
    with Emulator(control_token="the teacher's", state=tmp_path / "state") as emulator:
        room = Workshop(emulator, folder=tmp_path)
        begun = time.perf_counter()
        names = [room.add(f"learner-{number:02}").name for number in range(LEARNERS)]
        places_s = time.perf_counter() - begun
        room.open_desk()
        try:
            start = threading.Barrier(LEARNERS)
            begun = time.perf_counter()
            with ThreadPoolExecutor(LEARNERS) as pool:
                walks = list(pool.map(lambda name: walk(room, name, start, pause_s), names))
            whole_s = time.perf_counter() - begun
        finally:
            room.close()

    assert [(each.name, each.error) for each in walks if each.error] == []
    wallets = [wallet for each in walks for wallet in each.wallets]
    assert len(wallets) == len(set(wallets)) == LEARNERS * len(LESSONS)
    took = sorted(second for each in walks for second in each.took_s.values())
    p95 = took[int(len(took) * 0.95)]
    print(  # noqa: T201 - a measured figure is the answer
        f"\n{LEARNERS} learners, {pause_s:g} s between cells, {len(took)} cells: places in {places_s:.1f} s, "
        f"all done in {whole_s:.1f} s; a cell: {statistics.median(took):.2f} s (median), {p95:.2f} s (p95), "
        f"{took[-1]:.2f} s (longest)"
    )
    # Nobody reads nothing: without pauses all that counts is that everybody finishes.
    assert pause_s == 0 or p95 < ALLOWED_S
