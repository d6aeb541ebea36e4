"""Valid forms of values, and the responses to invalid ones (400 with the next step).

Source: docs/service/http.md#value-formats.
"""

from __future__ import annotations

import pytest

from svcnb.protocol.hashes import hashed_cid

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
HASH = hashed_cid(CID)
ZERO_HASH = "0x" + "00" * 32
ZERO_ADDRESS = "0x" + "00" * 20


@pytest.mark.parametrize("form", [int, str, hex, lambda n: f"  {n} ", lambda n: f"0X{n:04X}"])
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("update_group", {"name": "n", "description": ""}),
        ("add_action_to_group", {"action_ipfs_cid": CID}),
        ("add_pkp_to_group", {"pkp_id": "0x" + "ab" * 20}),
        ("remove_group", {}),
    ],
)
def test_a_group_id_is_a_number_or_its_decimal_or_hex_text(account, path, body, form):
    """Checks that a group id can be a number, or a string with its decimal or hex digits.

    Source: docs/service/http.md#value-formats.
    """
    assert account.ok(path, body | {"group_id": form(account.group())}) == {"success": True}


@pytest.mark.parametrize("wrong", ["seven", "", "-1", "1.0", "0x", str(2**64), 0, "0", "0x0"], ids=repr)
@pytest.mark.parametrize("path", ["update_group", "remove_group"])
def test_an_impossible_group_id_is_400(account, path, wrong):
    """Checks that an impossible group id causes a 400.

    0 is not the id of a group.

    Source: docs/service/endpoints.md#groups.
    """
    before = account.credit()
    answer = account.post(path, {"group_id": wrong, "name": "n", "description": ""})
    assert answer.status_code == 400
    assert "group id" in answer.json()
    assert account.credit() == before


@pytest.mark.parametrize("wrong", [None, True, 1.5, -1, 2**64, [1]], ids=repr)
def test_a_group_id_of_another_type_is_422(account, wrong):
    assert account.post("update_group", {"group_id": wrong, "name": "n", "description": ""}).status_code == 422


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        (HASH, HASH),
        (HASH[2:], HASH),
        (HASH.upper().replace("X", "x"), HASH),
        ("0xabc", f"0x{0xABC:064x}"),
        ("abc", f"0x{0xABC:064x}"),
        ("0", ZERO_HASH),
        ("0x0", ZERO_HASH),
        (0, ZERO_HASH),
        (ZERO_HASH, ZERO_HASH),
        ("10", f"0x{0x10:064x}"),
    ],
    ids=repr,
)
def test_a_permitted_hash_is_hex_in_many_forms_and_never_decimal(account, sent, stored):
    group = account.group(cids=[sent])
    assert [entry["hashed_cid"] for entry in account.listed("list_actions", group_id=group)] == [stored]


@pytest.mark.parametrize("wrong", [CID, "0xzz", "", "0x", "1" * 65], ids=repr)
def test_an_invalid_hash_is_400_with_a_special_error_for_a_raw_cid(account, wrong):
    answer = account.post("add_group", {"group_name": "n", "group_description": "", "cid_hashes_permitted": [wrong]})
    assert answer.status_code == 400
    assert ("raw CID" in answer.json()) == (wrong == CID)


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("0x" + "AB" * 20, "0x" + "ab" * 20),
        ("ab" * 20, "0x" + "ab" * 20),
        (ZERO_ADDRESS, ZERO_ADDRESS),
        ("0", ZERO_ADDRESS),
        ("0x" + "00" * 32, ZERO_ADDRESS),
    ],
)
def test_a_permitted_wallet_is_an_address_or_the_wildcard(account, sent, stored):
    group = account.group(pkps=[sent])
    assert [entry["wallet_address"] for entry in account.listed("list_wallets_in_group", group_id=group)] == [stored]


@pytest.mark.parametrize("wrong", ["0x" + "ab" * 19, "0x" + "ab" * 21, "0x" + "ab" * 32, "wallet", "", "0x"])
def test_a_pkp_id_of_another_length_is_400(account, wrong):
    answer = account.post("add_pkp_to_group", {"group_id": 1, "pkp_id": wrong})
    assert answer.status_code == 400
    assert answer.json().startswith("Invalid PKP ID")
    body = {"group_name": "n", "group_description": "", "pkp_ids_permitted": [wrong]}
    assert account.post("add_group", body).status_code == 400


