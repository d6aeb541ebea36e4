"""Generates the asynchronous classes of the client from the synchronous ones: `poe asynchronous`.

A flow is a generator that yields the requests of one operation. A method that performs a flow, or calls such a method
of its class, becomes a coroutine function. With ``--check``, the script writes nothing, and exits with 1 if a file
differs from the generated text.
"""

from __future__ import annotations

import ast
import builtins
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
TARGET = "svcnb.client.aio"
DRIVERS = {"_change", "_do", "drive"}
"""Methods that perform a flow."""

SOURCES: dict[str, dict[str, list[str]]] = {
    # Generated module: source module: classes.
    "accounts": {"svcnb.client.resources.accounts": ["Accounts"]},
    "actions": {"svcnb.client.resources.actions": ["Actions"]},
    "billing": {"svcnb.client.resources.billing": ["Billing"]},
    "client": {"svcnb.client.client": ["ServiceClient"]},
    "groups": {"svcnb.client.resources.groups": ["Groups"]},
    "node": {"svcnb.client.resources.node": ["Node"]},
    "usage_keys": {"svcnb.client.resources.usage_keys": ["UsageKeys"]},
    "wallets": {"svcnb.client.resources.wallets": ["Wallets"]},
    "chain_secured_resources": {
        "svcnb.client.chain_secured.resources": [
            "OnChainResource", "OnChainWallets", "OnChainUsageKeys", "OnChainGroups", "OnChainActions",
        ]
    },
    "chain_secured_account": {"svcnb.client.chain_secured.account": ["ChainSecuredAccount", "WalletBilling"]},
    "chain_secured": {"svcnb.client.chain_secured.namespace": ["ChainSecured"]},
    "triggers": {"svcnb.client.triggers": ["TriggersClient"]},
}  # fmt: skip
# Pairs that are not generated, because their synchronous and asynchronous versions wait and connect in different ways.
OTHERS = {
    ("svcnb.client.client", "Client"): ("svcnb.client.async_client", "AsyncClient"),
    ("svcnb.client.resources.base", "Resource"): ("svcnb.client.resources.base", "AsyncResource"),
    ("svcnb.client.session", "SyncSession"): ("svcnb.client.session", "AsyncSession"),
    ("svcnb.client._http", "SyncTransport"): ("svcnb.client._http", "AsyncTransport"),
    ("collections.abc", "Iterator"): ("collections.abc", "AsyncIterator"),
    ("web3.contract", "Contract"): ("web3.contract", "AsyncContract"),
}
VERSIONS = OTHERS | {
    (source, name): (f"{TARGET}.{module}", f"Async{name}")
    for module, sources in SOURCES.items()
    for source, names in sources.items()
    for name in names
}
"""Module and name of a synchronous class, and of its asynchronous version."""
ATTRIBUTES = {"httpx.Client": "AsyncClient", "web3_objects.contract": "async_contract"}
METHODS = {"__enter__": "__aenter__", "__exit__": "__aexit__", "close": "close"}
PHRASES = {
    "Synchronous client of the triggers service": "Asynchronous client of the triggers service",
    "``triggers = svcnb.TriggersClient(emu.triggers_url); triggers.authorize()``": (
        "``triggers = svcnb.AsyncTriggersClient(emu.triggers_url); await triggers.authorize()``"
    ),
    "Base class of `Client`": "Base class of `AsyncClient`",
    "``svc.explain(key, action, wallet).repair.code``": "``(await svc.explain(key, action, wallet)).repair.code``",
    "Your own `httpx.Client`": "Your own `httpx.AsyncClient`",
    "`OnChainWallets.create`": "`AsyncOnChainWallets.create`",
    "Call views with ``contract.": "Call views with ``await contract.",
}
"""Phrases in docstrings of the synchronous classes, and the phrases that replace them in the asynchronous classes."""


Names = dict[str, tuple[str, str]]
"""Names in a module that refer to synchronous classes, each with the module and name of the asynchronous version."""


