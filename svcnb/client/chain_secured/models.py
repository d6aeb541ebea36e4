"""What ChainSecured flows tell."""

from __future__ import annotations

from typing import Any, Literal

from svcnb.client.models.base import Model


class KeyCheck(Model):
    """Whether the service resolves a usage key, found out by executing with it."""

    resolves: bool
    """True when the service found the key's account. A refusal for the action itself counts as found."""

    form: Literal["bytes", "text"] | None
    """Under which hash the key stands on chain: of its 32 bytes, or of its text; None when under neither."""

    answer: str
    """What the service said: ``ran``, or the error's code."""


class Transfer(Model):
    """An account handed over."""

    previous_admin: str
    admin: str
    """The wallet that owns the account now."""

    api_key_hash: str
    """Master hash of the account: the same as before."""

    transaction_hash: str = ""
    quiet = frozenset({"transaction_hash"})


class OnChain(Model):
    """A ChainSecured account as it stands on chain."""

    admin: str
    """The wallet that owns it."""

    billing_wallet: str
    """The wallet whose credit pays; conversion and transfers leave it."""

    api_key_hash: str
    """Master hash: the account's stable identity."""

    contract_address: str
    chain_id: int
    groups: int
    wallets: int
    actions: int
    usage_keys: int

    def summary(self) -> dict[str, Any]:
        """Returns the account in few words."""
        return self.shown()
