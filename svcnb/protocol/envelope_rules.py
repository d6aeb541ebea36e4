"""Server-side checks of an envelope and of the format of its signature, in the order of the rules.

Source: docs/service/signatures.md#rules-of-a-signature, with the numbers of the rules.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from sys import getrecursionlimit
from typing import Any, Final, NoReturn

from svcnb.protocol.errors import MalformedHex, MalformedValue, shown
from svcnb.protocol.hashes import normal_address, parse_hex
from svcnb.protocol.limits import ISSUED_AT_WINDOW_S, MAX_ISSUED_AT, MAX_SIGNATURE_BYTES, MAX_TYPED_DATA_BYTES
from svcnb.protocol.nesting import parse
from svcnb.protocol.typed_data import (
    DOMAIN_FIELDS,
    DOMAIN_VERSION,
    MESSAGE_FIELDS,
    Flow,
    canonical_types,
    domain_separator,
    message_digest,
)
from svcnb.protocol.vocabulary import Vocabulary

_DEFAULT: Final = Vocabulary()
_SAFE_RECURSION: Final = 5_000
_MAX_DEPTH: Final = 2_048  # each level needs two brackets, and typed_data has at most 4096 bytes
_CANONICAL: Final = {flow: canonical_types(flow) for flow in Flow}
_MEMBERS: Final = frozenset({"types", "primaryType", "domain", "message"})
_DOMAIN_MEMBERS: Final = frozenset(name for name, _ in DOMAIN_FIELDS)
_MESSAGE_MEMBERS: Final = frozenset(name for name, _ in MESSAGE_FIELDS)
_FIELD_MEMBERS: Final = frozenset({"name", "type"})
_NUMBER: Final = re.compile(r"(?:0[xX]([0-9a-fA-F]{1,128})|([0-9]{1,128}))\Z")


RULES: Final = (
    f"typed_data has at most {MAX_TYPED_DATA_BYTES} bytes as JSON",
    "typed_data is an object",
    "typed_data has exactly the members types, primaryType, domain and message",
    "primaryType is the type of the endpoint",
    "domain has exactly the members and values of this service and its chain",
    "types has exactly the canonical types and fields, in the canonical order",
    f"message has exactly the members address and issuedAt, within {ISSUED_AT_WINDOW_S} s of the server's time",
    f"signature has at most {MAX_SIGNATURE_BYTES} bytes, and the wallet in message.address created it",
)
"""Text of each rule of docs/service/signatures.md#rules-of-a-signature, in the order of the numbers."""


class EnvelopeRefused(MalformedValue):
    """Error for an envelope that a server must reject.

    Attributes:
        rule: Number of the violated rule, 1 to 8, as in docs/service/signatures.md#rules-of-a-signature.
    """

    def __init__(self, message: str, *, rule: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.rule = rule

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message,), {"hint": self.hint, "rule": self.rule}


@dataclass(frozen=True, slots=True)
class CheckedEnvelope:
    """Content of a validated envelope.

    Attributes:
        flow: Purpose of the signature.
        address: Address of the claimed signer, ``0x`` and 40 lowercase hex digits.
        issued_at: Time of the signature in Unix seconds.
        digest: The 32 bytes that the wallet signs.
    """

    flow: Flow
    address: str
    issued_at: int
    digest: bytes


def check_envelope(
    typed_data: object, *, flow: Flow, chain_id: int, now_s: int, vocabulary: Vocabulary | None = None
) -> CheckedEnvelope:
    """Checks all parts of an envelope except its signature, in the order of the rules.

    Args:
        typed_data: The received value, which is an object or the JSON text of an object.
        flow: Purpose of the signatures that the endpoint accepts.
        chain_id: The node's chain id.
        now_s: The server's time in Unix seconds.
        vocabulary: Names of the service. The default is the names of the specification.

    Returns:
        Flow, address, time and digest.

    Raises:
        EnvelopeRefused: The envelope violates a rule. The attribute ``rule`` is the number of the first violated rule.
    """
    received = _parsed(_small_enough(typed_data))
    _require_members(3, "typed_data", received, _MEMBERS)
    canonical = received["types"] == _CANONICAL[flow]
    if not canonical:
        _check_field_members(received["types"])
    _check_primary_type(received["primaryType"], flow)
    domain_name = (vocabulary or _DEFAULT).domain_name
    _check_domain(received["domain"], domain_name, chain_id)
    if not canonical:
        _check_types(received["types"], flow)
    address, issued_at = _check_message(received["message"], now_s)
    digest = message_digest(flow, bytes.fromhex(address[2:]), domain_separator(domain_name, chain_id), issued_at)
    return CheckedEnvelope(flow, address, issued_at, digest)


