"""Models for usage API keys."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from svcnb.protocol.wire.base import Request, Response
from svcnb.protocol.wire.complete import CompleteRequest
from svcnb.protocol.wire.signatures import SignedRequest
from svcnb.protocol.wire.values import KeyGroups


class UsageKeyPermissions(CompleteRequest):
    """Name, description and permissions of a usage key. The service does not grant omitted permissions."""

    required_by_service: ClassVar = (
        "name",
        "description",
        "can_create_groups",
        "can_delete_groups",
        "can_create_pkps",
        "manage_ipfs_ids_in_groups",
        "add_pkp_to_groups",
        "remove_pkp_from_groups",
        "execute_in_groups",
    )

    name: str = Field(description="Name of the key.")
    description: str = Field("", description="Description of the key.")
    can_create_groups: bool = Field(default=False, description="Whether the key can create groups.")
    can_delete_groups: bool = Field(default=False, description="Whether the key can delete groups.")
    can_create_pkps: bool = Field(default=False, description="Whether the key can create wallets.")
    manage_ipfs_ids_in_groups: KeyGroups = Field(
        [], description="Groups in which the key can add or remove actions. [0] means all groups."
    )
    add_pkp_to_groups: KeyGroups = Field(
        [], description="Groups to which the key can add wallets. [0] means all groups."
    )
    remove_pkp_from_groups: KeyGroups = Field(
        [], description="Groups from which the key can remove wallets. [0] means all groups."
    )
    execute_in_groups: KeyGroups = Field(
        [], description="Groups in which the key can execute actions. [0] means all groups."
    )


class AddUsageApiKeyRequest(UsageKeyPermissions):
    """Body of ``add_usage_api_key``, which creates a usage key with these permissions."""


_KEY_OR_HASH = "The key, or its api_key_hash from list_api_keys."


class UpdateUsageApiKeyRequest(UsageKeyPermissions):
    """Body of ``update_usage_api_key``. The endpoint replaces every permission, and removes omitted permissions."""

    usage_api_key: str = Field(description=_KEY_OR_HASH, repr=False)


class UpdateUsageApiKeyMetadataRequest(Request):
    """Body of ``update_usage_api_key_metadata``, which replaces only the name and the description of a key."""

    usage_api_key: str = Field(description=_KEY_OR_HASH, repr=False)
    name: str = Field(description="New name.")
    description: str = Field(description="New description.")


class RemoveUsageApiKeyRequest(Request):
    """Body of ``remove_usage_api_key``, which deletes a usage key."""

    usage_api_key: str = Field(description=_KEY_OR_HASH, repr=False)


class AddUsageApiKeyWithSignatureRequest(SignedRequest):
    """Body of ``add_usage_api_key_with_signature``. The primaryType of the typed data is AddUsageApiKey."""


class AddUsageApiKeyResponse(Response):
    """Response of ``add_usage_api_key``. No other response contains the key."""

    success: bool = True
    usage_api_key: str = Field(
        description="The usage key. Store the key, because the service does not return it again.", repr=False
    )


class SignedUsageApiKeyResponse(Response):
    """Response of ``add_usage_api_key_with_signature``. The key is not registered on chain yet."""

    usage_api_key: str = Field(
        description="The usage key, base64 of 32 bytes. Store the key, because the service does not return it again.",
        repr=False,
    )
    wallet_address: str = Field(description="Address of the wallet whose private key is the usage key.")
    derivation_path: str = Field(description="Derivation path of the wallet, as 0x hex without leading zeros.")


class ApiKeyItem(Response):
    """Entry of ``list_api_keys``. The entry never contains the key itself (docs/service/http.md#lists)."""

    id: str = Field(description="Same as api_key_hash.")
    api_key_hash: str = Field(description="keccak256 of the key, as 0x followed by 64 hex digits.")
    name: str
    description: str
    expiration: str = Field(
        description="Time at which the key expires, in Unix seconds as a decimal string. 0 means never."
    )
    balance: int = Field(description="Unused number that the contract stores. The number is not an amount of money.")
    can_create_groups: bool
    can_delete_groups: bool
    can_create_pkps: bool
    can_manage_ipfs_ids_in_groups: list[int]
    can_add_pkp_to_groups: list[int]
    can_remove_pkp_from_groups: list[int]
    can_execute_in_groups: list[int]
