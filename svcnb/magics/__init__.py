"""Magics for notebooks. ``%load_ext svcnb`` adds ``%svc`` and ``%%action``, and ``%unload_ext svcnb`` removes them.

The functions that IPython calls are in `svcnb` itself. Their implementation is here, so that ``import svcnb`` does not
need IPython.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from svcnb.magics.action import OPTIONS, action
from svcnb.magics.arguments import as_magic
from svcnb.magics.completion import COMPLETER, ActionCompleter
from svcnb.magics.connection import Connection

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

LINE: Final = "svc"
CELL: Final = "action"
_CONNECTION: Final = "_svcnb_connection"


def load(shell: InteractiveShell) -> None:
    """Registers the magics and their completion. A repeated call also clears the service that ``%svc`` selected."""
    unload(shell)
    connection = Connection(shell)
    setattr(shell, _CONNECTION, connection)
    shell.magics_manager.register_function(as_magic(connection.svc, connection.options.format_help()), "line", LINE)
    shell.magics_manager.register_function(as_magic(action(shell, connection), OPTIONS.format_help()), "cell", CELL)
    if shell.Completer is not None:
        shell.Completer.custom_matchers.append(ActionCompleter(connection))


def unload(shell: InteractiveShell) -> None:
    """Removes the magics and their completion, and closes the clients that ``%svc connect`` created."""
    connection = vars(shell).pop(_CONNECTION, None)
    if isinstance(connection, Connection):
        connection.disconnect()
    for kind, name in (("line", LINE), ("cell", CELL)):
        shell.magics_manager.magics[kind].pop(name, None)
    if shell.Completer is not None:
        matchers = shell.Completer.custom_matchers
        matchers[:] = [each for each in matchers if getattr(each, "matcher_identifier", "") != COMPLETER]
