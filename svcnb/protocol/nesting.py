"""How deep a JSON text nests, found without parsing it.

Python's parser recurses: with the recursion limit raised (libraries do that) a deeply nested text ends the process.
What others write, an action or a service, is therefore measured before it is parsed.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any, Final

MAX_PARSED: Final = 900
"""Deeper than anything that makes sense, and within what Python parses everywhere with its usual limits."""

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def deeper_than(text: bytes, limit: int) -> bool:
    """Whether arrays and objects nest deeper than ``limit``. A text that is no JSON may be judged either way."""
    if text.count(b"[") + text.count(b"{") <= limit:
        return False
    brackets = _STRING.sub(b"", text).translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > limit


def parse(text: bytes) -> Any:
    """JSON that somebody else wrote.

    Raises:
        ValueError: It is no JSON, or nests deeper than `MAX_PARSED`.
    """
    if deeper_than(text, MAX_PARSED):
        raise ValueError(f"the JSON nests deeper than {MAX_PARSED} levels")
    return json.loads(text)
