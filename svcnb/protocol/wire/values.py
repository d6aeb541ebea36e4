"""Types of the values in requests: group ids, hashed CIDs, wallet addresses and page numbers.

`svcnb.protocol.wire.rejections` defines the errors for rejected values.

Source: docs/service/http.md#value-formats.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    ValidationInfo,
    WithJsonSchema,
)

from svcnb.protocol.limits import MAX_CID_CHARS, MAX_GROUP_ENTRIES, MAX_KEY_GROUPS, MAX_U64
from svcnb.protocol.wire.rejections import at_most, is_refused, mismatch, shown, unusable

WILDCARD_HASH: Final = "0x" + "0" * 64
"""The hashed CID that means every action."""

WILDCARD_ADDRESS: Final = "0x" + "0" * 40
"""The wallet address that means every wallet."""

_HEX: Final = re.compile(r"(?:0[xX])?([0-9a-fA-F]+)\Z")
_HEX_PREFIXED: Final = re.compile(r"0[xX]([0-9a-fA-F]+)\Z")
_DECIMAL: Final = re.compile(r"[0-9]{1,80}\Z")
_CID: Final = re.compile(r"(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{50,})\Z")
_HASH: Final = re.compile(r"0[xX][0-9a-fA-F]{64}\Z")
_HASH_DIGITS: Final = 64
_ADDRESS_DIGITS: Final = 40


def looks_like_cid(text: str) -> bool:
    """Returns whether a string has the format of a raw CID (version 0, or version 1 in base32)."""
    return bool(_CID.match(text))


def looks_like_hash(text: str) -> bool:
    """Returns whether a string has the format of a 32-byte hash: ``0x`` and 64 hex digits."""
    return bool(_HASH.match(text))


def parse_group_id(text: str) -> int | None:
    """Parses a group id.

    Args:
        text: Decimal or ``0x`` hex. The service ignores surrounding spaces.

    Returns:
        The number, or None if the text is not an unsigned 64-bit integer.
    """
    trimmed = text.strip()
    if found := _HEX_PREFIXED.match(trimmed):
        number = int(found[1], 16)
    elif _DECIMAL.match(trimmed):
        number = int(trimmed)
    else:
        return None
    return number if number <= MAX_U64 else None


# --- group ids -------------------------------------------------------------------------------------------------------


def _group_id(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str):
        if is_refused(info, "a group id as a string"):
            raise mismatch(f"expected the group id as a JSON number, got {shown(value)}")
        return _group_id_from_text(value)
    return _group_id_from_number(value)


def _group_id_as_text(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str):
        return _group_id_from_text(value)
    if is_refused(info, "a group id as a number"):
        raise mismatch(f"expected the group id as a JSON string, got {shown(value)}")
    return _group_id_from_number(value)


def _group_id_from_text(text: str) -> int:
    number = parse_group_id(text)
    if number is None:
        raise unusable(
            f"invalid group id {shown(text)}: send a number less than 2^64, as an integer, a decimal string or "
            "a 0x hex string"
        )
    return number


def _group_id_from_number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int):
        raise mismatch(
            "expected a group id (unsigned 64-bit number, as an integer, a decimal string or a 0x hex string), "
            f"got {shown(value)}"
        )
    if not 0 <= value <= MAX_U64:
        raise mismatch(f"invalid group id {shown(value)}: send a number from 0 to 2^64 - 1")
    return value


def _existing(group_id: int) -> int:
    if group_id == 0:
        raise unusable(
            "invalid group id 0: only the lists of a usage key accept 0, which means all groups. Send the id of a "
            "single group, at least 1."
        )
    return group_id


_GROUP_SCHEMA: Final = WithJsonSchema(
    {
        "anyOf": [
            {"type": "integer", "minimum": 0, "maximum": MAX_U64},
            {"type": "string", "pattern": "^\\s*(0[xX][0-9a-fA-F]+|[0-9]+)\\s*$"},
        ],
        "description": "Group id, as an integer, a decimal string or a 0x hex string.",
        "examples": [1],
    }
)

GroupId = Annotated[int, BeforeValidator(_group_id), _GROUP_SCHEMA]
"""A group id, or 0 for all groups. Its JSON value is a number."""

ExistingGroupId = Annotated[int, BeforeValidator(_group_id), AfterValidator(_existing), _GROUP_SCHEMA]
"""A group id. The number 0 is not allowed, because it means all groups."""

GroupIdText = Annotated[
    int,
    BeforeValidator(_group_id_as_text),
    AfterValidator(_existing),
    PlainSerializer(str, return_type=str),
    _GROUP_SCHEMA,
]
"""A group id like `ExistingGroupId`, but as a decimal string in JSON. Only ``remove_group`` uses this format."""


_KEY_GROUPS_INSTEAD: Final = "send [0] for all groups, or use several keys"
_REST_INSTEAD: Final = f"send {MAX_GROUP_ENTRIES}, and add the others one by one with"

KeyGroups = Annotated[list[GroupId], at_most(MAX_KEY_GROUPS, "group ids", _KEY_GROUPS_INSTEAD)]
"""Groups to which a permission of a usage key applies, at most 50. ``[0]`` means all groups."""

# --- actions ---------------------------------------------------------------------------------------------------------


def _cid_hash(value: object, info: ValidationInfo) -> object:
    if not isinstance(value, str):
        if type(value) is int and value == 0 and not is_refused(info, "a permitted CID hash as the number 0"):
            return WILDCARD_HASH
        raise mismatch(f"expected a CID hash (a string of hex digits, or 0 for all actions), got {shown(value)}")
    found = _HEX.match(_not_raw_cid(value))
    if not found or len(found[1].lstrip("0")) > _HASH_DIGITS:
        raise unusable(f"invalid CID hash {shown(value)}: send up to 64 hex digits, with or without 0x")
    return _hash_text(int(found[1], 16))


def _not_raw_cid(value: str) -> str:
    text = value.strip()
    if looks_like_cid(text):
        raise unusable(
            f"{shown(value)} is a raw CID, not a hash: send keccak256 of the CID text, as 0x followed by 64 hex digits "
            "(hashed_cid in list_actions)"
        )
    return text


def _hashed_cid(value: object) -> object:
    if not isinstance(value, str):
        raise mismatch(f"expected a string with 0x followed by 64 hex digits, got {shown(value)}")
    text = _not_raw_cid(value)
    if found := _HEX_PREFIXED.match(text):
        number = int(found[1], 16)
    elif _DECIMAL.match(text):
        number = int(text)
    else:
        raise unusable(f"invalid hashed_cid {shown(value)}: send 0x followed by 64 hex digits, or a decimal number")
    if number >= 1 << 256:
        raise unusable(f"invalid hashed_cid {shown(value)}: send a number less than 2^256")
    return _hash_text(number)


def _one_action(text: str) -> str:
    if text == WILDCARD_HASH:
        raise unusable("invalid hashed_cid 0, which means all actions: send the hash of a single action")
    return text


def _raw_cid(text: str) -> str:
    text = text.strip()
    if not text:
        raise unusable("action_ipfs_cid is empty: send the raw CID of the action, for example Qm...")
    if len(text) > MAX_CID_CHARS:
        raise unusable(
            f"action_ipfs_cid has {len(text)} characters, but at most {MAX_CID_CHARS} are allowed: send a raw CID"
        )
    if looks_like_hash(text):
        raise unusable(
            f"{shown(text)} is a hash, not a raw CID: send the CID that starts with Qm, because the service computes "
            "the hash"
        )
    return text


def _hash_text(number: int) -> str:
    return f"0x{number:064x}"


def _short_wildcard(text: str) -> str:
    return "0x0" if text == WILDCARD_HASH else text


CidHash = Annotated[
    str,
    BeforeValidator(_cid_hash),
    PlainSerializer(_short_wildcard, return_type=str),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": "^\\s*(0[xX])?[0-9a-fA-F]+\\s*$"},
                {"type": "integer", "enum": [0]},
            ],
            "description": "keccak256 of the CID text, in hex. 0x0 (or 0) permits every action.",
            "examples": ["0x0"],
        }
    ),
]
"""Hashed CID of an action that a group permits, as ``0x`` and 64 lowercase hex digits. ``0x0`` permits all actions."""

_HASHED_SCHEMA: Final = WithJsonSchema(
    {
        "type": "string",
        "pattern": "^\\s*(0[xX][0-9a-fA-F]{1,64}|[0-9]{1,78})\\s*$",
        "description": "hashed_cid from list_actions (keccak256 of the CID text), as 0x followed by 64 hex digits, "
        "or a decimal number.",
        "examples": ["0x" + "ab" * 32],
    }
)

HashedCid = Annotated[str, BeforeValidator(_hashed_cid), _HASHED_SCHEMA]
"""Hash of one action's CID, or zero for the wildcard entry of a group."""

