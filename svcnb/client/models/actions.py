"""Model of an action in listings of the account."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from svcnb.client.models.base import Model


class RegisteredAction(Model):
    """Action that an account registered or a group permits."""

    hashed_cid: str | None
    """keccak256 hash of the CID text, ``0x`` followed by 64 hex digits.

    64 zeros mean every action. The value is None if the service does not return the hash. Some services return no hash
    for actions that a group permits but the account did not register.
    """

    name: str = ""
    """Name under which the account registered the action. Empty if the action has no name."""

    description: str = ""
    """Purpose of the action, as the account described it. Empty if the action has no description."""

    cid: str | None = None
    """The raw CID in the result of ``register``. None in the results of all other methods, because the service stores
    only the hash."""

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
        """Whether this entry is the wildcard, which means every action."""
        return self.hashed_cid is not None and not self.hashed_cid.removeprefix("0x").strip("0")
