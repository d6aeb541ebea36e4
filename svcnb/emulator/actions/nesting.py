"""How deep a JSON text nests, found without parsing it.

Python's parser recurses: with the recursion limit raised (libraries do that) a deeply nested text ends the process.
What an action writes is therefore measured before it is parsed.
"""

from __future__ import annotations

import re
from itertools import accumulate

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def deeper_than(text: bytes, limit: int) -> bool:
    """Whether arrays and objects nest deeper than ``limit``. A text that is no JSON may be judged either way."""
    if text.count(b"[") + text.count(b"{") <= limit:
        return False
    brackets = _STRING.sub(b"", text).translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > limit
