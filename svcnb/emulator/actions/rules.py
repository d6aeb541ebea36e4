"""Permission rules: which key may run which action, and which wallet a run may use (reference facts 3.2, 3.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svcnb.emulator.access.credentials import unknown_key
from svcnb.emulator.errors import EndpointFailure
from svcnb.emulator.sandbox.host import KeyRefused
from svcnb.protocol.errors import MalformedAddress
from svcnb.protocol.hashes import normal_address

if TYPE_CHECKING:
    from svcnb.emulator.access.permission_cache import PermissionCache
    from svcnb.emulator.http.caller import Caller
    from svcnb.emulator.keys.custody import Custody


async def require_may_execute(directory: PermissionCache, caller: Caller, cid: str, action_hash: int) -> None:
    """Refuses a key that may not run an action.

    Args:
        directory: Cache of the permissions.
        caller: The caller.
        cid: CID of the action.
        action_hash: keccak256 of the CID.

    Raises:
        StructuredError: 401, the key is so new that it is not active yet.
        EndpointFailure: 403, the key is not permitted.
    """
    if not await directory.effective(caller):
        raise unknown_key()
    if await directory.may_execute(caller, action_hash):
        return
    named = f"action {cid} (hashed CID {action_hash})"
    if directory.expired(caller):
        raise EndpointFailure(403, f"The API key has expired, so it is not authorized to execute {named}")
    raise EndpointFailure(
        403,
        f"The API key is not authorized to execute {named}: it needs a group among its execute_in_groups that permits "
        "this action",
    )


async def wallet_secret(
    directory: PermissionCache, custody: Custody, caller: Caller, action_hash: int, pkp_id: str
) -> bytes:
    """The secret of a wallet that a run may use.

    Args:
        directory: Cache of permissions and derivation paths.
        custody: Derives the secret.
        caller: The caller of the run.
        action_hash: keccak256 of the running action's CID.
        pkp_id: The wallet's address as the action wrote it.

    Returns:
        32 secret bytes.

    Raises:
        KeyRefused: The wallet may not be used. The text gives the reason and reveals nothing that the caller may not
            list.
    """
    try:
        address = normal_address(pkp_id)
    except (MalformedAddress, TypeError):
        raise KeyRefused(
            f"Invalid pkpId {str(pkp_id)[:60]!r}: it is the wallet's address, 0x + 40 hex digits"
        ) from None
    if not await directory.may_use_wallet(caller, action_hash, address):
        raise KeyRefused(
            f"The API key is not authorized to use wallet {address} in this action: one group must permit both, and be "
            "among the key's execute_in_groups"
        )
    path = await directory.derivation_path(caller, address)
    if not path:
        raise KeyRefused(f"Wallet {address} is not registered in the account of the API key")
    if custody.wallet_address(path) != address:
        # An address was registered under a derivation path that leads to another wallet.
        raise KeyRefused(f"Wallet {address} is registered under a path that is not its own")
    return custody.wallet_secret(path)