@pytest.mark.parametrize(
    ("sent", "shown"), [(7, "7"), (None, "null"), (True, "true"), (["0x0"], "an array"), ({"a": 1}, "an object")]
)
def test_a_value_of_another_type_is_422_and_the_message_contains_the_value(account, sent, shown):
    bodies = {
        "add_pkp_to_group": {"group_id": 1, "pkp_id": sent},
        "delete_action": {"hashed_cid": sent},
        "add_group": {"group_name": "n", "group_description": "", "cid_hashes_permitted": [sent]},
    }
    for path, body in bodies.items():
        answer = account.post(path, body)
        assert answer.status_code == 422
        assert answer.json()["message"].endswith(f", got {shown}")


@pytest.mark.parametrize("form", [lambda h: h, lambda h: str(int(h, 16)), lambda h: h.upper().replace("X", "x")])
def test_a_hashed_cid_is_hex_or_decimal(account, form):
    account.ok("add_action", {"action_ipfs_cid": CID, "name": "n", "description": ""})
    account.ok("update_action_metadata", {"hashed_cid": form(HASH), "name": "m", "description": ""})
    assert account.listed("list_actions")[0]["name"] == "m"
    account.ok("delete_action", {"hashed_cid": form(HASH)})


@pytest.mark.parametrize("path", ["delete_action", "update_action_metadata", "remove_action_from_group"])
def test_a_raw_cid_instead_of_a_hash_is_400_with_the_reason(account, path):
    answer = account.post(path, {"hashed_cid": CID, "group_id": 1, "name": "n", "description": ""})
    assert answer.status_code == 400
    assert "raw CID" in answer.json()


@pytest.mark.parametrize("path", ["add_action", "add_action_to_group"])
def test_a_hash_instead_of_a_raw_cid_is_400_with_the_reason(account, path):
    for sent in (HASH, f" {HASH} "):
        answer = account.post(path, {"action_ipfs_cid": sent, "group_id": 1, "name": "n", "description": ""})
        assert answer.status_code == 400
        assert "hash" in answer.json()
    assert (
        account.post(path, {"action_ipfs_cid": " ", "group_id": 1, "name": "n", "description": ""}).status_code == 400
    )


def test_the_service_does_not_check_the_format_of_a_cid(account):
    """Checks that a mistyped CID is accepted, as on the live service. The client rejects a mistyped CID.

    Source: docs/service/endpoints.md#actions.
    """
    account.ok("add_action", {"action_ipfs_cid": "hello", "name": "n", "description": ""})
    assert account.listed("list_actions")[0]["hashed_cid"] == hashed_cid("hello")


@pytest.mark.parametrize("wrong", ["0", "0x0", ZERO_HASH])
def test_zero_is_not_a_single_action(account, wrong):
    """Checks that the service rejects 0 where a single action is necessary.

    Source: docs/service/endpoints.md#groups.
    """
    assert account.post("delete_action", {"hashed_cid": wrong}).status_code == 400
    body = {"hashed_cid": wrong, "name": "n", "description": ""}
    assert account.post("update_action_metadata", body).status_code == 400


@pytest.mark.parametrize("path", ["add_group", "update_group"])
def test_eleven_entries_are_refused_where_ten_are_allowed(account, path):
    """Checks that the service rejects eleven entries in a list of at most ten.

    Source: docs/service/contract.md#writes.
    """
    group = account.group()
    body = {"group_id": group, "name": "n", "description": "", "group_name": "n", "group_description": ""}
    for member, entry in (("pkp_ids_permitted", "0x" + "ab" * 19), ("cid_hashes_permitted", "0x" + "cd" * 31)):
        entries = [f"{entry}{n:02x}" for n in range(11)]
        before = account.credit()
        answer = account.post(path, body | {member: entries})
        assert answer.status_code == 400
        assert "10" in answer.json()
        assert account.credit() == before
        assert account.post(path, body | {member: entries[:10]}).status_code == 200


def test_fifty_one_groups_are_refused_where_fifty_are_allowed(account, key_body):
    """Checks that the service rejects a list of 51 groups, because 50 are allowed.

    Source: docs/service/endpoints.md#groups.
    """
    assert account.post("add_usage_api_key", key_body(execute_in_groups=list(range(1, 52)))).status_code == 400
    assert account.post("add_usage_api_key", key_body(execute_in_groups=list(range(1, 51)))).status_code == 200


