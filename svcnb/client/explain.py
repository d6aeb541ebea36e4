"""`svc.explain`: reads what an account holds about one key, one action and one wallet, and has it judged."""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from typing import TypeAlias

from svcnb.client.calls import Flow, ask, now
from svcnb.client.config import Config
from svcnb.client.diagnosis import diagnose
from svcnb.client.errors import InvalidArgument, SvcnbError, Unauthorized
from svcnb.client.listing import Listing
from svcnb.client.models.accounts import Account
from svcnb.client.models.explanation import Explanation
from svcnb.client.models.groups import Group, GroupContents
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.picture import Kind, Picture
from svcnb.client.references import ActionRef, KeyRef, WalletRef, action_hash, key_hash, raw_cid, wallet_address
from svcnb.client.resources import actions, billing, group_flows, usage_keys, wallets
from svcnb.client.secret import Secret
from svcnb.protocol.action import Action
from svcnb.protocol.hashes import api_key_hash, keccak256
from svcnb.protocol.wire.values import WILDCARD_ADDRESS, WILDCARD_HASH, looks_like_hash

AnyKeyRef: TypeAlias = "KeyRef | Account | None"


def explain(
    config: Config, key: AnyKeyRef, action: ActionRef, wallet: WalletRef | None, clock_skew: float = 0.0
) -> Flow[Explanation]:
    """Reads the account and explains; all reads are free.

    Args:
        config: Whose key reads; any key of the account sees the whole account.
        key: The key to explain; the configured one when None.
        action: The action.
        wallet: The wallet that the action wants to use; None for the run alone.
        clock_skew: Seconds that the service's clock is ahead.
    """
    secret = _text_of(key, config)
    hashed = _hash_of(key, secret)
    permitted = _one_action(action)
    address = None if wallet is None else _one_wallet(wallet)
    _, unix = yield from now()
    try:
        known = yield from usage_keys.listing()
    except Unauthorized:
        if config.api_key is None or hashed != api_key_hash(config.api_key.reveal()):
            raise
        # Nothing can be read with a key that nobody knows; that it is unknown is the answer.
        return diagnose(
            Picture("unknown", hashed, None, permitted, _cid(action), _name(action), address, (), (), now=unix)
        )
    account = yield from wallets.listing(None)
    addresses = [item.wallet_address for item in account]
    record = _record(known, hashed, secret)
    kind = (yield from _kind(config, secret, hashed, addresses)) if record is None else "usage"
    registered = yield from actions.listing(None)
    name = next((item.name for item in registered if item.hashed_cid == permitted), "") or _name(action)
    groups = yield from _groups()
    credit = yield from _credit()
    return diagnose(
        Picture(
            kind=kind,
            key_hash=record.api_key_hash if record else hashed,
            key=record,
            action_hash=permitted,
            cid=_cid(action),
            action_name=name,
            wallet=address,
            wallets=addresses,
            groups=groups,
            other_keys=[item for item in known if item is not record],
            now=unix + clock_skew,
            available_cents=credit,
        )
    )


def _groups() -> Flow[list[tuple[Group, GroupContents]]]:
    found = []
    for group in (yield from group_flows.listing()):
        contents = yield from group_flows.contents(group)
        found.append((group, contents))
    return found


def _credit() -> Flow[int | None]:
    try:
        balance = yield from billing.balance()
    except SvcnbError:
        return None  # a billing outage says nothing about permissions
    return balance.available_cents


def _kind(config: Config, secret: str | None, hashed: str, addresses: list[str]) -> Flow[Kind]:
    """Finds out whose key it is that stands in no list of this account."""
    if config.api_key is not None and hashed == api_key_hash(config.api_key.reveal()):
        return "master"  # it could read the account and is none of its usage keys
    if secret is None:
        return "unknown"
    theirs = wallets.page(0, 1)
    try:
        first = yield from ask(replace(theirs, headers={"X-Api-Key": secret}))
    except Unauthorized:
        return "unknown"
    same = bool(first) and bool(addresses) and first[0].wallet_address == addresses[0]
    return "master" if same else "elsewhere"


def _record(known: Listing[UsageKey], hashed: str, secret: str | None) -> UsageKey | None:
    # A ChainSecured key stands in the contract by the hash of its text, or of its 32 bytes (specification 4.4).
    hashes = {hashed} | ({bytes_hash} if secret and (bytes_hash := _hash_of_bytes(secret)) else set())
    return next((item for item in known if item.api_key_hash in hashes), None)


def _hash_of_bytes(secret: str) -> str | None:
    try:
        raw = base64.b64decode(secret, validate=True)
    except (binascii.Error, ValueError):
        return None
    return "0x" + keccak256(raw).hex() if len(raw) == 32 else None  # noqa: PLR2004 - the length of a secret


def _text_of(key: AnyKeyRef, config: Config) -> str | None:
    if key is None:
        if config.api_key is None:
            raise InvalidArgument(
                "there is no key to explain: this client has none and none was given",
                hint="svc.explain(key, action), or svc.with_key(key).",
            )
        return config.api_key.reveal()
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
    return key_hash(key)  # type: ignore[arg-type]  # accounts and None have a secret


def _one_action(action: ActionRef) -> str:
    hashed = action_hash(action)
    if hashed == WILDCARD_HASH:
        raise InvalidArgument("0 stands for every action, and one action is explained", hint="Pass the action.")
    return hashed


def _one_wallet(wallet: WalletRef) -> str:
    address = wallet_address(wallet)
    if address == WILDCARD_ADDRESS:
        raise InvalidArgument("0 stands for every wallet, and one wallet is explained", hint="Pass the wallet.")
    return address


def _cid(action: ActionRef) -> str | None:
    try:
        return raw_cid(action)
    except InvalidArgument:
        return None


def _name(action: ActionRef) -> str:
    return action.name if isinstance(action, Action) else ""
