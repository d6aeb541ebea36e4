"""Flow of `mine.explain`. It reads the account from the contract, and diagnoses permissions as in API mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svcnb.client.calls import Flow, now
from svcnb.client.chain_secured import key_flows, resource_flows
from svcnb.client.chain_secured.ownership import Ownership
from svcnb.client.diagnosis import diagnose
from svcnb.client.errors import InvalidArgument
from svcnb.client.explain import ExplanationSubject
from svcnb.client.permission_snapshot import PermissionSnapshot, master_wallet_of

if TYPE_CHECKING:
    from svcnb.client.models.explanation import Explanation
    from svcnb.client.references import ActionRef, KeyRef, WalletRef


def explain(account: Ownership, key: KeyRef, action: ActionRef, wallet: WalletRef | None) -> Flow[Explanation]:
    """Reads the account from the contract, and returns the explanation. This call is free.

    Args:
        account: Account that contains the key.
        key: A usage key, its text or its hash.
        action: An action, a source, a CID or a hashed CID.
        wallet: The wallet that the action uses, or None for a run without a wallet.
    """
    asked = ExplanationSubject.of(key, action, wallet)
    if key is None:  # unlike a client, an owner does not have an API key
        raise InvalidArgument("no key was passed", hint="Pass a key: mine.explain(key, action, wallet).")
    known = yield from key_flows.listing(account)
    wallets = yield from resource_flows.wallets(account, None)
    registered = yield from resource_flows.actions_of(account, None)
    groups = []
    for group in (yield from resource_flows.groups(account)):
        contents = yield from resource_flows.contents(account, group)
        groups.append((group, contents))
    record = asked.find(known)
    _, unix = yield from now()
    return diagnose(
        PermissionSnapshot(
            kind="unknown" if record is None else "usage",
            key_hash=record.api_key_hash if record else asked.key_hash,
            key=record,
            action_hash=asked.action_hash,
            cid=asked.cid,
            action_name=next((item.name for item in registered if item.hashed_cid == asked.action_hash), asked.name),
            wallet=asked.wallet,
            wallets=[item.wallet_address for item in wallets],
            master_wallet=master_wallet_of(wallets),
            groups=groups,
            other_keys=[item for item in known if item is not record],
            now=unix,
            subject="mine",
        )
    )