def broken_rules(
    typed_data: object, *, flow: Flow, chain_id: int, now_s: int, vocabulary: Vocabulary | None = None
) -> dict[int, EnvelopeRefused]:
    """Checks the rules 1 to 7, and returns the errors of all violated rules, by the number of the rule.

    Unlike `check_envelope`, which has the same arguments, the function continues after the first violated rule, with
    two exceptions. After a violation of rule 2, the function does not check the later rules. If ``types`` is malformed,
    the function does not check rule 6.
    """
    found: dict[int, EnvelopeRefused] = {}

    def check(rule: Callable[..., object], *arguments: object) -> None:
        try:
            rule(*arguments)
        except EnvelopeRefused as refused:
            found.setdefault(refused.rule, refused)

    check(_small_enough, typed_data)
    try:
        received = _parsed(typed_data)
    except EnvelopeRefused as refused:
        return found | {refused.rule: refused}
    check(_require_members, 3, "typed_data", received, _MEMBERS)
    try:
        _check_field_members(received.get("types"))
    except EnvelopeRefused as refused:
        found.setdefault(refused.rule, refused)
    else:
        check(_check_types, received["types"], flow)
    check(_check_primary_type, received.get("primaryType"), flow)
    check(_check_domain, received.get("domain"), (vocabulary or _DEFAULT).domain_name, chain_id)
    check(_check_message, received.get("message"), now_s)
    return found


def signature_bytes(signature: object) -> bytes:
    """Returns the bytes of a received envelope's signature.

    Args:
        signature: Hex text, with or without ``0x``. The function ignores surrounding whitespace. The signature can be
            empty, because some contract wallets accept an empty signature.

    Raises:
        EnvelopeRefused: The signature violates rule 8: it is not hex, or is longer than 4096 bytes.
    """
    if not isinstance(signature, str):
        _refuse(8, f"signature is {_json_kind(signature)}: expected a hex string")
    try:
        data = parse_hex(signature, what="signature")
    except MalformedHex as error:
        _refuse(8, error.message)
    if len(data) > MAX_SIGNATURE_BYTES:
        _refuse(8, f"the signature has {len(data)} bytes; at most {MAX_SIGNATURE_BYTES} are allowed")
    return data


def _refuse(rule: int, message: str, hint: str = "") -> NoReturn:
    raise EnvelopeRefused(message, rule=rule, hint=hint)


_compact: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def _small_enough(typed_data: object) -> object:
    try:
        size = -1 if _too_deep(typed_data) else len(_compact(typed_data).encode("utf-8", "surrogatepass"))
    except RecursionError:
        size = -1
    except (TypeError, ValueError) as error:
        _refuse(1, f"typed_data cannot be encoded as JSON: {error}", "Send only values that JSON can represent.")
    if size < 0:
        _refuse(1, "typed_data has too many levels of nesting", "Send the unchanged envelope.")
    if size > MAX_TYPED_DATA_BYTES:
        _refuse(1, f"typed_data has {size} bytes as JSON; at most {MAX_TYPED_DATA_BYTES} are allowed")
    return typed_data


def _too_deep(value: object) -> bool:
    # The C encoder depends on Python's recursion limit, which some libraries raise. For example, py_ecc, which
    # eth-account loads, sets the limit to 100,000. A deeply nested list would then crash the process instead of causing
    # an error.
    if getrecursionlimit() <= _SAFE_RECURSION:
        return False
    level = [value]
    for _ in range(_MAX_DEPTH):
        containers = (item for item in level if isinstance(item, (dict, list)))
        level = [inner for item in containers for inner in (item.values() if isinstance(item, dict) else item)]
        if not level:
            return False
    return True


