"""The HTTP API of the triggers service, with the real runtime."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest

from svcnb.emulator.triggers import admission, execution, routes
from svcnb.emulator.triggers.identity import challenge_of
from svcnb.protocol.cid import source_cid

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.engine, pytest.mark.chain]

ECHO = "async function main(params) { return params; }"
KEY = "a usage key that is never checked at creation"
RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\Z")


def body(**members: Any) -> dict[str, Any]:
    return {"name": "t", "kind": "webhook", "action_code": ECHO, "usage_api_key": KEY, "config": {}} | members


async def refused(door: Any, method: str, path: str, given: Any = None, **options: Any) -> tuple[int, str]:
    answer = await door.ask(method, path, given, **options)
    told = answer.json()
    assert isinstance(told["message"], str)
    assert told["message"]
    return answer.status_code, told["error"]


# --- authentication --------------------------------------------------------------------------------------------------


async def test_me_returns_the_user_who_approved_the_token(door):
    me = await door.ok("GET", "/api/me")
    assert set(me) == {"id", "email"}


@pytest.mark.parametrize("header", [{}, {"Authorization": "Basic abc"}, {"Authorization": "Bearer "}])
async def test_no_bearer_token_is_unauthorized(door, header):
    answer = await door.http.get("/api/me", headers=header)
    assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("token", ["short", "x" * 19, "x" * 1025, "x" * 40 + " y"])
async def test_a_malformed_token_is_unauthorized(door, token):
    assert await refused(door, "GET", "/api/me", headers={"Authorization": f"Bearer {token}"}) == (401, "unauthorized")


@pytest.mark.parametrize(
    "token", ["x" * 20, "x" * 1024, "q+/Yp0w5Xn1kR8m2Zs4tUv6wAb9cDe0fGh1iJk2lMn8=", "!#$%&'*+.^_`|~" * 2]
)
async def test_any_printable_token_can_be_approved(door, token):
    challenge = base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).decode().rstrip("=")
    await (await door.service.get_triggers()).identity.approve(challenge)
    answer = await door.http.get("/api/me", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200


# --- triggers -------------------------------------------------------------------------------------------------------


async def test_a_created_trigger_shows_all_its_members_and_never_its_key(door):
    answer = await door.ask("POST", "/api/triggers", body(default_params={"a": 1}, svc_account_address="0xAB"))
    assert answer.status_code == 200
    made = answer.json()
    assert KEY not in answer.text
    assert set(made) == {
        "id", "user_id", "name", "kind", "action_code", "action_cid", "default_params", "svc_account_address",
        "max_runs_per_minute", "max_queued_runs", "config", "enabled", "created_at", "updated_at",
    }  # fmt: skip
    assert made["action_cid"] == source_cid(ECHO)
    assert (made["enabled"], made["default_params"], made["max_runs_per_minute"]) == (True, {"a": 1}, None)
    assert made["svc_account_address"] == "0xAB"
    assert RFC3339.match(made["created_at"])
    assert await door.ok("GET", f"/api/triggers/{made['id']}") == made


async def test_the_key_is_encrypted_in_the_database(door):
    made = await door.ok("POST", "/api/triggers", body())
    query = "SELECT * FROM triggers WHERE id = :id"
    [row] = await door.service.store.run(lambda connection: connection.rows(query, id=made["id"]))
    assert KEY not in str(row)
    assert KEY.encode().hex() not in str(row)


async def test_enabled_cannot_be_set_at_creation_and_unknown_members_are_ignored(door):
    made = await door.ok("POST", "/api/triggers", body(enabled=False, colour="red"))
    assert made["enabled"] is True
    assert "colour" not in made


async def test_the_list_is_bare_and_newest_first(door):
    made = [await door.ok("POST", "/api/triggers", body(name=f"n{number}")) for number in range(3)]
    listed = await door.ok("GET", "/api/triggers")
    assert [trigger["id"] for trigger in listed[:3]] == [trigger["id"] for trigger in made[::-1]]


@pytest.mark.parametrize(
    ("members", "status", "code"),
    [
        ({"name": "  "}, 400, "name_required"),
        ({"action_code": ""}, 400, "action_code_required"),
        ({"usage_api_key": " "}, 400, "usage_api_key_required"),
        ({"default_params": [1]}, 400, "default_params_must_be_object"),
        ({"config": "x"}, 400, "config_must_be_object"),
        ({"kind": "schedule"}, 400, "cron_required"),
        ({"kind": "schedule", "config": {"cron": ""}}, 400, "cron_required"),
        ({"kind": "schedule", "config": {"cron": "* * *"}}, 400, "invalid_cron"),
        ({"kind": "schedule", "config": {"cron": 5}}, 400, "invalid_cron"),
        ({"kind": "schedule", "config": {"cron": "*/10 * * * * *"}}, 400, "invalid_cron"),
        ({"kind": "chain_event", "config": {}}, 400, "invalid_chain_event_config"),
        ({"kind": "cron"}, 422, "unprocessable_entity"),
        ({"name": 5}, 422, "unprocessable_entity"),
        ({"max_queued_runs": -1}, 422, "unprocessable_entity"),
        ({"max_runs_per_minute": "5"}, 422, "unprocessable_entity"),
        ({"svc_account_address": 5}, 422, "unprocessable_entity"),
    ],
)
async def test_invalid_triggers_are_rejected(door, members, status, code):
    assert await refused(door, "POST", "/api/triggers", body(**members)) == (status, code)


@pytest.mark.parametrize("missing", ["name", "kind", "action_code", "usage_api_key"])
async def test_a_missing_member_does_not_match_the_schema_and_no_key_is_repeated(door, missing):
    given = {name: value for name, value in body().items() if name != missing}
    answer = await door.ask("POST", "/api/triggers", given)
    assert (answer.status_code, answer.json()["error"]) == (422, "unprocessable_entity")
    assert KEY not in answer.text


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"config": None}, "not null"),
        ({"default_params": True}, "not true"),
        ({"kind": "schedule", "config": {"cron": ["x"]}}, 'not ["x"]'),
        ({"kind": "chain_event", "config": {"chain": None}}, "not null"),
        ({"kind": "chain_event", "config": {"chain": "base", "contract_address": False}}, "not false"),
    ],
)
async def test_the_error_contains_the_rejected_value(door, members, said):
    answer = await door.ask("POST", "/api/triggers", body(**members))
    assert answer.status_code == 400
    assert said in answer.json()["message"]


CHAIN = {"chain": "Base", "contract_address": "0x" + "AB" * 20, "event_signature": "Ping(address,uint256)"}


@pytest.mark.parametrize(
    "change",
    [
        {"chain": "solana"},
        {"chain": None},
        {"contract_address": "0x12"},
        {"contract_address": None},
        {"event_signature": "Ping"},
        {"event_signature": None},
        {"topic_filters": "x"},
        {"topic_filters": [None] * 4},
        {"topic_filters": ["0x12"]},
        {"topic_filters": [[]]},
        {"topic_filters": [[None]]},
        {"start_block": -1},
        {"start_block": "ten"},
        {"start_block": True},
        {"start_block": 1.5},
    ],
)
async def test_a_chain_event_config_that_cannot_be_used_is_refused(door, change):
    given = body(kind="chain_event", config=CHAIN | change)
    assert await refused(door, "POST", "/api/triggers", given) == (400, "invalid_chain_event_config")


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"start_block": 5},
        {"start_block": "5"},
        {"start_block": "0x5"},
        {"topic_filters": [None, "0x" + "AB" * 32, ["0x" + "01" * 32]]},
        {"contract_address": None, "address": "0x" + "AB" * 20},
    ],
)
async def test_every_form_of_a_chain_event_config_is_accepted(door, change):
    config = {name: value for name, value in (CHAIN | change).items() if value is not None}
    made = await door.ok("POST", "/api/triggers", body(kind="chain_event", config=config))
    assert made["config"] == config
    await door.ok("DELETE", f"/api/triggers/{made['id']}", status=204)


async def test_a_change_keeps_what_is_absent_or_null(door):
    made = await door.ok("POST", "/api/triggers", body(max_queued_runs=5, default_params={"a": 1}))
    door.service.clock.advance(1)
    path = f"/api/triggers/{made['id']}"
    changed = await door.ok("PATCH", path, {"name": "new", "max_queued_runs": None, "enabled": False})
    assert changed == made | {"name": "new", "enabled": False, "updated_at": changed["updated_at"]}
    assert changed["updated_at"] > made["updated_at"]
    recoded = await door.ok("PATCH", path, {"action_code": ECHO + " ", "usage_api_key": "another key"})
    assert recoded["action_cid"] == source_cid(ECHO + " ")


async def test_new_code_requires_the_usage_key_again(door):
    made = await door.ok("POST", "/api/triggers", body())
    path = f"/api/triggers/{made['id']}"
    refusal = await refused(door, "PATCH", path, {"action_code": "const main = () => 'stolen';", "name": "x"})
    assert refusal == (422, "usage_api_key_required")
    assert await door.ok("GET", path) == made
    assert (await door.ok("PATCH", path, {"action_code": made["action_code"], "name": "y"}))["name"] == "y"


async def test_a_change_is_checked_as_a_whole(door):
    made = await door.ok("POST", "/api/triggers", body())
    path = f"/api/triggers/{made['id']}"
    assert await refused(door, "PATCH", path, {"kind": "schedule"}) == (400, "cron_required")
    assert await refused(door, "PATCH", path, {"name": ""}) == (400, "name_required")
    assert await refused(door, "PATCH", path, {"enabled": "yes"}) == (422, "unprocessable_entity")
    assert await door.ok("GET", path) == made


async def test_delete_returns_204_even_for_a_missing_trigger(door):
    made = await door.ok("POST", "/api/triggers", body())
    path = f"/api/triggers/{made['id']}"
    for _ in range(2):
        answer = await door.ask("DELETE", path)
        assert (answer.status_code, answer.content) == (204, b"")
    assert await refused(door, "GET", path) == (404, "not_found")


async def test_invalid_and_unknown_ids_are_rejected(door):
    assert await refused(door, "GET", "/api/triggers/seven") == (400, "invalid_id")
    assert await refused(door, "GET", f"/api/triggers/{uuid4()}") == (404, "not_found")
    assert await refused(door, "PATCH", f"/api/triggers/{uuid4()}", {}) == (404, "not_found")
    assert await refused(door, "GET", f"/api/triggers/{uuid4()}/runs") == (404, "not_found")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"kind": "schedule", "config": {"cron": "0 0 1 1 *"}}, {"config": {}}, (400, "cron_required")),
        ({"action_code": ECHO + " ", "usage_api_key": KEY}, {"action_code": ECHO}, (422, "usage_api_key_required")),
    ],
)
async def test_a_change_is_checked_against_a_simultaneous_change(door, monkeypatch, first, second, expected):
    made = await door.ok("POST", "/api/triggers", body())
    path = f"/api/triggers/{made['id']}"
    read_trigger, earlier = routes._own_trigger, [first]

    async def reading(ask: Any) -> Any:
        found = await read_trigger(ask)
        if earlier:
            await door.ok("PATCH", path, earlier.pop())
        return found

    monkeypatch.setattr(routes, "_own_trigger", reading)
    assert await refused(door, "PATCH", path, second) == expected
    after = await door.ok("GET", path)
    assert {name: after[name] for name in first if name in after} == {n: v for n, v in first.items() if n in after}


async def test_a_foreign_trigger_looks_like_a_missing_one(door):
    from svcnb.emulator.triggers.identity import challenge_of

    made = await door.ok("POST", "/api/triggers", body())
    other, email = f"other-token-{uuid4()}", f"{uuid4().hex}@example.org"  # only for this test
    order = {"challenge": challenge_of(other), "email": email}
    assert (await door.http.post("/_emulator/agents/approve", json=order, headers=door.control)).status_code == 200
    as_other = {"Authorization": f"Bearer {other}"}
    assert (await door.ask("GET", "/api/me", headers=as_other)).json()["email"] == email
    path = f"/api/triggers/{made['id']}"
    assert await refused(door, "GET", path, headers=as_other) == (404, "not_found")
    assert (await door.ask("GET", "/api/triggers", headers=as_other)).json() == []
    assert (await door.ask("DELETE", path, headers=as_other)).status_code == 204
    assert await door.ok("GET", path) == made


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b'{"name": NaN}'])
async def test_an_invalid_json_body_is_rejected(door, content):
    answer = await door.ask("POST", "/api/triggers", content=content)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_json")


# --- webhooks and runs ----------------------------------------------------------------------------------------------


async def test_a_post_is_accepted_and_its_run_shows_the_input_and_the_complete_response(door):
    key = await door.account()
    trigger = await door.trigger(key, ECHO, default_params={"from": "defaults", "event": "hidden"})
    answer = await door.http.post(
        f"/webhook/{trigger['id']}", content=b'{"n": 1}', headers={"content-type": "application/json", "cookie": "c=1"}
    )
    assert answer.status_code == 202
    taken = answer.json()
    assert taken == {"run_id": taken["run_id"], "status": "queued"}
    (run,) = await door.ended(trigger)
    assert (run["id"], run["trigger_id"], run["status"], run["attempt"]) == (
        taken["run_id"], trigger["id"], "success", 1,
    )  # fmt: skip
    assert (run["error"], run["response"]["has_error"]) == (None, False)
    assert RFC3339.match(run["started_at"])
    assert RFC3339.match(run["finished_at"])
    assert run["input"]["event"] == {"n": 1}
    assert run["input"]["event_raw"] == '{"n": 1}'
    assert "cookie" not in run["input"]["headers"]
    assert run["response"]["response"] == run["input"] | {"from": "defaults"}


async def test_the_run_id_reaches_the_action_as_its_correlation_id(door):
    key = await door.account()
    code = "async function main() { return Svc.Headers.get('x-correlation-id'); }"
    trigger = await door.trigger(key, code)
    identifier = await door.post(trigger)
    (run,) = await door.ended(trigger)
    assert run["response"]["response"] == identifier


async def test_a_run_costs_what_any_execution_costs(door):
    key = await door.account(cents=10)
    trigger = await door.trigger(key, ECHO)
    await door.post(trigger)
    await door.ended(trigger)
    balance = await door.http.get("/core/v1/billing/balance", headers={"X-Api-Key": key})
    assert balance.json()["balance_cents"] == -9


async def test_a_key_that_may_not_execute_fails_at_once(door):
    key = await door.account()
    usage = await door.core(
        "add_usage_api_key",
        key,
        {
            "name": "nothing", "description": "", "can_create_groups": False, "can_delete_groups": False,
            "can_create_pkps": False, "manage_ipfs_ids_in_groups": [], "add_pkp_to_groups": [],
            "remove_pkp_from_groups": [], "execute_in_groups": [],
        },
    )  # fmt: skip
    for given, status in ((usage["usage_api_key"], 403), ("unknown", 401), (await door.account(cents=1), 200)):
        trigger = await door.trigger(given, ECHO)
        await door.post(trigger)
        (run,) = await door.ended(trigger)
        assert (run["status"] == "success", run["attempt"]) == (status == 200, 1)
        if status != 200:
            assert run["error"].startswith(f"HTTP {status}")


async def test_an_account_without_credit_fails_at_once_with_402(door):
    made = await door.core("new_account", body={"account_name": "broke"})
    trigger = await door.trigger(made["api_key"], ECHO)
    await door.post(trigger)
    (run,) = await door.ended(trigger)
    assert run["error"].startswith("HTTP 402 payment_required")


async def test_a_run_that_waits_to_be_tried_again_is_shown_as_running(door):
    trigger = await door.trigger(await door.account(), ECHO)
    door.service.faults.add("runtime", times=4)
    await door.post(trigger)
    for attempt, delay in enumerate((1, 5, 30), start=1):
        await waits_for_attempt(door, trigger, attempt + 1)
        (shown,) = await door.runs(trigger)
        assert (shown["status"], shown["attempt"], shown["finished_at"]) == ("running", attempt, None)
        assert "HTTP 503" in shown["error"]
        door.service.clock.advance(delay)
    (run,) = await door.ended(trigger)
    assert (run["status"], run["attempt"]) == ("failed", 4)


async def test_a_thrown_error_fails_the_run_at_once_and_is_stored_with_its_stack(door):
    """If an action throws an error, its run has failed. The service retries only failures of the execution itself.

    Source: docs/service/resources.md#states.
    """
    trigger = await door.trigger(await door.account(), "async function main() {\n  throw new Error('boom');\n}")
    await door.post(trigger)
    (run,) = await door.ended(trigger)
    assert (run["status"], run["attempt"]) == ("failed", 1)
    assert run["error"].startswith("HTTP 500: ")
    assert "boom" in run["error"]
    assert "<user_provided_script>:2" in run["error"]
    assert isinstance(run["response"], str)


async def waits_for_attempt(door: Any, trigger: dict[str, Any], attempt: int) -> None:
    """Waits until the newest run of a trigger waits for a retry, which the API shows as running."""
    newest = "SELECT status, attempt FROM trigger_runs WHERE trigger_id = :id"
    async with asyncio.timeout(300):
        while True:
            found = await door.service.store.run(lambda connection: connection.rows(newest, id=trigger["id"]))
            if found == [("retrying", attempt - 1)]:
                return
            await asyncio.sleep(0.01)


async def test_runs_come_newest_first_in_pages(door):
    key = await door.account()
    trigger = await door.trigger(key, ECHO)
    made = [await door.post(trigger, str(number).encode()) for number in range(5)]
    await door.ended(trigger, 5)
    assert [run["id"] for run in await door.runs(trigger)] == made[::-1]
    assert [run["id"] for run in await door.runs(trigger, limit=2, offset=1)] == made[::-1][1:3]
    assert len(await door.runs(trigger, limit=0, offset=-5)) == 1
    assert await door.runs(trigger, offset=99) == []
    assert await refused(door, "GET", f"/api/triggers/{trigger['id']}/runs?limit=x") == (422, "unprocessable_entity")
    for wrong in ("1_0", "1.5", " 1", "%D9%A1", ""):
        assert await refused(door, "GET", f"/api/triggers/{trigger['id']}/runs?limit={wrong}") == (
            422,
            "unprocessable_entity",
        )
    assert await door.runs(trigger, offset=10**40) == []


async def test_runs_of_any_text_and_any_number_end_and_are_listed(door):
    """A JavaScript string can contain half a surrogate pair, which UTF-8 cannot encode. JSON escapes this half."""
    key = await door.account()
    trigger = await door.trigger(key, "function main() { throw new Error('half \\ud83d and \\0'); }")
    await door.post(trigger, b'{"n": 123456789012345678901234567890}', content_type="application/json")
    (run,) = await door.ended(trigger)
    assert run["status"] == "failed"
    assert "half \ufffd and \0" in run["error"]
    assert "half \ud83d and \0" in run["response"]
    assert run["input"]["event"] == {"n": 123456789012345678901234567890}


async def test_deleting_a_trigger_deletes_its_runs(door):
    key = await door.account()
    trigger = await door.trigger(key, ECHO)
    await door.post(trigger)
    await door.ended(trigger)
    await door.ok("DELETE", f"/api/triggers/{trigger['id']}", status=204)
    left = "SELECT count(*) FROM trigger_runs WHERE trigger_id = :id"
    assert await door.service.store.run(lambda connection: connection.value(left, id=trigger["id"])) == 0


async def test_invalid_webhook_posts_are_rejected(door):
    schedule = await door.trigger(KEY, ECHO, "schedule", config={"cron": "0 0 1 1 *"})
    off = await door.trigger(KEY, ECHO)
    await door.ok("PATCH", f"/api/triggers/{off['id']}", {"enabled": False})
    on = await door.trigger(KEY, ECHO)

    async def posted(identifier: object, **options: Any) -> tuple[int, str]:
        answer = await door.http.post(f"/webhook/{identifier}", **options)
        return answer.status_code, answer.json()["error"]

    assert await posted(uuid4()) == (404, "not_found")
    assert await posted("nonsense") == (404, "not_found")
    assert await posted(schedule["id"]) == (404, "not_found")
    assert await posted(off["id"]) == (410, "trigger_disabled")
    assert await posted(on["id"], content=b"x" * 262_145) == (413, "body_too_large")
    assert (await door.http.get(f"/webhook/{on['id']}")).status_code == 405
    assert await door.runs(on) == []


@pytest.mark.parametrize("content", [b"", b"ping", b"{"])
async def test_a_json_content_type_with_another_body_is_accepted_as_text(door, content):
    key = await door.account()
    trigger = await door.trigger(key, "async function main(p) { return [p.event, p.event_raw]; }")
    headers = {"content-type": "application/json"}
    answer = await door.http.post(f"/webhook/{trigger['id']}", content=content, headers=headers)
    assert answer.status_code == 202
    (run,) = await door.ended(trigger)
    assert run["response"]["response"] == [content.decode(), content.decode()]


async def test_a_body_of_the_maximum_size_is_accepted(door):
    key = await door.account()
    trigger = await door.trigger(key, "async function main(p) { return p.event_raw.length; }")
    await door.post(trigger, b"y" * 262_144)
    (run,) = await door.ended(trigger)
    assert run["response"]["response"] == 262_144


async def test_a_trigger_has_a_limit_of_posts_per_minute(door):
    trigger = await door.trigger("unknown key", ECHO, max_runs_per_minute=3)
    for _ in range(3):
        await door.post(trigger)
    answer = await door.http.post(f"/webhook/{trigger['id']}", content=b"x")
    assert (answer.status_code, answer.json()["error"]) == (429, "trigger_rate_limited")
    assert int(answer.headers["retry-after"]) > 0
    door.service.clock.advance(59.5)
    assert (await door.http.post(f"/webhook/{trigger['id']}", content=b"x")).status_code == 429
    door.service.clock.advance(0.5)
    await door.post(trigger)


async def test_the_default_limit_is_sixty_posts_per_minute_and_zero_permits_none(door):
    trigger = await door.trigger("unknown key", ECHO)
    for _ in range(60):
        await door.post(trigger)
    assert (await door.http.post(f"/webhook/{trigger['id']}", content=b"x")).status_code == 429
    closed = await door.trigger("unknown key", ECHO, max_runs_per_minute=0)
    assert (await door.http.post(f"/webhook/{closed['id']}", content=b"x")).status_code == 429


async def test_a_queue_has_a_limit_of_runs(door):
    key = await door.account()
    trigger = await door.trigger(key, "async function main() { while (true) {} }", max_queued_runs=2)
    await door.post(trigger)
    await door.post(trigger)
    answer = await door.http.post(f"/webhook/{trigger['id']}", content=b"x")
    assert (answer.status_code, answer.json()["error"]) == (429, "queue_depth_exceeded")
    await door.ok("DELETE", f"/api/triggers/{trigger['id']}", status=204)


async def test_the_test_route_starts_one_run_of_any_kind(door):
    key = await door.account()
    trigger = await door.trigger(key, ECHO, "schedule", config={"cron": "0 0 1 1 *"})
    taken = await door.ok("POST", f"/api/triggers/{trigger['id']}/test", {"scheduled_at": "now"}, status=202)
    (run,) = await door.ended(trigger)
    assert (run["id"], run["response"]["response"]) == (taken["run_id"], {"scheduled_at": "now"})


async def another_owner(door: Any) -> dict[str, str]:
    """Returns the headers of another owner's requests, so that a test does not change the owner of the other tests."""
    token = str(uuid4())
    order = {"challenge": challenge_of(token), "email": f"{token}@example.org"}
    approved = await door.http.post("/_emulator/agents/approve", json=order, headers=door.control)
    assert approved.status_code == 200
    return {"Authorization": f"Bearer {token}"}


