"""No request occupies the event loop for long, whatever it carries: the others are answered meanwhile."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import pytest_asyncio

pytestmark = [pytest.mark.engine, pytest.mark.chain, pytest.mark.asyncio(loop_scope="module")]

TOKEN = {"authorization": "Bearer triggers-token-of-this-test"}
LONGEST_S = 0.05
"""Processor time of one turn of the event loop. Most of these requests once took 0.1 to 3 seconds."""
MANY_VALUES = "const main = () => Array(300000).fill(1)"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app() -> AsyncIterator[Any]:
    from svcnb.emulator.main import build_app
    from svcnb.emulator.service import Service
    from svcnb.emulator.settings import Settings

    made = Service(Settings.load({}, action_spares=1, auto_approve_agents=True, starter_credits=100_000))
    made.address.url = "http://127.0.0.1"
    await made.start()
    yield build_app(made)
    await made.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(app: Any) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=300) as client:
        made = await client.post("/core/v1/new_account", json={"account_name": "a", "account_description": ""})
        client.headers["x-api-key"] = made.json()["api_key"]
        yield client


class Turns:
    """Processor time of the turns of the event loop, in seconds."""

    def __init__(self) -> None:
        self._all = [0.0]

    def add(self, seconds: float) -> None:
        self._all.append(seconds)

    async def begin(self) -> None:
        """Forgets what was; what the test has prepared belongs to a turn that ends here."""
        await asyncio.sleep(0)
        self._all = [0.0]

    async def longest_s(self) -> float:
        await asyncio.sleep(0)  # the turn that ended the request is that of the caller, and ends here
        return max(self._all)


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Iterator[Turns]:
    made = Turns()
    original = asyncio.events.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        since = time.thread_time()
        original(handle)
        made.add(time.thread_time() - since)

    monkeypatch.setattr(asyncio.events.Handle, "_run", timed)
    gc.disable()  # a collection visits all of pytest, too
    yield made
    gc.enable()


def group(**members: Any) -> dict[str, Any]:
    return {"group_name": "g", "group_description": "", "pkp_ids_permitted": [], "cid_hashes_permitted": []} | members


def raw(text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "eth_sendRawTransaction", "params": [text]}


def trigger(**members: Any) -> dict[str, Any]:
    return {"name": "t", "kind": "webhook", "action_code": "1", "usage_api_key": "a key", "config": {}} | members


REVERT = {"method": "eth_call", "params": [{"data": "0x63000f42406000fd"}, "latest"]}

REQUESTS: dict[str, tuple[str, Any, Any, set[int]]] = {
    "a list of many entries of the wrong type": (
        "/core/v1/add_group",
        group(pkp_ids_permitted=[1]),
        group(pkp_ids_permitted=[1] * 110_000, cid_hashes_permitted=[1] * 110_000),
        {400, 422},
    ),
    "a list of many valid entries": (
        "/core/v1/add_group",
        group(pkp_ids_permitted=["0x" + "1" * 40] * 11),
        group(pkp_ids_permitted=["0x" + "1" * 40] * 90_000, cid_hashes_permitted=["0x" + "f" * 64] * 50_000),
        {400},
    ),
    "a CID of megabytes": (
        "/core/v1/add_action",
        {"name": "", "description": "", "action_ipfs_cid": "b" * 1_025},
        {"name": "", "description": "", "action_ipfs_cid": "b" * 9_000_000},
        {400},
    ),
    "a signed transaction of megabytes": ("/rpc", raw("0x02c0"), raw("0x02fa3d0900" + "c0" * 4_000_000), {200}),
    "a signed transaction of many items": ("/rpc", raw("0x02c0"), raw("0x02fa01fff0" + "c0" * 0x1FFF0), {200}),
    "parameters of many values": (
        "/rpc",
        raw(""),
        {"id": 1, "method": "eth_getLogs", "params": [{"topics": [["0x1"] * 240_000]}]},
        {200},
    ),
    "a batch with large answers": ("/rpc", [REVERT | {"id": 1}], [REVERT | {"id": n} for n in range(30)], {200}),
    "a trigger of megabytes": (
        "/api/triggers",
        trigger(),
        trigger(action_code="x" * 9_000_000, default_params={"a": ["y"] * 50_000}),
        {200},
    ),
}


async def test_a_query_of_thousands_of_parameters_is_not_read(http: httpx.AsyncClient) -> None:
    answer = await http.get("/core/v1/list_groups?page_number=0&page_size=10" + "&a" * 99)
    assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")
    assert "at most 100" in answer.json()["message"]
    assert (await http.get("/core/v1/list_groups?page_number=0&page_size=10")).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("what", REQUESTS)
async def test_a_large_request_leaves_the_event_loop_to_others(
    http: httpx.AsyncClient, turns: Turns, what: str
) -> None:
    path, small, large, statuses = REQUESTS[what]
    headers = TOKEN if path.startswith("/api") else {}
    await http.post(path, json=small, headers=headers)  # loads what it needs
    content = json.dumps(large).encode()
    await turns.begin()
    answer = await http.post(path, content=content, headers={"content-type": "application/json", **headers})
    assert answer.status_code in statuses, answer.text[:300]
    assert await turns.longest_s() < LONGEST_S


@pytest.mark.slow
async def test_long_lists_of_triggers_and_runs_leave_the_event_loop_to_others(
    http: httpx.AsyncClient, turns: Turns
) -> None:
    body = trigger(action_code=MANY_VALUES, usage_api_key=http.headers["x-api-key"])
    made = await http.post("/api/triggers", json=body, headers=TOKEN)
    for each in (await http.get("/api/triggers", headers=TOKEN)).json():
        if each["id"] != made.json()["id"]:
            await http.delete(f"/api/triggers/{each['id']}", headers=TOKEN)
    path = f"/api/triggers/{made.json()['id']}"
    for _ in range(12):
        taken = await http.post(f"{path}/test", json={"event": ["1"] * 50_000}, headers=TOKEN)
        assert taken.status_code == 202, taken.text
        while True:
            runs = (await http.get(f"{path}/runs?limit=1", headers=TOKEN)).json()["runs"]
            if runs[0]["finished_at"]:
                break
            await asyncio.sleep(0.02)
    large = trigger(default_params={"a": ["y"] * 200_000}, action_code="x" * 4_000_000)
    await http.post("/api/triggers", json=large, headers=TOKEN)
    await turns.begin()
    assert len((await http.get(f"{path}/runs", headers=TOKEN)).content) > 8_000_000
    assert len((await http.get("/api/triggers", headers=TOKEN)).content) > 4_000_000
    assert await turns.longest_s() < LONGEST_S
