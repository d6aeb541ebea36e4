"""What ChainSecured flows tell."""

from __future__ import annotations

from typing import Any, Literal

from svcnb.client.models.base import Model
from svcnb.client.secret import Secret


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


class Verdict(Model):
    """What one rule of specification 5.6 says about a signed envelope."""

    rule: int
    """Its number there, 1 to 8."""

    what: str
    """The rule in words."""

    holds: bool | None
    """None when it does not apply."""

    detail: str = ""
    """What was seen."""


class Sent(Model):
    """What the service answered to a signed envelope."""

    flow: str
    address: str
    """The wallet that signed."""

    wallet_address: str = ""
    """What was made, if anything was. It belongs to no account until the chain knows it."""

    derivation_path: str = ""
    usage_api_key: Secret | None = None
    """Shown this once."""

    balance_display: str = ""
    """The credit, for ``BillingAuth``."""

    quiet = frozenset({"usage_api_key"})