async def test_the_triggers_of_one_owner_are_bounded_in_bytes(door, monkeypatch):
    monkeypatch.setattr(admission, "MAX_TRIGGERS_BYTES", 200_000)
    other = await another_owner(door)
    made = await door.ask("POST", "/api/triggers", body(action_code="x" * 90_000), headers=other)
    path = f"/api/triggers/{made.json()['id']}"
    more = {"default_params": {"a": "y" * 150_000}}
    answer = await door.ask("POST", "/api/triggers", body(**more), headers=other)
    assert (answer.status_code, answer.json()["error"]) == (413, "triggers_too_large")
    assert "200000 bytes" in answer.json()["message"]
    for large in (
        more,
        {"action_code": "// " + "é" * 110_000, "usage_api_key": KEY},
        {"usage_api_key": "k" * 150_000},
        {"svc_account_address": "0x" + "a" * 150_000},
    ):
        answer = await door.ask("PATCH", path, large, headers=other)
        assert (answer.status_code, answer.json()["error"]) == (413, "triggers_too_large")
    monkeypatch.setattr(admission, "MAX_TRIGGERS_BYTES", 10)  # above the limit, as after an upgrade
    assert (await door.ask("PATCH", path, {"enabled": False}, headers=other)).json()["enabled"] is False
    monkeypatch.undo()
    made = await door.ok("POST", "/api/triggers", body(**more))
    await door.ok("DELETE", f"/api/triggers/{made['id']}", status=204)


