"""Endpoints that change groups, and the actions and wallets that a group permits."""

from __future__ import annotations

from svcnb.emulator.accounts.contract_calls import require_owner
from svcnb.emulator.accounts.managed import ManagedWrites
from svcnb.emulator.http.routing import Call, Endpoint
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


class Groups(ManagedWrites):
    """Endpoints that change groups, and the actions and wallets that a group permits."""

    tag = "Groups"

    def endpoints(self) -> list[Endpoint]:
        """Returns the endpoints that create, change and delete groups, and permit actions and wallets in groups."""
        return [
            self.row("add_group", self.add_group, AddGroupRequest, AddGroupResponse),
            self.row("update_group", self.update_group, UpdateGroupRequest, Success),
            self.row("remove_group", self.remove_group, RemoveGroupRequest, Success),
            self.row("add_action_to_group", self.add_action, AddActionToGroupRequest, Success),
            self.row("remove_action_from_group", self.remove_action, RemoveActionFromGroupRequest, Success),
            self.row("add_pkp_to_group", self.add_pkp, GroupPkpRequest, Success),
            self.row("remove_pkp_from_group", self.remove_pkp, GroupPkpRequest, Success),
        ]

    async def add_group(self, call: Call, body: AddGroupRequest) -> AddGroupResponse:
        """Creates a group. A usage key needs the permission can_create_groups.

        A usage key receives no permissions in the new group.
        """
        group_id = await self.contract.write(
            "addGroup",
            call.caller.key_hash,
            body.group_name,
            body.group_description,
            [int(entry, 16) for entry in body.cid_hashes_permitted],
            body.pkp_ids_permitted,
        )
        return AddGroupResponse(group_id=str(group_id))

    async def update_group(self, call: Call, body: UpdateGroupRequest) -> Success:
        """Replaces the name, description, permitted actions and permitted wallets of a group.

        If the request omits a list, the list becomes empty. The call requires the account key.
        """
        require_owner(call.caller)
        await self.contract.write(
            "updateGroup",
            call.caller.master_hash,
            body.group_id,
            body.name,
            body.description,
            [int(entry, 16) for entry in body.cid_hashes_permitted],
            body.pkp_ids_permitted,
        )
        return Success()

    async def remove_group(self, call: Call, body: RemoveGroupRequest) -> Success:
        """Deletes a group. The service never reuses its id. A usage key needs the permission can_delete_groups."""
        await self.contract.write("removeGroup", call.caller.key_hash, body.group_id)
        return Success()

    async def add_action(self, call: Call, body: AddActionToGroupRequest) -> Success:
        """Permits an action in a group. A usage key needs the permission manage_ipfs_ids_in_groups.

        The action does not have to be registered in the account.
        """
        action = int(hashed_cid(body.action_ipfs_cid), 16)
        await self.contract.write("addActionToGroup", call.caller.key_hash, body.group_id, action)
        return Success()

    async def remove_action(self, call: Call, body: RemoveActionFromGroupRequest) -> Success:
        """Removes an action from a group. A usage key needs the permission manage_ipfs_ids_in_groups."""
        await self.contract.write(
            "removeActionFromGroup", call.caller.key_hash, body.group_id, int(body.hashed_cid, 16)
        )
        return Success()

    async def add_pkp(self, call: Call, body: GroupPkpRequest) -> Success:
        """Permits a wallet in a group. A usage key needs the permission add_pkp_to_groups."""
        await self.contract.write("addPkpToGroup", call.caller.key_hash, body.group_id, body.pkp_id)
        return Success()

    async def remove_pkp(self, call: Call, body: GroupPkpRequest) -> Success:
        """Removes a wallet from a group. A usage key needs the permission remove_pkp_from_groups."""
        await self.contract.write("removePkpFromGroup", call.caller.key_hash, body.group_id, body.pkp_id)
        return Success()
