"""A chain that does not respond, and a clock that jumps. Writes wait and happen once, and blocks keep their order."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import pytest

from svcnb.launch import Emulator

pytestmark = [
    pytest.mark.chain,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
]


@pytest.fixture(scope="module")
def running() -> Any:
    with Emulator(starter_credits=1_000) as emulator:
        yield emulator


def test_writes_wait_for_a_stopped_node_and_happen_once(
    running: Emulator, find_processes: Callable[..., list[int]], stand_still: Callable[[int], None]
) -> None:
    account = running.client().accounts.create("patient")
    svc = running.client(api_key=account.api_key)
    (node,) = find_processes(running, "chain node")
    with ThreadPoolExecutor(5) as pool:
        try:
            stand_still(node)
            writes = [pool.submit(svc.groups.create, f"group {number}") for number in range(5)]
            done, _ = wait(writes, timeout=1)
            assert not done, "written on a chain that stands still"
        finally:
            os.kill(node, signal.SIGCONT)
        for write in writes:
            write.result(300)
    assert sorted(group.name for group in svc.groups.list()) == [f"group {number}" for number in range(5)]
    assert svc.billing.balance().available_cents == 995


def test_blocks_and_credit_stay_in_order_while_the_clock_jumps(running: Emulator) -> None:
    account = running.client().accounts.create("jumping")
    svc = running.client(api_key=account.api_key)
    now, spent = running.clock.now(), 0
    for at in (now, now + 86_400 * 400, now - 86_400 * 400, 1, now):
        running.clock.freeze(at)
        svc.groups.create(f"at {at}")
        ran = svc.run("const main = () => 1;")
        assert ran.response == 1
        spent += 1 + running.run_record(ran.request_id)["cost_cents"]
    running.clock.real()
    svc.groups.create("real again")
    assert len(svc.groups.list()) == 6
    # Each group costs one cent. A run costs one cent, or more on a slow machine.
    assert svc.billing.balance().available_cents == 1_000 - spent - 1
    times = [int(block["timestamp"], 16) for block in blocks(running)]
    assert times == sorted(times)


def blocks(emulator: Emulator) -> list[dict[str, Any]]:
    import httpx

    def ask(method: str, *params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return httpx.post(emulator.rpc_url, json=body, timeout=300, trust_env=False).json()["result"]

    height = int(ask("eth_blockNumber"), 16)
    return [ask("eth_getBlockByNumber", hex(number), False) for number in range(height + 1)]  # noqa: FBT003
