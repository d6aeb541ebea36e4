"""Files that a request enters on its way through the emulator (docs/architecture.md#request-lifecycle)."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import httpx

from svcnb import emulator
from svcnb.emulator.main import build_app
from svcnb.emulator.service import Service
from svcnb.emulator.settings import Settings

MOST_FILES = 15
HERE = "http://127.0.0.1:9"


async def test_a_run_enters_few_files_before_the_sandbox() -> None:
    service = Service(Settings.load({}, starter_credits=1_000, action_spares=1))
    service.listens_at(HERE)
    app = build_app(service)
    await service.start()
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HERE) as client:
            made = await client.post("/core/v1/new_account", json={"account_name": "x", "account_description": "y"})
            headers = {"X-Api-Key": made.json()["api_key"]}

            async def run() -> httpx.Response:
                return await client.post("/core/v1/svc_action", json={"code": "main = () => 1"}, headers=headers)

            await run()  # the first run loads modules and fills caches
            entered, answer = await recorded(run)
    finally:
        await service.stop()
    assert answer.status_code == 200, answer.text
    before = entered[: next(at for at, name in enumerate(entered) if name.startswith("sandbox/"))]
    assert before[0] == "http/middleware.py"
    assert len(before) <= MOST_FILES, before


async def recorded(run: Any) -> tuple[list[str], httpx.Response]:
    """Returns the files of the emulator whose functions a call enters, in order, and the result of the call."""
    folder = Path(emulator.__file__).parent
    entered: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(folder):
            entered[file.relative_to(folder).as_posix()] = None

    earlier = sys.getprofile()
    sys.setprofile(note)
    try:
        answer = await run()
    finally:
        sys.setprofile(earlier)
    return list(entered), answer
