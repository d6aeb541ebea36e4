"""The preset `strict` rejects the same requests as the live service. Without the preset, the emulator records
these requests.

Source: docs/service/strict-types.md#requests-that-the-live-service-rejects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.conftest import Local, Wire, usage_key_body

ZERO_HASH, ZERO_WALLET = "0x" + "0" * 64, "0x" + "0" * 40
GROUP = {"group_name": "n", "group_description": "", "pkp_ids_permitted": [], "cid_hashes_permitted": []}
ACTION = {"action_ipfs_cid": "QmCid", "name": "n", "description": ""}
LISTS = ("list_api_keys", "list_groups", "list_wallets", "list_actions")


def without(body: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in names}


TOLERATED_BODIES = [
    *(("add_usage_api_key", without(usage_key_body(), name), name) for name in usage_key_body() if name != "name"),
    *(("add_group", without(GROUP, name), name) for name in GROUP if name != "group_name"),
    ("add_action", without(ACTION, "description"), "description"),
    ("add_group", GROUP | {"cid_hashes_permitted": [0]}, "the number 0"),
    ("update_group", {"group_id": "1", "name": "n", "description": ""}, "a group id as a string"),
    ("add_action_to_group", {"group_id": "0x1", "action_ipfs_cid": "QmCid"}, "a group id as a string"),
    ("add_pkp_to_group", {"group_id": "1", "pkp_id": ZERO_WALLET}, "a group id as a string"),
    ("remove_group", {"group_id": 1}, "a group id as a number"),
]


@pytest.fixture(scope="module")
def strict() -> Iterator[Wire]:
    with Local(preset="strict", starter_credits=1_000) as wire:
        yield wire


@pytest.fixture(scope="module")
def tolerant() -> Iterator[Wire]:
    with Local(starter_credits=1_000) as wire:
        yield wire


def tolerated(wire: Any, path: str) -> list[str]:
    entries = wire.control("/state", method="GET")["tolerated_requests"]
    return [entry["form"] for entry in entries if entry["path"] == f"/core/v1/{path}"]


@pytest.mark.parametrize(("path", "body", "form"), TOLERATED_BODIES)
def test_strict_rejects_deviations_that_are_otherwise_recorded(strict, tolerant, path, body, form):
    account = strict.account()
    account.group()
    answer = account.post(path, body)
    assert (answer.status_code, answer.json()["error"]) == (422, "unprocessable_entity")

    other = tolerant.account()
    other.group()
    assert other.post(path, body).status_code == 200
    assert any(form in entry for entry in tolerated(tolerant, path))


@pytest.mark.slow
@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("query", [{}, {"page_number": 0}, {"page_size": 10}])
def test_lists_need_both_members_of_a_page(strict, tolerant, path, query):
    assert strict.account().get(path, **query).status_code == 422
    assert strict.account().get(path, page_number=0, page_size=10).status_code == 200
    assert tolerant.account().get(path, **query).status_code == 200
    assert tolerated(tolerant, path)


def test_a_zero_wallet_of_another_length_is_400(strict):
    for zero in ("0", ZERO_HASH):
        assert strict.account().post("add_group", GROUP | {"pkp_ids_permitted": [zero]}).status_code == 400
    assert strict.account().post("add_group", GROUP | {"pkp_ids_permitted": [ZERO_WALLET]}).status_code == 200


def test_only_the_group_of_an_action_list_can_be_hex(strict):
    account = strict.account()
    account.group()
    page = {"page_number": 0, "page_size": 10}
    assert account.get("list_actions", group_id="0x1", **page).status_code == 200
    assert account.get("list_wallets_in_group", group_id="0x1", **page).status_code == 422
    assert account.get("list_wallets_in_group", group_id="1", **page).status_code == 200


def test_one_setting_overrides_the_preset(local):
    account = local(preset="strict", strict_types=False, starter_credits=1_000).account()
    assert account.post("add_group", {"group_name": "n"}).status_code == 200


def test_a_complete_client_leaves_no_record(local):
    wire = local(starter_credits=1_000)
    account = wire.account()
    account.group()
    account.usage_key()
    account.listed("list_groups")
    assert wire.control("/state", method="GET")["tolerated_requests"] == []


@pytest.mark.slow
def test_the_client_works_with_strict(start_emulator):
    with start_emulator(preset="strict", starter_credits=1_000) as own:
        svc = own.client(api_key=own.client().accounts.create("strict").api_key)
        action = "async function main() { return 1; }"
        wallet, group = svc.wallets.create(), svc.groups.create("g", actions=action)
        svc.groups.add_wallet(group, wallet)
        svc.actions.register(action, name="one")
        key = svc.usage_keys.create("k", execute_in_groups=[group])
        assert svc.with_key(key).run(action).response == 1
        assert [len(listed) for listed in (svc.groups.list(), svc.actions.list(), svc.usage_keys.list())] == [1, 1, 1]
        svc.groups.delete(group)
