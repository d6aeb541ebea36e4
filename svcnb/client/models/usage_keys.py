"""Model of a usage key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from pydantic import AliasChoices, Field, field_validator

from svcnb.client.models.base import Model
from svcnb.client.secret import Secret

PERMISSION_FLAGS: Final = ("can_create_groups", "can_delete_groups", "can_create_pkps")
PERMISSION_LISTS: Final = (
    "manage_ipfs_ids_in_groups",
    "add_pkp_to_groups",
    "remove_pkp_from_groups",
    "execute_in_groups",
)
"""Names of the permissions whose value is a list of groups, in the order of the contract's arguments."""


def describe_groups(numbers: Sequence[int]) -> str:
    """Returns a description of a list of group numbers: ``no group``, ``group 1`` or ``groups 1, 2``.

    If the list contains 0, the result is ``every group``.
    """
    if not numbers:
        return "no group"
    if 0 in numbers:
        return "every group"
    return ("group " if len(numbers) == 1 else "groups ") + ", ".join(str(number) for number in numbers)


def _with_alias(name: str) -> AliasChoices:
    return AliasChoices(name, f"can_{name}")


class UsageKey(Model):
    """Usage key with its permissions. Only the object that ``create`` returned contains the secret."""

    api_key_hash: str
    """keccak256 hash of the key text, ``0x`` followed by 64 hex digits.

    A ChainSecured usage key can have the hash of its 32 bytes instead. The hash is not a secret, and identifies the key
    in updates and deletions.
    """

    name: str = ""
    """Name from the creation or the last update. Calls refer to the key by its hash or its text, not by its name."""

    description: str = ""
    """Purpose of the key, as the account described it. Empty if the account gave no description."""

    can_create_groups: bool = False
    """Whether the key can create groups."""

    can_delete_groups: bool = False
    """Whether the key can delete groups."""

    can_create_pkps: bool = False
    """Whether the key can create wallets."""

    manage_ipfs_ids_in_groups: tuple[int, ...] = Field(
        default=(), validation_alias=_with_alias("manage_ipfs_ids_in_groups")
    )
    """Numbers of the groups where the key can add and remove actions. 0 means all groups."""

    add_pkp_to_groups: tuple[int, ...] = Field(default=(), validation_alias=_with_alias("add_pkp_to_groups"))
    """Numbers of the groups where the key can add wallets. 0 means all groups."""

    remove_pkp_from_groups: tuple[int, ...] = Field(default=(), validation_alias=_with_alias("remove_pkp_from_groups"))
    """Numbers of the groups where the key can remove wallets. 0 means all groups."""

    execute_in_groups: tuple[int, ...] = Field(default=(), validation_alias=_with_alias("execute_in_groups"))
    """Numbers of the groups whose actions the key can run. 0 means all groups."""

    expiration: int | None = None
    """Time in Unix seconds after which the key can no longer run actions. 0 means that the key never expires.

    None means that the expiration is unknown. In API mode, the results of ``create`` and ``update`` do not contain this
    value.
    """

    usage_api_key: Secret | None = None
    """The key itself. Only the object that ``create`` returned contains the key. Store ``usage_api_key.reveal()``
    securely."""

    quiet: ClassVar[frozenset[str]] = frozenset({"expiration"})
    unix_seconds: ClassVar[frozenset[str]] = frozenset({"expiration"})

    @field_validator("expiration", mode="before")
    @classmethod
    def _seconds(cls, value: object) -> object:
        return int(value) if isinstance(value, str) and value.isdecimal() else value

    @property
    def expires_at(self) -> datetime | None:
        """Time in UTC after which the key can no longer run actions.

        None means that the key never expires, or that its expiration is unknown.
        """
        return datetime.fromtimestamp(self.expiration, UTC) if self.expiration else None

    @property
    def execute_only(self) -> bool:
        """True if the key can run actions but cannot change the account.

        Runs with the key still spend the account's credit.
        """
        flags = (self.can_create_groups, self.can_delete_groups, self.can_create_pkps)
        lists = (self.manage_ipfs_ids_in_groups, self.add_pkp_to_groups, self.remove_pkp_from_groups)
        return bool(self.execute_in_groups) and not any(flags) and not any(lists)

    @property
    def may(self) -> str:
        """Description of the key's permissions, for example ``execute in groups 1, 2; create wallets``.

        The result for a key without permissions is ``only read``.
        """
        lists = {
            "execute in": self.execute_in_groups,
            "manage actions in": self.manage_ipfs_ids_in_groups,
            "add wallets to": self.add_pkp_to_groups,
            "remove wallets from": self.remove_pkp_from_groups,
        }
        flags = {
            "create groups": self.can_create_groups,
            "delete groups": self.can_delete_groups,
            "create wallets": self.can_create_pkps,
        }
        said = [f"{verb} {describe_groups(groups)}" for verb, groups in lists.items() if groups]
        return "; ".join(said + [verb for verb, allowed in flags.items() if allowed]) or "only read"

    def summary(self) -> dict[str, Any]:
        """Returns the name, description, permissions and hash of the key, and its masked secret, by name."""
        return {
            "name": self.name,
            "description": self.description,
            "may": self.may,
            "api_key_hash": self.api_key_hash,
            "usage_api_key": self.usage_api_key,
        }

    def permissions(self) -> dict[str, Any]:
        """Returns the boolean permissions and the lists of groups, by their field names in requests."""
        flags = {name: getattr(self, name) for name in PERMISSION_FLAGS}
        return flags | {name: list(getattr(self, name)) for name in PERMISSION_LISTS}
