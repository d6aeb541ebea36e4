"""Result types of ChainSecured operations."""

from __future__ import annotations

from typing import ClassVar, Literal

from svcnb.client.models.base import Model
from svcnb.client.secret import Secret


class KeyCheck(Model):
    """Result of a run that checks whether the service finds a usage key."""

    resolves: bool
    """True if the service found the key's account, even if the service then rejected the action."""

    form: Literal["bytes", "text"] | None
    """Form of the key whose hash is on chain: ``bytes`` for the 32 bytes of the key, or ``text`` for its base64 text.

    None if the account contains neither hash.
    """

    answer: str
    """Result of the run: ``ran``, or the code of the service's error, for example ``unauthorized``."""


class Transfer(Model):
    """Result of a transfer of an account to another wallet."""

    previous_admin: str
    """Address of the wallet that owned the account before the transfer."""

    admin: str
    """Address of the wallet that owns the account after the transfer."""

    api_key_hash: str
    """Master hash of the account, which the transfer did not change."""

    transaction_hash: str = ""
    """Hash of the transaction that transferred the account."""

    quiet: ClassVar[frozenset[str]] = frozenset({"transaction_hash"})


class OnChain(Model):
    """On-chain state of a ChainSecured account."""

    admin: str
    """Address of the wallet that owns the account."""

    billing_wallet: str
    """Address of the wallet whose credit pays for calls. Conversions and transfers do not change this address."""

    api_key_hash: str
    """Master hash of the account, ``0x`` followed by 64 hex digits, which identifies the account permanently."""

    contract_address: str
    """Address of the AccountConfig contract."""

    chain_id: int
    """Id of the chain that contains the AccountConfig contract (EIP-155)."""

    groups: int
    """Number of groups of the account."""

    wallets: int
    """Number of wallets that are registered in the account, including the wallets of usage keys."""

    actions: int
    """Number of registered actions of the account."""

    usage_keys: int
    """Number of usage keys of the account."""


class Verdict(Model):
    """Result of the check of a signed envelope against one rule.

    Source: docs/service/signatures.md#rules-of-a-signature.
    """

    rule: int
    """Number of the rule, 1 to 8, as in the list of rules."""

    what: str
    """The rule in English, for example ``typed_data is an object``."""

    holds: bool
    """Whether the envelope satisfies the rule."""

    detail: str = ""
    """Cause of the violation. For a satisfied rule, the expected value or details of the signature's check.

    Empty for satisfied rules without such details.
    """


class Sent(Model):
    """The service's response to a signed envelope."""

    flow: str
    """Flow of the envelope: ``CreateWallet``, ``AddUsageApiKey``, ``ConvertAccount`` or ``BillingAuth``."""

    address: str
    """Address of the wallet that signed the envelope."""

    wallet_address: str = ""
    """Address of the wallet that ``CreateWallet`` or ``AddUsageApiKey`` created. Empty for other flows.

    The wallet does not belong to an account until the owner registers the wallet on chain.
    """

    derivation_path: str = ""
    """Derivation path of the created wallet, as ``0x`` hex. Empty if the flow creates no wallet."""

    usage_api_key: Secret | None = None
    """Usage key that ``AddUsageApiKey`` created. None for other flows. The service never shows the key again."""

    balance_display: str = ""
    """Balance of the account as text. Empty for all flows except ``BillingAuth``."""

    quiet: ClassVar[frozenset[str]] = frozenset({"usage_api_key"})
