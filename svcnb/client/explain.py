"""Flow of `svc.explain`. It reads an account, and diagnoses the permissions of a key, an action and a wallet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from svcnb.client.calls import Flow, ask, now
from svcnb.client.config import Config
from svcnb.client.diagnosis import diagnose
from svcnb.client.errors import InvalidArgument, SvcnbError, Unauthorized
from svcnb.client.listing import Listing
from svcnb.client.models.accounts import Account
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.models.explanation import Explanation
from svcnb.client.models.groups import Group, GroupContents
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.models.wallets import Wallet
from svcnb.client.permission_snapshot import Kind, PermissionSnapshot, master_wallet_of
from svcnb.client.references import (
    ActionRef,
    KeyRef,
    WalletRef,
    key_hash,
    one_action_hash,
    one_wallet_address,
    raw_cid,
)
from svcnb.client.resources import accounts, actions, billing, groups, usage_keys, wallets
from svcnb.client.secret import Secret
from svcnb.protocol.action import Action
from svcnb.protocol.hashes import api_key_hash, uint256_hex, usage_key_bytes, usage_key_hash
from svcnb.protocol.wire.values import looks_like_hash

AnyKeyRef: TypeAlias = KeyRef | Account | None


@dataclass(frozen=True)
class ExplanationSubject:
    """Subject of an explanation: one key, one action and an optional wallet.

    Attributes:
        key_hash: The key's hash.
        secret: The key's text, or None if only the hash is available.
        action_hash: The action's hashed CID.
        cid: The action's raw CID, or None if only the hash is available.
        name: Name of the `Action` object. Empty if the caller passed no such object, or an object without a name.
        wallet: The wallet's address, or None for a run without a wallet.
    """

    key_hash: str
    secret: str | None = field(repr=False)
    action_hash: str
    cid: str | None
    name: str
    wallet: str | None

    @classmethod
    def of(
        cls, key: AnyKeyRef, action: ActionRef, wallet: WalletRef | None, own: Secret | None = None
    ) -> ExplanationSubject:
        """Returns the subject of an explanation. `svcnb.Client.explain` describes the arguments and the errors.

        ``own`` is the client's own key, or None if the client has no key.
        """
        secret = _text_of(key, own)
        return cls(
            key_hash=_hash_of(key, secret),
            secret=secret,
            action_hash=one_action_hash(action),
            cid=_cid(action),
            name=action.name if isinstance(action, Action) else "",
            wallet=None if wallet is None else one_wallet_address(wallet),
        )

    def find(self, known: Sequence[UsageKey]) -> UsageKey | None:
        """Returns the key's record from a list of an account's usage keys, or None if the key is not in the list.

        The list identifies a ChainSecured key by the hash of its text, or by the hash of its 32 bytes
        (docs/service/signatures.md#follow-up-transactions).
        """
        hashes = {self.key_hash, _hash_of_bytes(self.secret) if self.secret else None}
        return next((item for item in known if item.api_key_hash in hashes), None)

    def snapshot(
        self,
        kind: Kind,
        now: float,
        *,
        keys: Sequence[UsageKey] = (),
        wallets: Sequence[Wallet] = (),
        actions: Sequence[RegisteredAction] = (),
        groups: Sequence[tuple[Group, GroupContents]] = (),
        **more: Any,
    ) -> PermissionSnapshot:
        """Returns the snapshot of an account for this subject. `PermissionSnapshot` describes the arguments."""
        record = self.find(keys)
        return PermissionSnapshot(
            kind=kind,
            key_hash=record.api_key_hash if record else self.key_hash,
            key=record,
            action_hash=self.action_hash,
            cid=self.cid,
            action_name=next((item.name for item in actions if item.hashed_cid == self.action_hash), self.name),
            wallet=self.wallet,
            wallets=[item.wallet_address for item in wallets],
            master_wallet=master_wallet_of(wallets),
            groups=groups,
            other_keys=[item for item in keys if item is not record],
            now=now,
            **more,
        )


def explain(
    config: Config, key: AnyKeyRef, action: ActionRef, wallet: WalletRef | None, clock_skew: float = 0.0
) -> Flow[Explanation]:
    """Reads the account, and returns the explanation. `svcnb.Client.explain` describes the arguments."""
    asked = ExplanationSubject.of(key, action, wallet, config.api_key)
    _, unix = yield from now()
    try:
        known = yield from usage_keys.listing()
    except Unauthorized:
        if not _is_own(config, asked):
            raise
        # An unknown key cannot read anything. The explanation is therefore that the key is unknown.
        return diagnose(asked.snapshot("unknown", unix))
    held = yield from wallets.listing(None)
    kind = "usage" if asked.find(known) else (yield from _kind(config, asked, held))
    registered = yield from actions.listing(None)
    managed = yield from accounts.exists()
    found = asked.snapshot(
        kind,
        unix + clock_skew,
        keys=known,
        wallets=held,
        actions=registered,
        groups=(yield from _groups()),
        available_cents=(yield from _credit()),
        # Only the owner can change a ChainSecured account, with the object that `svc.chain_secured.open` returns.
        subject="svc" if managed else "mine",
    )
    return diagnose(found)


def _is_own(config: Config, asked: ExplanationSubject) -> bool:
    return config.api_key is not None and asked.key_hash == api_key_hash(config.api_key.reveal())


def _groups() -> Flow[list[tuple[Group, GroupContents]]]:
    found = []
    for group in (yield from groups.listing()):
        contents = yield from groups.contents(group)
        found.append((group, contents))
    return found


def _credit() -> Flow[int | None]:
    try:
        balance = yield from billing.balance()
    except SvcnbError:
        return None  # a billing outage does not affect permissions
    return balance.available_cents


def _kind(config: Config, asked: ExplanationSubject, held: Listing[Wallet]) -> Flow[Kind]:
    """Determines the kind of a key that this account's list of usage keys does not contain."""
    if _is_own(config, asked):
        return "master"  # the key can read the account, but is not one of its usage keys
    if asked.secret is None:
        return "unknown"
    try:
        first = yield from ask(replace(wallets.page(0, 1), headers={"X-Api-Key": asked.secret}))
    except Unauthorized:
        return "unknown"
    same = bool(first) and bool(held) and first[0].wallet_address == held[0].wallet_address
    return "master" if same else "elsewhere"


def _hash_of_bytes(secret: str) -> str | None:
    raw = usage_key_bytes(secret)
    return None if raw is None else uint256_hex(usage_key_hash(raw))


def _text_of(key: AnyKeyRef, own: Secret | None) -> str | None:
    if key is None:
        if own is None:
            raise InvalidArgument(
                "no key was passed, and this client has no key",
                hint="Pass a key: svc.explain(key, action), or use svc.with_key(key).",
            )
        return own.reveal()
    if isinstance(key, Account):
        return key.api_key.reveal()
    if isinstance(key, UsageKey):
        return key.usage_api_key.reveal() if key.usage_api_key else None
    text = key.reveal() if isinstance(key, Secret) else key
    return None if looks_like_hash(text) else text.strip()


def _hash_of(key: AnyKeyRef, secret: str | None) -> str:
    if isinstance(key, UsageKey):
        return key.api_key_hash
    if secret is not None:
        return api_key_hash(secret)
    return key_hash(key)  # type: ignore[arg-type] # an account or None always has a secret


def _cid(action: ActionRef) -> str | None:
    try:
        return raw_cid(action)
    except InvalidArgument:
        return None
