"""Flow of `mine.explain`. It reads the account from the contract, and diagnoses permissions as in API mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svcnb.client.calls import Flow, now
from svcnb.client.chain_secured import key_flows, resource_flows
from svcnb.client.chain_secured.ownership import Ownership
from svcnb.client.diagnosis import diagnose
from svcnb.client.errors import InvalidArgument
from svcnb.client.explain import ExplanationSubject
from svcnb.client.permission_snapshot import Kind

if TYPE_CHECKING:
    from svcnb.client.models.explanation import Explanation
    from svcnb.client.references import ActionRef, KeyRef, WalletRef


def explain(account: Ownership, key: KeyRef, action: ActionRef, wallet: WalletRef | None) -> Flow[Explanation]:
    """Reads the account from the contract, and returns the explanation; see `ChainSecuredAccount.explain`."""
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
    kind: Kind = "usage" if asked.find(known) else "unknown"
    _, unix = yield from now()
    return diagnose(
        asked.snapshot(kind, unix, keys=known, wallets=wallets, actions=registered, groups=groups, subject="mine")
    )
