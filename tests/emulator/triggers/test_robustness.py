"""Deletion of triggers during their use, numbers that do not fit in a double, and a clock that a user sets back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from svcnb.emulator.platform import rate_limiter
from svcnb.emulator.triggers import admission
from svcnb.emulator.triggers.errors import Refused
from svcnb.emulator.triggers.outcomes import Answer
from svcnb.emulator.triggers.store import trigger_bytes
from svcnb.protocol.limits import TRIGGER_BYTES

START = 1_900_000_000.0
YEAR_S = 365 * 86_400.0
ECHO = "async function main(params) { return params; }"
JSON = {"Content-Type": "application/json"}


def body(**members: Any) -> dict[str, Any]:
    return {"name": "t", "kind": "webhook", "action_code": ECHO, "usage_api_key": "a key", "config": {}} | members


@pytest.mark.engine
@pytest.mark.chain
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("method", "path", "content"),
    [
        ("POST", "/api/triggers/{}/test", b'{"a": 1}'),
        ("PATCH", "/api/triggers/{}", b'{"name": "b"}'),
        ("POST", "/webhook/{}", b'{"a": 1}'),
    ],
)
async def test_a_trigger_that_is_deleted_while_a_request_is_read_is_not_found(door, method, path, content) -> None:
    made = await door.ok("POST", "/api/triggers", body())

    async def slowly() -> AsyncIterator[bytes]:
        yield content[:3]
        await door.ok("DELETE", f"/api/triggers/{made['id']}", status=204)
        yield content[3:]

    answer = await door.ask(method, path.format(made["id"]), content=slowly(), headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


@pytest.mark.engine
@pytest.mark.chain
@pytest.mark.asyncio(loop_scope="module")
async def test_numbers_that_do_not_fit_in_a_double_are_rejected(door) -> None:
    made = await door.ok("POST", "/api/triggers", body())
    given = json.dumps(body()).removesuffix("}")
    for method, path, content in (
        ("POST", f"/api/triggers/{made['id']}/test", '{"a": -1e999}'),
        ("POST", "/api/triggers", given + ', "default_params": {"a": 1e999}}'),
        ("PATCH", f"/api/triggers/{made['id']}", '{"config": {"a": ' + "9" * 400 + "}}"),
    ):
        answer = await door.ask(method, path, content=content.encode(), headers=JSON)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_json")
        assert "outside of the range" in answer.json()["message"]
    for content_type in ("text/plain", "application/json"):
        headers = {"Content-Type": content_type}
        text = await door.ask("POST", f"/webhook/{made['id']}", content=b"[1e999]", headers=headers)
        assert text.status_code == 202
    assert [run["input"]["event"] for run in await door.runs(made)] == ["[1e999]"] * 2


@pytest.mark.engine
@pytest.mark.chain
@pytest.mark.asyncio(loop_scope="module")
async def test_the_rate_of_a_trigger_follows_a_clock_that_is_set_back(door) -> None:
    made = await door.ok("POST", "/api/triggers", body(max_runs_per_minute=1))
    try:
        for at in (START + YEAR_S, START):
            door.service.clock.freeze(at)
            answers = [await door.ask("POST", f"/webhook/{made['id']}", content=b"x") for _ in range(2)]
            assert [answer.status_code for answer in answers] == [202, 429]
            assert int(answers[1].headers["Retry-After"]) <= 60
    finally:
        door.service.clock.freeze(START)


async def test_a_limit_of_posts_follows_a_clock_that_is_set_back(store) -> None:
    limiter = rate_limiter.RateLimiter("w", 2, store)
    assert [await limiter.admit("a", now) for now in (START + YEAR_S, START + YEAR_S, START, START)] == [None] * 4
    wait_s = await limiter.admit("a", START + 1)
    assert wait_s is not None
    assert 0 < wait_s <= 60


async def test_a_shared_limit_of_posts_follows_a_clock_that_is_set_back(store) -> None:
    def post(now: float) -> Any:
        return store.run(lambda connection: rate_limiter.admit(connection, what="w", who="a", limit=2, now=now))

    assert [await post(now) for now in (START + YEAR_S, START + YEAR_S, START, START)] == [None] * 4
    assert 0 < await post(START + 1) <= 60
    # The clock of another server is slightly ahead. The calls that it counted still count.
    assert [await post(now) for now in (START + 100, START + 101)] == [None, None]
    assert await post(START + 99) is not None


async def test_a_retry_does_not_wait_for_the_time_before_the_clock_was_set_back(parts, clock) -> None:
    trigger = await parts.trigger(action_code="flaky")
    parts.execution.answers["flaky"] = [Answer(503, {"error": "x"}), Answer(200, {"response": 1})]
    await parts.run(trigger, "run")
    await parts.until(trigger, lambda runs: runs[0].status == "retrying")
    await asyncio.sleep(0)
    clock.freeze(START - YEAR_S)
    [run] = await parts.ended(trigger)
    assert (run.status, run.attempt) == ("success", 2)


async def test_each_database_counts_the_size_of_triggers_in_bytes(parts, monkeypatch) -> None:
    one = await parts.trigger(name="n", action_code="é" * 600)
    values = vars(one) | {"id": "another", "action_code": "x"}
    sizes = (TRIGGER_BYTES + trigger_bytes(values), TRIGGER_BYTES + trigger_bytes(vars(one)))
    monkeypatch.setattr(admission, "MAX_TRIGGERS_BYTES", sum(sizes))
    await parts.store.run(lambda connection: admission.require_room_for_trigger(connection, values))
    monkeypatch.setattr(admission, "MAX_TRIGGERS_BYTES", sum(sizes) - 1)
    with pytest.raises(Refused, match=f"{sizes[0]} bytes, and your other triggers have {sizes[1]} bytes"):
        await parts.store.run(lambda connection: admission.require_room_for_trigger(connection, values))
