"""Rejection of executions on a busy machine (docs/service/http.md#overload-and-transport)."""

from __future__ import annotations

import os

import pytest

from svcnb.emulator.sandbox import load
from svcnb.emulator.sandbox.load import LoadMonitor, read_load_average, read_stalled_us

CORES = os.cpu_count() or 1


class Machine:
    def __init__(self) -> None:
        self.now = 0.0
        self.load: float | None = 0.0
        self.stalled: int | None = 0
        self.samples = 0

    def load_average(self) -> float | None:
        self.samples += 1
        return self.load

    def gauge(self, **settings: float) -> LoadMonitor:
        return LoadMonitor(clock=lambda: self.now, **settings)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Machine whose load the test sets."""
    made = Machine()
    monkeypatch.setattr(load, "read_load_average", made.load_average)
    monkeypatch.setattr(load, "read_stalled_us", lambda: made.stalled)
    return made


def test_a_load_average_above_twice_the_cores_is_too_much(machine: Machine):
    gauge = machine.gauge()
    machine.load = 2.0 * CORES
    assert not gauge.overloaded()
    machine.now, machine.load = 1.0, 2.0 * CORES + 0.1
    assert gauge.overloaded()
    machine.now, machine.load = 2.0, 0.5
    assert not gauge.overloaded()


def test_more_than_half_of_the_last_second_stalled_is_too_much(machine: Machine):
    gauge = machine.gauge()
    assert not gauge.overloaded()
    machine.now, machine.stalled = 1.0, 500_000
    assert not gauge.overloaded()
    machine.now, machine.stalled = 2.0, 1_000_001
    assert gauge.overloaded()
    machine.now = 3.0
    assert not gauge.overloaded()


def test_thresholds_are_settings(machine: Machine):
    gauge = machine.gauge(multiplier=0.5, psi_threshold=10)
    machine.load = 0.6 * CORES
    assert gauge.overloaded()
    machine.now, machine.load, machine.stalled = 1.0, 0.0, 150_000
    assert gauge.overloaded()


def test_a_sample_is_taken_at_most_once_a_second(machine: Machine):
    gauge = machine.gauge()
    for _ in range(100):
        gauge.overloaded()
    assert machine.samples == 1


def test_a_system_without_load_figures_is_never_overloaded(machine: Machine):
    machine.load = machine.stalled = None
    gauge = machine.gauge()
    for machine.now in (0.0, 1.0, 2.0):
        assert not gauge.overloaded()


def test_this_machine_can_be_read():
    assert read_load_average() is None or read_load_average() >= 0  # type: ignore[operator]
    stalled = read_stalled_us()
    assert stalled is None or stalled >= 0
