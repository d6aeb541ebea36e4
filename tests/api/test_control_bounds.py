"""The server still works after every value in a request to the control plane, accepted or rejected."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from svcnb.protocol.limits import MAX_PENDING_FAULTS

CODE = "function main() { return 1 }"
ADDRESS = "0x" + "12" * 20
EARLIEST, LATEST = 0, 32_503_680_000  # 1970-01-01 and 3000-01-01 in RFC 3339 format
OUTSIDE = [253402300800, 1e308, -1e308, -62135596801, -1, LATEST + 1, 2**53, 2**63, 2**64, 2**128, 1e18]
NUMBERS = [*OUTSIDE, 0, 1, -0.0, 0.5, 5e-324, 2**31, 2**32, 10**27, 10**28, 2**256]
VALUES: list[Any] = [*NUMBERS, True, None, "1", "1e5", "\u0000", "a\u0000b", "\ud800", "x" * 300, "../x", [], {}]
MEMBERS: list[tuple[str, str, dict[str, Any]]] = [
    ("/clock", "freeze", {}),
    ("/clock", "advance", {}),
    ("/clock", "real", {}),
    ("/faults", "status", {"part": "triggers"}),
    ("/faults", "delay_ms", {"part": "triggers"}),
    ("/faults", "times", {"part": "triggers"}),
    ("/faults", "part", {}),
    ("/faucet", "wei", {"address": ADDRESS}),
    ("/credit", "cents", {"wallet_address": ADDRESS}),
    ("/processor/x", "delay_ms", {"outcome": "succeeded"}),
    ("/agents/approve", "challenge", {}),
    ("/agents/approve", "label", {"challenge": "x"}),
    ("/agents/approve", "email", {"challenge": "x"}),
    ("/contract-wallets", "owner", {}),
    ("/network", "policy", {}),
    ("/network", "file", {"policy": "replay"}),
]
RAW = ["{", "", "[" * 5_000, "1" * 5_000, '{"freeze": NaN}', '{"freeze": 1e999}', '{"advance": -Infinity}', "\x00"]
NAMES = ["\0", "a\0b", "\x1b", "\r\n", "x" * 201, "x" * 5_000, "\u202e", "😀" * 201]


@pytest.fixture(params=["memory", "postgres"])
def whole(request, local):
    settings = {"database": request.getfixturevalue("postgres_url")} if request.param == "postgres" else {}
    return local(starter_credits=500, **settings)


def post(wire, path: str, raw: str):
    return wire.call("POST", f"/_emulator{path}", content=raw.encode(), headers={"Content-Type": "application/json"})


def is_refused_or_done(answer: httpx.Response) -> bool:
    json.loads(answer.text)
    return answer.status_code < 500 and answer.headers["content-type"] == "application/json"


@pytest.mark.slow
def test_every_value_is_accepted_or_rejected_and_the_server_continues(whole) -> None:
    wrong: list[Any] = []
    for path, member, others in MEMBERS:
        for value in VALUES:
            answer = post(whole, path, json.dumps(others | {member: value}))
            alive = path not in {"/clock", "/faults"} or whole.call("GET", "/_emulator/state").status_code == 200
            if not is_refused_or_done(answer) or not alive:
                wrong.append((path, member, str(value)[:40], answer.status_code))
        whole.control("/clock", {"real": True})
        whole.control("/faults", method="DELETE")
    whole.control("/network", {"policy": "allow"})
    wrong += [
        (path, raw[:40])
        for raw in RAW
        for path in ("/clock", "/credit", "/faults", "/faucet")
        if not is_refused_or_done(post(whole, path, raw))
    ]
    for name in NAMES:
        for method, place in (
            ("POST", "/snapshots/{}"), ("POST", "/snapshots/{}/restore"), ("DELETE", "/snapshots/{}"),
            ("GET", "/runs/{}"), ("POST", "/processor/{}"),
        ):  # fmt: skip
            body = {"json": {"outcome": "failed"} if "processor" in place else {}} if method == "POST" else {}
            answer = whole.call(method, "/_emulator" + place.format(quote(name)), **body)
            if not 400 <= answer.status_code < 500 or not is_refused_or_done(answer):
                wrong.append((place, name[:20], answer.status_code))
    assert wrong == []
    assert whole.account().run(CODE).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("at", OUTSIDE)
def test_a_time_out_of_range_is_rejected_with_the_range(broke, at) -> None:
    wire = broke.wire
    answer = wire.post("/_emulator/clock", body={"freeze": at})
    assert answer.status_code == 422
    assert str(EARLIEST if at < 0 else LATEST) in answer.json()["message"]
    assert wire.control("/state", method="GET")["clock"]["frozen"] is False


def test_the_clock_cannot_be_advanced_past_its_bound_in_many_steps(local) -> None:
    wire = local()
    wire.control("/clock", {"freeze": LATEST - 10})
    wire.control("/clock", {"advance": 10})
    refused = wire.post("/_emulator/clock", body={"advance": 1})
    assert refused.status_code == 400
    assert "3000-01-01" in refused.json()["message"]
    assert wire.control("/state", method="GET")["clock"]["now"] == LATEST
    wire.control("/clock", {"real": True})
    assert wire.post("/_emulator/clock", body={"advance": LATEST}).status_code == 400


@pytest.mark.parametrize("at", [EARLIEST, LATEST])
def test_everything_works_at_both_bounds(local, at) -> None:
    wire = local(clock=f"frozen@{at}", starter_credits=500)
    account = wire.account()
    key = account.usage_key(execute_in_groups=[0])
    assert account.run(CODE).status_code == 200
    assert wire.post("svc_action", key, {"code": CODE}).status_code in {200, 403}
    wire.control("/snapshots/bound")
    wire.control("/snapshots/bound/restore")
    assert account.run(CODE).status_code == 200
    assert wire.get("version").headers["Date"].endswith("00:00:00 GMT")


def test_a_start_with_a_clock_outside_the_bounds_is_refused() -> None:
    from svcnb.emulator.settings import Settings

    for text in ("frozen@1e308", "frozen@-1", "frozen@nan", "frozen@253402300800"):
        with pytest.raises(ValueError, match="expected Unix seconds from 0 "):
            Settings.load({}, clock=text)


def test_a_snapshot_of_an_earlier_version_with_an_unusable_time_changes_nothing(local) -> None:
    wire = local(starter_credits=500)
    account = wire.account()
    wire.control("/snapshots/old")
    account.group("kept")
    state = json.dumps({"frozen_at": 1e308, "offset": 0.0})
    wire.local.service.store.run_now(
        lambda connection: connection.run("UPDATE snapshots SET clock = :state", state=state)
    )
    refused = wire.post("/_emulator/snapshots/old/restore")
    assert refused.status_code == 409
    assert "invalid time 1e+308" in refused.json()["message"]
    assert [group["name"] for group in account.listed("list_groups")] == ["kept"]


@pytest.mark.slow
def test_faults_that_wait_are_bounded(broke) -> None:
    wire = broke.wire
    answers = [
        wire.post("/_emulator/faults", body={"part": "triggers", "times": 1}).status_code
        for _ in range(MAX_PENDING_FAULTS + 1)
    ]
    wire.control("/faults", method="DELETE")
    assert answers == [200] * MAX_PENDING_FAULTS + [400]


def test_a_failure_outside_the_endpoints_is_json_too(local, monkeypatch, caplog) -> None:
    wire = local()
    monkeypatch.setattr(wire.local.service.clock, "now_s", lambda: 10**30)
    for method, path in (("GET", "version"), ("GET", "/nowhere"), ("OPTIONS", "version")):
        answer = wire.call(method, path, headers={"Origin": "http://localhost:1"})
        assert answer.status_code == 500
        assert answer.json()["error"]
        assert answer.headers["X-Request-Id"]
    assert "failed outside the endpoints" in caplog.text
    monkeypatch.undo()
    assert wire.get("version").status_code == 200
