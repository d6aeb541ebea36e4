"""Rules about the names and signers that an action accepts.

Each rule covers a typical security mistake, and yields findings for the action in a `Context`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from svcnb.toolkit.lint_context import Context
from svcnb.toolkit.lint_findings import Finding
from svcnb.toolkit.lint_signing import literal

if TYPE_CHECKING:
    from tree_sitter import Node

_EQUAL: Final = frozenset({"===", "!==", "==", "!="})
_RECOVER: Final = frozenset({"verifyMessage", "verifyTypedData", "recoverAddress"})
_OVER_TEXT: Final = frozenset({"signMessage", "verifyMessage", "hashMessage", "id", "sha256", "keccak256"})
_AS_BYTES: Final = frozenset({"toUtf8Bytes", "encode"})
_FOLD: Final = frozenset({"toLowerCase", "toUpperCase", "toLocaleLowerCase", "toLocaleUpperCase", "localeCompare"})
_OF_USERS: Final = re.compile(r"(?i)user|login|mail|handle|nick|(?:^|[^a-z])(?:sub|name)$")
_MESSAGE_AND_SIGNATURE: Final = 2
_WRAPPERS: Final = frozenset({"parenthesized_expression", "await_expression"})


def named_signers(context: Context) -> Iterator[Finding]:
    """Finds checks of a signature in which the caller provides both the signature and the expected signer.

    The rule applies to actions that use a private key or a secret. A signer in the signed message is not a finding.
    """
    for node, one, other in _comparisons(context):
        name, arguments = _call(context, one)
        if name not in _RECOVER or len(arguments) < _MESSAGE_AND_SIGNATURE:
            continue
        expected, signature, message = (context.script.text(each) for each in (other, arguments[-1], arguments[-2]))
        signed = other.type == "member_expression" and expected.startswith(f"{_inside(message)}.")
        if (
            _origin(context, other) is not None
            and _origin(context, other) == _origin(context, arguments[-1])
            and not signed
        ):
            text = (
                f"the caller provides both {expected} and {signature}: anyone can sign with their own key and provide "
                "the address of this key"
            )
            hint = "Compare the signer with an address in the source, or with the address of an action's CID."
            yield context.find(node, "warning", "named_signer", text, hint)


def json_order(context: Context) -> Iterator[Finding]:
    """Finds signatures and hashes over JSON whose property order another party determines."""
    for node in context.script.walk():
        name, arguments = _call(context, node)
        if name not in _OVER_TEXT or not arguments:
            continue
        inner, parts = _call(context, arguments[0])
        while inner in _AS_BYTES and parts:
            inner, parts = _call(context, parts[0])
        if inner == "stringify" and len(parts) == 1:
            written = literal(context, parts[0])
            if written is None or any(child.type == "spread_element" for child in written.named_children):
                message = (
                    "JSON.stringify keeps the order of members, so the same content can have "
                    "different texts and signatures"
                )
                hint = "Sign canonical JSON (RFC 8785), or an object literal that lists all members."
                yield context.find(node, "warning", "json_order", message, hint)


def folded_names(context: Context) -> Iterator[Finding]:
    """Finds case-insensitive comparisons of user names in an action that uses a private key or a secret."""
    for node, one, other in _comparisons(context):
        name, _ = _call(context, one)
        called = one.child_by_field_name("function")
        owner = called.child_by_field_name("object") if called is not None else None
        if name not in _FOLD or owner is None:
            continue
        compared = [context.script.text(each).rstrip(")") for each in (owner, other)]
        if any(_OF_USERS.search(text) for text in compared) and not any("header" in text.lower() for text in compared):
            message = (
                "names are compared without regard to case, so different names can be equal, "
                "for example k and the Kelvin sign"
            )
            hint = "Accept only names that match /^[a-z0-9-]+$/, and compare them exactly."
            yield context.find(node, "warning", "folded_name", message, hint)


def _comparisons(context: Context) -> Iterator[tuple[Node, Node, Node]]:
    """Yields the comparisons of an action that uses a private key or a secret.

    Each item contains the node of the comparison and its two sides. If one side recovers a signer or changes the case
    of a string, this side is first.
    """
    if not any(call.function.reveals or call.function.name == "Decrypt" for call in context.calls):
        return
    for node in context.script.walk():
        operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
        if operator is None or context.script.text(operator) not in _EQUAL:
            continue
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None:
            folded = _call(context, _unwrapped(left))[0]
            first, second = _unwrapped(left), _unwrapped(right)
            yield (node, first, second) if folded in _FOLD | _RECOVER else (node, second, first)


def _unwrapped(node: Node) -> Node:
    while node.type in _WRAPPERS and node.named_children:
        node = node.named_children[0]
    return node


def _call(context: Context, node: Node) -> tuple[str, list[Node]]:
    """Returns the name and arguments of a call, or of the call that initialises a constant.

    For other expressions, the name is empty and the list has no items.
    """
    if node.type == "identifier":
        binding = context.script.scope_at(node).find(context.script.text(node))
        if binding is None or binding.kind != "const" or binding.value is None:
            return "", []
        node = _unwrapped(binding.value)
    call = context.script.call(node)
    if call is None:
        return "", []
    return context.script.text(call.function.child_by_field_name("property") or call.function), call.arguments


def _inside(message: str) -> str:
    """Returns the innermost argument in the source of a message, for example ``receipt`` for ``canonical(receipt)``."""
    return re.split(r"[(]", message)[-1].rstrip(")")


def _origin(context: Context, node: Node) -> int | None:
    """Returns the position of the declaration from which an expression such as ``params.signer`` gets its value.

    The position is a byte offset in the source. None means that the declaration is unknown.
    """
    while node.type in {"member_expression", "subscript_expression"}:
        owner = node.child_by_field_name("object")
        if owner is None:
            return None
        node = owner
    binding = context.script.scope_at(node).find(context.script.text(node)) if node.type == "identifier" else None
    if binding is None:
        return None
    if (
        binding.kind == "const"
        and binding.value is not None
        and binding.value.type in {"identifier", "member_expression"}
    ):
        return _origin(context, binding.value)
    declared = binding.node
    while declared.parent is not None and declared.parent.type.endswith(("pattern", "pair_pattern")):
        declared = declared.parent
    return declared.start_byte