class Awaiting(ast.NodeTransformer):
    """Adds ``await`` to calls that perform flows, and renames classes to their asynchronous versions.

    Args:
        coroutines: Names of the class's methods that become coroutine functions.
        names: Classes to rename.
    """

    def __init__(self, coroutines: set[str], names: Names) -> None:
        self._coroutines = coroutines
        self._names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Adds ``await`` to a call that performs a flow."""
        waits = isinstance(node.func, ast.Attribute) and _performs(node.func, self._coroutines, self._names)
        if isinstance(node.func, ast.Attribute) and _closes(node.func):
            node.func.attr = "aclose"
        self.generic_visit(node)
        return ast.Await(node) if waits else node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Replaces the name of a synchronous class with the name of its asynchronous version."""
        node.id = self._names[node.id][1] if node.id in self._names else node.id
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Replaces a synchronous name of another module, such as ``httpx.Client``, with its asynchronous version."""
        self.generic_visit(node)
        node.attr = ATTRIBUTES.get(ast.unparse(node), node.attr)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Replaces synchronous classes and calls in docstrings with their asynchronous versions."""
        if isinstance(node.value, str):
            for (source, name), (module, new) in VERSIONS.items():
                node.value = node.value.replace(f"`{source}.{name}`", f"`{module}.{new}`")
            for phrase, other in PHRASES.items():
                node.value = node.value.replace(phrase, other)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """Replaces the import of a synchronous class with the import of its asynchronous version."""
        for alias in node.names:
            if (node.module or "", alias.name) in VERSIONS:
                node.module, alias.name = VERSIONS[node.module or "", alias.name]
        return node


def coroutines_of(cls: ast.ClassDef, names: Names) -> set[str]:
    """Returns the names of the methods that perform flows, directly or through other methods."""
    methods = {item.name: item for item in cls.body if isinstance(item, ast.FunctionDef)}
    found: set[str] = set()
    while True:
        more = {
            name
            for name, method in methods.items()
            if name not in found
            and any(
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and _performs(call.func, found, names)
                for call in ast.walk(method)
            )
        }
        if not more:
            return found
        found |= more


def _performs(function: ast.Attribute, coroutines: set[str], names: Names) -> bool:
    if function.attr in DRIVERS or _closes(function):
        return True
    if isinstance(function.value, ast.Call) and ast.unparse(function.value.func) in names:
        return True
    return ast.unparse(function.value) in {"self", "super()"} and function.attr in coroutines


def _closes(function: ast.Attribute) -> bool:
    return ast.unparse(function) in {"self._transport.close", "self._session.transport.close"}


def convert(cls: ast.ClassDef, names: Names) -> ast.ClassDef:
    """Returns the asynchronous version of a class."""
    coroutines = coroutines_of(cls, names)
    made = cls
    Awaiting(coroutines, names).visit(made)
    made.name = names[cls.name][1]
    body: list[ast.stmt] = []
    for item in made.body:
        if isinstance(item, ast.FunctionDef) and (item.name in coroutines or item.name in {"__enter__", "__exit__"}):
            fields = {name: getattr(item, name) for name in item._fields} | {"name": METHODS.get(item.name, item.name)}
            body.append(ast.AsyncFunctionDef(**fields))
        else:
            body.append(item)
    made.body = body
    return made