def _parsed(typed_data: object) -> dict[str, Any]:
    if isinstance(typed_data, str):
        try:
            typed_data = parse(typed_data, _without_repeats)
        except (ValueError, RecursionError) as error:
            _refuse(
                2, f"typed_data is a string that is not valid JSON: {error}", "Send an object, or its JSON as a string."
            )
    if not isinstance(typed_data, dict):
        _refuse(
            2,
            f"typed_data is {_json_kind(typed_data)}: expected an object",
            "Send an object, or its JSON as a string.",
        )
    return typed_data


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # If a member occurs twice, the wallet and the server could use different values, and would then sign and check
    # different data.
    members = dict(pairs)
    if len(members) != len(pairs):
        [(repeated, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the member {shown(repeated)} occurs more than once")
    return members


def _check_field_members(types: Any) -> None:
    if not isinstance(types, dict):
        _refuse(3, f"types is {_json_kind(types)}: expected an object")
    for name, fields in types.items():
        if not isinstance(fields, list):
            _refuse(3, f"types.{name} is {_json_kind(fields)}: expected a list of fields")
        for field in fields:
            _require_members(3, f"a field of types.{name}", field, _FIELD_MEMBERS)


def _require_members(rule: int, what: str, value: object, wanted: frozenset[str]) -> None:
    if not isinstance(value, dict):
        _refuse(rule, f"{what} is {_json_kind(value)}: expected an object")
    if value.keys() == wanted:
        return
    if missing := sorted(wanted - value.keys()):
        _refuse(rule, f"{what} has no {' and no '.join(missing)}", f"Send the members {', '.join(sorted(wanted))}.")
    unknown = ", ".join(shown(name) for name in sorted(value.keys() - wanted))
    _refuse(rule, f"{what} has the unknown member {unknown}", f"Send only the members {', '.join(sorted(wanted))}.")


def _check_primary_type(primary_type: object, flow: Flow) -> None:
    if primary_type != flow:
        _refuse(
            4,
            f"primaryType is {shown(primary_type)}, but this endpoint accepts {flow.value}",
            "Sign an envelope for this flow, because a signature is valid for one flow only.",
        )


def _check_domain(domain: Any, domain_name: str, chain_id: int) -> None:
    _require_members(5, "domain", domain, _DOMAIN_MEMBERS)
    if domain["name"] != domain_name:
        _refuse(5, f"domain.name is {shown(domain['name'])}: expected {domain_name!r}")
    if domain["version"] != DOMAIN_VERSION:
        _refuse(5, f"domain.version is {shown(domain['version'])}: expected the string {DOMAIN_VERSION!r}")
    given = _number(domain["chainId"])
    if given is None:
        _refuse(
            5,
            f"domain.chainId is {shown(domain['chainId'])}: expected an unsigned integer",
            "Send the value of get_node_chain_config as a decimal string, 0x hex or a number.",
        )
    if given != chain_id:
        _refuse(
            5,
            f"domain.chainId is {shown(domain['chainId'])}, but the node's chain is {chain_id}",
            "Sign for the chain that get_node_chain_config returns.",
        )


def _check_types(types: dict[str, Any], flow: Flow) -> None:
    if types != _CANONICAL[flow]:
        fix = "Declare the canonical types, with their fields in the canonical order."
        _refuse(6, _types_problem(types, flow), fix)


def _types_problem(types: dict[str, Any], flow: Flow) -> str:
    canonical = _CANONICAL[flow]
    if missing := [name for name in canonical if name not in types]:
        return f"types has no {missing[0]}"
    if unknown := sorted(types.keys() - canonical.keys()):
        return f"types has the unknown type {shown(unknown[0])}"
    name = next(name for name, fields in canonical.items() if types[name] != fields)
    wanted = ", ".join(f"{field['type']} {field['name']}" for field in canonical[name])
    found = ", ".join(f"{field['type']} {field['name']}" for field in types[name])
    return f"types.{name} is ({shown(found)[1:-1]}): expected ({wanted})"


def _check_message(message: Any, now_s: int) -> tuple[str, int]:
    _require_members(7, "message", message, _MESSAGE_MEMBERS)
    try:
        address = normal_address(message["address"])
    except (TypeError, MalformedValue):
        _refuse(
            7,
            f"message.address is {shown(message['address'])}: expected an address",
            "Send the wallet's address: 0x followed by 40 hex digits.",
        )
    issued_at = _number(message["issuedAt"])
    if issued_at is None or issued_at > MAX_ISSUED_AT:
        _refuse(
            7,
            f"message.issuedAt is {shown(message['issuedAt'])}: expected a time in Unix seconds",
            "Send Unix seconds as a decimal string, 0x hex or a number, at most 2^63 - 1.",
        )
    if abs(issued_at - now_s) > ISSUED_AT_WINDOW_S:
        side = "before" if issued_at < now_s else "after"
        _refuse(
            7,
            f"message.issuedAt is {abs(issued_at - now_s)} seconds {side} the server's time {now_s}; "
            f"at most {ISSUED_AT_WINDOW_S} are allowed",
            "Sign again with the current time. Compare your clock with the server's Date header.",
        )
    return address, issued_at


def _number(value: object) -> int | None:
    """Parses an unsigned number from a number, a decimal string or a 0x hex string. Returns None for other values."""
    if isinstance(value, str):
        found = _NUMBER.match(value)
        if not found:
            return None
        return int(found[1], 16) if found[1] is not None else int(found[2])
    return value if type(value) is int and value >= 0 else None


def _json_kind(value: object) -> str:
    if value is None:
        return "null"
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return kinds.get(type(value), type(value).__name__)
