from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from svcnb.client import errors
from svcnb.client.references import everything
from svcnb.protocol.action import Action
from svcnb.protocol.hashes import hashed_cid

ADDRESSES = [f"0x{number:040x}" for number in range(1, 14)]
ACTIONS = [Action(f"const main = () => {number}") for number in range(13)]
HASHES = [f"0x{number:064x}" for number in range(1, 14)]


class Service:
    """Simulated service that records posted bodies, and returns the given lists."""

    def __init__(self, actions=(), wallets=(), fail_at: int | None = None) -> None:
        self.actions, self.wallets, self.fail_at = actions, wallets, fail_at
        self.posts: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        name = request.url.path.rpartition("/")[2]
        if request.method == "POST":
            self.posts.append((name, json.loads(request.content)))
            if len(self.posts) == self.fail_at:
                return httpx.Response(402, json={"error": "payment_required", "message": "no credit"})
            return httpx.Response(200, json={"success": True, "group_id": "7"})
        return httpx.Response(
            200,
            json={
                "list_groups": [{"id": "7", "name": "old", "description": "kept"}],
                "list_actions": [{"id": item, "name": "", "description": ""} for item in self.actions],
                "list_wallets_in_group": [
                    {"id": "0", "name": "", "description": "", "wallet_address": item} for item in self.wallets
                ],
            }[name],
        )


def test_create_sends_hashes_and_addresses(scripted) -> None:
    service = Service()
    group = scripted(service).groups.create("g", description="d", actions=[ACTIONS[0]], wallets=[ADDRESSES[0]])
    assert (group.id, group.name, group.description) == (7, "g", "d")
    assert service.posts == [
        (
            "add_group",
            {
                "group_name": "g",
                "group_description": "d",
                "cid_hashes_permitted": [hashed_cid(ACTIONS[0].cid)],
                "pkp_ids_permitted": [ADDRESSES[0]],
            },
        )
    ]


def test_everything_is_sent_as_wildcards(scripted) -> None:
    service = Service()
    scripted(service).groups.create("g", actions=everything, wallets=everything)
    assert service.posts[0][1]["cid_hashes_permitted"] == ["0x0"]
    assert service.posts[0][1]["pkp_ids_permitted"] == ["0x" + "0" * 40]


def test_create_adds_entries_after_the_tenth_one_by_one(scripted) -> None:
    service = Service()
    scripted(service).groups.create("g", actions=ACTIONS, wallets=ADDRESSES)
    (_, first), *rest = service.posts
    assert first["cid_hashes_permitted"] == [hashed_cid(action.cid) for action in ACTIONS[:10]]
    assert first["pkp_ids_permitted"] == ADDRESSES[:10]
    assert rest == [
        ("add_action_to_group", {"group_id": 7, "action_ipfs_cid": action.cid}) for action in ACTIONS[10:]
    ] + [("add_pkp_to_group", {"group_id": 7, "pkp_id": address}) for address in ADDRESSES[10:]]


def test_actions_with_only_a_hash_are_sent_first_because_they_cannot_be_added_later(scripted) -> None:
    service = Service()
    scripted(service).groups.create("g", actions=[*ACTIONS[:9], *HASHES[:3]])
    assert service.posts[0][1]["cid_hashes_permitted"][:3] == HASHES[:3]
    assert [name for name, _ in service.posts[1:]] == ["add_action_to_group"] * 2


def test_more_than_ten_hashes_are_rejected_before_sending(scripted) -> None:
    service = Service()
    with pytest.raises(errors.InvalidArgument, match="11 hashes of actions"):
        scripted(service).groups.create("g", actions=HASHES[:11])
    assert service.posts == []


def test_the_error_of_an_incomplete_creation_describes_the_group(scripted) -> None:
    service = Service(fail_at=3)
    with pytest.raises(errors.OutOfCredit) as caught:
        scripted(service).groups.create("g", actions=ACTIONS)
    (note,) = caught.value.__notes__
    assert "Group 7 exists" in note
    assert "1 of 3" in note
    assert ACTIONS[11].cid in note


def test_update_keeps_omitted_values(scripted) -> None:
    service = Service(actions=HASHES[:2], wallets=ADDRESSES[:2])
    group = scripted(service).groups.update(7, name="new")
    assert (group.name, group.description) == ("new", "kept")
    assert service.posts == [
        (
            "update_group",
            {
                "group_id": 7,
                "name": "new",
                "description": "kept",
                "cid_hashes_permitted": HASHES[:2],
                "pkp_ids_permitted": ADDRESSES[:2],
            },
        )
    ]


def test_an_empty_list_removes_all_members_and_a_long_list_is_added_one_by_one(scripted) -> None:
    service = Service(actions=HASHES[:2], wallets=ADDRESSES[:2])
    scripted(service).groups.update(7, actions=[], wallets=ADDRESSES)
    assert service.posts[0][1]["cid_hashes_permitted"] == []
    assert [body["pkp_id"] for _, body in service.posts[1:]] == ADDRESSES[10:]


@pytest.mark.parametrize(
    ("service", "said"),
    [
        (Service(actions=HASHES[:11]), "11 actions"),
        (Service(wallets=ADDRESSES[:11]), "11 wallets"),
        (Service(actions=["n/a"]), "hashes the service does not return"),
    ],
)
def test_an_update_that_would_remove_members_unintentionally_is_rejected(scripted, service, said: str) -> None:
    with pytest.raises(errors.InvalidArgument, match=said):
        scripted(service).groups.update(7, name="new")
    assert service.posts == []


def test_an_unknown_group_cannot_be_updated(scripted) -> None:
    service = Service()
    with pytest.raises(errors.NotFound, match="group 8"):
        scripted(service).groups.update(8, name="new")
    assert service.posts == []


def test_add_sends_cids_and_remove_sends_hashes(scripted) -> None:
    service = Service()
    svc = scripted(service)
    svc.groups.add_action(7, ACTIONS[0])
    svc.groups.remove_action("7", ACTIONS[0])
    svc.groups.remove_wallet("0x7", ADDRESSES[0].upper().replace("0X", "0x"))
    svc.groups.delete(7)
    assert service.posts == [
        ("add_action_to_group", {"group_id": 7, "action_ipfs_cid": ACTIONS[0].cid}),
        ("remove_action_from_group", {"group_id": 7, "hashed_cid": hashed_cid(ACTIONS[0].cid)}),
        ("remove_pkp_from_group", {"group_id": 7, "pkp_id": ADDRESSES[0]}),
        ("remove_group", {"group_id": "7"}),
    ]
    with pytest.raises(errors.InvalidArgument, match="CID itself"):
        svc.groups.add_action(7, HASHES[0])


@pytest.mark.parametrize("name", ["", "  ", 5, None])
def test_an_invalid_name_is_rejected_before_sending(scripted, name) -> None:
    svc = scripted(lambda _: pytest.fail("something was sent"))
    for create in (svc.groups.create, svc.usage_keys.create, svc.accounts.create):
        with pytest.raises(errors.InvalidArgument, match="name is empty"):
            create(name)
