"""Warnings for deprecated names, which remain for one more release."""

from __future__ import annotations

import warnings


def renamed(old: str, new: str) -> None:
    """Issues a deprecation warning. The location of the warning is the line that calls the deprecated function.

    Args:
        old: The deprecated name, for example ``groups.remove``.
        new: The name to use.
    """
    warnings.warn(
        f"{old} is deprecated and will be removed in the next release: use {new}", DeprecationWarning, stacklevel=3
    )