@pytest.mark.slow
async def test_the_inputs_of_an_owners_waiting_runs_are_bounded_in_bytes(door):
    key = await door.account()
    pair = [await door.trigger(key, "async function main() { while (true) {} }") for _ in range(2)]
    large = {"text": "x" * 9_000_000}
    await door.ok("POST", f"/api/triggers/{pair[0]['id']}/test", large, status=202)
    answer = await door.ask("POST", f"/api/triggers/{pair[1]['id']}/test", json=large)
    assert (answer.status_code, answer.json()["error"]) == (429, "queue_depth_exceeded")
    for trigger in pair:
        await door.ok("DELETE", f"/api/triggers/{trigger['id']}", status=204)


@pytest.mark.slow
async def test_the_inputs_of_ended_runs_are_bounded_in_bytes_and_the_newest_stay(door):
    trigger = await door.trigger("unknown key", ECHO)
    for count in range(1, 5):
        await door.ok("POST", f"/api/triggers/{trigger['id']}/test", {"text": "x" * 6_000_000}, status=202)
        runs = await door.ended(trigger, count)
    kept = [run["input"] is not None for run in runs]
    assert kept == [False, False, True, True]  # oldest first


async def test_an_injected_fault_makes_the_service_unavailable(door):
    await door.http.post("/_emulator/faults", json={"part": "triggers", "times": 1}, headers=door.control)
    answer = await door.ask("GET", "/api/me")
    assert (answer.status_code, answer.json()["error"]) == (503, "service_unavailable")
    assert (await door.ask("GET", "/api/me")).status_code == 200


