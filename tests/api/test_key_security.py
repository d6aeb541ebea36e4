"""Permissions of keys, with two accounts and the groups X and Y. Only X permits the action.

Source: docs/service/conformance.md#keys-of-two-accounts.
"""

from __future__ import annotations

from contextlib import closing
from http.client import HTTPConnection
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest

from svcnb.protocol.cid import source_cid
from svcnb.protocol.hashes import hashed_cid

CODE = "async function main() { return 'ran'; }"
CID = source_cid(CODE)
NOT_PERMITTED = '"Permission denied"'


@pytest.fixture
def scene(account):
    x = account.group("x", cids=[hashed_cid(CID)])
    y = account.group("y")
    return SimpleNamespace(account=account, x=x, y=y, wallet=account.wallet_made(), wire=account.wire)


def member(group: int) -> dict[str, object]:
    return {"group_id": group, "action_ipfs_cid": CID}


def pkp(scene, group: int) -> dict[str, object]:
    return {"group_id": group, "pkp_id": scene.wallet}


def test_a_key_of_the_right_group_runs_the_action(scene):
    """Checks that a key that can execute in group X runs the action that this group permits.

    Source: docs/service/conformance.md#keys-of-two-accounts, item 26.
    """
    answer = scene.account.run(CODE, key=scene.account.usage_key(execute_in_groups=[scene.x]))
    assert answer.status_code == 200
    assert answer.json()["has_error"] is False


def test_a_key_of_another_group_is_refused_with_the_cid_and_its_decimal_hash(scene):
    """Checks that the service rejects a key of another group, with the CID and its decimal hash in the error.

    Source: docs/service/conformance.md#keys-of-two-accounts, item 27, docs/service/endpoints.md#running-an-action.
    """
    answer = scene.account.run(CODE, key=scene.account.usage_key(execute_in_groups=[scene.y]))
    assert answer.status_code == 403
    assert isinstance(answer.json(), str)
    assert CID in answer.json()
    assert str(int(hashed_cid(CID), 16)) in answer.json()


@pytest.mark.parametrize(
    ("flag", "method", "path"),
    [
        pytest.param("can_create_groups", "POST", "add_group", id="item 28"),
        pytest.param("can_delete_groups", "POST", "remove_group", id="item 29"),
        pytest.param("can_create_pkps", "GET", "create_wallet", id="item 30, GET"),
        pytest.param("can_create_pkps", "POST", "create_wallet", id="item 30, POST"),
    ],
)
def test_a_flag_permits_only_its_endpoint(scene, flag, method, path):
    """Checks that each flag of a usage key permits only one endpoint.

    Source: docs/service/conformance.md#keys-of-two-accounts, items 28 to 30.
    """
    body = {"add_group": {"group_name": "n", "group_description": ""}, "remove_group": {"group_id": str(scene.x)}}
    options = {"json": body.get(path, {})} if method == "POST" else {}
    refused = scene.wire.call(method, path, scene.account.usage_key(), **options)
    assert (refused.status_code, refused.text) == (403, NOT_PERMITTED)
    assert scene.wire.call(method, path, scene.account.usage_key(**{flag: True}), **options).status_code == 200


def test_a_manage_list_permits_only_its_groups(scene):
    """Checks that a key can change the actions of a group only if its list contains the group.

    This also applies immediately after the account key has removed the action.

    Source: docs/service/conformance.md#keys-of-two-accounts, item 31.
    """
    key = scene.account.usage_key(manage_ipfs_ids_in_groups=[scene.x])
    scene.account.ok("remove_action_from_group", {"group_id": scene.x, "hashed_cid": hashed_cid(CID)})
    assert scene.wire.post("add_action_to_group", key, member(scene.x)).status_code == 200
    assert scene.wire.post("add_action_to_group", key, member(scene.y)).status_code == 403


def test_an_add_list_permits_only_its_groups(scene):
    """Checks that a key can add wallets to a group only if its list contains the group.

    Source: docs/service/conformance.md#keys-of-two-accounts, item 32.
    """
    key = scene.account.usage_key(add_pkp_to_groups=[scene.x])
    assert scene.wire.post("add_pkp_to_group", key, pkp(scene, scene.x)).status_code == 200
    assert scene.wire.post("add_pkp_to_group", key, pkp(scene, scene.y)).status_code == 403