def test_adding_twice_is_a_success_that_changes_nothing(account):
    """Checks that adding an existing entry again succeeds without a change.

    Source: docs/service/endpoints.md#groups.
    """
    group = account.group()
    for path, body in (
        ("add_action_to_group", {"group_id": group, "action_ipfs_cid": CID}),
        ("add_pkp_to_group", {"group_id": group, "pkp_id": "0x" + "ab" * 20}),
    ):
        assert account.ok(path, body) == account.ok(path, body) == {"success": True}
    assert len(account.listed("list_actions", group_id=group)) == 1
    assert len(account.listed("list_wallets_in_group", group_id=group)) == 1


def test_update_group_replaces_everything(account):
    """Checks that update_group replaces all fields of a group.

    An omitted list becomes empty.

    Source: docs/service/endpoints.md#groups.
    """
    group = account.group(cids=[HASH], pkps=["0x" + "ab" * 20])
    account.ok("update_group", {"group_id": group, "name": "n", "description": "", "cid_hashes_permitted": ["0x0"]})
    assert [entry["name"] for entry in account.listed("list_actions", group_id=group)] == ["Any"]
    assert account.listed("list_wallets_in_group", group_id=group) == []


def test_delete_action_removes_it_from_every_group(account):
    """Checks that delete_action removes the action from every group.

    Source: docs/service/endpoints.md#groups.
    """
    group = account.group(cids=[HASH])
    account.ok("add_action", {"action_ipfs_cid": CID, "name": "n", "description": ""})
    account.ok("delete_action", {"hashed_cid": HASH})
    assert account.listed("list_actions", group_id=group) == []


def test_group_ids_count_up_and_are_never_used_again(account):
    """Checks that group ids increase, and that the service never uses the id of a deleted group again.

    Source: docs/service/endpoints.md#groups.
    """
    assert [account.group(), account.group()] == [1, 2]
    account.ok("remove_group", {"group_id": 2})
    assert account.group() == 3


def test_the_group_queries_accept_hex_and_reject_other_text(account):
    """Checks that queries for a group accept hex digits, and reject other strings.

    Source: docs/service/http.md#value-formats.
    """
    group = account.group(cids=[HASH])
    assert len(account.listed("list_actions", group_id=hex(group))) == 1
    assert account.listed("list_wallets_in_group", group_id=hex(group)) == []
    assert account.get("list_actions", group_id="seven").status_code == 400
    assert account.get("list_wallets_in_group", group_id="seven").status_code == 422
    assert account.get("list_wallets_in_group").status_code == 422
    assert account.get("list_actions", group_id=99).status_code == 404
    assert account.get("list_wallets_in_group", group_id=99).status_code == 404


def test_group_zero_lists_every_action_of_the_account(account):
    """Checks that a list for the group 0 contains every action of the account.

    Source: docs/service/http.md#lists.
    """
    account.ok("add_action", {"action_ipfs_cid": CID, "name": "n", "description": ""})
    assert account.listed("list_actions", group_id=0) == account.listed("list_actions")


def test_strict_types_take_the_references_exact_forms_only(local):
    """Checks that the setting strict_types makes the service accept only the exact formats of the reference.

    Source: docs/service/strict-types.md#strict-types, strict_types.
    """
    account = local(strict_types=True).account()
    first, second = account.group(), account.group()
    assert account.post("update_group", {"group_id": str(first), "name": "n", "description": ""}).status_code == 422
    assert account.post("update_group", {"group_id": first, "name": "n", "description": ""}).status_code == 200
    assert account.post("remove_group", {"group_id": second}).status_code == 422
    assert account.post("remove_group", {"group_id": str(second)}).status_code == 200
    answer = account.wire.call("POST", "add_group", account.key, content="{}", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 404


def test_a_list_that_is_too_long_is_refused_before_its_entries_are_read(account):
    answer = account.post("add_group", {"group_name": "g", "group_description": "", "pkp_ids_permitted": [1] * 11})
    assert answer.status_code == 400
    assert answer.json().startswith("the list has 11 permitted PKP ids, but the maximum in one call is 10")


def test_a_cid_has_at_most_1024_characters(account):
    entry = {"name": "n", "description": ""}
    assert account.post("add_action", entry | {"action_ipfs_cid": "b" * 1_024}).status_code == 200
    answer = account.post("add_action", entry | {"action_ipfs_cid": "b" * 1_025})
    assert answer.status_code == 400
    assert "1025 characters" in answer.json()