# --- limits that need a separate emulator ----------------------------------------------------------------------------


@pytest.mark.asyncio(loop_scope="function")
async def test_posts_are_limited_by_address_and_by_owner(make_door):
    door = await make_door(clock="frozen@1900000000")
    pair = [await door.trigger("unknown key", ECHO, max_runs_per_minute=1000) for _ in range(2)]
    for number in range(60):
        await door.post(pair[number % 2])
    answer = await door.http.post(f"/webhook/{pair[0]['id']}", content=b"x")
    assert (answer.status_code, answer.json()["error"]) == (429, "ip_rate_limited")
    assert "--webhook-posts-per-address" in answer.json()["message"]
    (await door.service.get_triggers()).posts_by_address.clear()
    for number in range(60):
        await door.post(pair[number % 2])
    (await door.service.get_triggers()).posts_by_address.clear()
    answer = await door.http.post(f"/webhook/{pair[0]['id']}", content=b"x")
    assert (answer.status_code, answer.json()["error"]) == (429, "user_rate_limited")


@pytest.mark.asyncio(loop_scope="function")
async def test_the_service_name_determines_the_name_of_the_account_member(make_door):
    door = await make_door(service_name="acme")
    made = await door.trigger(KEY, ECHO, acme_account_address="0x1")
    assert made["acme_account_address"] == "0x1"
    assert "svc_account_address" not in made