def test_the_permission_is_checked_before_membership(scene):
    """Checks that the service checks the permission before it checks whether the group contains the wallet.

    A request with the key of Y causes a 403, although Y does not contain the wallet.

    Source: docs/service/conformance.md#keys-of-two-accounts, item 33.
    """
    scene.account.ok("add_pkp_to_group", pkp(scene, scene.x))
    key = scene.account.usage_key(remove_pkp_from_groups=[scene.x])
    assert scene.wire.post("remove_pkp_from_group", key, pkp(scene, scene.x)).status_code == 200
    assert scene.wire.post("remove_pkp_from_group", key, pkp(scene, scene.y)).status_code == 403


@pytest.mark.parametrize("path", ["svc_action", "add_group"])
def test_no_key_is_401(wire, path):
    """Checks that a request without a key causes a 401.

    Source: docs/service/conformance.md#keys-of-two-accounts, item 34.
    """
    answer = wire.post(path)
    assert answer.status_code == 401
    assert answer.json()["error"] == "unauthorized"


def test_an_invalid_key_is_401(wire):
    """Checks that a request with an invalid key causes a 401.

    Source: docs/service/conformance.md#keys-of-two-accounts, item 35.
    """
    answer = wire.post("svc_action", "not-a-key", {"code": CODE})
    assert answer.status_code == 401
    assert answer.json()["error"] == "unauthorized"


def test_accounts_do_not_see_each_other(scene):
    """Checks that a list contains only objects of the caller's account.

    The test compares group names, because group ids start at 1 in every account.

    Source: docs/service/conformance.md#keys-of-two-accounts, item 36.
    """
    other = scene.wire.account("other", credit=1_000)
    other.group("not yours", cids=[hashed_cid(CID)])
    key = other.usage_key(execute_in_groups=[1])
    assert other.run(CODE, key=key).status_code == 200
    assert [group["name"] for group in other.listed("list_groups")] == ["not yours"]
    assert [group["name"] for group in scene.account.listed("list_groups")] == ["x", "y"]
    foreign = {"group_id": 2, "action_ipfs_cid": CID}
    answer = other.post("add_action_to_group", foreign)
    assert answer.status_code == 404
    assert "GroupDoesNotExist" in answer.json()


@pytest.mark.parametrize("everywhere", [True, False], ids=["[0]", "[X]"])
def test_all_groups_and_the_right_group_both_run_the_action(scene, everywhere):
    """Checks that a key for all groups and a key for the right group can both run the action.

    Source: docs/service/conformance.md#keys-of-two-accounts, item 37.
    """
    key = scene.account.usage_key(execute_in_groups=[0 if everywhere else scene.x])
    assert scene.account.run(CODE, key=key).status_code == 200


def test_changes_of_a_key_take_effect_immediately(scene, key_body):
    """Checks that changes of a key take effect immediately.

    Source: docs/service/conformance.md#keys-of-two-accounts, item 38.
    """
    key = scene.account.usage_key()
    statuses = []
    for groups in ([], [0], []):
        scene.account.ok("update_usage_api_key", key_body(execute_in_groups=groups) | {"usage_api_key": key})
        statuses.append(scene.account.run(CODE, key=key).status_code)
    assert statuses == [403, 200, 403]


def test_a_removed_key_is_unknown(scene):
    """Checks that a deleted key causes the error for an unknown key.

    Source: docs/service/conformance.md#keys-of-two-accounts, item 39, docs/service/http.md#authentication.
    """
    key = scene.account.usage_key(execute_in_groups=[0])
    assert scene.account.run(CODE, key=key).status_code == 200
    scene.account.ok("remove_usage_api_key", {"usage_api_key": key})
    assert scene.account.run(CODE, key=key).status_code == 401
    assert scene.wire.get("list_groups", key, page_number=0, page_size=10).status_code == 401


def test_a_key_without_permissions_is_rejected_everywhere(scene):
    """Checks that every endpoint that needs a permission rejects a key without permissions.

    Source: docs/service/conformance.md#keys-of-two-accounts, item 40.
    """
    key = scene.account.usage_key()
    asked = {
        "svc_action": {"code": CODE},
        "add_group": {"group_name": "n", "group_description": ""},
        "remove_group": {"group_id": str(scene.x)},
        "create_wallet": {},
        "add_action_to_group": member(scene.x),
        "add_pkp_to_group": pkp(scene, scene.x),
        "remove_pkp_from_group": pkp(scene, scene.x),
    }
    assert {path: scene.wire.post(path, key, body).status_code for path, body in asked.items()} == dict.fromkeys(
        asked, 403
    )


def test_the_account_key_runs_any_action(scene):
    """Checks that the account key runs any action.

    Source: docs/service/http.md#authentication, docs/service/permissions.md#running-an-action.
    """
    assert scene.account.run("function main() { return 1 }").status_code == 200


