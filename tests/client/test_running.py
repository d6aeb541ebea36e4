from __future__ import annotations

import json
import math

import httpx
import pytest

from svcnb.client import RunRecord, errors
from svcnb.client.models.accounts import Account
from svcnb.client.running import LARGE_PARAMS_NOTE, MASTER_KEY_NOTE, REPEATED
from svcnb.protocol.action import Action
from svcnb.protocol.hashes import api_key_hash

SOURCE = "const main = (p) => p"
KEY = "bWFya2VkLXNlY3JldC1tYXJrZWQtc2VjcmV0LTEyMzQ="


def echo(request: httpx.Request) -> httpx.Response:
    body = json.loads(request.content)
    return httpx.Response(200, json={"response": body["js_params"], "logs": "hi\n"}, headers={"X-Request-Id": "r-1"})


def refusing(*statuses: int):
    """Returns a response function that rejects requests with these statuses in turn, and then accepts all requests."""
    left = list(statuses)

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(left.pop(0), json="Permission denied") if left else echo(request)

    answer.left = left  # type: ignore[attr-defined]
    return answer


@pytest.mark.parametrize(
    ("params", "named", "received"),
    [
        (None, {}, None),
        (None, {"n": 1}, {"n": 1}),
        ({"n": 1}, {}, {"n": 1}),
        ({"n": 1, "m": 1}, {"n": 2}, {"n": 2, "m": 1}),
        ([1, 2], {}, [1, 2]),
        ("text", {}, "text"),
        (0, {}, 0),
    ],
)
def test_main_receives_a_value_or_named_values(scripted, params, named, received) -> None:
    assert scripted(echo).run(SOURCE, params, **named).response == received


def test_named_values_are_rejected_with_a_value_that_is_not_an_object(scripted) -> None:
    with pytest.raises(errors.InvalidArgument, match="passed twice"):
        scripted(echo).run(SOURCE, [1], n=1)


def test_the_display_of_a_run_contains_the_response_and_nothing_that_varies(scripted) -> None:
    run = scripted(echo).run(SOURCE, n=1)
    cid = Action(SOURCE).cid
    assert repr(run) == f"Run(response={{'n': 1}}, logs='hi\\n', cid='{cid}')"
    assert (run.logs, run.cid, run.request_id, run.cost_cents) == ("hi\n", cid, "r-1", 1)
    assert "r-1" not in run._repr_html_()
    assert cid in run._repr_html_()


@pytest.mark.parametrize(("elapsed", "cents"), [(0.0, 1), (0.99, 1), (1.99, 1), (2.0, 2), (59.9, 59)])
def test_the_estimated_cost_follows_the_price_rule(scripted, elapsed: float, cents: int) -> None:
    run = scripted(echo).run(SOURCE).model_copy(update={"elapsed": elapsed})
    assert run.cost_cents == cents


