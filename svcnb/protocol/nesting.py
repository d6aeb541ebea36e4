"""Checks of the structure of a JSON text before parsing, in linear time.

Python's parser is recursive. If a library has raised the recursion limit, a deeply nested text crashes the process. A
parsed text of many small values needs forty times as much memory as the text itself. Therefore, this module checks
texts from actions, callers and services first. The checks read each byte a fixed number of times and keep only one
block of the text in memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any, Final

MAX_PARSED: Final = 900
"""Maximum number of nesting levels that `parse` accepts. Python can parse this depth with its default limits."""

_BLOCK_BYTES: Final = 64 * 1024
_NOT_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_STEPS: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def deeper_than(text: bytes, limit: int) -> bool:
    """Returns whether the arrays and objects of a JSON text nest deeper than ``limit``.

    For a text that is not JSON, the result is undefined.
    """
    if text.count(b"[") + text.count(b"{") <= limit:
        return False
    depth = 0
    for block in _outside_of_strings(text):
        brackets = block.translate(None, _NOT_BRACKETS)
        depths = list(accumulate(map(_STEPS.__getitem__, brackets), initial=depth))
        if max(depths) > limit:
            return True
        if min(depths) < 0:
            return False  # the text is not JSON, and the parser also stops here
        depth = depths[-1]
    return False


def more_values_than(text: bytes, limit: int) -> bool:
    """Returns whether a JSON text has more than ``limit`` values. The function counts commas and opening brackets."""
    if _separators(text) <= limit:
        return False
    found = 0
    for block in _outside_of_strings(text):
        found += _separators(block)
        if found > limit:
            return True
    return False


def parse(text: bytes | str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Parses a JSON text from an untrusted source, for example a caller or a service, and returns its value.

    Args:
        text: JSON text. Bytes must be UTF-8.
        pairs: Function that creates an object from its members. The default is `dict`.

    Raises:
        ValueError: The text is not JSON, or nests deeper than `MAX_PARSED`.
    """
    measured = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if deeper_than(measured, MAX_PARSED):
        raise ValueError(f"the JSON has more than {MAX_PARSED} levels of nesting")
    return json.loads(text, object_pairs_hook=pairs)


def _separators(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _outside_of_strings(text: bytes) -> Iterator[bytes]:
    """Yields the parts of a JSON text outside of strings, one block at a time."""
    inside = False
    start = 0
    while start < len(text):
        block = text[start : start + _BLOCK_BYTES]
        # End a block after a complete escape sequence, so that the next block does not begin inside one.
        if (len(block) - len(block.rstrip(b"\\"))) % 2:
            block = text[start : start + _BLOCK_BYTES + 1]
        start += len(block)
        parts = block.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        yield b"".join(parts[inside::2])
        inside ^= len(parts) % 2 == 0
