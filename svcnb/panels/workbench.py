"""Workbench, which contains all panels in one widget, for example for an instructor's screen."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

import traitlets
from ipywidgets import Widget, widget_serialization

from svcnb.client import Client
from svcnb.client.errors import InvalidArgument
from svcnb.client.signing import as_signer
from svcnb.panels.account import AccountPanel
from svcnb.panels.base import command
from svcnb.panels.wallet_panel import WalletPanel

if TYPE_CHECKING:
    from svcnb.client.signing.eth import AnySigner

TABS: Final = {
    "Account": "AccountPanel",
    "Actions": "ActionEditor",
    "Permissions": "PermissionsPanel",
    "Runs": "RunsPanel",
    "Triggers": "TriggersPanel",
    "Signing": "SigningPanel",
}
"""Name of the panel class in `svcnb.panels`, by the name of its tab."""


class Workbench(WalletPanel, bundle="workbench"):
    """All panels of one client, each on a tab. The widget creates a panel when the user first opens its tab.

    The tabs share one session. An account, wallet, group or key from one tab is available on the other tabs. The given
    client has the same session, so ``svc.groups.list()`` in a cell shows the groups that a panel created.

    Args:
        client: Client of the service.
        owner: Wallet for ChainSecured accounts, as in `AccountPanel`.

    Attributes:
        panels: The existing panels, by the names of their tabs.
    """

    title = "Workbench"
    tabs = traitlets.List(list(TABS)).tag(sync=True)
    panels = traitlets.Dict(value_trait=traitlets.Instance(Widget)).tag(sync=True, **widget_serialization)

    def __init__(self, client: Client, *, owner: AnySigner | None = None) -> None:
        super().__init__(client)
        self.session.host = self
        if owner is not None:
            self.session.owner = as_signer(owner)
        self.panels = {"Account": AccountPanel(client)}

    @command
    def open_tab(self, name: str) -> None:
        """Creates the panel of a tab if it does not exist."""
        if name not in TABS:
            raise InvalidArgument(f"unknown tab {name!r}", hint=f"Choose one of {', '.join(TABS)}.")
        if name not in self.panels:
            self.panels = {**self.panels, name: getattr(import_module("svcnb.panels"), TABS[name])(self.client)}

    def close(self) -> None:
        """Closes the workbench and all of its panels. The client stays open."""
        for panel in self.panels.values():
            panel.close()
        super().close()