OneHashedCid = Annotated[str, BeforeValidator(_hashed_cid), AfterValidator(_one_action), _HASHED_SCHEMA]
"""Hash of one action's CID. Zero is not allowed, because it means every action."""

RawCid = Annotated[
    str, AfterValidator(_raw_cid), Field(description="Raw CID of the action. The service computes its hash.")
]
"""A raw CID: any text of 1 to 1,024 characters that is not a hash. The service ignores surrounding spaces."""

CidHashes = Annotated[
    list[CidHash], at_most(MAX_GROUP_ENTRIES, "permitted CID hashes", f"{_REST_INSTEAD} add_action_to_group")
]
"""Hashed CIDs of the actions that a group permits, at most ten in one call."""

# --- wallets ---------------------------------------------------------------------------------------------------------


def _address(text: str) -> str | None:
    found = _HEX.match(text.strip())
    return "0x" + found[1].lower() if found and len(found[1]) == _ADDRESS_DIGITS else None


def _pkp_id(value: object) -> object:
    if not isinstance(value, str):
        raise mismatch(f"expected the wallet's address as a string, got {shown(value)}")
    address = _address(value)
    if address is None:
        raise unusable(f"Invalid PKP ID {shown(value)}: send the wallet's address, 0x followed by 40 hex digits")
    return address


