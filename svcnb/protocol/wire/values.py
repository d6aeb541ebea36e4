"""The values inside requests: group ids, hashed CIDs, wallet addresses, page numbers.

A value of the wrong JSON type does not match the schema (422). The endpoint itself rejects a value of the right type
that cannot be read, such as a group id of ``"seven"`` (400). Such errors have the type `UNUSABLE`.

Source: reference facts 2.3.
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
from pydantic_core import PydanticCustomError

from svcnb.protocol.limits import MAX_CID_CHARS, MAX_GROUP_ENTRIES, MAX_KEY_GROUPS, MAX_U64

UNUSABLE: Final = "unusable_value"
"""Type of a validation error that is the endpoint's own refusal (400), not a schema mismatch (422)."""

STRICT_TYPES: Final = "strict_types"
"""Name of the validation-context member that enables the reference's exact JSON types."""

FORGIVEN: Final = "forgiven"
"""Name of the validation-context member, a set of forms that only a service without strict types accepts."""

WILDCARD_HASH: Final = "0x" + "0" * 64
"""The hashed CID that means every action."""

WILDCARD_ADDRESS: Final = "0x" + "0" * 40
"""The wallet address that means every wallet."""

_HEX: Final = re.compile(r"(?:0[xX])?([0-9a-fA-F]+)\Z")
_HEX_PREFIXED: Final = re.compile(r"0[xX]([0-9a-fA-F]+)\Z")
_DECIMAL: Final = re.compile(r"[0-9]{1,80}\Z")
_CID: Final = re.compile(r"(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{50,})\Z")
_HASH: Final = re.compile(r"0[xX][0-9a-fA-F]{64}\Z")
_SHOWN: Final = 80
_HASH_DIGITS: Final = 64
_ADDRESS_DIGITS: Final = 40


def looks_like_cid(text: str) -> bool:
    """Returns whether a string has the form of a raw CID (version 0, or version 1 in base32)."""
    return bool(_CID.match(text))


def looks_like_hash(text: str) -> bool:
    """Returns whether a string has the form of a 32-byte hash: ``0x`` and 64 hex digits."""
    return bool(_HASH.match(text))


def parse_group_id(text: str) -> int | None:
    """Reads a group id.

    Args:
        text: Decimal or ``0x`` hex, spaces around it ignored.

    Returns:
        The number, or None when the text is not an unsigned 64-bit integer.
    """
    trimmed = text.strip()
    if found := _HEX_PREFIXED.match(trimmed):
        number = int(found[1], 16)
    elif _DECIMAL.match(trimmed):
        number = int(trimmed)
    else:
        return None
    return number if number <= MAX_U64 else None


def is_refused(info: ValidationInfo, what: str) -> bool:
    """Returns whether a form is rejected here that the live service does not accept; otherwise notes it.

    Args:
        info: Its context contains whether types are strict.
        what: Name of the form, for a sentence.
    """
    context = info.context if isinstance(info.context, dict) else {}
    if context.get(STRICT_TYPES):
        return True
    if (forgiven := context.get(FORGIVEN)) is not None:
        forgiven.add(what)
    return False


def _unusable(message: str) -> PydanticCustomError:
    return PydanticCustomError(UNUSABLE, "{message}", {"message": message})


def _mismatch(message: str) -> PydanticCustomError:
    return PydanticCustomError("wrong_type", "{message}", {"message": message})


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


# --- group ids -------------------------------------------------------------------------------------------------------


def _group_id(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str):
        if is_refused(info, "a group id as text"):
            raise _mismatch("a group id is a JSON number here")
        return _group_id_from_text(value)
    return _group_id_from_number(value)


def _group_id_as_text(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str):
        return _group_id_from_text(value)
    if is_refused(info, "a group id as a number"):
        raise _mismatch("a group id is a JSON string here")
    return _group_id_from_number(value)


def _group_id_from_text(text: str) -> int:
    number = parse_group_id(text)
    if number is None:
        raise _unusable(f"Invalid group id {_shown(text)}: send a number, its decimal text or 0x hex, below 2^64")
    return number


def _group_id_from_number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _mismatch("a group id is an unsigned 64-bit number, or its decimal or 0x hex text")
    if not 0 <= value <= MAX_U64:
        raise _mismatch(f"a group id lies between 0 and 2^64 - 1, not {_shown(value)}")
    return value


def _existing(group_id: int) -> int:
    if group_id == 0:
        raise _unusable("Invalid group id 0: groups count from 1, and 0 means all groups only in a key's lists")
    return group_id


_GROUP_SCHEMA: Final = WithJsonSchema(
    {
        "anyOf": [
            {"type": "integer", "minimum": 0, "maximum": MAX_U64},
            {"type": "string", "pattern": "^\\s*(0[xX][0-9a-fA-F]+|[0-9]+)\\s*$"},
        ],
        "description": "Group id: a number, its decimal text, or 0x hex.",
        "examples": [1],
    }
)

