"""Rules about the signed data and the trusted input of an action.

Each rule covers a typical security mistake, and yields findings for the action in a `Context`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from svcnb.toolkit.lint_context import Context
from svcnb.toolkit.lint_findings import Finding

if TYPE_CHECKING:
    from tree_sitter import Node

_PASSING: Final = frozenset({"binary_expression", "ternary_expression", "parenthesized_expression", "await_expression"})
_ENDS: Final = re.compile(
    r"(?i)deadline|expir|until|valid|nonce|round|number|previous|head|salt|time|issued|period|_?id\Z"
)
_SIGN_TYPED: Final = frozenset({"_signTypedData", "signTypedData"})
_MOST_STEPS: Final = 6
_DOMAIN_AND_TYPES: Final = 2


def caller_chosen_hosts(context: Context) -> Iterator[Finding]:
    """Finds requests to a host that the caller chooses, in an action that uses a private key or a secret."""
    if not any(call.function.reveals or call.function.name == "Decrypt" for call in context.calls):
        return
    for call in context.script.calls(constructors=True):
        name = context.script.text(call.function)
        reaches = call.arguments and (name == "fetch" or name.endswith("JsonRpcProvider"))
        if reaches and _of_caller(context, call.arguments[0]):
            message = "the caller chooses the host of a request, and the signed or sent data can depend on the response"
            hint = "Write the address in the source, or in the constant of a derived action."
            yield context.find(call.node, "warning", "param_as_host", message, hint)


def typed_data(context: Context) -> Iterator[Finding]:
    """Finds EIP-712 signatures that are valid on every chain or without a time limit."""
    for node, called, arguments in context.script.calls():
        member = called.child_by_field_name("property")
        if member is None or context.script.text(member) not in _SIGN_TYPED:
            continue
        parts = [literal(context, each) for each in arguments[:2]]
        domain, types = parts if len(parts) == _DOMAIN_AND_TYPES else (None, None)
        if domain is not None and domain.type == "object" and "chainId" not in _names(context, domain):
            message = "the domain of the typed data has no chainId: the signature is valid on every chain"
            hint = "Add chainId, and verifyingContract if a contract checks the signature (EIP-712)."
            yield context.find(node, "warning", "no_chain_id", message, hint)
        fields = _fields(context, types) if types is not None and types.type == "object" else None
        if fields and not any(_ENDS.search(name) for name in fields):
            message = "the typed data has no deadline and no nonce: the signature never expires"
            hint = "Add a deadline, or a nonce that the contract accepts only once."
            yield context.find(node, "warning", "no_deadline", message, hint)


def _of_caller(context: Context, node: Node, steps: int = _MOST_STEPS) -> bool:
    """Returns whether the value of an expression can begin with a value from js_params, which the caller sends."""
    if node.type != "identifier":
        return steps > 0 and any(_of_caller(context, each, steps - 1) for each in _first_parts(context, node))
    binding = context.script.scope_at(node).find(context.script.text(node))
    if binding is None or context.main is None:
        return False
    if binding.kind == "parameter":
        # The parameters of main, or the only parameter of an arrow function: const main = params => ...
        given = context.main.child_by_field_name("parameters") or context.main.child_by_field_name("parameter")
        return given is not None and given.start_byte <= binding.node.start_byte < given.end_byte
    return steps > 0 and binding.value is not None and _of_caller(context, binding.value, steps - 1)


def _first_parts(context: Context, node: Node) -> list[Node]:
    """Returns the parts of an expression whose value can be the beginning of the expression's value."""
    if node.type in {"member_expression", "subscript_expression"}:
        return [owner] if (owner := node.child_by_field_name("object")) is not None else []
    if node.type == "template_string":
        first = node.named_children[0] if node.named_children else None
        begins = first is not None and first.type == "template_substitution" and first.start_byte == node.start_byte + 1
        return list(first.named_children) if begins and first is not None else []
    operator = node.child_by_field_name("operator")
    if operator is not None and context.script.text(operator) == "+":
        return node.named_children[:1]
    return list(node.named_children) if node.type in _PASSING else []


def literal(context: Context, node: Node) -> Node | None:
    """Returns an object or array literal, or the literal that a constant refers to. None for other expressions."""
    for _ in range(_MOST_STEPS):
        if node.type in {"object", "array"}:
            return node
        binding = context.script.scope_at(node).find(context.script.text(node)) if node.type == "identifier" else None
        if binding is None or binding.value is None or binding.kind != "const":
            return None
        node = binding.value
    return None


def _names(context: Context, node: Node) -> set[str]:
    """Returns the names of an object's properties.

    For an object with a spread, the function returns only ``chainId``, because the spread can add this property.
    """
    found = set()
    for child in node.named_children:
        key = child.child_by_field_name("key")
        if child.type == "spread_element":
            return {"chainId"}
        found.add(context.script.text(key if key is not None else child).strip("\"'"))
    return found


def _fields(context: Context, types: Node) -> list[str] | None:
    """Returns the names of all fields of all types, or None if a name is known only at run time."""
    found = []
    for pair in types.named_children:
        value = pair.child_by_field_name("value")
        listed = literal(context, value) if value is not None else None
        if listed is None or listed.type != "array":
            return None
        for field in listed.named_children:
            name = next(
                (
                    each.child_by_field_name("value")
                    for each in field.named_children
                    if (key := each.child_by_field_name("key")) is not None and context.script.text(key) == "name"
                ),
                None,
            )
            if name is None or name.type != "string":
                return None
            found.append(context.script.text(name)[1:-1])
    return found
