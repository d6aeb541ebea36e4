"""How to install what an extra brings."""

from __future__ import annotations


def install_command(extra: str) -> str:
    """Returns what a user runs to install an extra.

    It names the clone, because the package index holds no package of this project under its name.

    Args:
        extra: An extra of ``pyproject.toml``, for example ``chain``.
    """
    return f"pip install '.[{extra}]' in your clone of this project"