GroupId = Annotated[int, BeforeValidator(_group_id), _GROUP_SCHEMA]
"""A group id, or 0 where that means all groups; a number after reading, sent as a number."""

ExistingGroupId = Annotated[int, BeforeValidator(_group_id), AfterValidator(_existing), _GROUP_SCHEMA]
"""A group id other than 0."""

GroupIdText = Annotated[
    int,
    BeforeValidator(_group_id_as_text),
    AfterValidator(_existing),
    PlainSerializer(str, return_type=str),
    _GROUP_SCHEMA,
]
"""A group id other than 0 that is sent as decimal text (``remove_group``)."""


def _at_most(limit: int, what: str, instead: str) -> BeforeValidator:
    def check(entries: object) -> object:
        # Before the check of the entries: the errors of a hundred thousand entries take a second and 250 MB.
        if isinstance(entries, list) and len(entries) > limit:
            raise _unusable(f"{len(entries)} {what} given, at most {limit} are allowed in one call: {instead}")
        return entries

    return BeforeValidator(check)


_KEY_GROUPS_INSTEAD: Final = "send [0] for every group, or share them among several keys"
_REST_INSTEAD: Final = f"send {MAX_GROUP_ENTRIES}, and the rest one by one with"

KeyGroups = Annotated[list[GroupId], _at_most(MAX_KEY_GROUPS, "group ids", _KEY_GROUPS_INSTEAD)]
"""The groups a usage-key permission reaches; ``[0]`` means all."""

# --- actions ---------------------------------------------------------------------------------------------------------


def _cid_hash(value: object, info: ValidationInfo) -> object:
    if not isinstance(value, str):
        if type(value) is int and value == 0 and not is_refused(info, "a permitted CID hash as the number 0"):
            return WILDCARD_HASH
        raise _mismatch("a permitted CID hash is a string of hex digits (or 0 for every action)")
    text = value.strip()
    if looks_like_cid(text):
        raise _unusable(
            f"{_shown(value)} is a raw CID, and a hash is wanted here: send keccak256 of the CID text as "
            "0x + 64 hex digits (list_actions shows it as hashed_cid)"
        )
    found = _HEX.match(text)
    if not found or len(found[1].lstrip("0")) > _HASH_DIGITS:
        raise _unusable(f"Invalid CID hash {_shown(value)}: send up to 64 hex digits, with or without 0x")
    return _hash_text(int(found[1], 16))


def _hashed_cid(value: object) -> object:
    if not isinstance(value, str):
        raise _mismatch("hashed_cid is a string: 0x + 64 hex digits")
    text = value.strip()
    if looks_like_cid(text):
        raise _unusable(
            f"{_shown(value)} is a raw CID, and hashed_cid is wanted here: send keccak256 of the CID text as "
            "0x + 64 hex digits (list_actions shows it)"
        )
    if found := _HEX_PREFIXED.match(text):
        number = int(found[1], 16)
    elif _DECIMAL.match(text):
        number = int(text)
    else:
        raise _unusable(f"Invalid hashed_cid {_shown(value)}: send 0x + 64 hex digits, or the number in decimal")
    if number >= 1 << 256:
        raise _unusable(f"Invalid hashed_cid {_shown(value)}: it does not fit 32 bytes")
    return _hash_text(number)


def _one_action(text: str) -> str:
    if text == WILDCARD_HASH:
        raise _unusable("Invalid hashed_cid 0: it stands for every action, and one action is wanted here")
    return text


def _raw_cid(text: str) -> str:
    text = text.strip()
    if not text:
        raise _unusable("action_ipfs_cid is empty: send the raw CID of the action, for example Qm...")
    if len(text) > MAX_CID_CHARS:
        raise _unusable(f"action_ipfs_cid has {len(text)} characters: send a raw CID, at most {MAX_CID_CHARS}")
    if looks_like_hash(text):
        raise _unusable(
            f"{_shown(text)} is a hash, and the raw CID is wanted here (it starts with Qm): "
            "the service hashes it itself"
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
            "description": "keccak256 of the CID text in hex; 0x0 (or 0) permits every action.",
            "examples": ["0x0"],
        }
    ),
]
"""A permitted hashed CID; ``0x`` + 64 lower-case hex digits after reading, the wildcard sent as ``0x0``."""

_HASHED_SCHEMA: Final = WithJsonSchema(
    {
        "type": "string",
        "pattern": "^\\s*(0[xX][0-9a-fA-F]{1,64}|[0-9]{1,78})\\s*$",
        "description": "keccak256 of the CID text: 0x + 64 hex digits (or the number in decimal), from list_actions.",
        "examples": ["0x" + "ab" * 32],
    }
)

