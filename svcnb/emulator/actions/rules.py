"""Permission rule of the wallets that a run may use.

Source: docs/service/permissions.md#using-a-wallet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from svcnb.emulator.sandbox.protocol import OperationRefused
from svcnb.protocol.errors import MalformedAddress
from svcnb.protocol.hashes import normal_address

if TYPE_CHECKING:
    from svcnb.emulator.access.permission_cache import PermissionCache
    from svcnb.emulator.http.routing import Caller
    from svcnb.emulator.keys.custody import Custody


async def wallet_secret(
    directory: PermissionCache, custody: Custody, caller: Caller, action_hash: int, pkp_id: str
) -> bytes:
    """Returns the private key of a wallet, if a run may use the wallet.

    Args:
        directory: Cache of permissions and of the wallets' derivation paths.
        custody: Custody that derives the private key.
        caller: The caller of the run.
        action_hash: keccak256 hash of the running action's CID.
        pkp_id: The wallet's address as the action passed it.

    Returns:
        The wallet's private key, 32 bytes.

    Raises:
        OperationRefused: The run may not use the wallet. The message contains the reason, and only data that the caller
            can list.
    """
    try:
        address = normal_address(pkp_id)
    except (MalformedAddress, TypeError):
        raise OperationRefused(
            f"invalid pkpId {str(pkp_id)[:60]!r}: pass the wallet's address, 0x followed by 40 hex digits"
        ) from None
    if not await directory.may_use_wallet(caller, action_hash, address):
        raise OperationRefused(
            f"the API key is not authorized to use wallet {address}: one group in execute_in_groups "
            "must permit both the wallet and the action"
        )
    path = await directory.derivation_path(caller, address)
    if not path:
        raise OperationRefused(
            f"wallet {address} is not registered in the account of the API key: register the wallet, or "
            "use another wallet"
        )
    if custody.wallet_address(path) != address:
        # The account registered this address with the derivation path of another address.
        raise OperationRefused(
            f"wallet {address} is registered with the derivation path of another wallet: use another wallet"
        )
    return custody.wallet_secret(path)