def test_a_source_is_sent_as_code_and_a_cid_as_cid(scripted) -> None:
    bodies: list[dict[str, object]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return echo(request)

    svc = scripted(answer)
    svc.run(SOURCE)
    svc.run(Action(SOURCE))
    svc.run(Action(SOURCE).cid)
    assert bodies == [
        {"code": SOURCE, "js_params": None},
        {"code": SOURCE, "js_params": None},
        {"ipfs_id": Action(SOURCE).cid, "js_params": None},
    ]


def test_a_hash_cannot_be_run(scripted) -> None:
    with pytest.raises(errors.InvalidArgument, match="is the hash of a CID"):
        scripted(echo).run(Action(SOURCE).hashed_cid)


def test_a_refused_run_is_not_retried_by_default(scripted) -> None:
    answer = refusing(403)
    with pytest.raises(errors.Forbidden):
        scripted(answer).run(SOURCE)
    assert answer.left == []


def test_until_effective_waits_for_a_new_key_or_permission(scripted) -> None:
    answer = refusing(401, 403)
    assert scripted(answer).run(SOURCE, until_effective=30).response is None
    assert answer.left == []


def test_all_attempts_of_one_run_have_the_same_correlation_id(scripted) -> None:
    seen: list[str | None] = []
    answer = refusing(401, 403)

    def noted(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("x-correlation-id"))
        response: httpx.Response = answer(request)
        return response

    svc = scripted(noted)
    svc.run(SOURCE, until_effective=30)
    svc.run(SOURCE, until_effective=30)
    svc.run(SOURCE)
    svc.with_options(correlation_id="mine").run(SOURCE, until_effective=30)
    first, second = seen[0], seen[3]
    assert first is not None
    assert first.startswith(REPEATED)
    assert seen == [first, first, first, second, None, "mine"]
    assert second != first


def test_until_effective_does_not_repeat_a_run_of_an_expired_key(scripted) -> None:
    answers = [httpx.Response(403, json="the API key has expired, so the key is not authorized to execute action Qm")]
    with pytest.raises(errors.Forbidden, match="has expired"):
        scripted(lambda _request: answers.pop()).run(SOURCE, until_effective=30)


@pytest.mark.parametrize("status", [400, 402, 404, 422, 500])
def test_waiting_ends_immediately_for_an_error_that_waiting_cannot_fix(scripted, status: int) -> None:
    answer = refusing(403, status, 403, 403)
    with pytest.raises(errors.SvcnbError) as caught:
        scripted(answer).run(SOURCE, until_effective=30)
    assert getattr(caught.value, "status", None) == status
    assert len(answer.left) == 2


def test_waiting_has_a_timeout_and_the_error_says_so(scripted) -> None:
    answer = refusing(*[403] * 50)
    with pytest.raises(errors.Forbidden) as caught:
        scripted(answer).run(SOURCE, until_effective=0.25)
    assert "0.25 s" in caught.value.__notes__[0]
    assert 1 <= 50 - len(answer.left) <= 5


def test_a_run_with_the_account_key_has_a_note(scripted) -> None:
    account = Account(name="a", wallet_address="0x" + "1" * 40, api_key=KEY)
    svc = scripted(echo)
    assert svc.with_key(account).run(SOURCE).notes == (MASTER_KEY_NOTE,)
    assert svc.with_key(KEY).run(SOURCE).notes == ()
    assert svc.with_key(account).with_key(KEY).run(SOURCE).notes == ()


def test_large_parameters_cause_a_note(scripted) -> None:
    svc = scripted(echo)
    assert svc.run(SOURCE, "x" * 65_534).notes == ()  # exactly 64 KB, including the quotes
    assert svc.run(SOURCE, "x" * 65_535).notes == (LARGE_PARAMS_NOTE,)


def test_listeners_are_called_for_every_run(scripted) -> None:
    records: list[RunRecord] = []
    svc = scripted(refusing(403), api_key=KEY, on_run=records.append)
    with pytest.raises(errors.Forbidden):
        svc.run(SOURCE, n=1)
    run = svc.run(SOURCE, n=2)
    failed, done = records
    assert (failed.run, type(failed.error), failed.params) == (None, errors.Forbidden, {"n": 1})
    assert (done.run, done.error, done.params) == (run, None, {"n": 2})
    assert {record.key_hash for record in records} == {api_key_hash(KEY)}
    assert KEY not in repr(records)
    assert done.cid == Action(SOURCE).cid


def test_a_run_returns_its_result_even_if_a_listener_fails(scripted, caplog) -> None:
    def broken(_record: RunRecord) -> None:
        raise RuntimeError("disk full")

    assert scripted(echo, on_run=[broken]).run(SOURCE, n=1).response == {"n": 1}
    assert "a listener of on_run failed" in caplog.text


async def test_asynchronous_listeners_are_awaited(async_scripted) -> None:
    records: list[RunRecord] = []

    async def record(one: RunRecord) -> None:
        records.append(one)

    svc = await async_scripted(echo, on_run=record)
    await svc.run(SOURCE, n=1)
    assert [one.params for one in records] == [{"n": 1}]


def test_a_listed_usage_key_cannot_run_because_its_secret_is_unknown(scripted) -> None:
    from svcnb.client.models.usage_keys import UsageKey

    with pytest.raises(errors.InvalidArgument, match="a list call returned this object"):
        scripted(echo).with_key(UsageKey(api_key_hash="0x1", name="runner"))


def test_a_waiting_time_that_is_not_a_number_is_rejected_before_the_run(scripted) -> None:
    answer = refusing(403)
    with pytest.raises(errors.InvalidArgument, match="invalid duration nan: expected a number of seconds"):
        scripted(answer).run(SOURCE, until_effective=math.nan)
    assert len(answer.left) == 1
