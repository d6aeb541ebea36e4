"""The differential suite on the engine of the page, which has the same results and traps as `fast` in a process.

Some runs need a stack trace, for which a process uses `v8`. The page returns the same lines as `v8`.

By default, the test compares a part of the suite. ``SVC_WHOLE=1 pytest tests/lite/test_differential_in_browser.py``
compares all actions.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

import pytest

from tests.emulator.sandbox.conftest import Program, Room, read_programs
from tests.emulator.sandbox.test_differential import PARAMS

pytestmark = [pytest.mark.browser, pytest.mark.engine]

EVERY = 1 if os.environ.get("SVC_WHOLE") else 12
PROGRAMS = read_programs()[::EVERY]
IN_PAGE = """
import json
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.sandbox.host import ActionHost
from svcnb.emulator.sandbox.network import Network
from svcnb.emulator.sandbox.page_engine import PageEngine
from svcnb.emulator.sandbox.protocol import OperationRefused
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

custody = Custody(bytes([7]) * 32, Vocabulary(), Randomness("tests"))

async def wallet_secret(pkp_id):
    if pkp_id.lower() != "0x00000000000000000000000000000000000000aa":
        raise OperationRefused(f"this key may not use the wallet {pkp_id}")
    return bytes([70]) * 32

engine = PageEngine(concurrency=4, vocabulary=Vocabulary())
await engine.start()

async def outcome(source, params):
    host = ActionHost(
        custody=custody, cid="QmRunningAction", wallet_secret=wallet_secret,
        headers={"x-request-id": "b8bd8b8e-5d4f-4d2a-8f3e-3f0f2f1c9a11"}, network=Network("deny"), packages=None,
        account="",
    )
    found = await engine.run(source, params, ActionLimits()._replace(timeout_ms=300_000), host)
    return [found.ok, repr(found.response), found.logs, found.error, found.error_kind]
"""


def shown(outcome: Any) -> list[Any]:
    return [outcome.ok, repr(outcome.response), outcome.logs, outcome.error, outcome.error_kind]


def without_advice(outcome: list[Any]) -> list[Any]:
    """Removes the name of the other engine, which a page does not have, from the text of a trap."""
    return [*outcome[:3], "a trap" if outcome[4] == "unsupported" else outcome[3], outcome[4]]


STACKS = [
    "a stack trace that V8 formats",
    "the stack trace of an error of the engine",
    "the stack trace of an error after an await",
]
FRAME = re.compile(r"\\n    at [^\n]*?<user_provided_script>:(\d+):\d+\)?")
BUILT_IN = re.compile(r"\\n    at [^\n\\]* \(<anonymous>\)")


def only_lines(outcome: Any) -> Any:
    """Returns the lines of stack traces, without columns, receivers and built-in functions."""
    return json.loads(FRAME.sub(r"\\n    at line \1", BUILT_IN.sub("", json.dumps(outcome))))


def test_the_engine_of_the_page_has_the_results_of_the_process(lab: Any, engine_loop: Any):
    page = lab()
    page.run(IN_PAGE)
    room = Room(engine_loop, "fast", concurrency=4, processes=1)
    v8 = Room(engine_loop, "v8", concurrency=1, spares=1)
    different: list[tuple[Program, Any, Any]] = []
    try:
        for program in PROGRAMS:
            there = shown(room.run(program.source, PARAMS))
            asked = json.dumps([program.source, PARAMS])
            here = json.loads(page.run(f"print(json.dumps(await outcome(*json.loads({asked!r}))))"))
            if there[4] == "unsupported" and any(reason in there[3] for reason in STACKS):
                there = only_lines(shown(v8.run(program.source, PARAMS)))
                here = only_lines(here)
            if without_advice(json.loads(json.dumps(there))) != without_advice(here):
                different.append((program, there, here))
    finally:
        for each in (room, v8):
            each.call(each.engine.stop())
    assert len(PROGRAMS) >= 25
    assert different == []
