"""JavaScript parser that provides the syntax tree, the declarations of each scope, and the undeclared names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from svcnb.errors import ExtraMissing

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS: Final = frozenset(
    {
        "arrow_function", "function_declaration", "function_expression", "generator_function",
        "generator_function_declaration", "method_definition",
    }
)  # fmt: skip
_BLOCKS: Final = frozenset(
    {"statement_block", "for_statement", "for_in_statement", "catch_clause", "switch_body", "class_static_block"}
)
_DECLARED_FUNCTIONS: Final = frozenset({"function_declaration", "generator_function_declaration"})


@dataclass(eq=False)
class Binding:
    """Declaration of a name.

    Attributes:
        name: Declared name.
        node: Node of the declaration.
        value: Node of the initial value, of the function or of the class. None if the declaration has no value.
        kind: ``var``, ``let``, ``const``, ``function``, ``class``, ``parameter`` or ``import``.
    """

    name: str
    node: Node
    value: Node | None
    kind: str


@dataclass(eq=False)
class Scope:
    """Scope of names: a part of a program with its own declarations, such as a function or a block."""

    node: Node
    parent: Scope | None
    bindings: dict[str, Binding] = field(default_factory=dict)

    @property
    def is_function(self) -> bool:
        """Whether the scope is a function or the whole program. ``var`` declares a name in the nearest such scope."""
        return self.parent is None or self.node.type in FUNCTIONS

    def find(self, name: str) -> Binding | None:
        """Returns the declaration of a name that is visible in this scope, or None for an undeclared name."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bindings:
                return scope.bindings[name]
            scope = scope.parent
        return None

    def home(self, kind: str) -> Scope:
        """Returns the scope to which a declaration in this scope belongs.

        For the kind ``var``, this is the nearest function or the whole program. For other kinds, it is this scope.
        """
        scope = self
        while kind == "var" and not scope.is_function and scope.parent is not None:
            scope = scope.parent
        return scope


@dataclass(frozen=True, eq=False)
class Reference:
    """Use of a name, with the scope in which the source uses the name."""

    name: str
    node: Node
    scope: Scope


class Call(NamedTuple):
    """Call of a function or of a constructor, with the nodes of the function and of the arguments."""

    node: Node
    function: Node
    arguments: list[Node]


