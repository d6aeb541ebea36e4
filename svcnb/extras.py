"""Functions that return the installation commands for extras."""

from __future__ import annotations

import sys


def install_command(extra: str) -> str:
    """Returns the command that installs an extra.

    The command refers to a clone of the repository, because the project is not on the package index.

    Args:
        extra: An extra of ``pyproject.toml``, for example ``chain``.
    """
    return f"pip install '.[{extra}]' in your clone of this project"


def how_to_get(extra: str) -> str:
    """Returns the hint for a missing extra. In a browser page, users cannot install anything.

    Args:
        extra: An extra of ``pyproject.toml``.
    """
    if sys.platform == "emscripten":
        return "This page does not contain the package. Use an installed svcnb for this step."
    return f"Install it: {install_command(extra)}"