def _wallet_address(value: object) -> object:
    if not isinstance(value, str):
        raise mismatch(f"expected a string with 0x followed by 40 hex digits, got {shown(value)}")
    address = _address(value)
    if address is None:
        raise unusable(f"invalid wallet address {shown(value)}: send 0x followed by 40 hex digits")
    return address


def _permitted_pkp(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str) and (found := _HEX.match(value.strip())):
        digits = found[1]
        is_zero = set(digits) == {"0"} and len(digits) in {1, _HASH_DIGITS}
        if is_zero and not is_refused(info, "a permitted wallet as a short zero"):
            return WILDCARD_ADDRESS
    return _pkp_id(value)


_ADDRESS_SCHEMA: Final[dict[str, Any]] = {
    "type": "string",
    "pattern": "^\\s*(0[xX])?[0-9a-fA-F]{40}\\s*$",
    "description": "Wallet address, 20 bytes in hex.",
    "examples": [WILDCARD_ADDRESS],
}

PkpId = Annotated[str, BeforeValidator(_pkp_id), WithJsonSchema(_ADDRESS_SCHEMA)]
"""A wallet address. The model converts the address to lower case with ``0x``."""

WalletAddress = Annotated[str, BeforeValidator(_wallet_address), WithJsonSchema(_ADDRESS_SCHEMA)]
"""Address of any wallet, including wallets outside the service. The model converts the address to lower case."""

PermittedPkp = Annotated[
    str,
    BeforeValidator(_permitted_pkp),
    WithJsonSchema(
        _ADDRESS_SCHEMA
        | {
            "pattern": "^\\s*(0[xX])?([0-9a-fA-F]{40}|0|0{64})\\s*$",
            "description": "Wallet address, 20 bytes in hex. The zero address permits every wallet.",
        }
    ),
]
"""Address of a wallet that a group permits. The zero address permits every wallet."""

PermittedPkps = Annotated[
    list[PermittedPkp], at_most(MAX_GROUP_ENTRIES, "permitted PKP ids", f"{_REST_INSTEAD} add_pkp_to_group")
]
"""Addresses of the wallets that a group permits, at most ten in one call."""


def _admin_address(text: str) -> str:
    address = _address(text)
    if address is None or address == WILDCARD_ADDRESS:
        raise unusable(f"invalid wallet address {shown(text)}: send 0x followed by 40 hex digits that are not all 0")
    return address


AdminAddress = Annotated[str, AfterValidator(_admin_address), WithJsonSchema(_ADDRESS_SCHEMA)]
"""Address of the wallet that will own an account. The zero address is not allowed."""

# --- paging ----------------------------------------------------------------------------------------------------------


def _query_number(value: object) -> object:
    if isinstance(value, str):
        if not _DECIMAL.match(value) or int(value) > MAX_U64:
            raise mismatch(f"invalid number {shown(value)}: expected an unsigned 64-bit integer")
        return int(value)
    return value


QueryNumber = Annotated[
    int,
    BeforeValidator(_query_number),
    Field(ge=0, le=MAX_U64),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MAX_U64}),
]
"""An unsigned 64-bit number in a query string."""


def _query_group(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str):
        number = parse_group_id(value)
        is_decimal = _DECIMAL.match(value) is not None
        if number is None or (not is_decimal and is_refused(info, "a group id as 0x hex in the query")):
            raise mismatch(f"invalid group id {shown(value)}: expected an unsigned 64-bit number")
        return number
    return value


def _query_group_in_any_form(value: object) -> object:
    return _group_id_from_text(value) if isinstance(value, str) else _group_id_from_number(value)


QueryGroupId = Annotated[int, BeforeValidator(_query_group), Field(ge=0, le=MAX_U64), _GROUP_SCHEMA]
"""A group id in a query string. A value that does not match the schema causes status 422."""

OptionalQueryGroupId = Annotated[int, BeforeValidator(_query_group_in_any_form), _GROUP_SCHEMA]
"""A group id in a query string, decimal or 0x hex. The endpoint rejects any other text (400)."""
