"""Types of command-line parameters."""

from __future__ import annotations

import math
from typing import Any, Final

import click

PORT: Final = click.IntRange(0, 65535)
"""TCP port. 0 means a free port."""

_HASH_LENGTH: Final = 66
"""Number of characters of a hash: 0x and 64 hex digits."""


class FiniteNumber(click.FloatRange):
    """Finite number in a range. `click.FloatRange` accepts ``nan``, because every comparison with ``nan`` is false."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Returns a finite number in the range."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class KeyHash(click.ParamType[str]):
    """Hash of a usage key. The error does not show the value, because a user can pass the key itself by mistake."""

    name = "hash"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns a hash without surrounding spaces, and rejects all other values."""
        from svcnb.protocol.wire.values import looks_like_hash

        value = value.strip()
        if not looks_like_hash(value):
            found = "other characters" if len(value) == _HASH_LENGTH else f"{len(value)} characters"
            self.fail(
                f"expected 0x followed by 64 hex digits ({_HASH_LENGTH} characters), got {found}. To see the hashes of "
                "the keys, run `svcnb keys list`.",
                param,
                ctx,
            )
        return value
