"""Rules of the linter. Each rule is a function that yields findings for the action in a `Context`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from svcnb.toolkit.javascript import FUNCTIONS
from svcnb.toolkit.lint_context import Context
from svcnb.toolkit.lint_findings import Finding
from svcnb.toolkit.lint_identity import folded_names, json_order, named_signers
from svcnb.toolkit.lint_secrets import Leaks
from svcnb.toolkit.lint_signing import caller_chosen_hosts, typed_data
from svcnb.toolkit.runtime import ABSENT, GLOBALS, namespaces

if TYPE_CHECKING:
    from tree_sitter import Node

_LOOPS: Final = frozenset({"for_statement", "for_in_statement", "while_statement", "do_statement"})
_REPEATERS: Final = frozenset({"map", "forEach", "filter", "flatMap", "reduce", "from"})
_PARAMS: Final = frozenset({"params", "jsParams", "js_params"})
_IMPORT: Final = re.compile(r"(?:@[\w.-]+/)?[\w.-]+@\d+\.\d+\.\d++[\w.+-]*(?:/[^#]*)?(?:#sha384-[A-Za-z0-9+/=]+)?\Z")
_SECRET_NAME: Final = re.compile(r"(?i)secret|private|mnemonic|passw|api_?key|token")
_SECRET_TEXT: Final = re.compile(r"(?:0x)?[0-9a-fA-F]{64}\Z|[A-Za-z0-9+/]{43}=\Z|(?:[a-z]{3,8} ){11,23}[a-z]{3,8}\Z")


def every_rule(context: Context) -> Iterator[Finding]:
    """Yields the findings of all rules.

    If the source has syntax errors, the function yields only the first syntax error, and possibly a finding about the
    size of the source. After a syntax error, other findings are not reliable.
    """
    yield from sizes(context)
    broken = list(syntax(context))
    if broken:
        yield broken[0]
        return
    for rule in (
        main,
        modules,
        awaits,
        names,
        members,
        arguments,
        waiting,
        own_promises,
        text_as_code,
        counts,
        leaks,
        decrypted,
        embedded,
        caller_chosen_hosts,
        typed_data,
        named_signers,
        json_order,
        folded_names,
    ):
        yield from rule(context)


def sizes(context: Context) -> Iterator[Finding]:
    """Finds a source that is too large for the service."""
    size = len(context.script.bytes)
    if size > context.limits.max_code_length:
        message = f"the source has {size} bytes; at most {context.limits.max_code_length} are allowed"
        yield context.find(context.script.root, "error", "source_too_large", message, "Fetch large data at run time.")


def syntax(context: Context) -> Iterator[Finding]:
    """Finds syntax errors."""
    for node in context.script.broken():
        near = context.script.text(node).strip().split("\n")[0][:40]
        what = f"{node.type!r} is missing" if node.is_missing else f"invalid JavaScript: {near!r}"
        yield context.find(node, "error", "syntax", what)


def main(context: Context) -> Iterator[Finding]:
    """Finds a missing `main`, a `main` with too many parameters, and a source that calls its own `main`."""
    script = context.script
    if "main" not in script.top.bindings and not _assigned_to_global(context, "main"):
        message = "the source does not define the function main, which the service calls"
        hint = "Define main: async function main(params) { ... }. Its return value is the response."
        yield context.find(script.root, "error", "main_missing", message, hint)
    if context.main is not None:
        given = context.main.child_by_field_name("parameters")
        if given is not None and len(given.named_children) > 1:
            message = "main has several parameters but receives one argument, js_params"
            hint = "Destructure one object: main({ a, b })."
            yield context.find(given, "error", "main_arguments", message, hint)
    for call in script.calls():
        if script.text(call.function) == "main" and script.function_around(call.node) is None:
            message = "the source calls main, but the service also calls main, so main runs twice"
            yield context.find(call.node, "warning", "main_called", message, "Remove this call.")


def modules(context: Context) -> Iterator[Finding]:
    """Finds imports without an exact version, dynamic imports, and exports."""
    for node in context.script.walk():
        if node.type == "export_statement":
            yield context.find(
                node, "error", "export", "an action is a script, which cannot export values", "Remove the export."
            )
        elif node.type == "import_statement" and (origin := node.child_by_field_name("source")) is not None:
            name = context.script.text(origin)[1:-1]
            if not _IMPORT.match(name):
                hint = 'Write "name@1.2.3" or "name@1.2.3/path".'
                yield context.find(origin, "error", "import_version", f"the import {name!r} has no exact version", hint)
        elif node.type == "import" and node.parent is not None and node.parent.type == "call_expression":
            hint = "Import modules at the top of the source."
            yield context.find(node, "error", "dynamic_import", "modules cannot be imported at run time", hint)


def awaits(context: Context) -> Iterator[Finding]:
    """Finds `await` outside of functions. An action is a script, in which only functions can contain `await`."""
    for node in context.script.walk():
        if node.type == "await_expression" and context.script.function_around(node) is None:
            message = "await is used outside a function"
            yield context.find(node, "error", "await_outside", message, "Move the await expression into main.")


def names(context: Context) -> Iterator[Finding]:
    """Finds undeclared names."""
    known = GLOBALS | set(namespaces(context.vocabulary)) | {"main"}
    seen: set[str] = set()
    for reference in context.script.free():
        name = reference.name
        if name in known or name in seen or _is_typeof(reference.node):
            continue
        seen.add(name)
        if name in ABSENT:
            yield context.find(
                reference.node, "error", "not_provided", f"{name} is not available", _sentence(ABSENT[name])
            )
        elif (inside := context.script.function_around(reference.node)) is not None and _may_be_parameter(
            context, name, inside, known
        ):
            hint = f"Write main({{ {name} }}): members of js_params are not globals."
            if name in _PARAMS:
                hint = f"Write main({name}): js_params is the argument of main."
            yield context.find(reference.node, "error", "param_as_global", f"{name} is not defined", hint)
        else:
            close = difflib.get_close_matches(name, sorted(known), 1, 0.75)
            hint = f"Use {close[0]}, or define {name}." if close else f"Define {name} in the source."
            yield context.find(reference.node, "error", "unknown_name", f"{name} is not defined", hint)


def members(context: Context) -> Iterator[Finding]:
    """Finds uses of functions and namespace members that do not exist in the service."""
    space, script = context.vocabulary.namespace, context.script
    for node in script.walk():
        if node.type != "member_expression":
            continue
        owner, member = node.child_by_field_name("object"), node.child_by_field_name("property")
        if owner is None or member is None:
            continue
        name = script.text(member)
        if context.is_actions(owner) and name not in context.functions:
            close = difflib.get_close_matches(name, list(context.functions), 1, 0.4)
            hint = f"Use {close[0]}." if close else f"Use one of {', '.join(context.functions)}."
            yield context.find(
                member, "error", "unknown_function", f"{script.text(owner)} has no function {name}", hint
            )
        elif (
            script.text(owner) == space
            and script.scope_at(owner).find(space) is None
            and name not in {"Actions", "Auth", "Headers"}
        ):
            hint = f"Use {space}.Actions, {space}.Auth or {space}.Headers."
            if name in context.functions:
                hint = f"Use {space}.Actions, which contains the functions."
            yield context.find(member, "error", "unknown_member", f"{space} has no member {name}", hint)


def arguments(context: Context) -> Iterator[Finding]:
    """Finds calls of the service's functions with wrong arguments."""
    for call in context.calls:
        wanted = call.function.parameters
        example = f"{call.function.name}({{ {', '.join(wanted)} }})" if wanted else f"{call.function.name}()"
        if not wanted or not call.arguments or call.arguments[0].type != "object":
            literal = bool(call.arguments) and call.arguments[0].type in {"string", "number", "template_string"}
            if (wanted and not call.arguments) or (wanted and literal):
                message = f"{call.function.name} requires one object as its argument"
                yield context.find(call.node, "error", "wrong_argument", message, f"Write {example}.")
            continue
        given, open_ = _members(context, call.arguments[0])
        for name in wanted:
            if name not in given and not open_:
                message = f"{call.function.name} is called without {name}"
                yield context.find(call.node, "error", "wrong_argument", message, f"Write {example}.")
        for name in given:
            if name not in wanted:
                message = f"{call.function.name} has no parameter {name}"
                yield context.find(call.node, "warning", "unused_argument", message, f"Write {example}.")


