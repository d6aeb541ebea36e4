"""Explanation of rejected management calls (403). `svcnb.client.explain` explains rejected runs.

Source: docs/service/permissions.md#running-an-action, docs/service/http.md#authentication,
    docs/service/permissions.md#permission-of-each-endpoint, which lists the permission that each endpoint needs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from svcnb.client.calls import Flow, now
from svcnb.client.config import Config
from svcnb.client.models.explanation import Explanation, Missing, Repair
from svcnb.client.models.usage_keys import UsageKey, describe_groups
from svcnb.client.permission_snapshot import MASTER_NAME, expired, named
from svcnb.client.resources import accounts, usage_keys
from svcnb.protocol.hashes import api_key_hash
from svcnb.protocol.limits import MANAGEMENT_COST_CENTS, MAX_KEY_GROUPS
from svcnb.protocol.wire.values import looks_like_hash

_FLAGS: Final = {
    "/add_group": "can_create_groups",
    "/remove_group": "can_delete_groups",
    "/create_wallet": "can_create_pkps",
}
_LISTS: Final = {
    "/add_action_to_group": "manage_ipfs_ids_in_groups",
    "/remove_action_from_group": "manage_ipfs_ids_in_groups",
    "/add_pkp_to_group": "add_pkp_to_groups",
    "/remove_pkp_from_group": "remove_pkp_from_groups",
}
_VERBS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "/add_group": ("groups.create", ("group_name",)),
    "/update_group": ("groups.update", ("group_id",)),
    "/remove_group": ("groups.delete", ("group_id",)),
    "/create_wallet": ("wallets.create", ()),
    "/add_action_to_group": ("groups.add_action", ("group_id", "action_ipfs_cid")),
    "/remove_action_from_group": ("groups.remove_action", ("group_id", "hashed_cid")),
    "/add_pkp_to_group": ("groups.add_wallet", ("group_id", "pkp_id")),
    "/remove_pkp_from_group": ("groups.remove_wallet", ("group_id", "pkp_id")),
    "/add_usage_api_key": ("usage_keys.create", ("name",)),
    "/update_usage_api_key": ("usage_keys.update", ("usage_api_key",)),
    "/update_usage_api_key_metadata": ("usage_keys.update_metadata", ("usage_api_key",)),
    "/remove_usage_api_key": ("usage_keys.delete", ("usage_api_key",)),
    "/add_action": ("actions.register", ("action_ipfs_cid",)),
    "/update_action_metadata": ("actions.update", ("hashed_cid",)),
    "/delete_action": ("actions.delete", ("hashed_cid",)),
}
"""The client's method for each call, and the fields of the body that are the first arguments of the method."""
_KEYWORDS: Final[dict[str, str]] = {
    "name": "name",
    "description": "description",
    "group_description": "description",
    "cid_hashes_permitted": "actions",
    "pkp_ids_permitted": "wallets",
}
"""The client's argument names for fields of the body. For permissions, the client uses the names of the service."""


