"""Model of an action in listings of the account."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from svcnb.client.models.base import Model


class RegisteredAction(Model):
    """Action that an account registered or a group permits."""

    hashed_cid: str | None
    """keccak256 hash of the CID text, ``0x`` followed by 64 hex digits.

    All zeros mean every action. The value is None if the service hides the hash. Some services hide it for entries that
    were never registered.
    """

    name: str = ""
    description: str = ""

    cid: str | None = None
    """The raw CID, if this client has it. The service lists only hashes."""

    @model_validator(mode="before")
    @classmethod
    def _hash_from_id(cls, data: Any) -> Any:
        # Some services call the hash `id`, and write "n/a" for wildcards and unregistered entries.
        if isinstance(data, dict) and "hashed_cid" not in data:
            found = data.get("id")
            data = data | {"hashed_cid": found if isinstance(found, str) and found.startswith("0x") else None}
        return data

    @property
    def is_wildcard(self) -> bool:
        """True for the entry that means every action."""
        return self.hashed_cid is not None and not self.hashed_cid.removeprefix("0x").strip("0")