def waiting(context: Context) -> Iterator[Finding]:
    """Finds calls of the service's functions whose promise the code does not use, for example with `await`."""
    for call in context.calls:
        if call.function.waits and not _is_awaited(call.node):
            message = f"{call.function.name} returns a promise that is not awaited"
            yield context.find(call.node, "warning", "not_awaited", message, "Write await before the call.")


def own_promises(context: Context) -> Iterator[Finding]:
    """Finds calls of `fetch` and of the action's own async functions whose promise the code does not use."""
    script = context.script
    for node, called, _ in script.calls():
        if called.type != "identifier" or _is_awaited(node):
            continue
        name = script.text(called)
        binding = script.scope_at(called).find(name)
        if name == "fetch" if binding is None else _is_async(binding.value):
            message = f"{name} returns a promise that is not awaited: main can return before the promise is settled"
            yield context.find(node, "warning", "not_awaited", message, "Write await before the call.")


def _is_async(node: Node | None) -> bool:
    return node is not None and node.type in FUNCTIONS and any(part.type == "async" for part in node.children)


def text_as_code(context: Context) -> Iterator[Finding]:
    """Finds calls of `eval` and `Function`, which are disabled in actions."""
    for node, called, _ in context.script.calls(constructors=True):
        name = context.script.text(called)
        if (name == "Function" or (name == "eval" and node.type == "call_expression")) and (
            context.script.scope_at(node).find(name) is None
        ):
            message = f"{name} is disabled: an action cannot execute strings as code"
            yield context.find(node, "error", "code_from_text", message, "Write the code in the source.")


