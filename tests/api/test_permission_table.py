"""Permission table as a matrix of every endpoint and every kind of key.

Source: docs/service/permissions.md#permission-of-each-endpoint.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
OTHER_CID = "QmTp2hEo8eXRp6wg7jXv1BLCMh5a4F3B7buAUZNZUu772j"
CODE = "function main() {}"
IN_X, EVERYWHERE = "x", "0"

# Permission that a usage key needs: a flag, or a list that contains the group (or 0). None means only the account key.
NEEDS: dict[str, str | None] = {
    "add_usage_api_key": None,
    "update_usage_api_key": None,
    "update_usage_api_key_metadata": None,
    "remove_usage_api_key": None,
    "create_wallet": "can_create_pkps",
    "add_group": "can_create_groups",
    "remove_group": "can_delete_groups",
    "update_group": None,
    "add_action": None,
    "delete_action": None,
    "update_action_metadata": None,
    "add_action_to_group": "manage_ipfs_ids_in_groups",
    "remove_action_from_group": "manage_ipfs_ids_in_groups",
    "add_pkp_to_group": "add_pkp_to_groups",
    "remove_pkp_from_group": "remove_pkp_from_groups",
    "convert_to_chain_secured_account": None,
    "svc_action": "execute_in_groups",
}
KINDS: dict[str, tuple[str, Any]] = {
    "no permission": ("", None),
    "can_create_groups": ("can_create_groups", True),
    "can_delete_groups": ("can_delete_groups", True),
    "can_create_pkps": ("can_create_pkps", True),
    "manage [X]": ("manage_ipfs_ids_in_groups", IN_X),
    "manage [0]": ("manage_ipfs_ids_in_groups", EVERYWHERE),
    "add [X]": ("add_pkp_to_groups", IN_X),
    "add [0]": ("add_pkp_to_groups", EVERYWHERE),
    "remove [X]": ("remove_pkp_from_groups", IN_X),
    "remove [0]": ("remove_pkp_from_groups", EVERYWHERE),
    "execute [X]": ("execute_in_groups", IN_X),
    "execute [0]": ("execute_in_groups", EVERYWHERE),
}


@pytest.fixture(scope="module")
def scene(wire):
    """Creates groups X and Y, one usage key of each kind, and one key that the calls change."""
    account = wire.account(credit=1_000)
    x, y = account.group("x", cids=["0x0"]), account.group("y", cids=["0x0"])
    lists = {IN_X: [x], EVERYWHERE: [0], True: True}
    keys = {
        kind: account.usage_key(kind, **({name: lists[what]} if name else {})) for kind, (name, what) in KINDS.items()
    }
    spoken_of = account.usage_key("spoken of")
    account.ok("add_action", {"action_ipfs_cid": CID, "name": "n", "description": ""})
    hashed = account.listed("list_actions")[0]["hashed_cid"]
    return SimpleNamespace(account=account, x=x, y=y, keys=keys, spoken_of=spoken_of, hashed=hashed, envelope=None)


def body(scene, path: str, group: int) -> dict[str, Any]:
    """Returns a body with which the account key succeeds, or fails only after the check of its permission."""
    named = {"name": "n", "description": ""}
    spoken_of = {"usage_api_key": scene.spoken_of}
    return {
        "add_usage_api_key": named,
        "update_usage_api_key": named | spoken_of,
        "update_usage_api_key_metadata": named | spoken_of,
        "remove_usage_api_key": spoken_of,
        "create_wallet": {},
        "add_group": {"group_name": "n", "group_description": ""},
        "remove_group": {"group_id": "9999"},
        "update_group": named | {"group_id": group},
        "add_action": named | {"action_ipfs_cid": OTHER_CID},
        "delete_action": {"hashed_cid": scene.hashed},
        "update_action_metadata": named | {"hashed_cid": scene.hashed},
        "add_action_to_group": {"group_id": group, "action_ipfs_cid": CID},
        "remove_action_from_group": {"group_id": group, "hashed_cid": "0x" + "77" * 32},
        "add_pkp_to_group": {"group_id": group, "pkp_id": scene.account.wallet},
        "remove_pkp_from_group": {"group_id": group, "pkp_id": "0x" + "77" * 20},
        "svc_action": {"code": CODE},
    }[path]


# A 404 or 400 shows that the permission check succeeded. These calls have nothing to remove, and the service
# detects this only after the permission check.
REACHED = {"remove_group": 404, "remove_action_from_group": 404, "remove_pkp_from_group": 404}
GROUPED = {"add_action_to_group", "remove_action_from_group", "add_pkp_to_group", "remove_pkp_from_group"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_usage_key_can_call_only_the_endpoints_of_its_permissions(scene, kind):
    granted, what = KINDS[kind]
    key = scene.keys[kind]
    seen, expected = {}, {}
    for path, needed in NEEDS.items():
        if path == "convert_to_chain_secured_account":
            continue  # these endpoints need a signature, and the tests of ChainSecured accounts check them
        for name, group in (("X", scene.x), ("Y", scene.y)):
            if name == "Y" and path not in GROUPED:
                continue
            allowed = needed is not None and needed == granted and (what != IN_X or name == "X")
            expected[path, name] = REACHED.get(path, 200) if allowed else 403
            answer = scene.account.wire.post(path, key, body(scene, path, group))
            seen[path, name] = answer.status_code
            if answer.status_code == 403 and path != "svc_action":
                assert answer.json() == "Permission denied"
    assert seen == expected


def test_the_account_key_can_call_every_endpoint(scene):
    for path in NEEDS:
        if path in {"convert_to_chain_secured_account", "remove_usage_api_key", "delete_action"}:
            continue
        answer = scene.account.post(path, body(scene, path, scene.y))
        assert answer.status_code == REACHED.get(path, 200), (path, answer.text)


def test_every_billed_endpoint_of_the_description_is_in_the_table(wire):
    """This test fails for a new endpoint without a line in the table above."""
    described = wire.get("openapi.json").json()["paths"]
    charged = {
        path.removeprefix("/core/v1/")
        for path, operations in described.items()
        if "402" in operations.get("post", {}).get("responses", {})
    }
    assert charged == NEEDS.keys() - {"convert_to_chain_secured_account"}
