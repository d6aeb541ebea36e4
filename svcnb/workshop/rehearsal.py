"""Load test of a workshop. Simulated learners work through the lessons at the same time, each in their own kernel.

The test shows whether a machine is large enough for a workshop. Each learner runs the cells of the lessons in order,
with a pause after each cell. Each lesson has its own kernel. The workshop starts the emulators on demand.
"""

from __future__ import annotations

import logging
import math
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from pydantic import BaseModel, Field

from svcnb.client.errors import InvalidArgument
from svcnb.client.progress import Bar, bar
from svcnb.lessons import lessons_folder
from svcnb.protocol.nesting import parse
from svcnb.workshop.workshop import Workshop

ALLOWED_P95_S: Final = 5.0
"""Maximum 95th percentile of cell durations in a rehearsal that passes, in seconds."""
CELL_TIMEOUT_S: Final = 600.0
"""Maximum time for the start of a kernel, and for each cell, in seconds."""
LOOK_S: Final = 10.0
"""Interval between two measurements of memory use, in seconds."""
_PROC: Final = Path("/proc")


class Rehearsal(BaseModel):
    """Results of a rehearsal, which is a load test of a workshop.

    The durations of cells are NaN if no cell was executed.

    Attributes:
        learners: Number of learners.
        lessons: Names of the lessons, for example ``01-quickstart``.
        pause_s: Seconds between two cells of a learner.
        took_s: Duration of the test in seconds, including the start of the kernels and all pauses.
        cells: Number of executed cells.
        median_s: Median duration of a cell, in seconds.
        p95_s: 95th percentile of the duration of a cell, in seconds.
        longest_s: Duration of the slowest cell, in seconds.
        cpu_s: Processor time of this process and of all its child processes during the rehearsal, in seconds.
        most_emulators: Maximum number of emulators that ran at the same time.
        emulators_mb: Peak memory use of all emulators together, in MiB (proportional set size). None if unknown.
        kernels_mb: Peak memory use of all kernels together, in MiB. None if unknown.
        idle_emulator_mb: Memory use of the largest emulator after the last cell, with its child processes, in MiB.
            None if unknown.
        failures: Learner, lesson and error of each cell that failed, and of each lesson that could not run.
    """

    learners: int
    lessons: list[str]
    pause_s: float
    took_s: float
    cells: int
    median_s: float
    p95_s: float
    longest_s: float
    cpu_s: float = 0.0
    most_emulators: int
    emulators_mb: float | None
    kernels_mb: float | None
    idle_emulator_mb: float | None
    failures: list[str] = Field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether all cells succeeded, and the 95th percentile of their durations is at most `ALLOWED_P95_S`."""
        return not self.failures and self.p95_s <= ALLOWED_P95_S

    def rows(self) -> dict[str, str]:
        """Returns the results for display: texts, with their labels as keys."""
        lessons = " to ".join(dict.fromkeys((self.lessons[0], self.lessons[-1])))
        memory = {"emulators": self.emulators_mb, "kernels": self.kernels_mb, "one emulator": self.idle_emulator_mb}
        return {
            "learners": str(self.learners),
            "lessons": f"{lessons}, {self.pause_s:g} s between cells",
            "time": f"{self.took_s:.0f} s, {self.cpu_s:.0f} s of processor time",
            "cells": f"{self.cells}; {len(self.failures)} failed",
            "a cell": f"{self.median_s:.2f} s median, {self.p95_s:.2f} s p95, {self.longest_s:.2f} s longest",
            "concurrent emulators": str(self.most_emulators),
            **{f"memory, {what}": f"{mb:.0f} MiB" for what, mb in memory.items() if mb is not None},
            **{f"failure {number}": each for number, each in enumerate(self.failures[:10], 1)},
            "result": "passed" if self.passed else f"not passed: {self._reasons()}",
        }

    def _reasons(self) -> str:
        reasons = [f"{len(self.failures)} failures"] if self.failures else []
        if not self.p95_s <= ALLOWED_P95_S:  # also true for NaN, which means that no cell was executed
            reasons.append(f"the 95th percentile is {self.p95_s:.2f} s, but at most {ALLOWED_P95_S:g} s are allowed")
        return " and ".join(reasons)


def rehearse(
    learners: int,
    *,
    first: int = 1,
    last: int = 9,
    pause_s: float = 20.0,
    begins: Callable[[int, float], object] | None = None,
) -> Rehearsal:
    """Runs a load test of a workshop on this machine, and returns the results. Shows a progress bar in a terminal.

    Args:
        learners: Number of learners.
        first: Number of the first lesson.
        last: Number of the last lesson.
        pause_s: Pause after each cell in seconds, which simulates the reading time.
        begins: Function to call before the start. The arguments are the number of cells of each learner, and the
            maximum total pause of a learner in seconds.

    Raises:
        InvalidArgument: The number of learners is below 1, or the lessons do not exist.
    """
    if learners < 1:
        raise InvalidArgument(f"invalid number of learners {learners!r}", hint="Pass at least 1.")
    with TemporaryDirectory(prefix="svcnb-rehearsal-") as scratch:
        folder = Path(scratch)
        lessons = sorted(
            path for path in lessons_folder(None).glob("[0-9]*.ipynb") if first <= int(path.name[:2]) <= last
        )
        if not lessons:
            raise InvalidArgument(
                f"no lesson has a number from {first} to {last}",
                hint="Pass numbers from 0 to 17. The last number must be at least the first number.",
            )
        cells = sum(len(_cells(lesson)) for lesson in lessons)
        if begins is not None:
            # The first learner starts immediately, and the last one almost a full pause later.
            begins(cells, (cells + 1) * pause_s)
        names = [f"learner-{number:03}" for number in range(1, learners + 1)]
        before = _cpu_s()
        with Workshop(names, folder=folder / "workshop") as room:
            room.serve()
            with bar(learners * cells, 0, wanted=None, unit="cell") as progress:
                found = _Rehearsing(room, lessons, pause_s, folder, progress).run()
    found.cpu_s = _cpu_s() - before  # the processor time is complete, because all processes have ended
    return found


class _Rehearsing:
    """Load test in progress: runs the lessons of the simulated learners, and collects their times and failures."""

    def __init__(self, room: Workshop, lessons: Sequence[Path], pause_s: float, folder: Path, progress: Bar) -> None:
        self._room = room
        self._lessons = lessons
        self._pause_s = pause_s
        self._folder = folder
        self._progress = progress
        self._lock = threading.Lock()
        self._took_s: list[float] = []
        self._failures: list[str] = []
        self._kernels: dict[str, int] = {}
        self._over = threading.Event()

    def run(self) -> Rehearsal:
        names = [each.name for each in self._room.roster]
        memory = _Memory(self._pids)
        watch = threading.Thread(target=memory.watch, args=(self._over,), daemon=True, name="svcnb-rehearsal-memory")
        began = time.monotonic()
        watch.start()
        with ThreadPoolExecutor(len(names), thread_name_prefix="svcnb-rehearsal") as pool:
            try:
                list(pool.map(self._learn, names, range(len(names))))
            finally:  # after Ctrl-C, each learner stops after the current cell
                took_s = time.monotonic() - began
                self._over.set()
        watch.join()
        cells = sorted(self._took_s) or [math.nan]
        return Rehearsal(
            learners=len(names),
            lessons=[path.stem for path in self._lessons],
            pause_s=self._pause_s,
            took_s=took_s,
            cells=len(self._took_s),
            median_s=cells[len(cells) // 2],
            p95_s=cells[math.ceil(len(cells) * 0.95) - 1],
            longest_s=cells[-1],
            most_emulators=memory.most_emulators,
            emulators_mb=memory.emulators_mb,
            kernels_mb=memory.kernels_mb,
            idle_emulator_mb=memory.largest_emulator_mb(),
            failures=self._failures,
        )

    def _pids(self) -> tuple[list[int], list[int]]:
        """Returns the process ids of the running emulators, and those of the kernels."""
        with self._lock:
            kernels = list(self._kernels.values())
        return ([] if self._room.emulators is None else self._room.emulators.pids()), kernels

    def _learn(self, name: str, number: int) -> None:
        own = self._folder / name
        shutil.copytree(self._lessons[0].parent, own, ignore=shutil.ignore_patterns("solutions", "images"))
        environment = os.environ | self._room.environment(name)
        # Real learners do not start at the same moment.
        self._over.wait(self._pause_s * number / len(list(self._room.roster)))
        for lesson in self._lessons:
            if self._over.is_set():
                break
            try:
                self._run_lesson(name, own / lesson.name, environment)
            except Exception as error:  # noqa: BLE001 - the result contains the error, and other lessons continue
                self._failures.append(f"{name}, {lesson.stem}: {type(error).__name__}: {error}")
        _close_loop()

    def _run_lesson(self, name: str, lesson: Path, environment: dict[str, str]) -> None:
        from jupyter_client.manager import KernelManager

        # Another program can use a port between Jupyter's choice of free ports and the kernel's start. A notebook
        # server then chooses other ports, but this manager does not. Unix sockets need no ports. Windows supports only
        # ports.
        sockets = {"transport": "ipc", "ip": str(lesson.with_suffix(""))} if os.name == "posix" else {}
        manager = KernelManager(**sockets)
        manager.start_kernel(
            extra_arguments=[f"--IPKernelApp.log_level={logging.CRITICAL}"],
            env=environment | {"JPY_SESSION_NAME": str(lesson)},
            cwd=str(lesson.parent),
        )
        client = manager.client()
        try:
            client.start_channels()
            client.wait_for_ready(timeout=CELL_TIMEOUT_S)
            if (pid := getattr(manager.provisioner, "pid", None)) is not None:
                with self._lock:
                    self._kernels[name] = pid
            for source in _cells(lesson):
                if self._over.is_set():
                    break
                failures: list[str] = []
                began = time.monotonic()
                client.execute_interactive(
                    source, timeout=CELL_TIMEOUT_S, allow_stdin=False, output_hook=partial(_note_error, failures)
                )
                with self._lock:
                    self._took_s.append(time.monotonic() - began)
                    self._failures += [f"{name}, {lesson.stem}: {each}" for each in failures]
                    self._progress.step(f"{len(self._failures)} failed")
                self._over.wait(self._pause_s)
        finally:
            with self._lock:
                self._kernels.pop(name, None)
            client.stop_channels()
            manager.shutdown_kernel(now=True)


class _Memory:
    """Peak memory use of emulators and kernels, in MiB of proportional set size. Only Linux provides this value."""

    def __init__(self, pids: Callable[[], tuple[list[int], list[int]]]) -> None:
        self._pids = pids
        self.most_emulators = 0
        self.emulators_mb: float | None = None
        self.kernels_mb: float | None = None

    def watch(self, over: threading.Event) -> None:
        """Measures the memory use repeatedly until the event is set."""
        while not over.wait(LOOK_S):
            emulators, kernels = self._pids()
            children = _children()
            self.most_emulators = max(self.most_emulators, len(emulators))
            self.emulators_mb = _larger(self.emulators_mb, _pss_mb(emulators, children))
            self.kernels_mb = _larger(self.kernels_mb, _pss_mb(kernels, children))

    def largest_emulator_mb(self) -> float | None:
        """Returns the current memory use of the largest emulator and its child processes in MiB, or None if unknown."""
        children = _children()
        return max((_pss_mb([pid], children) or 0.0 for pid in self._pids()[0]), default=0.0) or None


def _close_loop() -> None:
    """Closes the event loop that Jupyter's client created for this thread and did not close."""
    from jupyter_core.utils import ensure_event_loop

    loop = ensure_event_loop()
    if not loop.is_running():
        loop.close()


def _note_error(failures: list[str], message: dict[str, Any]) -> None:
    if message["msg_type"] == "error":
        failures.append(f"{message['content']['ename']}: {message['content']['evalue']}")


def _cells(lesson: Path) -> list[str]:
    notebook = parse(lesson.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _larger(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else max(one, other)


def _children() -> dict[int, list[int]]:
    """Returns the ids of the child processes of each process, by the id of the parent."""
    found: dict[int, list[int]] = {}
    for each in _PROC.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            # The name of the process, in parentheses, can contain any character.
            parent = int(each.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
            found.setdefault(parent, []).append(int(each.parent.name))
    return found


def _pss_mb(pids: Iterable[int], children: dict[int, list[int]]) -> float | None:
    """Returns the proportional set size of processes and their descendants in MiB, or None if it is not available."""
    if not (_PROC / "self/smaps_rollup").exists():
        return None
    total_kb, left = 0, list(pids)
    while left:
        pid = left.pop()
        left += children.get(pid, [])
        with suppress(OSError):
            lines = (_PROC / str(pid) / "smaps_rollup").read_text(encoding="ascii").splitlines()
            total_kb += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total_kb / 1024


def _cpu_s() -> float:
    """Returns the processor time of this process and of its finished child processes, in seconds."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
