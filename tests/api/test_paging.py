"""Pages of lists (docs/service/http.md#paging)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Local

MADE = 5


@pytest.fixture(scope="module")
def many(wire):
    account = wire.account(credit=1_000)
    for n in range(MADE):
        account.group(f"g{n}")
    return account


def names(account, **query: object) -> list[str]:
    return [group["name"] for group in account.wire.listed("list_groups", account.key, **query)]


EVERYTHING = [f"g{n}" for n in range(MADE)]


@pytest.mark.parametrize(
    ("page_number", "page_size", "expected"),
    [
        (0, 2, ["g0", "g1"]),
        (1, 2, ["g2", "g3"]),
        (2, 2, ["g4"]),
        (3, 2, []),
        (0, 5, EVERYTHING),
        (1, 5, []),
        (0, 6, EVERYTHING),
        (1, 6, EVERYTHING),
        (7, 100, EVERYTHING),
        (0, 0, []),
        (1, 0, []),
        (2**64 - 1, 2, []),
        (2**64 - 1, 2**64 - 1, EVERYTHING),
    ],
)
def test_pages_follow_the_rule_of_the_reference(many, page_number, page_size, expected):
    assert names(many, page_number=page_number, page_size=page_size) == expected


def test_the_default_page_is_the_first_with_ten_entries(many):
    """Checks that the default page is the first page, with ten entries.

    Source: docs/service/http.md#value-formats.
    """
    assert names(many) == EVERYTHING
    assert names(many, page_number=0) == names(many, page_size=5) == EVERYTHING


@pytest.mark.parametrize("wrong", ["", "-1", "1.0", "x", "0x1", str(2**64)])
@pytest.mark.parametrize("name", ["page_number", "page_size"])
def test_a_malformed_page_is_422(many, name, wrong):
    query = {"page_number": 0, "page_size": 1} | {name: wrong}
    answer = many.get("list_groups", **query)
    assert answer.status_code == 422
    assert answer.json()["error"] == "unprocessable_entity"


def ids(entries: list[dict[str, Any]], member: str) -> list[str]:
    return [entry[member] for entry in entries]


def test_lists_stay_in_creation_order_after_a_removal(wire):
    """Checks that lists stay in the order of creation after a deletion.

    list_groups returns the newest group last.

    Source: docs/service/http.md#lists.
    """
    account = wire.account(credit=1_000)
    groups = [account.group(f"g{n}") for n in range(4)]
    cids = [f"QmCid{n}" for n in range(4)]
    for cid in cids:
        account.ok("add_action", {"action_ipfs_cid": cid, "name": cid, "description": ""})
        account.ok("add_action_to_group", {"group_id": groups[1], "action_ipfs_cid": cid})
    hashes = ids(account.listed("list_actions"), "hashed_cid")
    wallets = [account.wallet_made() for _ in range(4)]
    for wallet in wallets:
        account.ok("add_pkp_to_group", {"group_id": groups[1], "pkp_id": wallet})
    keys = [account.usage_key(f"k{n}") for n in range(4)]

    account.ok("remove_group", {"group_id": str(groups[0])})
    account.ok("remove_action_from_group", {"group_id": groups[1], "hashed_cid": hashes[0]})
    account.ok("remove_pkp_from_group", {"group_id": groups[1], "pkp_id": wallets[0]})
    account.ok("delete_action", {"hashed_cid": hashes[1]})
    account.ok("remove_usage_api_key", {"usage_api_key": keys[0]})
    account.ok("update_usage_api_key_metadata", {"usage_api_key": keys[1], "name": "k1", "description": "changed"})

    assert names(account) == ["g1", "g2", "g3"]
    assert names(account, page_number=1, page_size=2) == ["g3"]
    assert ids(account.listed("list_actions"), "name") == [cids[0], cids[2], cids[3]]
    assert ids(account.listed("list_actions", group_id=groups[1]), "name") == [cids[2], cids[3]]
    assert ids(account.listed("list_wallets_in_group", group_id=groups[1]), "wallet_address") == wallets[1:]
    assert ids(account.listed("list_api_keys"), "name") == ["k1", "k2", "k3"]

    account.ok("add_action", {"action_ipfs_cid": cids[1], "name": "again", "description": ""})
    account.ok("add_pkp_to_group", {"group_id": groups[1], "pkp_id": wallets[0]})
    assert ids(account.listed("list_actions"), "name") == [cids[0], cids[2], cids[3], "again"]
    rotated = [*wallets[1:], wallets[0]]
    assert ids(account.listed("list_wallets_in_group", group_id=groups[1]), "wallet_address") == rotated


@pytest.mark.slow
def test_the_order_is_the_same_after_a_restart(tmp_path):
    state = tmp_path / "state"
    with Local(state=state, starter_credits=1_000) as first:
        account = first.account()
        for n in range(4):
            account.usage_key(f"k{n}")
        key = ids(account.listed("list_api_keys"), "api_key_hash")[0]
        account.ok("remove_usage_api_key", {"usage_api_key": key})
    with Local(state=state) as second:
        listed = second.listed("list_api_keys", account.key, page_number=0, page_size=10)
        assert ids(listed, "name") == ["k1", "k2", "k3"]


def test_initial_members_of_a_group_also_stay_in_order(wire):
    account = wire.account(credit=1_000)
    wallets = [account.wallet_made() for _ in range(4)]
    group = account.group("g", pkps=wallets[:3])
    account.ok("add_pkp_to_group", {"group_id": group, "pkp_id": wallets[3]})
    account.ok("remove_pkp_from_group", {"group_id": group, "pkp_id": wallets[0]})
    assert ids(account.listed("list_wallets_in_group", group_id=group), "wallet_address") == wallets[1:]
    order = [wallets[2], wallets[0], wallets[1]]
    account.ok(
        "update_group",
        {"group_id": group, "name": "g", "description": "", "pkp_ids_permitted": order, "cid_hashes_permitted": []},
    )
    account.ok("remove_pkp_from_group", {"group_id": group, "pkp_id": wallets[2]})
    assert ids(account.listed("list_wallets_in_group", group_id=group), "wallet_address") == order[1:]


def test_strict_paging_is_empty_beyond_the_end(local):
    """Checks that a page beyond the end of a list is empty with strict paging.

    Source: docs/service/http.md#paging, strict_paging and max_page_size.
    """
    account = local(strict_paging=True, max_page_size=3).account()
    for n in range(2):
        account.group(f"g{n}")
    assert names(account, page_number=0, page_size=3) == ["g0", "g1"]
    assert names(account, page_number=1, page_size=3) == []
    for n in range(2, 5):
        account.group(f"g{n}")
    assert names(account, page_number=0, page_size=100) == ["g0", "g1", "g2"]
    assert names(account, page_number=1, page_size=100) == ["g3", "g4"]


@pytest.mark.slow
def test_a_list_of_any_length_is_returned(account):
    """A page that is larger than the list contains the whole list. The gas of a block does not limit a read.

    Source: docs/service/http.md#paging.
    """
    names = [f"{number:02} " + "n" * 25_000 for number in range(24)]
    for name in names:
        account.group(name)
    assert [entry["name"] for entry in account.listed("list_groups", page_size=2**64 - 1)] == names
