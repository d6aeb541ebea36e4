"""Accounts."""

from __future__ import annotations

from pydantic import Field

from svcnb.client.models.base import Model
from svcnb.client.secret import Secret
from svcnb.protocol.hashes import api_key_hash


class Account(Model):
    """A new account in API mode: its master key, which is shown only once, and its master wallet."""

    name: str = Field(default="", alias="account_name")
    """The name given at creation."""

    wallet_address: str
    """Address of the account's master wallet, whose wallet id is 0."""

    api_key: Secret
    """The master key. It can do everything and cannot be shown again: store ``api_key.reveal()`` somewhere safe."""

    @property
    def api_key_hash(self) -> str:
        """The account's stable identity on chain, ``0x`` and 64 digits; not a secret."""
        return api_key_hash(self.api_key.reveal())
