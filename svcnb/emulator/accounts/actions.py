"""Registered actions of an account: CIDs with a name and a description."""

from __future__ import annotations

from svcnb.emulator.accounts.contract_calls import error_text, require_owner
from svcnb.emulator.accounts.managed import ManagedWrites
from svcnb.emulator.errors import EndpointFailure
from svcnb.emulator.http.routing import Call, Endpoint
from svcnb.protocol.hashes import hashed_cid
from svcnb.protocol.limits import MAX_U64
from svcnb.protocol.wire.actions import AddActionRequest, DeleteActionRequest, UpdateActionMetadataRequest
from svcnb.protocol.wire.base import Success


class Actions(ManagedWrites):
    """Endpoints for registered actions."""

    tag = "Actions"

    def endpoints(self) -> list[Endpoint]:
        """Returns the endpoints that register, delete and rename actions."""
        return [
            self.row("add_action", self.add_action, AddActionRequest, Success),
            self.row("delete_action", self.delete_action, DeleteActionRequest, Success),
            self.row("update_action_metadata", self.update_metadata, UpdateActionMetadataRequest, Success),
        ]

    async def add_action(self, call: Call, body: AddActionRequest) -> Success:
        """Registers an action under its CID. The call requires the account key.

        If the action is already registered, the call changes the name and the description of the action.
        """
        require_owner(call.caller)
        action = int(hashed_cid(body.action_ipfs_cid), 16)
        await self.contract.write("addAction", call.caller.master_hash, body.name, body.description, action)
        return Success()

    async def delete_action(self, call: Call, body: DeleteActionRequest) -> Success:
        """Deletes an action from the account and from all groups of the account. The call requires the account key."""
        require_owner(call.caller)
        master, action = call.caller.master_hash, int(body.hashed_cid, 16)
        if not await self._known(call, action):
            # The contract accepts the removal of a missing action. The CID is probably mistyped, so return an error.
            raise EndpointFailure(404, error_text("ActionDoesNotExist", (master, 0, action)))
        await self.contract.write("removeAction", master, action)
        return Success()

    async def update_metadata(self, call: Call, body: UpdateActionMetadataRequest) -> Success:
        """Changes the name and description of a registered action. The call requires the account key."""
        require_owner(call.caller)
        await self.contract.write(
            "updateActionMetadata",
            call.caller.master_hash,
            int(body.hashed_cid, 16),
            0,
            body.name,
            body.description,
        )
        return Success()

    async def _known(self, call: Call, action: int) -> bool:
        master = call.caller.master_hash
        # groupIdsForAction also returns the groups that permit every action, so check whether a group lists this
        # action.
        for group in await self.contract.view("groupIdsForAction", master, action):
            _, hashes, _ = await self.contract.view("listGroupContents", master, group)
            if action in hashes:
                return True
        registered = await self.contract.view("listActions", master, 0, MAX_U64)
        return any(entry[0] == action for entry in registered)
