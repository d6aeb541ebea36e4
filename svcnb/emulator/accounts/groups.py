"""Groups and what they permit."""

from __future__ import annotations

from typing import Final

from svcnb.emulator.accounts.relay import require_owner, write
from svcnb.emulator.accounts.rows import managed
from svcnb.emulator.http.endpoint import Call, Endpoint
from svcnb.protocol.hashes import hashed_cid
from svcnb.protocol.wire.base import Success
from svcnb.protocol.wire.groups import (
    AddActionToGroupRequest,
    AddGroupRequest,
    AddGroupResponse,
    GroupPkpRequest,
    RemoveActionFromGroupRequest,
    RemoveGroupRequest,
    UpdateGroupRequest,
)

_TAG: Final = "Groups"


def endpoints() -> list[Endpoint]:
    """The rows of this noun."""
    return managed(
        _TAG,
        ("add_group", add_group, AddGroupRequest, AddGroupResponse),
        ("update_group", update_group, UpdateGroupRequest, Success),
        ("remove_group", remove_group, RemoveGroupRequest, Success),
        ("add_action_to_group", add_action, AddActionToGroupRequest, Success),
        ("remove_action_from_group", remove_action, RemoveActionFromGroupRequest, Success),
        ("add_pkp_to_group", add_pkp, GroupPkpRequest, Success),
        ("remove_pkp_from_group", remove_pkp, GroupPkpRequest, Success),
    )


async def add_group(call: Call, body: AddGroupRequest) -> AddGroupResponse:
    """Creates a group. A usage key needs can_create_groups, and gains no right in the group."""
    group_id = await write(
        call,
        "addGroup",
        call.caller.key_hash,
        body.group_name,
        body.group_description,
        [int(entry, 16) for entry in body.cid_hashes_permitted],
        body.pkp_ids_permitted,
    )
    return AddGroupResponse(group_id=str(group_id))


async def update_group(call: Call, body: UpdateGroupRequest) -> Success:
    """Replaces name, description and both lists of a group; a list left out is emptied. Needs the account key."""
    require_owner(call.caller)
    await write(
        call,
        "updateGroup",
        call.caller.master_hash,
        body.group_id,
        body.name,
        body.description,
        [int(entry, 16) for entry in body.cid_hashes_permitted],
        body.pkp_ids_permitted,
    )
    return Success()


async def remove_group(call: Call, body: RemoveGroupRequest) -> Success:
    """Removes a group; its id is never used again. A usage key needs can_delete_groups."""
    await write(call, "removeGroup", call.caller.key_hash, body.group_id)
    return Success()


async def add_action(call: Call, body: AddActionToGroupRequest) -> Success:
    """Permits an action in a group, registered or not. A usage key needs manage_ipfs_ids_in_groups."""
    action = int(hashed_cid(body.action_ipfs_cid), 16)
    await write(call, "addActionToGroup", call.caller.key_hash, body.group_id, action)
    return Success()


async def remove_action(call: Call, body: RemoveActionFromGroupRequest) -> Success:
    """Takes an action out of a group. A usage key needs manage_ipfs_ids_in_groups."""
    await write(call, "removeActionFromGroup", call.caller.key_hash, body.group_id, int(body.hashed_cid, 16))
    return Success()


async def add_pkp(call: Call, body: GroupPkpRequest) -> Success:
    """Permits a wallet in a group. A usage key needs add_pkp_to_groups."""
    await write(call, "addPkpToGroup", call.caller.key_hash, body.group_id, body.pkp_id)
    return Success()


async def remove_pkp(call: Call, body: GroupPkpRequest) -> Success:
    """Takes a wallet out of a group. A usage key needs remove_pkp_from_groups."""
    await write(call, "removePkpFromGroup", call.caller.key_hash, body.group_id, body.pkp_id)
    return Success()
