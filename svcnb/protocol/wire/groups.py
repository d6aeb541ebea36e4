"""Models for groups, which are sets of actions and wallets."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from svcnb.protocol.wire.base import Request, Response
from svcnb.protocol.wire.complete import CompleteRequest
from svcnb.protocol.wire.values import CidHashes, ExistingGroupId, GroupIdText, HashedCid, PermittedPkps, PkpId, RawCid


class AddGroupRequest(CompleteRequest):
    """Body of ``add_group``, which creates a group. The lists contain at most ten wallets and ten actions."""

    required_by_service: ClassVar = ("group_name", "group_description", "pkp_ids_permitted", "cid_hashes_permitted")

    group_name: str = Field(description="Name of the group.")
    group_description: str = Field("", description="Description of the group.")
    pkp_ids_permitted: PermittedPkps = Field(
        [], description="Wallets that the group permits. The zero address permits all wallets."
    )
    cid_hashes_permitted: CidHashes = Field(
        [], description="Hashed CIDs of the actions that the group permits. 0x0 permits all actions."
    )


class AddGroupResponse(Response):
    """Response of ``add_group``, with the id of the new group."""

    success: bool = True
    group_id: str = Field(description="Id of the new group, as a decimal string.")


class UpdateGroupRequest(Request):
    """Body of ``update_group``. The endpoint replaces the name, the description and both lists."""

    group_id: ExistingGroupId
    name: str = Field(description="New name.")
    description: str = Field(description="New description.")
    pkp_ids_permitted: PermittedPkps = Field(
        [], description="Wallets that the group permits. Without this field, the group permits no wallets."
    )
    cid_hashes_permitted: CidHashes = Field(
        [], description="Hashed CIDs of the permitted actions. Without this field, the group permits no actions."
    )


class RemoveGroupRequest(Request):
    """Body of ``remove_group``, which deletes a group."""

    group_id: GroupIdText


class AddActionToGroupRequest(Request):
    """Body of ``add_action_to_group``, which permits an action in a group. The action need not be registered."""

    group_id: ExistingGroupId
    action_ipfs_cid: RawCid


class RemoveActionFromGroupRequest(Request):
    """Body of ``remove_action_from_group``, which removes an action or the wildcard from a group."""

    group_id: ExistingGroupId
    hashed_cid: HashedCid


class GroupPkpRequest(Request):
    """Body of ``add_pkp_to_group`` and ``remove_pkp_from_group``: a group, and the wallet to add or remove."""

    group_id: ExistingGroupId
    pkp_id: PkpId


class GroupItem(Response):
    """Entry of ``list_groups``. The entry does not contain the actions and wallets of the group."""

    id: str = Field(description="Group id as 0x followed by 64 hex digits.")
    name: str
    description: str
