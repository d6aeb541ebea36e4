"""Model of an account."""

from __future__ import annotations

from pydantic import Field

from svcnb.client.models.base import Model
from svcnb.client.secret import Secret
from svcnb.protocol.hashes import api_key_hash


class Account(Model):
    """New account in API mode, with its master wallet and its account key."""

    name: str = Field(default="", alias="account_name")
    """Name of the account when it was created."""

    wallet_address: str
    """Address of the account's master wallet, whose wallet id is 0."""

    api_key: Secret
    """The account key, which has all permissions. The service never shows this key again. Store ``api_key.reveal()``
    securely."""

    @property
    def api_key_hash(self) -> str:
        """Hash of the account key, ``0x`` followed by 64 hex digits.

        The hash identifies the account on chain permanently, and is not a secret.
        """
        return api_key_hash(self.api_key.reveal())
