"""Tools for estimates, history, linting, plans, templates and exercises.

The tools use only the client, so they work with the emulator and with the live service.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svcnb.toolkit import (  # imported on first use
        cost as cost,
        exercises as exercises,
        history as history,
        lint as lint,
        plan as plan,
        templates as templates,
    )

_PARTS = ("cost", "exercises", "history", "lint", "plan", "templates")


if not TYPE_CHECKING:
    # Hide this function from type checkers, because they accept every name in a module that defines `__getattr__`.

    def __getattr__(name: str) -> ModuleType:
        if name not in _PARTS:
            raise AttributeError(
                f"module 'svcnb.toolkit' has no attribute {name!r}", name=name, obj=sys.modules[__name__]
            )
        return import_module(f"svcnb.toolkit.{name}")


def __dir__() -> list[str]:
    return sorted(_PARTS)