def counts(context: Context) -> Iterator[Finding]:
    """Finds more key operations or requests than one run permits, and key operations or requests in loops."""
    operations = [call.node for call in context.calls if call.function.is_key_operation]
    requests = [
        call.node
        for call in context.script.calls()
        if context.script.text(call.function) == "fetch" and context.script.scope_at(call.node).find("fetch") is None
    ]
    for nodes, most, what, code in (
        (operations, context.limits.max_get_keys_count, "key operations", "key_operations"),
        (requests, context.limits.max_fetch_count, "outbound requests", "outbound_requests"),
    ):
        if len(nodes) > most:
            message = f"the source makes {len(nodes)} {what}, but one run can make at most {most}"
            yield context.find(
                nodes[most], "warning", f"too_many_{code}", message, "Divide the work into several runs."
            )
        for node in nodes:
            if _is_repeated(context, node):
                message = f"{what} are made in a loop: one run can make at most {most}, and all later calls fail"
                hint = "Divide the work into several runs."
                if code == "key_operations":
                    hint = "Make the call once, before the loop, and store the result."
                yield context.find(node, "warning", f"{code}_in_loop", message, hint)


def leaks(context: Context) -> Iterator[Finding]:
    """Finds private keys that leave the action in its response, its logs or a request."""
    yield from Leaks(context).find()


def decrypted(context: Context) -> Iterator[Finding]:
    """Finds decrypted text in the logs. Anyone who can run the action can read the logs."""
    yield from Leaks(context, decrypted=True).find_in_logs()


def embedded(context: Context) -> Iterator[Finding]:
    """Finds secrets in the source. Anyone who can run the action can read the source."""
    for node in context.script.walk():
        if node.type not in {"variable_declarator", "pair"}:
            continue
        name = node.child_by_field_name("name" if node.type == "variable_declarator" else "key")
        value = node.child_by_field_name("value")
        if name is None or value is None or value.type != "string":
            continue
        if _SECRET_NAME.search(context.script.text(name)) and _SECRET_TEXT.match(context.script.text(value)[1:-1]):
            message = f"{context.script.text(name)} looks like a secret, but callers can read the source"
            hint = "Pass the secret in js_params, or encrypt the secret once with Encrypt and call Decrypt at run time."
            yield context.find(value, "warning", "secret_in_source", message, hint)


# --- syntax helpers -------------------------------------------------------------------------------------------------


def _assigned_to_global(context: Context, name: str) -> bool:
    wanted = {f"globalThis.{name}", f"global.{name}", f"self.{name}"}
    return any(
        node.type == "assignment_expression"
        and (left := node.child_by_field_name("left")) is not None
        and context.script.text(left) in wanted
        for node in context.script.walk()
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _is_typeof(node: Node) -> bool:
    """Returns whether a name is the operand of ``typeof``, which accepts undeclared names."""
    parent = node.parent
    operator = parent.child_by_field_name("operator") if parent is not None else None
    return operator is not None and operator.type == "typeof"


def _may_be_parameter(context: Context, name: str, inside: Node, known: frozenset[str] | set[str]) -> bool:
    if name in _PARAMS:
        return True
    if not name[0].islower() or difflib.get_close_matches(name, sorted(known), 1, 0.8):
        return False
    # A called name is a missing function, not a missing parameter.
    called = any(
        call.function.type == "identifier" and context.script.text(call.function) == name
        for call in context.script.calls()
    )
    return not called and context.main is not None and inside.start_byte >= context.main.start_byte


def _members(context: Context, node: Node) -> tuple[list[str], bool]:
    """Returns the names of an object literal's properties, and whether the object can have more properties."""
    given, open_ = [], False
    for child in node.named_children:
        if child.type == "shorthand_property_identifier":
            given.append(context.script.text(child))
        elif child.type == "pair" and (key := child.child_by_field_name("key")) is not None:
            given.append(context.script.text(key).strip("\"'"))
            open_ = open_ or key.type == "computed_property_name"
        elif child.type == "method_definition" and (key := child.child_by_field_name("name")) is not None:
            given.append(context.script.text(key))
        elif child.type != "comment":
            open_ = True
    return given, open_


def _is_awaited(node: Node) -> bool:
    """Returns whether the code uses the promise of a call: awaits, returns, chains, stores or passes on the promise."""
    parent = node.parent
    while parent is not None and parent.type == "parenthesized_expression":
        parent = parent.parent
    return parent is None or parent.type != "expression_statement"


def _is_repeated(context: Context, node: Node) -> bool:
    at = node.parent
    while at is not None:
        if at.type in _LOOPS:
            return True
        if at.type in FUNCTIONS:
            call = at.parent.parent if at.parent is not None and at.parent.type == "arguments" else None
            called = call.child_by_field_name("function") if call is not None else None
            member = called.child_by_field_name("property") if called is not None else None
            return member is not None and context.script.text(member) in _REPEATERS
        at = at.parent
    return False
