"""Deprecated names, which work for one more release with a warning."""

from __future__ import annotations

import warnings


def renamed(old: str, new: str) -> None:
    """Warns the caller of the calling function that a name was replaced.

    Args:
        old: The name in use, for example ``groups.remove``.
        new: The name to use.
    """
    warnings.warn(f"{old} is deprecated and goes with the next release: use {new}", DeprecationWarning, stacklevel=3)
