"""Result types of ChainSecured operations."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from svcnb.client.models.base import Model
from svcnb.client.secret import Secret


class KeyCheck(Model):
    """Result of an execution that checks whether the service finds a usage key."""

    resolves: bool
    """True if the service found the key's account, even if it then rejected the action."""

    form: Literal["bytes", "text"] | None
    """Form of the key that determined its on-chain hash: bytes or text. None if neither hash is on chain."""

    answer: str
    """Response of the service: ``ran``, or the code of the error."""


class Transfer(Model):
    """Result of a transfer."""

    previous_admin: str
    admin: str
    """Address of the wallet that owns the account now."""

    api_key_hash: str
    """Master hash of the account, which the transfer did not change."""

    transaction_hash: str = ""
    quiet: ClassVar[frozenset[str]] = frozenset({"transaction_hash"})


class OnChain(Model):
    """On-chain state of a ChainSecured account."""

    admin: str
    """Address of the wallet that owns the account."""

    billing_wallet: str
    """Address of the wallet whose credit pays for calls. Conversion and transfers do not change it."""

    api_key_hash: str
    """Master hash, which identifies the account permanently."""

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
    """Result of a check of a signed envelope against one rule of docs/service/signatures.md#rules-of-a-signature."""

    rule: int
    """Number of the rule, 1 to 8."""

    what: str
    """Description of the rule."""

    holds: bool | None
    """Whether the data satisfies the rule. None if the rule does not apply."""

    detail: str = ""
    """Details of the check."""


class Sent(Model):
    """The service's response to a signed envelope."""

    flow: str
    address: str
    """Address of the wallet that signed."""

    wallet_address: str = ""
    """The created wallet, if any. It does not belong to an account until the owner registers it on chain."""

    derivation_path: str = ""
    usage_api_key: Secret | None = None
    """The new key. The service never shows it again."""

    balance_display: str = ""
    """The credit. Only ``BillingAuth`` returns it."""

    quiet: ClassVar[frozenset[str]] = frozenset({"usage_api_key"})
