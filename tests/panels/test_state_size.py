"""The data that a panel sends to the browser is below 100 KB, even for a large account."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Any

import pytest

import svcnb
from svcnb.panels.base import Panel
from svcnb.panels.loop import BACKGROUND

pytestmark = [pytest.mark.chain, pytest.mark.engine]

MAX_BYTES = 100_000
GROUPS, ACTIONS, WALLETS, KEYS, RUNS = 10, 60, 20, 15, 1_200
CODE = {"_esm", "_css", "_anywidget_id"}
"""Parts of a widget's state that contain its program. The kernel sends them once."""


def size(value: object) -> int:
    return len(json.dumps(value, default=str).encode())


def state_of(panel: Panel) -> dict[str, Any]:
    return {name: value for name, value in panel.get_state().items() if name not in CODE}


def answer_of(panel: Panel, command: str, **args: Any) -> Any:
    work = getattr(panel, command)
    return BACKGROUND.submit(work(**args)).result(300) if asyncio.iscoroutinefunction(work) else work(**args)


@pytest.fixture
def svc(emulator, tmp_path):
    """Client with a large account and recorded runs."""
    records: list[Any] = []
    with emulator.client(history=tmp_path / "history.sqlite", on_run=records.append) as client:
        account = client.accounts.create("busy")
        svc = client.with_key(account)
        actions = [svcnb.Action(f"const main = () => {n};", name=f"action number {n}") for n in range(ACTIONS)]
        groups = [svc.groups.create(f"group number {n}", actions=actions[n::2]) for n in range(GROUPS)]
        for _ in range(WALLETS):
            svc.wallets.create()
        for number in range(KEYS):
            svc.usage_keys.create(f"usage key number {number}", execute_in_groups=groups)
        svc.run(actions[0])
        (first,) = records
        for number in range(RUNS):
            run = first.run.model_copy(update={"request_id": f"{number:032x}"})
            again = dataclasses.replace(first, run=run, started_at=first.started_at + number / 100)
            for listener in svc.on_run:
                if listener != records.append:
                    listener(again)
        yield svc


def test_no_panel_sends_more_than_100_kb_at_once(svc):
    bench = svcnb.panels.Workbench(svc)
    sizes: dict[str, int] = {}
    try:
        for name in bench.tabs:
            if name != "Triggers":
                bench.open_tab(name)
        answer_of(bench.panels["Account"], "open_with_key")
        answer_of(bench.panels["Permissions"], "read")
        for name, panel in [("Workbench", bench), *bench.panels.items()]:
            sizes[f"{name}: state"] = size(state_of(panel))
            sizes[f"{name}: session"] = size(panel.session.view())
        sizes["Runs: read"] = size(answer_of(bench.panels["Runs"], "read", seen=""))
        sizes["Actions: resources"] = size(answer_of(bench.panels["Actions"], "resources"))
        sizes["Actions: look_up"] = size(answer_of(bench.panels["Actions"], "look_up"))
        sizes["Actions: setup"] = size(answer_of(bench.panels["Actions"], "setup"))
    finally:
        bench.close()
    rows = len(bench.panels["Permissions"].state["rows"])
    assert rows > ACTIONS + WALLETS + KEYS
    assert bench.panels["Permissions"].state["on"]
    assert len(bench.panels["Runs"].runs) >= 1_000
    assert {name: found for name, found in sizes.items() if found > MAX_BYTES} == {}
