"""A rehearsal runs real lessons in real kernels, and reports if a machine is not large enough."""

from __future__ import annotations

import json
import signal
import threading
import time
from contextlib import nullcontext

import pytest
from click.testing import CliRunner

import svcnb
from svcnb.cli.workshop import command
from svcnb.client.progress import Bar
from svcnb.exit_codes import ExitCode
from svcnb.lessons import lessons_folder
from svcnb.workshop import rehearsal
from svcnb.workshop.rehearsal import Rehearsal, rehearse

FIGURES = {
    "learners": 2, "lessons": ["01-quickstart"], "pause_s": 1, "took_s": 60, "cells": 20, "median_s": 0.1, "p95_s": 1,
    "longest_s": 2, "most_emulators": 2, "emulators_mb": 100, "kernels_mb": 100, "idle_emulator_mb": 50,
}  # fmt: skip


@pytest.mark.chain
@pytest.mark.engine
@pytest.mark.slow
def test_learners_work_through_a_lesson_at_the_same_time() -> None:
    options = {"--learners": "2", "--first": "1", "--last": "1", "--pause": "0.1", "--output": "json"}
    done = CliRunner().invoke(command, ["rehearse", *(word for option in options.items() for word in option)])
    assert done.exit_code in {ExitCode.OK, ExitCode.FAILED}, done.output  # a busy machine can be too slow
    found = json.loads(done.stdout)
    assert found["failures"] == []
    assert found["cells"] == 2 * len(rehearsal._cells(lessons_folder(None) / "01-quickstart.ipynb"))
    assert 0 < found["median_s"] <= found["p95_s"] <= found["longest_s"] <= found["took_s"]
    assert found["cpu_s"] > 0
    assert (
        f"Rehearsing with 2 learners and {found['cells'] // 2} cells each, for at least 1 min. "
        "Press Ctrl-C to stop the rehearsal." in done.stderr
    )


class Interrupts(Bar):
    """Progress bar that sends Ctrl-C to the main thread after the first cell."""

    def step(self, text: str = "") -> None:
        assert text == "0 failed"
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


@pytest.mark.chain
@pytest.mark.engine
@pytest.mark.slow
def test_ctrl_c_ends_a_rehearsal_while_its_learners_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "bar", lambda *_, **_options: nullcontext(Interrupts()))
    began, pause_s = time.monotonic(), 60.0
    with pytest.raises(KeyboardInterrupt):
        rehearse(1, first=1, last=1, pause_s=pause_s)
    assert time.monotonic() - began < 5 * pause_s  # the lesson has more cells


def test_failed_or_slow_cells_fail_the_rehearsal() -> None:
    assert Rehearsal.model_validate(FIGURES).passed
    assert Rehearsal.model_validate(FIGURES).rows()["lessons"] == "01-quickstart, 1 s between cells"
    assert not Rehearsal.model_validate(FIGURES | {"p95_s": 5.1}).passed
    failed = Rehearsal.model_validate(FIGURES | {"failures": ["learner-001, 01-quickstart: ValueError: no"]})
    assert not failed.passed
    assert "learner-001" in failed.rows()["failure 1"]


def test_a_rehearsal_needs_learners_and_lessons() -> None:
    with pytest.raises(svcnb.InvalidArgument, match="invalid number of learners 0"):
        rehearse(0)
    with pytest.raises(svcnb.InvalidArgument, match="no lesson has a number from 5 to 4"):
        rehearse(1, first=5, last=4)