@pytest.mark.asyncio(loop_scope="function")
async def test_a_too_long_attempt_is_cancelled_with_its_execution(make_door):
    door = await make_door(trigger_timeout_ms=300, run_max_retries=0)
    key = await door.account()
    trigger = await door.trigger(key, "async function main() { while (true) {} }")
    await door.post(trigger)
    (run,) = await door.ended(trigger)
    assert (run["status"], run["error"], run["response"]) == (
        "failed",
        "the service did not respond within 0.3 s",
        None,
    )


@pytest.mark.asyncio(loop_scope="function")
@pytest.mark.slow
async def test_a_run_may_take_longer_than_half_a_minute(make_door):
    door = await make_door()
    trigger = await door.trigger(
        await door.account(),
        "async function main() { await new Promise((done) => setTimeout(done, 31_000)); return 'done'; }",
    )
    await door.post(trigger)
    (run,) = await door.ended(trigger)
    assert (run["status"], run["attempt"], run["response"]["response"]) == ("success", 1, "done")


@pytest.mark.asyncio(loop_scope="function")
async def test_a_run_that_can_still_be_running_is_not_repeated(make_door):
    """The other service continues after the timeout. A second attempt then runs the action twice at the same time."""
    calls = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.append(await reader.readuntil(b"\r\n\r\n"))
        await reader.read()  # until the caller has disconnected
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1")
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    door = await make_door(trigger_execution_url=url, trigger_timeout_ms=300)
    trigger = await door.trigger(KEY, ECHO)
    await door.post(trigger)
    (run,) = await door.ended(trigger)
    assert (run["status"], run["attempt"], len(calls)) == ("failed", 1, 1)
    assert "may still run" in run["error"]
    server.close()


