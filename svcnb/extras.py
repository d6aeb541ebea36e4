"""Installation commands for extras."""

from __future__ import annotations


def install_command(extra: str) -> str:
    """Returns the command that installs an extra.

    It names the clone, because the package index has no package of this project.

    Args:
        extra: An extra of ``pyproject.toml``, for example ``chain``.
    """
    return f"pip install '.[{extra}]' in your clone of this project"