def test_a_setting_prevents_executions_with_the_account_key(local):
    """Checks that a setting prevents executions with the account key.

    Source: docs/service/permissions.md#running-an-action, master_key_may_execute.
    """
    answer = local(master_key_may_execute=False).account().run(CODE)
    assert answer.status_code == 403


def test_zero_means_all_groups_in_every_list(scene):
    """Checks that 0 means all groups in every list of groups.

    Source: docs/service/resources.md#usage-key.
    """
    key = scene.account.usage_key(manage_ipfs_ids_in_groups=[0], add_pkp_to_groups=[0], remove_pkp_from_groups=[0])
    for path, body in (
        ("add_action_to_group", member(scene.y)),
        ("remove_action_from_group", {"group_id": scene.y, "hashed_cid": hashed_cid(CID)}),
        ("add_pkp_to_group", pkp(scene, scene.y)),
        ("remove_pkp_from_group", pkp(scene, scene.y)),
    ):
        assert scene.wire.post(path, key, body).status_code == 200, path


def test_a_key_gets_no_permissions_in_a_group_that_it_creates(scene):
    """Checks that a key gets no permissions in a group that it creates.

    Source: docs/service/permissions.md#permission-of-each-endpoint.
    """
    key = scene.account.usage_key(can_create_groups=True)
    made = scene.wire.ok("add_group", key, {"group_name": "mine", "group_description": ""})
    answer = scene.wire.post("add_action_to_group", key, member(int(made["group_id"])))
    assert answer.status_code == 403


def test_every_key_lists_all_resources_of_its_account(scene):
    """Checks that every key lists all resources of its account.

    Source: docs/service/permissions.md#permission-of-each-endpoint.
    """
    key = scene.account.usage_key("only key")
    wire = scene.wire
    assert [group["name"] for group in wire.listed("list_groups", key)] == ["x", "y"]
    assert [entry["name"] for entry in wire.listed("list_api_keys", key)] == ["only key"]
    assert len(wire.listed("list_wallets", key)) == 3
    assert wire.get("account_exists", key).json() is True
    assert wire.listed("billing/balance", key) == scene.account.listed("billing/balance")


def test_a_hash_identifies_a_key_in_the_body_but_is_not_a_credential(scene):
    """Checks that the hash of a key identifies the key in a body, but is not a credential.

    Source: docs/service/http.md#authentication, docs/service/endpoints.md#account-and-keys.
    """
    key = scene.account.usage_key("by hash", execute_in_groups=[0])
    hashed = next(entry for entry in scene.account.listed("list_api_keys") if entry["name"] == "by hash")[
        "api_key_hash"
    ]
    answer = scene.account.run(CODE, key=hashed)
    assert answer.status_code == 401
    assert "hash" in answer.json()["message"]
    scene.account.ok("remove_usage_api_key", {"usage_api_key": hashed})
    assert scene.account.run(CODE, key=key).status_code == 401


def test_the_bearer_header_takes_precedence(scene):
    """Checks that the header Authorization takes precedence over X-Api-Key.

    The case of the scheme ``Bearer`` is not significant. An empty key is a missing key.

    Source: docs/service/http.md#authentication.
    """
    key = scene.account.key
    address = urlsplit(scene.wire.base_url)

    def status(headers: dict[str, str]) -> int:
        # Use the standard library's client, because httpx refuses to send such spaces.
        with closing(HTTPConnection(address.hostname or "", address.port, timeout=300)) as connection:
            connection.request("GET", "/core/v1/list_groups?page_number=0&page_size=1", headers=headers)
            return connection.getresponse().status

    assert status({"Authorization": f"bEaReR   {key} "}) == 200
    assert status({"Authorization": f"Bearer {key}", "X-Api-Key": "wrong"}) == 200
    assert status({"Authorization": "Bearer wrong", "X-Api-Key": key}) == 401
    assert status({"Authorization": "Bearer ", "X-Api-Key": key}) == 200
    assert status({"Authorization": "Basic abc", "X-Api-Key": f"  {key} "}) == 200
    assert status({"X-Api-Key": "   "}) == 401


def test_the_three_401_errors_have_different_messages(wire):
    """Checks that the three 401 errors have different messages.

    Source: docs/service/http.md#errors.
    """
    none = wire.post("add_group").json()["message"]
    unknown = wire.post("add_group", "who").json()["message"]
    hashed = wire.post("add_group", "0x" + "ab" * 32).json()["message"]
    assert len({none, unknown, hashed}) == 3
    assert "no API key" in none
    assert "does not resolve" in unknown
    assert "hash" in hashed