@pytest.mark.asyncio(loop_scope="function")
async def test_an_endless_response_of_another_service_ends_the_run(make_door, monkeypatch):
    monkeypatch.setattr(execution, "MAX_RUN_ANSWER_BYTES", 100_000)
    sent = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
        with suppress(ConnectionError):
            while sent < 50_000_000:
                writer.write(b" " * 65_536)
                sent += 65_536
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1")
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    door = await make_door(trigger_execution_url=url)
    trigger = await door.trigger(KEY, ECHO)
    await door.post(trigger)
    (run,) = await door.ended(trigger)
    assert (run["status"], run["attempt"]) == ("failed", 1)
    assert "more than 100000 bytes" in run["error"]
    assert sent < 50_000_000
    server.close()


@pytest.mark.asyncio(loop_scope="function")
async def test_the_state_retrying_is_shown_only_with_the_setting(make_door):
    door = await make_door(expose_retrying=True, clock="frozen@1900000000")
    trigger = await door.trigger(await door.account(), ECHO)
    door.service.faults.add("runtime", times=1)
    await door.post(trigger)
    await waits_for_attempt(door, trigger, 2)
    assert (await door.runs(trigger))[0]["status"] == "retrying"


@pytest.mark.asyncio(loop_scope="function")
async def test_runs_can_be_executed_by_another_service(make_door):
    refusing = await make_door(trigger_execution_url="http://127.0.0.1:9", run_max_retries=0)
    trigger = await refusing.trigger(KEY, ECHO)
    await refusing.post(trigger)
    (run,) = await refusing.ended(trigger)
    assert (run["status"], run["error"]) == ("failed", "network error: ConnectError")


