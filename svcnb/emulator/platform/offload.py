"""Runs work on large untrusted values outside of the event loop.

Parsing or writing some hundred kilobytes of JSON takes milliseconds. Anything larger than `LARGE_BYTES` goes to one
thread, one piece of work at a time, so that the event loop can run in between. Accounts take turns.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, Final, ParamSpec, TypeVar

from svcnb.protocol.in_page import IN_PAGE

P = ParamSpec("P")
T = TypeVar("T")

LARGE_BYTES: Final = 64 * 1024
"""Texts up to this size are handled on the event loop: at most 5 ms each."""

current_account: ContextVar[str] = ContextVar("current_account", default="")
"""The account for which the current task works; empty where no key was resolved."""

_LOOKED_AT: Final = 2_000


async def offload(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs a function in the thread for large values.

    Args:
        work: A function that needs no event loop.
        *args: Its arguments.
        **kwargs: Its arguments by name.
    """
    if IN_PAGE:  # a page has one thread
        return work(*args, **kwargs)
    return await asyncio.wrap_future(_queue().submit(current_account.get(), partial(work, *args, **kwargs)))


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs a function that reads files or loads modules in its own thread. Arguments are those of `offload`."""
    if IN_PAGE:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)


def is_large(value: object) -> bool:
    """Whether a value has more than `LARGE_BYTES` of text or more than 2,000 members. Takes under 1 ms.

    Args:
        value: Made of JSON types and of objects with attributes, such as wire models.
    """
    left = LARGE_BYTES
    pending = [value]
    for _ in range(_LOOKED_AT):
        if not pending:
            return False
        found = pending.pop()
        if isinstance(found, str | bytes):
            left -= len(found)
        elif isinstance(found, (list, tuple, dict)):
            if len(found) > _LOOKED_AT:
                return True
            if isinstance(found, dict):
                left -= sum(len(name) for name in found if isinstance(name, str))
                pending.extend(found.values())
            else:
                pending.extend(found)
        elif isinstance(members := getattr(found, "__dict__", None), dict):
            pending.extend(members.values())
        if left < 0:
            return True
    return bool(pending)


def text_chars(value: object) -> int:
    """Characters of a JSON value's strings and names, and 8 for each member. For large values, call it by `offload`."""
    found = 0
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            found += len(each)
        elif isinstance(each, list):
            found += 8 * len(each)
            pending.extend(each)
        elif isinstance(each, dict):
            found += 8 * len(each) + sum(map(len, each))
            pending.extend(each.values())
    return found


class FairQueue:
    """Fair queue for one thread: it does one piece of work of an account, then one of the next account."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="svcnb-large-values")
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, deque[tuple[Future[Any], Callable[[], Any]]]] = OrderedDict()

    def submit(self, account: str, work: Callable[[], T]) -> Future[T]:
        """Adds a piece of work.

        Args:
            account: The account.
            work: A function that needs no event loop.
        """
        done: Future[T] = Future()
        with self._lock:
            self._waiting.setdefault(account, deque()).append((done, work))
        self._thread.submit(self._do_next)
        return done

    def _do_next(self) -> None:
        with self._lock:
            account, pieces = self._waiting.popitem(last=False)
            done, work = pieces.popleft()
            if pieces:
                self._waiting[account] = pieces  # behind the other accounts
        if not done.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - belongs to the waiting caller
            done.set_exception(error)
        else:
            done.set_result(result)


@cache
def _queue() -> FairQueue:
    return FairQueue()
