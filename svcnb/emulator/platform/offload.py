"""Executor for work on large untrusted values outside of the event loop.

Parsing or encoding several hundred kilobytes of JSON blocks the event loop for milliseconds. Therefore, one thread
processes values larger than `LARGE_BYTES`, one at a time. The thread serves the accounts in rotation.
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
"""Maximum size in bytes of a text that the event loop processes itself. The processing takes at most 5 ms."""

current_account: ContextVar[str] = ContextVar("current_account", default="")
"""Identifier of the current task's account: its billing wallet, or its user id in the triggers.

The value is empty until the service has authenticated the caller.
"""

_LOOKED_AT: Final = 2_000
_DONE: Final[set[Callable[[], object]]] = set()


async def offload(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs a function in the thread for large values and returns its result.

    In a browser page, which has only one thread, the function runs immediately.

    Args:
        work: Function that does not use the event loop.
        *args: Positional arguments of the function.
        **kwargs: Keyword arguments of the function.
    """
    if IN_PAGE:  # a browser page has only one thread
        return work(*args, **kwargs)
    return await asyncio.wrap_future(_queue().submit(current_account.get(), partial(work, *args, **kwargs)))


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs a function in a separate thread, for example to read files.

    For arguments and browser pages, see `offload`.
    """
    if IN_PAGE:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)


async def once_in_thread(work: Callable[[], object]) -> None:
    """Runs ``work`` in a separate thread, unless an earlier call has completed ``work``. Suitable to load modules."""
    if work not in _DONE:
        await in_thread(work)
        _DONE.add(work)


def is_large(value: object) -> bool:
    """Returns whether a value has more than `LARGE_BYTES` of text or 2,000 items. The check takes less than 1 ms.

    Args:
        value: JSON value or object with attributes, such as a wire model.
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
    """Returns the size of a JSON value: the characters of strings and names, plus 8 per item."""
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
    """Fair queue for one thread. The thread processes one task of each account in turn."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="svcnb-large-values")
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, deque[tuple[Future[Any], Callable[[], Any]]]] = OrderedDict()

    def submit(self, account: str, work: Callable[[], T]) -> Future[T]:
        """Adds a task and returns the future of its result.

        Args:
            account: Identifier of the account. The queue serves the accounts in turn.
            work: Function that does not use the event loop.
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
                self._waiting[account] = pieces  # the account comes after the other accounts
        if not done.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - the waiting caller receives the exception
            done.set_exception(error)
        else:
            done.set_result(result)


@cache
def _queue() -> FairQueue:
    return FairQueue()