HashedCid = Annotated[str, BeforeValidator(_hashed_cid), _HASHED_SCHEMA]
"""The hash of one action's CID, or zero for a group's wildcard entry."""

OneHashedCid = Annotated[str, BeforeValidator(_hashed_cid), AfterValidator(_one_action), _HASHED_SCHEMA]
"""The hash of one action's CID; zero is refused."""

RawCid = Annotated[str, AfterValidator(_raw_cid), Field(description="Raw CID of the action; the service hashes it.")]
"""A raw CID, any non-empty text that is not a hash; spaces around it are ignored."""

CidHashes = Annotated[
    list[CidHash], _at_most(MAX_GROUP_ENTRIES, "permitted CID hashes", f"{_REST_INSTEAD} add_action_to_group")
]
"""The actions a group permits, in one call."""

# --- wallets ---------------------------------------------------------------------------------------------------------


def _address(text: str) -> str | None:
    found = _HEX.match(text.strip())
    return "0x" + found[1].lower() if found and len(found[1]) == _ADDRESS_DIGITS else None


def _pkp_id(value: object) -> object:
    if not isinstance(value, str):
        raise _mismatch("a wallet id is a string: the wallet's address")
    address = _address(value)
    if address is None:
        raise _unusable(f"Invalid PKP ID {_shown(value)}: send the wallet's address, 0x + 40 hex digits")
    return address


def _wallet_address(value: object) -> object:
    if not isinstance(value, str):
        raise _mismatch("a wallet's address is a string: 0x + 40 hex digits")
    address = _address(value)
    if address is None:
        raise _unusable(f"Invalid wallet address {_shown(value)}: send 0x + 40 hex digits")
    return address


def _permitted_pkp(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str) and (found := _HEX.match(value.strip())):
        digits = found[1]
        is_zero = set(digits) == {"0"} and len(digits) in {1, _HASH_DIGITS}
        if is_zero and not is_refused(info, "a permitted wallet as a zero of another length than an address"):
            return WILDCARD_ADDRESS
    return _pkp_id(value)


_ADDRESS_SCHEMA: Final[dict[str, Any]] = {
    "type": "string",
    "pattern": "^\\s*(0[xX])?[0-9a-fA-F]{40}\\s*$",
    "description": "Wallet address, 20 bytes in hex.",
    "examples": [WILDCARD_ADDRESS],
}

PkpId = Annotated[str, BeforeValidator(_pkp_id), WithJsonSchema(_ADDRESS_SCHEMA)]
"""A wallet address, lower case with ``0x`` after reading."""

WalletAddress = Annotated[str, BeforeValidator(_wallet_address), WithJsonSchema(_ADDRESS_SCHEMA)]
"""Any wallet's address, also of one that the service does not keep; lower case with ``0x`` after reading."""

PermittedPkp = Annotated[
    str,
    BeforeValidator(_permitted_pkp),
    WithJsonSchema(
        _ADDRESS_SCHEMA
        | {
            "pattern": "^\\s*(0[xX])?([0-9a-fA-F]{40}|0|0{64})\\s*$",
            "description": "Wallet address, 20 bytes in hex; the zero address permits every wallet.",
        }
    ),
]
"""A permitted wallet address; the zero address means every wallet."""

PermittedPkps = Annotated[
    list[PermittedPkp], _at_most(MAX_GROUP_ENTRIES, "permitted PKP ids", f"{_REST_INSTEAD} add_pkp_to_group")
]
"""The wallets a group permits, in one call."""


def _admin_address(text: str) -> str:
    address = _address(text)
    if address is None or address == WILDCARD_ADDRESS:
        raise _unusable(f"Invalid wallet address {_shown(text)}: send 0x + 40 hex digits, not all zero")
    return address


AdminAddress = Annotated[str, AfterValidator(_admin_address), WithJsonSchema(_ADDRESS_SCHEMA)]
"""A wallet address that is not zero."""

# --- paging ----------------------------------------------------------------------------------------------------------


def _query_number(value: object) -> object:
    if isinstance(value, str):
        if not _DECIMAL.match(value) or int(value) > MAX_U64:
            raise _mismatch(f"an unsigned 64-bit number is wanted, not {_shown(value)}")
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
            raise _mismatch(f"a group id is an unsigned 64-bit number, not {_shown(value)}")
        return number
    return value


def _query_group_in_any_form(value: object) -> object:
    return _group_id_from_text(value) if isinstance(value, str) else _group_id_from_number(value)


QueryGroupId = Annotated[int, BeforeValidator(_query_group), Field(ge=0, le=MAX_U64), _GROUP_SCHEMA]
"""A group id in a query string that must match the schema (422 otherwise)."""

OptionalQueryGroupId = Annotated[int, BeforeValidator(_query_group_in_any_form), _GROUP_SCHEMA]
"""A group id in a query string, decimal or 0x hex; other text is refused by the endpoint (400)."""
