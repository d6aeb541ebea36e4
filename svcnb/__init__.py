"""Jupyter toolkit, lessons and a local emulator for a key-custody service that runs JavaScript actions.

The import of this package is fast, because Python loads the module of a public name only when the name is first used.
If a name needs packages that are not installed, the error contains the command that installs them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from svcnb import (  # Python imports these modules on first use. pyright exports only names with "as"
        charts as charts,
        panels as panels,
        reports as reports,
        testing as testing,
        toolkit as toolkit,
        workshop as workshop,
    )
    from svcnb.client import AsyncClient, Client
    from svcnb.client.aio.triggers import AsyncTriggersClient
    from svcnb.client.chain.rpc import RpcError
    from svcnb.client.config import Retries, Timeouts
    from svcnb.client.errors import (
        ActionError,
        BadRequest,
        ChainError,
        ConfigError,
        Conflict,
        ExecutorLost,
        ExtraMissing,
        Forbidden,
        InternalError,
        InvalidArgument,
        InvalidType,
        NotConfirmed,
        NotFound,
        NotTheApi,
        OutOfCredit,
        PayloadTooLarge,
        PaymentFailed,
        RateLimited,
        ServiceError,
        SigningError,
        SvcnbError,
        TimedOut,
        TraceUnavailable,
        TransportError,
        Unauthorized,
        Unavailable,
        UnprocessableEntity,
        WorkerLost,
    )
    from svcnb.client.references import everything
    from svcnb.client.secret import Secret
    from svcnb.client.signing import ContractWallet, LocalSigner, recover, verify
    from svcnb.client.triggers import TriggersClient
    from svcnb.control.errors import ControlRefused, EmulatorError, EmulatorUnreachable
    from svcnb.launch import (
        Emulator,
        EmulatorNotStarted,
        EmulatorToolMissing,
        PortInUse,
        SettingRefused,
        StateFolderUnusable,
    )
    from svcnb.lessons import NotAnEmulator, lesson, practice_key
    from svcnb.migrations import UnreadableVersion
    from svcnb.panels.browser_signer import BrowserSigner
    from svcnb.protocol.action import Action
    from svcnb.protocol.cid import ParsedCid, cid, parse_cid
    from svcnb.protocol.errors import MalformedAddress, MalformedCid, MalformedHex, MalformedSignature, MalformedValue
    from svcnb.protocol.hashes import hashed_cid
    from svcnb.protocol.vocabulary import Vocabulary
    from svcnb.toolkit import exercises
    from svcnb.tools import ToolMissing
    from svcnb.tools.fetch import ToolCorrupt

__all__ = [
    "Action",
    "ActionError",
    "AsyncClient",
    "AsyncTriggersClient",
    "BadRequest",
    "BrowserSigner",
    "ChainError",
    "Client",
    "ConfigError",
    "Conflict",
    "ContractWallet",
    "ControlRefused",
    "Emulator",
    "EmulatorError",
    "EmulatorNotStarted",
    "EmulatorToolMissing",
    "EmulatorUnreachable",
    "ExecutorLost",
    "ExtraMissing",
    "Forbidden",
    "InternalError",
    "InvalidArgument",
    "InvalidType",
    "LocalSigner",
    "MalformedAddress",
    "MalformedCid",
    "MalformedHex",
    "MalformedSignature",
    "MalformedValue",
    "NotAnEmulator",
    "NotConfirmed",
    "NotFound",
    "NotTheApi",
    "OutOfCredit",
    "ParsedCid",
    "PayloadTooLarge",
    "PaymentFailed",
    "PortInUse",
    "RateLimited",
    "Retries",
    "RpcError",
    "Secret",
    "ServiceError",
    "SettingRefused",
    "SigningError",
    "StateFolderUnusable",
    "SvcnbError",
    "TimedOut",
    "Timeouts",
    "ToolCorrupt",
    "ToolMissing",
    "TraceUnavailable",
    "TransportError",
    "TriggersClient",
    "Unauthorized",
    "Unavailable",
    "UnprocessableEntity",
    "UnreadableVersion",
    "Vocabulary",
    "WorkerLost",
    "cid",
    "everything",
    "exercises",
    "hashed_cid",
    "lesson",
    "parse_cid",
    "practice_key",
    "recover",
    "verify",
]

__version__ = "0.1.0"

_ERRORS: Final = "svcnb.client.errors"
_HOME: Final = {
    name: f"svcnb.{module}"
    for module, names in {
        "client": "AsyncClient Client",
        "client.aio.triggers": "AsyncTriggersClient",
        "client.chain.rpc": "RpcError",
        "client.config": "Retries Timeouts",
        "client.references": "everything",
        "client.secret": "Secret",
        "client.signing": "ContractWallet LocalSigner recover verify",
        "client.triggers": "TriggersClient",
        "control.errors": "ControlRefused EmulatorError EmulatorUnreachable",
        "launch": "Emulator EmulatorNotStarted EmulatorToolMissing PortInUse SettingRefused StateFolderUnusable",
        "lessons": "NotAnEmulator lesson practice_key",
        "migrations": "UnreadableVersion",
        "panels": "BrowserSigner",
        "protocol.action": "Action",
        "protocol.cid": "ParsedCid cid parse_cid",
        "protocol.errors": "MalformedAddress MalformedCid MalformedHex MalformedSignature MalformedValue",
        "protocol.hashes": "hashed_cid",
        "protocol.vocabulary": "Vocabulary",
        "toolkit.exercises": "exercises",
        "tools": "ToolMissing",
        "tools.fetch": "ToolCorrupt",
    }.items()
    for name in names.split()
}
"""Module of each public name. All other public names are error classes in `svcnb.client.errors`."""

_SUBPACKAGES: Final = {
    "charts": "lab",
    "panels": "lab",
    "reports": "reports",
    "testing": "testing",
    "toolkit": "",
    "workshop": "emulator",
}
"""Subpackages that Python imports on first use, and the extra that each subpackage needs (empty: no extra)."""


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Loads the magics ``%svc`` and ``%%action``. ``%load_ext svcnb`` calls this function."""
    from svcnb.magics import load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Removes the magics ``%svc`` and ``%%action``. ``%unload_ext svcnb`` calls this function."""
    from svcnb.magics import unload

    unload(shell)


_DEPRECATED: Final = {
    "EmulatorPartMissing": "EmulatorToolMissing",
    "PartCorrupt": "ToolCorrupt",
    "PartMissing": "ToolMissing",
}
"""Deprecated names, and the names that replace them."""

if not TYPE_CHECKING:
    # Hidden from type checkers, because they accept every name in a module that defines `__getattr__`.

    def __getattr__(name: str) -> Any:
        if name in _SUBPACKAGES:
            return _subpackage(name)
        if new := _DEPRECATED.get(name):
            from svcnb.renamed import renamed

            renamed(f"svcnb.{name}", f"svcnb.{new}")
            return getattr(sys.modules[__name__], new)
        if name not in __all__:
            # With `name` and `obj`, Python suggests similar names.
            raise AttributeError(f"module 'svcnb' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        module = import_module(_HOME.get(name, _ERRORS))
        value = module if name == "exercises" else getattr(module, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBPACKAGES, "__version__"])


def _subpackage(name: str) -> Any:
    try:
        return import_module(f"svcnb.{name}")
    except ModuleNotFoundError as error:
        if error.name == f"svcnb.{name}":
            raise AttributeError(f"module 'svcnb' has no attribute {name!r}") from None
        if not _SUBPACKAGES[name]:
            raise
        from svcnb.errors import ExtraMissing

        raise ExtraMissing(f"svcnb.{name} requires the package {error.name}", _SUBPACKAGES[name]) from error
