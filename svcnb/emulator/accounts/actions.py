"""Actions that an account has registered: names for CIDs."""

from __future__ import annotations

from typing import Final

from svcnb.emulator.accounts.relay import error_text, require_owner, view, write
from svcnb.emulator.accounts.rows import managed
from svcnb.emulator.errors import EndpointFailure
from svcnb.emulator.http.endpoint import Call, Endpoint
from svcnb.protocol.hashes import hashed_cid
from svcnb.protocol.limits import MAX_U64
from svcnb.protocol.wire.actions import AddActionRequest, DeleteActionRequest, UpdateActionMetadataRequest
from svcnb.protocol.wire.base import Success

_TAG: Final = "Actions"


def endpoints() -> list[Endpoint]:
    """The rows of this noun."""
    return managed(
        _TAG,
        ("add_action", add_action, AddActionRequest, Success),
        ("delete_action", delete_action, DeleteActionRequest, Success),
        ("update_action_metadata", update_metadata, UpdateActionMetadataRequest, Success),
    )


async def add_action(call: Call, body: AddActionRequest) -> Success:
    """Registers an action under its CID, or changes its name and description. Needs the account key."""
    require_owner(call.caller)
    action = int(hashed_cid(body.action_ipfs_cid), 16)
    await write(call, "addAction", call.caller.master_hash, body.name, body.description, action)
    return Success()


async def delete_action(call: Call, body: DeleteActionRequest) -> Success:
    """Removes an action from the account and from every group of it. Needs the account key."""
    require_owner(call.caller)
    master, action = call.caller.master_hash, int(body.hashed_cid, 16)
    if not await _known(call, action):
        # The contract removes what is not there without a word; the caller mistyped and should know.
        raise EndpointFailure(404, error_text("ActionDoesNotExist", (master, 0, action)))
    await write(call, "removeAction", master, action)
    return Success()


async def update_metadata(call: Call, body: UpdateActionMetadataRequest) -> Success:
    """Changes name and description of a registered action. Needs the account key."""
    require_owner(call.caller)
    await write(
        call,
        "updateActionMetadata",
        call.caller.master_hash,
        int(body.hashed_cid, 16),
        0,
        body.name,
        body.description,
    )
    return Success()


async def _known(call: Call, action: int) -> bool:
    master = call.caller.master_hash
    if await view(call, "groupIdsForAction", master, action):
        return True
    registered = await view(call, "listActions", master, 0, MAX_U64)
    return any(entry[0] == action for entry in registered)
