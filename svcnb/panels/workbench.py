"""Workbench: all panels in one, for a workshop's front screen."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import traitlets
from ipywidgets import Widget, widget_serialization

from svcnb.client import Client
from svcnb.client.errors import InvalidArgument
from svcnb.panels.account import AccountPanel
from svcnb.panels.base import Panel, command
from svcnb.panels.permissions import PermissionsPanel

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
"""What stands on each tab, by class name in `svcnb.panels`."""


class Workbench(Panel, bundle="workbench"):
    """All panels over one client, each on a tab and made when its tab is first opened.

    An account that is opened on the first tab is the account of all others: they begin anew with its key.

    Args:
        client: The service.
        owner: The wallet for ChainSecured accounts, as for `AccountPanel`.

    Attributes:
        panels: The panels that are made, by the names of their tabs.
    """

    title = "Workbench"
    tabs = traitlets.List(list(TABS)).tag(sync=True)
    panels = traitlets.Dict(value_trait=traitlets.Instance(Widget)).tag(sync=True, **widget_serialization)

    def __init__(self, client: Client, *, owner: AnySigner | None = None) -> None:
        account = AccountPanel(client, owner=owner)
        self._kept: list[str] = []
        self._opened = ("", "")
        super().__init__(client, panels={"Account": account})
        account.observe(lambda change: self._switched(account, change["new"]), "state")

    @command
    def open_tab(self, name: str) -> None:
        """Makes the panel of a tab, unless it is there."""
        if name not in TABS:
            raise InvalidArgument(f"there is no tab {name!r}", hint=f"There are {', '.join(TABS)}.")
        if name not in self.panels:
            kind = getattr(import_module("svcnb.panels"), TABS[name])
            account = self.panels["Account"]
            # On the chain it is the wallet that changes permissions, not a key.
            owned = {"owner": account.owner} if kind is PermissionsPanel and account.account is not None else {}
            made = kind(self.client, **owned)
            self.panels = {**self.panels, name: made}

    def as_code(self) -> str:
        """Returns what was done on all tabs, as Python that runs."""
        lines = [*self._kept, *(line for panel in self.panels.values() for line in panel.lines)]
        return super().as_code() + "".join(f"{line}\n" for line in lines)

    def close(self) -> None:
        """Ends all panels."""
        for panel in self.panels.values():
            panel.close()
        super().close()

    def _switched(self, account: AccountPanel, state: dict[str, Any]) -> None:
        opened = (state["mode"], state["address"])
        if opened == self._opened:
            return
        self._opened = opened
        self.client = account.client
        gone = [panel for name, panel in self.panels.items() if name != "Account"]
        # In this order, so that what was done is told in the order in which it was done.
        self._kept += [line for panel in (account, *gone) for line in panel.lines]
        account.lines.clear()
        self.panels = {"Account": account}
        for panel in gone:
            panel.close()
