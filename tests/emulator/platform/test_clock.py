"""The emulator's clock, which the event loop sets and the database thread reads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from svcnb.emulator.platform.clock import Clock

T = 1_900_000_000.0


def interrupted(work: Callable[[], Any], at: int, change: Callable[[], None]) -> tuple[Any, bool]:
    """Returns the result of a clock method if another thread runs before one of the method's instructions.

    Args:
        work: Function that calls the method.
        at: Number of the instruction, counted from 0.
        change: Function that the other thread runs.

    Returns:
        The result, and whether the method has an instruction with this number.
    """
    left = at
    inside = False

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left, inside
        if not frame.f_code.co_filename.endswith("clock.py") or inside:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            if left == 0:
                inside = True
                change()
                inside = False
            left -= 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        found = work()
    finally:
        sys.settrace(before)
    return found, left < 0


@pytest.mark.parametrize("question", ["now", "now_s", "state", "offset_s"])
def test_concurrent_reads_of_the_clock_are_consistent(question: str) -> None:
    # Python 3.12 reports no instructions of the first call after the request for them.
    interrupted(Clock().now, 0, lambda: None)
    at, more = 0, True
    while more:
        clock = Clock()
        clock.advance(10_000)
        clock.freeze(T)  # the offset stays

        def ask(clock: Clock = clock) -> Any:
            found = getattr(clock, question)
            return found() if callable(found) else found

        change = clock.real if at % 2 else lambda clock=clock: clock.restore({"frozen_at": None, "offset": 5_000.0})
        before = ask()
        found, more = interrupted(ask, at, change)
        after = ask()
        if isinstance(found, dict):
            assert found in (before, after)
        else:
            assert min(abs(found - before), abs(found - after)) < 60, f"at instruction {at}: {before}, {found}, {after}"
        at += 1
    assert at > 5