class Script:
    """Parsed JavaScript source, with its syntax tree, its scopes and the uses of its names.

    Args:
        source: JavaScript as a classic script, which can also contain imports.

    Raises:
        ImportError: The parser is not installed. The message contains the name of the extra to install.
    """

    def __init__(self, source: str) -> None:
        try:
            import tree_sitter_javascript
            from tree_sitter import Language, Parser
        except ImportError as error:
            raise ExtraMissing("parsing JavaScript requires tree-sitter", "lint") from error
        self.bytes: bytes = source.encode("utf-8", "surrogatepass")
        self.root: Node = Parser(Language(tree_sitter_javascript.language())).parse(self.bytes).root_node
        self.top: Scope = Scope(self.root, None)
        self.references: list[Reference] = []
        self.scopes: dict[int, Scope] = {self.root.id: self.top}
        _Walk(self).visit_children(self.root, self.top)

    def text(self, node: Node) -> str:
        """Returns the source text of a node."""
        return self.bytes[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def place(self, node: Node) -> tuple[int, int]:
        """Returns the line and the column of a node, both counted from 1. Columns are in characters."""
        start = node.start_byte
        before = self.bytes[self.bytes.rfind(b"\n", 0, start) + 1 : start]
        return node.start_point[0] + 1, len(before.decode("utf-8", "replace")) + 1

    def walk(self, start: Node | None = None) -> Iterator[Node]:
        """Yields a node and all its descendants, in the order of the source.

        Args:
            start: First node. None means the root of the tree.
        """
        todo = [start or self.root]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(reversed(node.children))

    def call(self, node: Node, *, constructors: bool = False) -> Call | None:
        """Returns the call that a node represents, or None for a node of another type.

        Args:
            node: Any node.
            constructors: Whether to also return calls with ``new``.
        """
        if node.type == "call_expression":
            called = node.child_by_field_name("function")
        else:
            called = node.child_by_field_name("constructor") if constructors and node.type == "new_expression" else None
        if called is None:
            return None
        given = node.child_by_field_name("arguments")
        return Call(node, called, list(given.named_children) if given is not None else [])

    def calls(self, *, constructors: bool = False) -> Iterator[Call]:
        """Yields all calls, in the order of the source. `constructors` has the same meaning as in `call`."""
        for node in self.walk():
            if (call := self.call(node, constructors=constructors)) is not None:
                yield call

    def free(self) -> list[Reference]:
        """Returns the uses of names that the source does not declare."""
        return [reference for reference in self.references if reference.scope.find(reference.name) is None]

    def scope_at(self, node: Node) -> Scope:
        """Returns the innermost scope that contains a node. For a node with its own scope, returns that scope."""
        at: Node | None = node
        while at is not None:
            if at.id in self.scopes:
                return self.scopes[at.id]
            at = at.parent
        return self.top

    def function_around(self, node: Node) -> Node | None:
        """Returns the innermost function around a node, or None at the top level."""
        at = node.parent
        while at is not None and at.type not in FUNCTIONS:
            at = at.parent
        return at

    def broken(self) -> Iterator[Node]:
        """Yields the nodes that are not valid JavaScript."""
        if self.root.has_error:
            yield from (node for node in self.walk() if node.type == "ERROR" or node.is_missing)


class _Walk:
    """Visitor that collects the scopes and references of a syntax tree."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def visit_children(self, node: Node, scope: Scope) -> None:
        for child in node.named_children:
            self.visit(child, scope)

    def visit(self, node: Node, scope: Scope) -> None:  # noqa: C901 - one short case for each kind of node
        match node.type:
            case "identifier" | "shorthand_property_identifier":
                self._script.references.append(Reference(self._script.text(node), node, scope))
            case kind if kind in FUNCTIONS:
                self._function(node, scope)
            case "lexical_declaration" | "variable_declaration":
                self._declaration(node, scope)
            case "class_declaration" | "class":
                self._class(node, scope)
            case "for_in_statement":
                self._for_in(node, self._inner(node, scope))
            case "catch_clause":
                inner = self._inner(node, scope)
                if (parameter := node.child_by_field_name("parameter")) is not None:
                    self._pattern(parameter, inner, "parameter", None)
                if (body := node.child_by_field_name("body")) is not None:
                    self.visit(body, inner)
            case "import_statement":
                self._import(node, scope)
            case kind if kind in _BLOCKS:
                self.visit_children(node, self._inner(node, scope))
            case "assignment_expression":
                self._assignment(node, scope)
            case _:
                self.visit_children(node, scope)

    def _inner(self, node: Node, scope: Scope) -> Scope:
        inner = Scope(node, scope)
        self._script.scopes[node.id] = inner
        return inner

    def _function(self, node: Node, scope: Scope) -> None:
        name = node.child_by_field_name("name")
        inner = self._inner(node, scope)
        if name is not None and node.type != "method_definition":
            owner = scope if node.type in _DECLARED_FUNCTIONS else inner
            self._bind(name, owner, "function", node)
        elif name is not None and name.type == "computed_property_name":
            self.visit(name, scope)
        for field_name in ("parameter", "parameters"):
            if (given := node.child_by_field_name(field_name)) is not None:
                patterns = [given] if field_name == "parameter" else given.named_children
                for pattern in patterns:
                    self._pattern(pattern, inner, "parameter", None)
        if (body := node.child_by_field_name("body")) is not None:
            self.visit(body, inner)

    def _declaration(self, node: Node, scope: Scope) -> None:
        first = node.children[0].type if node.children else "var"
        kind = first if first in {"const", "let", "var"} else "var"
        for declarator in node.named_children:
            if declarator.type != "variable_declarator":
                continue
            value = declarator.child_by_field_name("value")
            if (name := declarator.child_by_field_name("name")) is not None:
                self._pattern(name, scope.home(kind), kind, value)
            if value is not None:
                self.visit(value, scope)

    def _class(self, node: Node, scope: Scope) -> None:
        inner = self._inner(node, scope)
        if (name := node.child_by_field_name("name")) is not None:
            self._bind(name, scope if node.type == "class_declaration" else inner, "class", node)
        for child in node.named_children:
            if name is None or child.id != name.id:
                self.visit(child, inner)

    def _for_in(self, node: Node, scope: Scope) -> None:
        left, kind = node.child_by_field_name("left"), node.child_by_field_name("kind")
        if left is not None and kind is not None:
            self._pattern(left, scope.home(kind.type), kind.type, None)
        elif left is not None:
            self.visit(left, scope)
        for field_name in ("right", "body"):
            if (part := node.child_by_field_name(field_name)) is not None:
                self.visit(part, scope)

    def _assignment(self, node: Node, scope: Scope) -> None:
        # An assignment to an undeclared name creates a global variable of the script.
        left = node.child_by_field_name("left")
        if left is not None and left.type == "identifier" and scope.find(self._script.text(left)) is None:
            self._bind(left, self._script.top, "var", node.child_by_field_name("right"))
        self.visit_children(node, scope)

    def _import(self, node: Node, scope: Scope) -> None:
        for child in self._script.walk(node):
            if child.type in {"import_clause", "namespace_import"}:
                for name in child.named_children:
                    if name.type == "identifier":
                        self._bind(name, scope, "import", None)
            elif child.type == "import_specifier":
                name = child.child_by_field_name("alias") or child.child_by_field_name("name")  # type: ignore[assignment]  # both fields can be missing
                if name is not None:
                    self._bind(name, scope, "import", None)

    def _pattern(self, node: Node, scope: Scope, kind: str, value: Node | None) -> None:
        """Declares every name in a pattern. Names in defaults and in computed property names count as uses."""
        match node.type:
            case "identifier" | "shorthand_property_identifier_pattern":
                self._bind(node, scope, kind, value)
            case "assignment_pattern" | "object_assignment_pattern":
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                if left is not None:
                    self._pattern(left, scope, kind, None)
                if right is not None:
                    self.visit(right, scope)
            case "pair_pattern":
                key, bound = node.child_by_field_name("key"), node.child_by_field_name("value")
                if key is not None and key.type == "computed_property_name":
                    self.visit(key, scope)
                if bound is not None:
                    self._pattern(bound, scope, kind, None)
            case "object_pattern" | "array_pattern" | "rest_pattern":
                for child in node.named_children:
                    self._pattern(child, scope, kind, None)
            case _:
                pass

    def _bind(self, name: Node, scope: Scope, kind: str, value: Node | None) -> None:
        text = self._script.text(name)
        scope.bindings.setdefault(text, Binding(text, name, value, kind))
