"""Validation and conversion of the objects, numbers and strings that callers pass as ids.

Endpoints that register one action, or add one action to a group, expect the raw CID. All other management endpoints
expect hashes (docs/service/endpoints.md#account-and-keys). Callers can pass a CID or a hash. If the service needs a
hash, the client hashes the CID. If the service needs a CID, the client rejects a hash, because a CID cannot be computed
from its hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import index
from typing import Final, SupportsIndex, TypeAlias

from svcnb.client.errors import InvalidArgument
from svcnb.client.models.accounts import Account
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.models.groups import Group
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.models.wallets import Wallet
from svcnb.client.secret import Secret
from svcnb.protocol import limits
from svcnb.protocol.action import Action
from svcnb.protocol.cid import is_cid_v0, source_cid
from svcnb.protocol.hashes import api_key_hash, hashed_cid
from svcnb.protocol.wire.rejections import shown
from svcnb.protocol.wire.values import (
    WILDCARD_ADDRESS,
    WILDCARD_HASH,
    looks_like_cid,
    looks_like_hash,
    parse_group_id,
)

everything: Final = 0
"""Wildcard for all groups, all actions or all wallets, depending on the argument."""

GroupRef: TypeAlias = Group | int | str
ActionRef: TypeAlias = Action | RegisteredAction | str | int
WalletRef: TypeAlias = Wallet | Account | str | int
KeyRef: TypeAlias = UsageKey | Secret | str

_ADDRESS: Final = re.compile(r"(?:0[xX])?([0-9a-fA-F]{40})\Z")
_ZEROS: Final = re.compile(r"(?:0[xX])?0+\Z")


def _shown(value: object) -> str:
    """Returns a string or a number as text, and the type of any other value."""
    return shown(value) if isinstance(value, (str, int, float)) else f"of type {type(value).__name__}"


def _wildcard(what: str, resource: str, listed: str) -> InvalidArgument:
    return InvalidArgument(
        f"0 is the wildcard for all {what}s: pass a single {what}",
        hint=f"To list the {listed}, call {resource}.list().",
    )


def is_name(value: object) -> bool:
    """Returns whether a value can be the name of an account, a group or a key."""
    return isinstance(value, str) and bool(value.strip())


def group_id(value: GroupRef) -> int:
    """Returns the id of one group as an integer.

    Raises:
        InvalidArgument: The value is not a group id, or is 0. 0 means all groups and is only valid in a key's lists.
    """
    number = _group_number(value)
    if number == everything:
        raise _wildcard("group", "svc.groups", "groups")
    return number


def group_ids(values: Iterable[GroupRef] | GroupRef, field: str) -> list[int]:
    """Returns the ids of the groups for one permission list of a key, without duplicates. 0 means all groups.

    Raises:
        InvalidArgument: An entry is not a group id, or there are more than 50 groups.
    """
    entries = [values] if isinstance(values, (Group, str, SupportsIndex)) else list(values)
    numbers = list(dict.fromkeys(_group_number(entry) for entry in entries))
    if len(numbers) > limits.MAX_KEY_GROUPS:
        raise InvalidArgument(
            f"{field} contains {len(numbers)} groups, but at most {limits.MAX_KEY_GROUPS} are allowed",
            hint="Pass fewer groups, or svcnb.everything for all groups.",
        )
    return numbers


def _group_number(value: object) -> int:
    if isinstance(value, Group):
        return value.id
    number: int | None = None
    if isinstance(value, SupportsIndex) and not isinstance(value, bool) and 0 <= index(value) <= limits.MAX_U64:
        number = index(value)  # also for NumPy integers, which data frames contain
    elif isinstance(value, str):
        number = parse_group_id(value)
    if number is None:
        raise InvalidArgument(
            f"invalid group {_shown(value)}",
            hint='Pass a Group, its number (less than 2**64), or its number as a string, such as "7" or "0x7".',
        )
    return number


def wallet_address(value: WalletRef) -> str:
    """Returns the address of one wallet in lowercase. 0 becomes the zero address, which means every wallet.

    Raises:
        InvalidArgument: The value is not a 20-byte address.
    """
    known = getattr(value, "wallet_address", None)
    text = known if isinstance(known, str) else value
    if text == everything and not isinstance(text, bool):
        return WILDCARD_ADDRESS
    if isinstance(text, str):
        if found := _ADDRESS.match(text.strip()):
            return "0x" + found[1].lower()
        if _ZEROS.match(text.strip()):
            return WILDCARD_ADDRESS
    raise InvalidArgument(
        f"invalid wallet {_shown(value)}",
        hint="Pass a Wallet or its address (0x and 40 hex digits). To list the wallets, call svc.wallets.list(). The "
        "id of a wallet is not its address.",
    )


def one_wallet_address(value: WalletRef, account: str = "svc") -> str:
    """Returns the address of one wallet in lowercase.

    Args:
        value: A wallet or its address.
        account: Variable name of the client or the account, for the code in the hint.

    Raises:
        InvalidArgument: The value is not a 20-byte address, or is 0, the wildcard for all wallets.
    """
    address = wallet_address(value)
    if address == WILDCARD_ADDRESS:
        raise _wildcard("wallet", f"{account}.wallets", "wallets")
    return address


def wallet_addresses(values: Iterable[WalletRef] | WalletRef) -> list[str]:
    """Returns the addresses of a group's wallets in lowercase, without duplicates.

    Raises:
        InvalidArgument: An entry is not a 20-byte address.
    """
    entries = [values] if isinstance(values, (Wallet, Account, str, int)) else values
    return list(dict.fromkeys(wallet_address(entry) for entry in entries))


def one_action_hash(value: ActionRef, account: str = "svc") -> str:
    """Returns the hashed CID of one action.

    Args:
        value: An action, a source, a CID or a hashed CID.
        account: Variable name of the client or the account, for the code in the hint.

    Raises:
        InvalidArgument: The value does not identify an action, or is 0, the wildcard for all actions.
    """
    hashed = action_hash(value)
    if hashed == WILDCARD_HASH:
        raise _wildcard("action", f"{account}.actions", "registered actions")
    return hashed


def raw_cid(value: ActionRef) -> str:
    """Returns the raw CID of one action. The value is an action, a CID or a source.

    Raises:
        InvalidArgument: The value is a hash, from which the CID cannot be computed, or does not identify an action.
    """
    if isinstance(value, RegisteredAction):
        if value.cid:
            return value.cid
        value = _known_hash(value)
    if isinstance(value, Action):
        return value.cid
    if isinstance(value, str):
        text = value.strip()
        if is_cid_v0(text):
            return text
        if looks_like_hash(text):
            raise InvalidArgument(
                f"{shown(text)} is the hash of a CID: pass the CID itself",
                hint="Pass the action, its source or its CID (Qm...). The CID cannot be computed from its hash.",
            )
        if looks_like_cid(text) and not text.startswith("Qm"):
            raise InvalidArgument(
                f"{shown(text)} is a CID of version 1, but the service uses version 0 (Qm...)",
                hint="Pass the action or its source: svcnb.Action(source).cid is version 0.",
            )
        if _looks_like_source(value):
            return source_cid(value)
    raise InvalidArgument(
        f"invalid action {_shown(value)}",
        hint="Pass svcnb.Action(source), its CID (Qm...) or the source text. For a file, pass "
        "svcnb.Action.from_file(path).",
    )


def action_hash(value: ActionRef) -> str:
    """Returns the hashed CID of one action. 0 becomes the zero hash, which means every action.

    Raises:
        InvalidArgument: The value does not identify an action.
    """
    if isinstance(value, RegisteredAction):
        return _known_hash(value)
    if isinstance(value, int) and not isinstance(value, bool) and value == everything:
        return WILDCARD_HASH
    if isinstance(value, str):
        text = value.strip()
        if looks_like_hash(text):
            return text.lower()
        if _ZEROS.match(text):
            return WILDCARD_HASH
    return hashed_cid(raw_cid(value))


def _known_hash(action: RegisteredAction) -> str:
    if action.hashed_cid is None:
        raise InvalidArgument(
            f"the service did not return the hash of {action!r}",
            hint="Pass the action itself, its source or its CID (Qm...).",
        )
    return action.hashed_cid


def source_or_cid(value: ActionRef) -> tuple[str | None, str]:
    """Returns the source (or None) and the CID of an action to run.

    Raises:
        InvalidArgument: The value does not identify an action, or is only a hash.
    """
    if isinstance(value, Action):
        return value.source, value.cid
    if isinstance(value, str) and not is_cid_v0(value.strip()) and _looks_like_source(value):
        return value, source_cid(value)
    return None, raw_cid(value)


def _looks_like_source(text: str) -> bool:
    # A string without whitespace or JavaScript punctuation is probably a mistyped id.
    return bool(re.search(r"[\s(){};=]", text.strip()))


def key_reference(value: KeyRef) -> str:
    """Returns the id that identifies a usage key in updates and deletions: the key itself, or its hash from a listing.

    Raises:
        InvalidArgument: The value does not identify a key. The message does not contain the value.
    """
    if isinstance(value, UsageKey):
        return value.usage_api_key.reveal() if value.usage_api_key else value.api_key_hash
    text: object = value.reveal() if isinstance(value, Secret) else value
    if isinstance(text, str) and text.strip():
        return text.strip()
    raise InvalidArgument(
        f"invalid usage key of type {type(value).__name__}: expected a UsageKey or a non-empty string",
        hint="Pass a UsageKey, the key as a string, or the api_key_hash of the key.",
    )


def key_hash(value: KeyRef) -> str:
    """Returns the hash of a key, as ``usage_keys.list`` returns it."""
    if isinstance(value, UsageKey):
        return value.api_key_hash
    text = key_reference(value)
    return text.lower() if looks_like_hash(text) else api_key_hash(text)
