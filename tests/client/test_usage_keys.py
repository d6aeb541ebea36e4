"""Requests for usage keys contain every member that the live service requires."""

from __future__ import annotations

from svcnb.client.calls import Call
from svcnb.client.resources import usage_keys


def test_a_request_for_a_key_contains_all_permissions_even_omitted_ones() -> None:
    call = next(usage_keys.create("trigger", "", execute_in_groups=[7]))
    assert isinstance(call, Call)
    assert call.body == {
        "name": "trigger",
        "description": "",
        "execute_in_groups": [7],
        "manage_ipfs_ids_in_groups": [],
        "add_pkp_to_groups": [],
        "remove_pkp_from_groups": [],
        "can_create_groups": False,
        "can_delete_groups": False,
        "can_create_pkps": False,
    }
