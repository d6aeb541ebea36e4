"""What a learner's notebook may do at the desk, and what it may not."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

import svcnb
from svcnb.control import ControlRefused, EmulatorControl
from svcnb.workshop import Workshop

pytestmark = [pytest.mark.chain, pytest.mark.engine]

ADDRESS = "0x" + "11" * 20


def ask(url: str, token: str = "", body: object = None) -> tuple[int, str]:
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data)  # noqa: S310 - the desk's own address
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=300) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.fixture
def lesson(at_desk: Workshop) -> Any:
    assert at_desk.desk is not None
    handle = svcnb.lesson("quickstart")
    assert isinstance(handle, EmulatorControl)
    yield handle
    handle.close()


def test_a_lesson_in_a_workshop_uses_the_emulator_of_all(lesson: EmulatorControl, at_desk: Workshop) -> None:
    assert lesson.base_url == at_desk.emulator.base_url
    assert lesson.client().node.chain_config().chain_id == at_desk.emulator.chain_id


def test_a_learner_gets_eth_and_a_contract_wallet(lesson: EmulatorControl) -> None:
    assert lesson.faucet(ADDRESS) == 10 * 10**18
    assert lesson.contract_wallet(ADDRESS).startswith("0x")


@pytest.mark.parametrize(
    "verb",
    [
        lambda emu: emu.reset(),
        lambda emu: emu.snapshot("mine"),
        lambda emu: emu.clock.advance(300),
        lambda emu: emu.faults.next("chain"),
        lambda emu: emu.network("deny"),
        lambda emu: emu.credit(ADDRESS, 10**6),
        lambda emu: emu.runs(),
    ],
    ids=["reset", "snapshot", "clock", "faults", "network", "credit", "runs of others"],
)
def test_what_concerns_everybody_is_the_teachers(lesson: EmulatorControl, verb: Any) -> None:
    with pytest.raises(ControlRefused, match="teacher's") as refused:
        verb(lesson)
    assert refused.value.status == 403


def test_the_control_planes_secret_stays_at_the_desk(lesson: EmulatorControl, at_desk: Workshop) -> None:
    secret = "the teacher's"
    assert secret not in json.dumps(lesson.state())
    assert all(secret not in value for each in at_desk.hand_out().values() for value in each.values())


def test_a_learner_approves_tokens_for_their_own_triggers_alone(
    lesson: EmulatorControl, at_desk: Workshop, names: list[str]
) -> None:
    """A token for another learner's triggers would run code with that learner's key."""
    assert at_desk.desk is not None
    with svcnb.TriggersClient(lesson.triggers_url) as thief:
        order = {"challenge": thief.challenge, "email": "owner@localhost"}
        for email in ("owner@localhost", f"{names[1]}@workshop.local", None, ["x"]):
            answer = ask(
                f"{at_desk.desk.url}/control/agents/approve",
                at_desk.learner(names[0]).token,
                order | {"email": email, "label": "mine"},
            )
            assert answer[0] == 200
            me = thief.who()
            assert me is not None
            assert me.email == f"{names[0]}@workshop.local"
    for body in (b"[]", b'"x"', b"{"):
        status, _ = ask(f"{at_desk.desk.url}/control/agents/approve", at_desk.learner(names[0]).token, body)
        assert status == 422


def test_the_address_of_the_board_opens_the_board_and_nothing_else(at_desk: Workshop, names: list[str]) -> None:
    desk = at_desk.desk
    assert desk is not None
    token = desk.board_url.rpartition("token=")[2]
    assert token != desk.teacher_token
    assert ask(desk.board_url)[0] == ask(f"{desk.url}/board.json?token={token}")[0] == 200
    for path, body in ((f"/learners/{names[0]}/add", {}), ("/teacher/reset", {}), ("/teacher/runs", None)):
        assert ask(f"{desk.url}{path}?token={token}", token, body)[0] == 401
        # Also the teacher's own token is taken from the header alone: addresses are seen by others.
        assert ask(f"{desk.url}{path}?token={desk.teacher_token}", "", body)[0] == 401
    assert ask(f"{desk.url}/board?token={at_desk.learner(names[0]).token}")[0] == 401


def test_a_verdict_reaches_the_board_and_the_answer_does_not(at_desk: Workshop, names: list[str]) -> None:
    svcnb.exercises.check("cids.changes", ...)  # not tried yet
    svcnb.exercises.check("cids.changes", {"other js_params"})
    assert at_desk.board().as_dict()[names[0]] == {"cids.changes": {"right": False, "tries": 1}}
    svcnb.exercises.check(
        "cids.changes",
        {"a space after the last brace", "a comment reworded", "Windows line ends instead of Unix ones"},
    )
    assert at_desk.board().as_dict()[names[0]] == {"cids.changes": {"right": True, "tries": 2}}


def test_a_desk_that_is_gone_stops_no_lesson(at_desk: Workshop) -> None:
    at_desk.close()
    assert svcnb.exercises.check("cids.changes", set()).right is False


def test_the_board_is_the_teachers(at_desk: Workshop, names: list[str]) -> None:
    desk = at_desk.desk
    assert desk is not None
    status, page = ask(desk.board_url)
    assert status == 200
    assert names[0] in page
    assert ask(f"{desk.url}/board")[0] == 401
    assert ask(f"{desk.url}/board.json", at_desk.learner(names[0]).token)[0] == 401
    status, text = ask(f"{desk.url}/board.json", desk.teacher_token)
    assert set(json.loads(text)) >= set(names)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"exercise": "no.such", "right": True}, 422),
        ({"exercise": "cids.derive"}, 422),
        (b"not json", 422),
        ({"exercise": "x" * 100_000, "right": True}, 413),
    ],
    ids=["unknown", "incomplete", "no JSON", "too long"],
)
def test_what_is_no_verdict_is_refused(at_desk: Workshop, names: list[str], body: object, status: int) -> None:
    assert at_desk.desk is not None
    assert ask(f"{at_desk.desk.url}/verdicts", at_desk.learner(names[0]).token, body)[0] == status
    assert ask(f"{at_desk.desk.url}/verdicts", "a guess", body)[0] == 401
    assert ask(f"{at_desk.desk.url}/control/faucet", "", {"address": ADDRESS})[0] == 401


def test_learners_practise_with_keys_of_their_own(
    at_desk: Workshop, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = svcnb.practice_key(1)
    assert svcnb.practice_key(1) == first
    monkeypatch.setenv("SVC_WORKSHOP_TOKEN", at_desk.learner(names[1]).token)
    assert svcnb.practice_key(1) != first
    monkeypatch.delenv("SVC_WORKSHOP_TOKEN")
    assert svcnb.practice_key(1) == "0x" + "11" * 32
    with pytest.raises(ValueError, match="from 1 to 9"):
        svcnb.practice_key(0)
