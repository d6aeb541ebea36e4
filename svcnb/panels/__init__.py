"""Panels: notebook widgets for working with the service without writing code.

The first argument of a panel is a client. The method `as_code` of a panel returns the user's steps as Python. Panels
need the extra ``lab``. The package imports the module of a panel on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from svcnb.errors import ExtraMissing

if TYPE_CHECKING:
    from svcnb.panels.account import AccountPanel
    from svcnb.panels.action_editor import ActionEditor
    from svcnb.panels.base import Panel, command
    from svcnb.panels.browser_signer import BrowserSigner
    from svcnb.panels.permissions import PermissionsPanel
    from svcnb.panels.runs import RunsPanel
    from svcnb.panels.signing import SigningPanel
    from svcnb.panels.triggers import TriggersPanel
    from svcnb.panels.workbench import Workbench

__all__ = [
    "AccountPanel",
    "ActionEditor",
    "BrowserSigner",
    "Panel",
    "PermissionsPanel",
    "RunsPanel",
    "SigningPanel",
    "TriggersPanel",
    "Workbench",
    "command",
]

_HOME: Final = {
    "AccountPanel": "svcnb.panels.account",
    "ActionEditor": "svcnb.panels.action_editor",
    "BrowserSigner": "svcnb.panels.browser_signer",
    "Panel": "svcnb.panels.base",
    "PermissionsPanel": "svcnb.panels.permissions",
    "RunsPanel": "svcnb.panels.runs",
    "SigningPanel": "svcnb.panels.signing",
    "TriggersPanel": "svcnb.panels.triggers",
    "Workbench": "svcnb.panels.workbench",
    "command": "svcnb.panels.base",
}
"""Module of each public name. Each panel has its own file."""


if not TYPE_CHECKING:
    # Hidden from type checkers, because they accept every name in a module that defines `__getattr__`.

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module 'svcnb.panels' has no attribute {name!r}")
        try:
            value = getattr(import_module(_HOME[name]), name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("svcnb"):
                raise
            raise ExtraMissing(f"svcnb.panels.{name} requires the package {error.name}", "lab") from error
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return list(__all__)
