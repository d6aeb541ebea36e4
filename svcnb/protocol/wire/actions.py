"""Models for the registration and execution of actions."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from svcnb.protocol.wire.base import Request, Response
from svcnb.protocol.wire.complete import CompleteRequest
from svcnb.protocol.wire.values import OneHashedCid, RawCid


class RunActionRequest(Request):
    """Body of the endpoint that runs an action.

    The request contains the source in ``code``, or the CID of a stored source in ``ipfs_id``. If the request contains
    both members, ``code`` takes precedence.
    """

    code: str | None = Field(None, description="JavaScript source that defines main.")
    ipfs_id: str | None = Field(None, description="CID of a source that ran on this service before.")
    js_params: Any = Field(None, description="Any JSON value. The function main receives this value as its argument.")


class RunActionResponse(Response):
    """Response of the endpoint that runs an action, after a successful run."""

    response: Any = Field(None, description="Return value of the action.")
    logs: str = Field("", description="Console output of the action, one line per call.")
    has_error: bool = Field(default=False, description="Always false, because a failed run returns status 500.")


class AddActionRequest(CompleteRequest):
    """Body of ``add_action``, which registers an action with a name and a description."""

    required_by_service: ClassVar = ("action_ipfs_cid", "name", "description")

    action_ipfs_cid: RawCid
    name: str = Field(description="Name of the action.")
    description: str = Field("", description="Description of the action.")


class DeleteActionRequest(Request):
    """Body of ``delete_action``. The endpoint removes the action from the account and from every group."""

    hashed_cid: OneHashedCid


class UpdateActionMetadataRequest(Request):
    """Body of ``update_action_metadata``, which replaces the name and the description of a registered action."""

    hashed_cid: OneHashedCid
    name: str = Field(description="New name.")
    description: str = Field(description="New description.")


class ActionItem(Response):
    """Entry of ``list_actions``. The entry contains the hash of the CID, because the chain does not store the CID."""

    id: str = Field(description="Same as hashed_cid.")
    hashed_cid: str = Field(
        "", description="keccak256 of the CID text, as 0x followed by 64 hex digits. 64 zeros mean any action."
    )
    name: str
    description: str
