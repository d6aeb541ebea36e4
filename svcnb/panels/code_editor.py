"""Base class of panels with a code editor. It provides the editor's bundle, and the names for completion."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from svcnb.bundles import read_bundle
from svcnb.panels.base import STATIC, Panel, command
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.toolkit.runtime import GLOBALS, Function, functions, namespaces

BUNDLE: Final = STATIC / "codemirror" / "codemirror.js"

Name = dict[str, str]
"""Completion entry. It contains ``name`` and ``kind``.

The entry can also contain ``detail``, ``says`` (a description) and ``insert`` (a snippet that completion inserts
instead of the name)."""


class CodePanel(Panel):
    """Base class of panels that show code.

    The bundle of the editor is large, so each page requests the bundle only once, by its hash.
    """

    @command
    def editor_bundle(self, *, with_script: bool) -> dict[str, str]:
        """Returns the hash of the editor's bundle, and also the bundle if ``with_script`` is True."""
        script = _script(BUNDLE)
        told = {"hash": hashlib.sha256(script.encode()).hexdigest()}
        return told | {"script": script} if with_script else told


@cache
def _script(path: Path) -> str:
    return read_bundle(path).decode()


def names(vocabulary: Vocabulary) -> dict[str, list[Name]]:
    """Returns the names that an action can use, by object, for example ``Svc.Actions``. ``""`` contains the globals."""
    spaces = namespaces(vocabulary)
    listed = [_function(each) for each in functions(vocabulary).values()]
    headers: list[Name] = [
        {"name": "get", "detail": "(name)", "says": "Returns x-request-id or x-correlation-id.", "kind": "function"},
        {"name": "has", "detail": "(name)", "kind": "function"},
    ]
    members: list[Name] = [{"name": member, "kind": "namespace"} for member in spaces.values() if member]
    around: list[Name] = [
        {"name": name, "kind": "namespace", "says": "Functions of the service that actions can call."}
        for name in spaces
    ]
    around += [{"name": name, "kind": _kind(name)} for name in sorted(GLOBALS - {"arguments"})]
    return {
        "": around,
        vocabulary.namespace: members,
        f"{vocabulary.namespace}.Actions": listed,
        vocabulary.actions_global: listed,
        f"{vocabulary.namespace}.Headers": headers,
        vocabulary.headers_global: headers,
    }


def _function(function: Function) -> Name:
    given = ", ".join(f"{name}: {kind}" for name, kind in function.parameters.items())
    filled = ", ".join(f"{name}: ${{{name}}}" for name in function.parameters)
    result = f"Promise<{function.result}>" if function.waits else function.result
    counted = " Counts as a key operation." if function.is_key_operation else ""
    return {
        "name": function.name,
        "kind": "function",
        "detail": f"({{ {given} }}): {result}" if given else f"(): {result}",
        "says": function.says + counted,
        "insert": f"{function.name}({{ {filled} }})" if filled else f"{function.name}()",
    }


def _kind(name: str) -> str:
    if name == "ethers":
        return "namespace"
    return "class" if name[:1].isupper() else "variable"