def generate(module: str) -> str:
    """Returns the unformatted text of a generated module.

    Args:
        module: Name of the generated module.
    """
    parts: list[str] = []
    imports: list[str] = []
    checked: list[str] = []
    for source, names in SOURCES[module].items():
        tree = ast.parse((ROOT / (source.replace(".", "/") + ".py")).read_text(encoding="utf-8"))
        classes = {item.name: item for item in tree.body if isinstance(item, ast.ClassDef)}
        known = names_of(tree, source)
        made = [convert(classes[name], known) for name in names]
        used = {node.id for cls in made for node in ast.walk(cls) if isinstance(node, ast.Name)}
        own = {cls.name for cls in made}
        lazy = {
            alias.name
            for cls in made
            for node in ast.walk(cls)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        unknown = used - own - set(dir(builtins))
        for line, name, type_only in _imported(tree):
            if name in unknown:
                (checked if type_only else imports).append(line)
                unknown.discard(name)
        for place, new in sorted({*known.values(), *VERSIONS.values()}):
            if new in unknown:
                line = f"from {place} import {new}"
                (checked if new in lazy or _only_in_annotations(made, new) else imports).append(line)
                unknown.discard(new)
        imports += [f"from {source} import {name}" for name in sorted(unknown & _defined(tree))]
        parts += [ast.unparse(ast.fix_missing_locations(cls)) for cls in made]
    sources = " and ".join(f"`{each}`" for each in SOURCES[module])
    head = [
        f'"""Asynchronous versions of the classes of {sources}, generated by a script."""',
        "# Written by .ci/asynchronous.py: change the synchronous class and run `poe asynchronous`.",
        "",
        "from __future__ import annotations",
        "",
        *sorted(set(imports)),
    ]
    if checked:
        head += [
            "from typing import TYPE_CHECKING",
            "",
            "if TYPE_CHECKING:",
            *(f"    {line}" for line in sorted(set(checked))),
        ]
    return "\n".join(head) + "\n\n\n" + "\n\n\n".join(parts) + "\n"


def names_of(tree: ast.Module, source: str) -> Names:
    """Returns the names in a module that refer to synchronous classes."""
    found = {name: version for (module, name), version in VERSIONS.items() if module == source}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            pairs = [(node.module or "", alias.name) for alias in node.names]
            found |= {name: VERSIONS[module, name] for module, name in pairs if (module, name) in VERSIONS}
    return found


def _imported(tree: ast.Module) -> Iterator[tuple[str, str, bool]]:
    for item in tree.body:
        inside = isinstance(item, ast.If)
        for node in item.body if isinstance(item, ast.If) else [item]:
            if isinstance(node, ast.ImportFrom) and node.module != "__future__":
                for alias in node.names:
                    suffix = f" as {alias.asname}" if alias.asname else ""
                    yield f"from {node.module} import {alias.name}{suffix}", alias.asname or alias.name, inside
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    yield f"import {alias.name}", alias.name, inside


def _defined(tree: ast.Module) -> set[str]:
    found = set()
    for item in tree.body:
        if isinstance(item, ast.FunctionDef | ast.ClassDef):
            found.add(item.name)
        elif isinstance(item, ast.Assign):
            found |= {target.id for target in item.targets if isinstance(target, ast.Name)}
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            found.add(item.target.id)
    return found


def _only_in_annotations(classes: list[ast.ClassDef], name: str) -> bool:
    for cls in classes:
        for node in ast.walk(cls):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Load):
                    if isinstance(node, ast.arg) or (
                        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is child
                    ):
                        continue
                    if isinstance(node, ast.Subscript | ast.BinOp | ast.Tuple):
                        continue
                    return False
    return True


def formatted(text: str, path: Path) -> str:
    """Returns the text after formatting with ruff."""
    ruff = str(Path(sys.executable).with_name("ruff"))
    for command in (
        [ruff, "check", "-q", "--fix", "--select", "I,F401", "--stdin-filename", str(path), "-"],
        [ruff, "format", "-q", "--stdin-filename", str(path), "-"],
    ):
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=False, cwd=ROOT).stdout
    return text


def main(arguments: list[str]) -> int:
    """Writes or checks all generated modules, and returns the exit code."""
    folder = ROOT / TARGET.replace(".", "/")
    different = []
    for module in SOURCES:
        path = folder / f"{module}.py"
        text = formatted(generate(module), path)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        different.append(path.name)
        if "--check" not in arguments:
            folder.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    click.echo(f"changed: {', '.join(different)}" if different else "nothing changed")
    return 1 if different and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