@dataclass(frozen=True)
class RefusedCall:
    """Call that the service rejected with 403.

    Attributes:
        path: Path of the call below ``/core/v1``.
        body: Body of the request.
    """

    path: str
    body: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Display name of the call, for example ``add_group``."""
        return self.path.removeprefix("/")

    @property
    def group(self) -> int:
        """Number of the group that the call concerns, or 0 if the call does not concern a group."""
        return int(str(self.body.get("group_id", 0)), 0)

    def code(self, subject: str) -> str:
        """Returns Python code, without secrets, that makes the call with the variable ``subject``, such as ``svc``."""
        verb, places = _VERBS[self.path]
        given = [_literal(member, self.body.get(member)) for member in places]
        for member, value in self.body.items():
            if member not in places and value not in ("", [], False, None):
                given.append(f"{_KEYWORDS.get(member, member)}={json.dumps(value)}".replace("=true", "=True"))
        return f"{subject}.{verb}({', '.join(given)})"


def explicable(path: object) -> bool:
    """Returns whether this module can explain a rejection of a call to this path."""
    return path in _VERBS


def explain_call(config: Config, call: RefusedCall, clock_skew: float = 0.0) -> Flow[Explanation]:
    """Reads the permissions of the rejected key, and explains which permission the call needs. This is free of charge.

    Args:
        config: Settings with the rejected key. The flow can read the permissions, because any key can read its account.
        call: Call that the service rejected.
        clock_skew: Number of seconds by which the service's clock is ahead of this machine's clock.
    """
    key_hash = api_key_hash(config.api_key.reveal()) if config.api_key else ""
    _, unix = yield from now()
    known = yield from usage_keys.listing()
    managed = yield from accounts.exists()
    key = next((each for each in known if each.api_key_hash == key_hash), None)
    missing, reason, repairs = _diagnose(call, key, unix + clock_skew, managed=managed)
    return Explanation(
        allowed=not missing,
        missing=missing,
        reason=reason,
        key=named(key.name, key.api_key_hash) if key else MASTER_NAME,
        action="",
        call=call.name,
        repairs=tuple(repairs),
    )


def _diagnose(
    call: RefusedCall, key: UsageKey | None, unix: float, *, managed: bool
) -> tuple[Missing, str, list[Repair]]:
    if not managed:
        says = "the owner makes the change on chain, which costs gas but no credit"
        reason = "a wallet owns the account, and the contract accepts changes only from that wallet"
        return "owner_only", reason, [Repair(says=says, code=call.code("mine"), cost_cents=0)]
    by_master = Repair(
        says="makes the call with the account key", code=call.code("svc"), cost_cents=MANAGEMENT_COST_CENTS
    )
    if key is None:
        return "", "the account key has this permission", []
    if expired(key, unix):
        renewed = _update(key, "updates the key with a new expiration", "")
        return "key_expired", f"the key expired at {key.expires_at:%Y-%m-%d %H:%M} UTC", [renewed]
    if call.path in _FLAGS:
        return _diagnose_flag(key, _FLAGS[call.path], by_master)
    if call.path in _LISTS:
        return _diagnose_list(call, key, _LISTS[call.path], by_master)
    return "master_only", "only the account key can make this call; a usage key cannot get this permission", [by_master]


def _diagnose_flag(key: UsageKey, flag: str, by_master: Repair) -> tuple[Missing, str, list[Repair]]:
    if getattr(key, flag):
        return "", f"the key has {flag}; a new permission can take a few seconds to take effect", []
    granted = _update(key, f"grants the key {flag}", f", {flag}=True")
    return "permission", f"the key does not have {flag}", [granted, by_master]


def _diagnose_list(
    call: RefusedCall, key: UsageKey, field: str, by_master: Repair
) -> tuple[Missing, str, list[Repair]]:
    groups: tuple[int, ...] = getattr(key, field)
    if 0 in groups or call.group in groups:
        reason = f"the key has {field} for group {call.group}; a new permission can take a few seconds to take effect"
        return "", reason, []
    granted = _update(key, f"adds group {call.group} to the key's {field}", f", {field}={[*groups, call.group]}")
    listed = f"contains {describe_groups(groups)}, but not" if groups else "does not contain"
    reason = f"the key's {field} {listed} group {call.group}"
    return "permission", reason, [granted, by_master] if len(groups) < MAX_KEY_GROUPS else [by_master]


def _update(key: UsageKey, says: str, changes: str) -> Repair:
    return Repair(
        says=says, code=f'svc.usage_keys.update("{key.api_key_hash}"{changes})', cost_cents=MANAGEMENT_COST_CENTS
    )


def _literal(member: str, value: object) -> str:
    if member == "group_id":
        return str(int(str(value), 0))
    text = str(value)
    if member == "usage_api_key" and not looks_like_hash(text):
        text = api_key_hash(text)
    return json.dumps(text)
