"""Runs work on large untrusted values outside of the event loop.

JSON of some hundred kilobytes takes milliseconds to parse or to write. Anything larger than `LARGE_BYTES` goes to one
thread, one piece of work at a time, so that the event loop has its turns in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

LARGE_BYTES: Final = 64 * 1024
"""Texts up to this size are handled on the event loop: at most 5 ms each."""

_LOOKED_AT: Final = 2_000


async def offload(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs a function in the thread for large values.

    Args:
        work: A function that needs no event loop.
        *args: Its arguments.
        **kwargs: Its arguments by name.
    """
    return await asyncio.get_running_loop().run_in_executor(_thread(), partial(work, *args, **kwargs))


def is_large(value: object) -> bool:
    """Whether a JSON value has more than `LARGE_BYTES` of text or more than 2,000 members. Takes under 1 ms."""
    left = LARGE_BYTES
    pending = [value]
    for _ in range(_LOOKED_AT):
        if not pending:
            return False
        found = pending.pop()
        if isinstance(found, str):
            left -= len(found)
        elif isinstance(found, (list, dict)):
            if len(found) > _LOOKED_AT:
                return True
            if isinstance(found, dict):
                left -= sum(map(len, found))
                pending.extend(found.values())
            else:
                pending.extend(found)
        if left < 0:
            return True
    return bool(pending)


@cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="svcnb-large-values")
