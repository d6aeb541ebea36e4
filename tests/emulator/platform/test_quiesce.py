"""Idle time of a server, which stops only while no request is in progress."""

from __future__ import annotations

from svcnb.emulator.platform.quiesce import Quiesce


async def test_a_server_is_not_idle_during_a_request() -> None:
    quiesce = Quiesce()
    await quiesce.enter()
    assert quiesce.idle_s() == 0.0
    quiesce.leave()
    assert quiesce.idle_s() > 0.0


async def test_a_server_is_not_idle_during_a_replacement_of_its_state() -> None:
    quiesce = Quiesce()
    async with quiesce.exclusive():
        assert quiesce.idle_s() == 0.0
    assert quiesce.idle_s() > 0.0
