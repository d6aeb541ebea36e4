"""Endpoints that create, change and delete usage keys. The calls require the account key."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Final

from svcnb.emulator.access.permission_cache import PermissionCache
from svcnb.emulator.accounts.contract_calls import error_text, require_owner
from svcnb.emulator.accounts.managed import ManagedWrites
from svcnb.emulator.errors import EndpointFailure
from svcnb.emulator.http.routing import Call, Endpoint
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.clock import Clock
from svcnb.protocol.hashes import key_hash
from svcnb.protocol.limits import USAGE_KEY_CHAIN_BALANCE, USAGE_KEY_LIFETIME_S
from svcnb.protocol.signature import address_of_secret
from svcnb.protocol.wire.base import Success
from svcnb.protocol.wire.usage_keys import (
    AddUsageApiKeyRequest,
    AddUsageApiKeyResponse,
    RemoveUsageApiKeyRequest,
    UpdateUsageApiKeyMetadataRequest,
    UpdateUsageApiKeyRequest,
    UsageKeyPermissions,
)
from svcnb.protocol.wire.values import looks_like_hash

WALLET_NAME: Final = "API Key Wallet"
WALLET_DESCRIPTION: Final = "Usage API Key Wallet"


@dataclass(frozen=True, eq=False, repr=False)
class UsageKeys(ManagedWrites):
    """Endpoints for usage keys.

    Attributes:
        custody: Custody that derives keys.
        clock: Clock for the expiration times of keys.
        permissions: Permission cache, which finds keys by their hash.
    """

    tag = "Usage API keys"
    custody: Custody
    clock: Clock
    permissions: PermissionCache

    def endpoints(self) -> list[Endpoint]:
        """Returns the endpoints that create, change and delete usage keys."""
        return [
            self.row("add_usage_api_key", self.add_usage_api_key, AddUsageApiKeyRequest, AddUsageApiKeyResponse),
            self.row("update_usage_api_key", self.update_usage_api_key, UpdateUsageApiKeyRequest, Success),
            self.row("update_usage_api_key_metadata", self.update_metadata, UpdateUsageApiKeyMetadataRequest, Success),
            self.row("remove_usage_api_key", self.remove_usage_api_key, RemoveUsageApiKeyRequest, Success),
        ]

    async def add_usage_api_key(self, call: Call, body: AddUsageApiKeyRequest) -> AddUsageApiKeyResponse:
        """Creates a usage key and returns the key, which the service never returns again.

        The key is the private key of a new wallet in base64. The service also registers that wallet in the account. The
        key expires after 3,650 days. The call requires the account key.
        """
        require_owner(call.caller)
        path = self.custody.new_path()
        secret = self.custody.wallet_secret(path)
        usage_api_key = base64.b64encode(secret).decode()
        # Register the wallet first. If the chain cannot combine both writes, a failure can leave an unused wallet, but
        # never a key without its wallet.
        wallet = (call.caller.master_hash, address_of_secret(secret), path, WALLET_NAME, WALLET_DESCRIPTION)
        await self.contract.write_together(
            ("registerWalletDerivation", wallet),
            ("setUsageApiKey", self._arguments(call, key_hash(usage_api_key), body)),
        )
        return AddUsageApiKeyResponse(usage_api_key=usage_api_key)

    async def update_usage_api_key(self, call: Call, body: UpdateUsageApiKeyRequest) -> Success:
        """Replaces the name, the description and all permissions of a usage key. The call requires the account key.

        The call also sets the expiration to 3,650 days after the update.
        """
        require_owner(call.caller)
        hashed = await self._existing(call, body.usage_api_key)
        await self.contract.write("setUsageApiKey", *self._arguments(call, hashed, body))
        return Success()

    async def update_metadata(self, call: Call, body: UpdateUsageApiKeyMetadataRequest) -> Success:
        """Changes the name and description of a usage key. The call requires the account key."""
        require_owner(call.caller)
        hashed = await self._existing(call, body.usage_api_key)
        await self.contract.write(
            "updateUsageApiKeyMetadata", call.caller.master_hash, hashed, body.name, body.description
        )
        return Success()

    async def remove_usage_api_key(self, call: Call, body: RemoveUsageApiKeyRequest) -> Success:
        """Deletes a usage key. Later requests with this key return 401. The call requires the account key."""
        require_owner(call.caller)
        hashed = await self._existing(call, body.usage_api_key)
        await self.contract.write("removeUsageApiKey", call.caller.master_hash, hashed)
        return Success()

    def _arguments(self, call: Call, hashed: int, body: UsageKeyPermissions) -> tuple[Any, ...]:
        """Returns the arguments of the contract function setUsageApiKey, for the key with the hash ``hashed``."""
        return (
            call.caller.master_hash,
            hashed,
            self.clock.now_s() + USAGE_KEY_LIFETIME_S,
            USAGE_KEY_CHAIN_BALANCE,
            body.name,
            body.description,
            body.can_create_groups,
            body.can_delete_groups,
            body.can_create_pkps,
            body.manage_ipfs_ids_in_groups,
            body.add_pkp_to_groups,
            body.remove_pkp_from_groups,
            body.execute_in_groups,
        )

    async def _existing(self, call: Call, key_or_hash: str) -> int:
        """Returns the hash of one of the account's usage keys, given the key or the hash from ``list_api_keys``."""
        text = key_or_hash.strip()
        if not text:
            raise EndpointFailure(400, "usage_api_key is empty: send the key, or its api_key_hash from list_api_keys")
        hashed = int(text, 16) if looks_like_hash(text) else key_hash(text)
        found = await self.permissions.by_hash(hashed)
        if found is None or found.is_master or found.master_hash != call.caller.master_hash:
            # The contract does not check whether the key exists. Without this check, the contract creates a new key
            # with this hash.
            raise EndpointFailure(404, error_text("UsageApiKeyDoesNotExist", (call.caller.master_hash, hashed)))
        return hashed