# --- OpenAPI description ---------------------------------------------------------------------------------------------

NOWHERE = "/api/triggers/not-an-id"
NOBODY = "/api/triggers/7d1b1f2e-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("asked", "given", "status"),
    [
        ("GET /api/me", None, 200),
        ("POST /api/triggers", body(), 200),
        ("POST /api/triggers", {"name": "t"}, 422),
        ("POST /api/triggers", body(config={"cron": 1}, kind="schedule"), 400),
        ("GET /api/triggers", None, 200),
        ("GET /api/triggers/{id}", None, 200),
        (f"GET {NOWHERE}", None, 400),
        (f"GET {NOBODY}", None, 404),
        ("PATCH /api/triggers/{id}", {"name": "other"}, 200),
        ("PATCH /api/triggers/{id}", {"enabled": "perhaps"}, 422),
        ("POST /api/triggers/{id}/test", {"n": 1}, 202),
        ("GET /api/triggers/{id}/runs", None, 200),
        ("GET /api/tokens", None, 200),
        ("POST /webhook/{id}", {"n": 1}, 202),
        ("DELETE /api/triggers/{id}", None, 204),
        ("DELETE /api/tokens", None, 204),
    ],
)
async def test_real_answers_match_the_description(door, asked, given, status):
    json_schema = pytest.importorskip("jsonschema", reason="jsonschema comes with the charts (extra 'lab')")
    description = (await door.http.get("/core/v1/openapi.json")).json()
    trigger = await door.ok("POST", "/api/triggers", body())
    method, path = asked.split()
    headers = await another_owner(door) if asked == "DELETE /api/tokens" else {}
    answer = await door.ask(method, path.format(id=trigger["id"]), given, headers=headers)
    assert answer.status_code == status, answer.text
    shown = path.replace(NOWHERE, "/api/triggers/{id}").replace(NOBODY, "/api/triggers/{id}")
    described = description["paths"][shown][method.lower()]["responses"][str(status)]
    if status == 204:
        assert "content" not in described
        return
    schema = described["content"]["application/json"]["schema"]
    json_schema.Draft202012Validator(schema | {"components": description["components"]}).validate(answer.json())


async def test_the_description_of_each_delete_call_omits_404_because_an_unknown_id_is_204(door):
    """Checks that no call that deletes an object returns or describes 404.

    Source: docs/service/triggers.md#calls.
    """
    paths = (await door.http.get("/core/v1/openapi.json")).json()["paths"]
    deleting = {path: operations["delete"]["responses"] for path, operations in paths.items() if "delete" in operations}
    assert deleting.keys() == {"/api/triggers/{id}", "/api/tokens", "/api/tokens/{id}"}
    for path, responses in deleting.items():
        answer = await door.ask("DELETE", path.format(id=uuid4()), headers=await another_owner(door))
        assert (answer.status_code, "204" in responses, "404" in responses) == (204, True, False), path


@pytest.mark.slow
async def test_the_description_contains_the_security_schemes(door):
    paths = (await door.http.get("/core/v1/openapi.json")).json()["paths"]
    needs = {
        f"{method} {path}": operation["security"]
        for path, operations in paths.items()
        for method, operation in operations.items()
        if operation.get("tags") == ["Triggers"]
    }
    assert needs.pop("post /webhook/{id}") == []
    assert len(needs) == 11
    assert all(scheme == [{"TriggersToken": []}] for scheme in needs.values())
