"""Input of the linter's rules: the parsed action and its calls of the service's functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.toolkit.javascript import FUNCTIONS, Script
from svcnb.toolkit.lint_findings import Finding, Severity
from svcnb.toolkit.runtime import Function, functions

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True)
class ServiceCall:
    """Call of a function of the service in the source of an action."""

    node: Node
    function: Function
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Context:
    """Input of the linter's rules: the parsed source, the names of the service, and the limits of a run."""

    script: Script
    source: str
    vocabulary: Vocabulary
    limits: ActionLimits

    @cached_property
    def functions(self) -> dict[str, Function]:
        """The service's functions, with their names as keys."""
        return functions(self.vocabulary)

    @cached_property
    def main(self) -> Node | None:
        """Node of the function `main`. None if `main` is missing, or if its value is not a function in the source."""
        binding = self.script.top.bindings.get("main")
        found = binding.value if binding else None
        return found if found is not None and found.type in FUNCTIONS else None

    @cached_property
    def calls(self) -> list[ServiceCall]:
        """Calls of the service's functions, in the order of the source."""
        found = []
        for call in self.script.calls():
            name = self.member_of_actions(call.function)
            if name in self.functions:
                found.append(ServiceCall(call.node, self.functions[name], tuple(call.arguments)))
        return found

    def member_of_actions(self, node: Node) -> str | None:
        """Returns the name of the service's function to which an expression refers, or None for other expressions."""
        if node.type == "identifier":  # const { getPrivateKey } = Svc.Actions
            binding = self.script.scope_at(node).find(self.script.text(node))
            inside = binding is not None and binding.node.type == "shorthand_property_identifier_pattern"
            pattern = binding.node.parent if binding is not None and inside else None
            owner = pattern.parent.child_by_field_name("value") if pattern is not None and pattern.parent else None
            return self.script.text(node) if owner is not None and self.is_actions(owner) else None
        if node.type != "member_expression":
            return None
        owner, member = node.child_by_field_name("object"), node.child_by_field_name("property")
        return self.script.text(member) if owner is not None and member is not None and self.is_actions(owner) else None

    def is_actions(self, node: Node) -> bool:
        """Returns whether an expression refers to ``<Namespace>.Actions``, and not to a variable of the same name."""
        text = self.script.text(node)
        if text == f"{self.vocabulary.namespace}.Actions":
            text, shadow = self.vocabulary.namespace, True
        else:
            shadow = text == self.vocabulary.actions_global
        return shadow and self.script.scope_at(node).find(text) is None

    def find(self, node: Node, severity: Severity, code: str, message: str, hint: str = "") -> Finding:
        """Returns a new finding at the position of a node."""
        line, column = self.script.place(node)
        return Finding(severity=severity, code=code, line=line, column=column, message=message, hint=hint)
