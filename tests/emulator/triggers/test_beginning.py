"""Start of the triggers service: with an emulator that can have stored triggers, otherwise with the first request."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.chain]

NOON = 1_900_065_600  # 2030-03-18 12:00:00 UTC
ENDED = "SELECT count(*) FROM trigger_runs WHERE status = 'success'"


async def test_a_stored_schedule_fires_after_a_restart_without_a_request(make_door, tmp_path):
    kept = {"state": str(tmp_path / "state")}
    first = await make_door(clock=f"frozen@{NOON}", **kept)
    await first.trigger(await first.account(), "const main = () => 1", kind="schedule", config={"cron": "0 * * * *"})
    assert await first.service.store.run(lambda connection: connection.value(ENDED)) == 0
    await first.service.stop()
    second = await make_door(clock=f"frozen@{NOON + 3600}", **kept)
    async with asyncio.timeout(60):
        while await second.service.store.run(lambda connection: connection.value(ENDED)) == 0:  # noqa: ASYNC110 - as seen from outside
            await asyncio.sleep(0.01)


@pytest.mark.slow
def test_without_stored_triggers_their_modules_load_on_first_use() -> None:
    program = """
import asyncio, sys
import httpx
from svcnb.emulator.main import build_app
from svcnb.emulator.service import Service
from svcnb.emulator.settings import Settings

def loaded():
    return {name for name in sys.modules if name.startswith("svcnb.emulator.triggers.")}

async def main():
    service = Service(Settings.load({}, action_spares=1, auto_approve_agents=True))
    service.address.url = "http://127.0.0.1"
    await service.start()
    try:
        transport = httpx.ASGITransport(build_app(service), client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url=service.address.url) as http:
            assert (await http.get("/core/v1/get_node_chain_config")).status_code == 200
            assert loaded() == {"svcnb.emulator.triggers.tables"}, loaded()
            token = {"Authorization": "Bearer " + "t" * 40}
            answer = await http.get("/api/triggers", headers=token)
            assert (answer.status_code, answer.json()) == (200, []), answer.text
    finally:
        await service.stop()

asyncio.run(main())
"""
    # Use a separate process, because other tests have loaded all modules into this one.
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
