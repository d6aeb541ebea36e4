"""Result types of ChainSecured operations."""

from __future__ import annotations

from typing import Any, Literal

from svcnb.client.models.base import Model
from svcnb.client.secret import Secret


class KeyCheck(Model):
    """Result of a check whether the service resolves a usage key, made by an execution with it."""

    resolves: bool
    """True if the service found the key's account. A refusal of the action itself also counts as found."""

    form: Literal["bytes", "text"] | None
    """The hash of the key on chain: of its 32 bytes, or of its text; None if there is neither."""

    answer: str
    """The service's response: ``ran``, or the error's code."""


class Transfer(Model):
    """Result of a transfer."""

    previous_admin: str
    admin: str
    """The wallet that owns the account now."""

    api_key_hash: str
    """Master hash of the account: the same as before."""

    transaction_hash: str = ""
    quiet = frozenset({"transaction_hash"})


class OnChain(Model):
    """State of a ChainSecured account on chain."""

    admin: str
    """The wallet that owns it."""

    billing_wallet: str
    """The wallet whose credit pays; conversion and transfers do not change it."""

    api_key_hash: str
    """Master hash: the account's stable identity."""

    contract_address: str
    chain_id: int
    groups: int
    wallets: int
    actions: int
    usage_keys: int

    def summary(self) -> dict[str, Any]:
        """Returns a short description of the account."""
        return self.shown()


class Verdict(Model):
    """Result of checking a signed envelope against one rule of specification 5.6."""

    rule: int
    """Number of the rule, 1 to 8."""

    what: str
    """The rule in words."""

    holds: bool | None
    """True if it is satisfied; None if it does not apply."""

    detail: str = ""
    """The details."""


class Sent(Model):
    """The service's response to a signed envelope."""

    flow: str
    address: str
    """The wallet that signed."""

    wallet_address: str = ""
    """The created wallet, if any. It belongs to no account until it is registered on chain."""

    derivation_path: str = ""
    usage_api_key: Secret | None = None
    """The new key, shown only once."""

    balance_display: str = ""
    """The credit, for ``BillingAuth``."""

    quiet = frozenset({"usage_api_key"})
