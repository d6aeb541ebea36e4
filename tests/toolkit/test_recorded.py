"""The emulator responds like the recorded live service. Recording and comparison find the differences."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from svcnb.client.errors import TransportError
from svcnb.protocol.hashes import hashed_cid
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.toolkit import recorded
from tests.api.conftest import Account, Local, Wire

pytestmark = [pytest.mark.chain, pytest.mark.engine]
CONVERSATIONS = recorded.load()


@pytest.fixture(scope="module")
def strict() -> Iterator[Wire]:
    with Local(preset="strict", starter_credits=1_000) as wire:
        yield wire


@pytest.fixture
def account(strict: Wire) -> Account:
    return strict.account(credit=1_000)


def differences(conversation: recorded.Conversation, account: Account) -> list[str]:
    send = recorded.over_http(account.wire.base_url)
    return [str(each) for each in recorded.compare(conversation, send, key=account.key) if not each.is_news]


@pytest.mark.slow
@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda each: each.name)
def test_the_emulator_responds_as_recorded(conversation: recorded.Conversation, account: Account) -> None:
    assert differences(conversation, account) == []


@pytest.mark.slow
def test_recordings_contain_no_secret_and_can_be_replayed(account: Account, tmp_path: Path) -> None:
    send = recorded.over_http(account.wire.base_url)
    for conversation in CONVERSATIONS:
        recorded.record(conversation, send, tmp_path, source="a test", key=account.key)
    written = "".join(path.read_text() for path in tmp_path.iterdir())
    assert account.key not in written
    assert '"usage_api_key": "********"' in written
    again = recorded.load(tmp_path)
    assert [each.name for each in again] == [each.name for each in CONVERSATIONS]
    assert again[0].source == "a test"
    assert [found for each in again for found in differences(each, account)] == []


@pytest.mark.slow
def test_nothing_remains_on_a_service_that_also_accepts_other_types(tmp_path: Path) -> None:
    with Local(starter_credits=1_000) as tolerant:
        account = tolerant.account(credit=1_000)
        for conversation in CONVERSATIONS:
            recorded.record(conversation, recorded.over_http(tolerant.base_url), tmp_path, source="a", key=account.key)
        for kind in ("list_groups", "list_api_keys", "list_actions"):
            assert account.listed(kind) == [], kind


class Accepting:
    """Service that accepts every request, until one fails."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.objects: list[str] = []

    def send(self, _method: str, path: str, _headers: object, body: bytes | None) -> recorded.Answer:
        name = path.partition("?")[0].removeprefix("/core/v1")
        if name == self.failing:
            raise TransportError("the service did not respond")
        given = json.loads(body) if body and body != b"{" else {}
        if name in ("/add_group", "/add_usage_api_key", "/add_action"):
            made = hashed_cid(given["action_ipfs_cid"]) if name == "/add_action" else f"{name} {len(self.objects)}"
            self.objects.append(made)
            return recorded.Answer(200, {}, {"success": True, "group_id": made, "usage_api_key": made})
        if name in ("/remove_group", "/remove_usage_api_key", "/delete_action"):
            (which,) = given.values()
            if which in self.objects:
                self.objects.remove(which)
        return recorded.Answer(200, {}, [{"id": hashed_cid(CID)}] if name == "/list_actions" else {})


CID = "QmdCDbRUews4Ko2FBD32VSf8Y5UMUDHfvKh1jrozMdUhHN"


@pytest.mark.parametrize("failing", ["", "/svc_action", "/list_actions"])
def test_the_objects_of_a_conversation_are_deleted(failing: str) -> None:
    service = Accepting(failing)
    account = next(each for each in CONVERSATIONS if each.needs == "account")
    account = replace(account, exchanges=tuple(each for each in account.exchanges if "{group:number}" not in str(each)))
    try:
        assert len(list(recorded.answers(account, service.send, key="k"))) == len(account.exchanges)
        assert not failing
    except TransportError:
        assert failing
    assert service.objects == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"status": 201}, "status: 201"),
        ({"body": {"success": False, "id": "0x" + "1" * 40}}, "body.success: false, but true was recorded"),
        ({"body": {"id": "0x" + "1" * 40}}, "body.success: is missing"),
        ({"body": {"success": True, "id": "1"}}, "body.id: a decimal number, but an address was recorded"),
        ({"body": {"success": True, "id": 1}}, "body.id: a number, but a string was recorded"),
        ({"body": [True]}, "body: an array, but an object was recorded"),
        ({"headers": {}}, "header.x-request-id: null, but a UUID was recorded"),
    ],
)
def test_a_difference_is_found(given: dict[str, Any], says: str) -> None:
    uuid = "3f2b8c1e-5d64-4a17-9c0f-7b1d2e3a4c5d"
    same = {"status": 200, "headers": {"x-request-id": uuid}, "body": {"success": True, "id": "0x" + "a" * 40}}
    exchange = {"title": "t", "request": {"method": "GET", "path": "/p"}, "answer": same}
    conversation = recorded.Conversation("c", "nothing", "a test", (exchange,))

    def found(answer: dict[str, Any]) -> list[str]:
        return [str(each) for each in recorded.compare(conversation, lambda *_: recorded.Answer(**answer))]

    assert found(same) == []
    (difference,) = found(same | given)
    assert says in difference


def test_a_service_with_other_names_receives_requests_with_these_names() -> None:
    asked = []

    def send(method: str, path: str, _headers: object, body: bytes | None) -> recorded.Answer:
        asked.append((method, path, json.loads(body) if body and body != b"{" else None))
        return recorded.Answer(500, {}, "")

    names = Vocabulary(service="acme", processor="payco")
    for conversation in CONVERSATIONS:
        list(recorded.answers(conversation, send, key="k", vocabulary=names))
    paths = {path.partition("?")[0] for _, path, _ in asked}
    assert {"/core/v1/acme_action", "/core/v1/get_acme_action_ipfs_id", "/core/v1/billing/payco_config"} <= paths
    assert not any("svc" in path or "processor" in path for path in paths)
    codes = [body["code"] for _, _, body in asked if isinstance(body, dict) and "code" in body]
    assert any("Acme.Actions.setResponse" in code for code in codes)
    assert not any("Svc." in code for code in codes)


def test_the_error_for_an_invalid_file_contains_its_name(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text("{}")
    with pytest.raises(ValueError, match=r"odd\.json is not a recorded conversation"):
        recorded.load(tmp_path)
