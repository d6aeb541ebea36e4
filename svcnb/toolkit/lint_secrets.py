"""Data flow of private keys through an action, from calls that return keys to places that must not receive keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from svcnb.toolkit.javascript import Binding
from svcnb.toolkit.lint_context import Context
from svcnb.toolkit.lint_findings import Finding

if TYPE_CHECKING:
    from tree_sitter import Node

_CARRIERS: Final = frozenset(
    {
        "array", "await_expression", "binary_expression", "object", "pair", "parenthesized_expression",
        "spread_element", "template_string", "template_substitution", "ternary_expression", "sequence_expression",
    }
)  # fmt: skip
"""Types of expressions whose result contains the values of their operands."""

_SECRET_MEMBERS: Final = frozenset({"privateKey", "mnemonic", "_signingKey", "_mnemonic"})
_PASSING: Final = frozenset({"JSON.stringify", "String", "Object.assign", "Object.entries", "Object.values", "btoa"})
"""Functions whose result contains their arguments."""

_MAX_ROUNDS: Final = 8


class Leaks:
    """Detector of leaks in one action.

    Args:
        context: The parsed action, with its calls of the service's functions.
        decrypted: Whether to track decrypted text instead of private keys.
    """

    def __init__(self, context: Context, *, decrypted: bool = False) -> None:
        self._context = context
        self._script = context.script
        self._members: frozenset[str] = frozenset() if decrypted else _SECRET_MEMBERS
        self._revealing = {
            call.node.id
            for call in context.calls
            if (call.function.name == "Decrypt" if decrypted else call.function.reveals)
        }
        self._secret: set[Binding] = set()
        self._spread()

    def find(self) -> Iterator[Finding]:
        """Yields a finding for each place that writes a private key to the response, to the logs or to a request."""
        context = self._context
        for node in self._script.walk():
            if node.type == "return_statement" and self._in_main(node):
                yield from self._leak(node, list(node.named_children), "key_in_response", "the response")
        for call in self._script.calls():
            name = self._script.text(call.function)
            if context.member_of_actions(call.function) == "setResponse":
                yield from self._leak(call.node, call.arguments, "key_in_response", "the response")
            elif name.startswith("console."):
                yield from self._leak(call.node, call.arguments, "key_in_logs", "the logs")
            elif name == "fetch":
                yield from self._leak(call.node, call.arguments, "key_in_request", "a request")
        body = context.main.child_by_field_name("body") if context.main is not None else None
        if body is not None and body.type != "statement_block":  # const main = async () => ...
            yield from self._leak(body, [body], "key_in_response", "the response")

    def find_in_logs(self) -> Iterator[Finding]:
        """Yields a finding for each call that writes decrypted text to the logs.

        The method does not report decrypted text in the response, because decryption can be the purpose of an action.
        """
        for call in self._script.calls():
            if self._script.text(call.function).startswith("console.") and any(map(self._holds, call.arguments)):
                message = "decrypted text is written to the logs"
                hint = "Remove this call: everyone who can run the action can read its logs."
                yield self._context.find(call.node, "warning", "secret_in_logs", message, hint)

    def _leak(self, at: Node, parts: list[Node], code: str, where: str) -> Iterator[Finding]:
        if any(self._holds(part) for part in parts):
            hint = "Return a signature or an address instead: anyone who reads the key can sign as that wallet."
            yield self._context.find(at, "warning", code, f"a private key is written to {where}", hint)

    def _spread(self) -> None:
        """Marks every name that contains a private key, or decrypted text if ``decrypted`` is set.

        The method repeats the search until it finds no more names, or at most `_MAX_ROUNDS` times.
        """
        for _ in range(_MAX_ROUNDS):
            before = len(self._secret)
            for scope in self._script.scopes.values():
                for binding in scope.bindings.values():
                    if binding.value is not None and binding.kind != "function" and self._holds(binding.value):
                        self._secret.add(binding)
            for node in self._script.walk():
                if node.type != "assignment_expression":
                    continue
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                if left is None or right is None or left.type != "identifier" or not self._holds(right):
                    continue
                binding_there = self._script.scope_at(left).find(self._script.text(left))
                if binding_there is not None:
                    self._secret.add(binding_there)
            if len(self._secret) == before:
                return

    def _holds(self, node: Node) -> bool:
        """Returns whether an expression contains a private key, or decrypted text if ``decrypted`` is set."""
        if node.id in self._revealing:
            return True
        if node.type in {"identifier", "shorthand_property_identifier"}:
            return self._script.scope_at(node).find(self._script.text(node)) in self._secret
        if node.type == "member_expression":
            member = node.child_by_field_name("property")
            return member is not None and self._script.text(member) in self._members
        if (call := self._script.call(node)) is not None:
            owner = call.function.child_by_field_name("object")
            passed = self._script.text(call.function) in _PASSING and any(map(self._holds, call.arguments))
            # The result of a string method of the key, such as key.slice(2), still reveals the key.
            return passed or (owner is not None and owner.type == "identifier" and self._holds(owner))
        return node.type in _CARRIERS and any(self._holds(part) for part in node.named_children)

    def _in_main(self, node: Node) -> bool:
        function, main = self._script.function_around(node), self._context.main
        return main is None or (function is not None and function.id == main.id)
