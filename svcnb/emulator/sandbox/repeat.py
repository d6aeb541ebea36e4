"""Host for repeated runs.

The second attempt receives results of the first attempt, so no operation with side effects runs twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeVar, cast

from svcnb.emulator.sandbox.answer_order import AnswerOrder
from svcnb.emulator.sandbox.protocol import (
    ABORTED,
    FetchRequest,
    FetchResponse,
    Host,
    Meter,
    Module,
    OperationRefused,
)
from svcnb.emulator.sandbox.same_request import Content, content, with_ids
from svcnb.protocol.limits import MAX_REPEATABLE_BYTES, ActionLimits

T = TypeVar("T")

_ENTRY_BYTES: Final = 1_024
DIVERGED_TEXT: Final = "The repeated run makes different requests"


@dataclass(eq=False)
class _Entry:
    """Operation of the run.

    Attributes:
        asked: Name and arguments of the operation.
        work: Future of the result or error. The operation continues even if the attempt ends first.
    """

    asked: tuple[object, ...]
    work: asyncio.Future[object]

    @cached_property
    def content(self) -> Content:
        """Content of the operation, for comparison with the operations of another attempt."""
        return _content(self.asked)

    @property
    def held(self) -> tuple[Callable[[], None], ...]:
        """Functions that release the memory budget of the result."""
        if not self.work.done() or self.work.cancelled() or self.work.exception() is not None:
            return ()
        result = self.work.result()
        return result.held if isinstance(result, FetchResponse) else ()


class RepeatableHost:
    """Host that stores the results of operations, so that a repeated run receives the same results.

    If the second attempt requests an operation of the first attempt, the host returns the stored result, or waits for
    the operation in progress. The second attempt uses each result once, in the order of the first attempt
    (`svcnb.emulator.sandbox.answer_order.AnswerOrder`). If the operations of the first attempt have more than
    `MAX_REPEATABLE_BYTES` bytes, the host discards completed operations. The second attempt then runs discarded key
    operations and read-only requests again. After the discard of any other request, the repeated run always diverges.

    Key operations and read-only requests are safe to repeat. Other requests are unsafe, because they can have side
    effects. The repeated run diverges if it makes a new unsafe request before it has made all unsafe requests of the
    first attempt. The repeated run also diverges if it ends before it has made all these requests. A run that diverges
    fails.

    Args:
        host: Host that executes new operations.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self.headers = host.headers
        self.account = host.account
        self._entries: list[_Entry] = []
        self._left: list[_Entry] | None = None
        self._elapsed_s = 0.0
        self._lost_its_way = False
        self._kept_bytes = 0
        self._discards = False
        self._held: list[Callable[[], None]] = []
        self._order = AnswerOrder()

    @property
    def operations(self) -> int:
        """Number of the run's operations that this host stores."""
        return len(self._entries)

    def repeat(self, elapsed_s: float) -> None:
        """Starts the second attempt of the run.

        Args:
            elapsed_s: Duration of the first attempt in seconds. The credit check includes this duration.
        """
        self._left = list(self._entries)
        self._elapsed_s = elapsed_s
        self._order.repeat()

    @property
    def diverged(self) -> bool:
        """Whether the finished repeated run diverged from the first attempt, as `RepeatableHost` defines it."""
        return self._lost_its_way or self._has_unused_effects

    @property
    def meter(self) -> Meter | None:
        """Credit check of the account that pays for both attempts."""
        meter = self._host.meter
        if meter is None or not self._elapsed_s:
            return meter
        return Meter(meter.every_s, lambda elapsed_s: meter.lasts(self._elapsed_s + elapsed_s))

    async def key_operation(self, kind: str, *arguments: str) -> str:
        """Executes an operation on keys, or returns its stored result. See `Host`."""
        return await self._answer((kind, *arguments), lambda: self._host.key_operation(kind, *arguments))

    async def fetch(self, request: FetchRequest, limits: ActionLimits) -> FetchResponse:
        """Makes an outbound request, or returns a stored response. See `Host`."""
        return await self._answer(("fetch", request), lambda: self._host.fetch(request, limits))

    async def package(self, specifier: str, importer: str | None) -> Module:
        """Returns the source of an imported module. See `Host`.

        This host does not store the result, because the import of a package has no side effects.
        """
        return await self._host.package(specifier, importer)

    def close(self) -> None:
        """Cancels unfinished operations and releases the memory budget. Call this method after the last attempt."""
        for entry in self._entries:
            entry.work.cancel()
        for release in (*self._held, *(each for entry in self._entries for each in entry.held)):
            release()
        # Errors and this host refer to each other. Without this step, their data stays in memory until the next
        # garbage collection.
        self._entries.clear()
        self._left = None
        self._order.give_up()

    @property
    def _has_unused_effects(self) -> bool:
        return any(not entry.content.is_safe for entry in self._left or ())

    async def _answer(self, asked: tuple[object, ...], ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
        entry = self._find(asked) or self._make(asked, ask)
        # The JSON-RPC ids of the stored request, with the ids of this equivalent request.
        ids = {} if entry.asked == asked else dict(zip(entry.content.ids, _content(asked).ids, strict=True))
        self._order.started(entry)
        try:
            await self._order.turn(entry)
            answer = await asyncio.shield(entry.work)
            self._note(_size(answer))
        except asyncio.CancelledError as error:
            if ABORTED in error.args:
                self._order.aborted(entry)
            raise
        finally:
            if entry.work.done():
                self._order.answered(entry)
                self._discard(entry)
            del entry  # an error of the operation contains a reference to this frame
        if isinstance(answer, FetchResponse):
            answer = await with_ids(answer, ids)
        return cast("T", answer)

    def _make(self, asked: tuple[object, ...], ask: Callable[[], Coroutine[Any, Any, object]]) -> _Entry:
        """Starts a new operation and returns its record.

        Raises:
            OperationRefused: The request makes the repeated run diverge.
        """
        if self._left is not None and not _content(asked).is_safe:
            self._lost_its_way = self._lost_its_way or self._has_unused_effects
            if self._lost_its_way:
                raise OperationRefused(DIVERGED_TEXT)
        entry = _Entry(asked, asyncio.ensure_future(ask()))
        entry.work.add_done_callback(_mark_retrieved)
        self._entries.append(entry)
        self._note(_ENTRY_BYTES + sum(map(_size, asked)))
        return entry

    def _note(self, size: int) -> None:
        """Adds to the number of stored bytes. Above the limit, discards completed operations of the first attempt."""
        self._kept_bytes += size
        if self._left is None and self._kept_bytes > MAX_REPEATABLE_BYTES:
            self._discards = True
            for entry in [entry for entry in self._entries if entry.work.done()]:
                self._discard(entry)

    def _discard(self, entry: _Entry) -> None:
        """Discards a completed operation if this host stores too many bytes."""
        if not self._discards or entry not in self._entries:
            return
        self._entries.remove(entry)
        self._held += entry.held  # release them in `close`, because the caller may have disconnected
        # A repeated run can execute the operation again, unless the operation can have side effects.
        if self._left is None:
            self._order.give_up()
            if not entry.content.is_safe:
                self._lost_its_way = True

    def _find(self, asked: tuple[object, ...]) -> _Entry | None:
        """Removes and returns the first remaining operation of the first attempt with this content, if any."""
        if not self._left:
            return None
        key = _content(asked).key
        entry = next((entry for entry in self._left if entry.content.key == key), None)
        if entry is not None:
            self._left.remove(entry)
        return entry


def _content(asked: tuple[object, ...]) -> Content:
    """Returns the comparable content of an operation.

    Key operations have no side effects, so the function marks them as safe to repeat.
    """
    request = asked[1] if asked[0] == "fetch" else None
    return content(request) if isinstance(request, FetchRequest) else Content(asked, is_safe=True)


def _size(value: object) -> int:
    """Returns the approximate size of a value of an operation, in bytes."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, FetchResponse):
        return len(value.body)
    if isinstance(value, FetchRequest):
        return len(value.url) + len(value.body or b"") + sum(len(name) + len(text) for name, text in value.headers)
    return 0


def _mark_retrieved(work: asyncio.Future[object]) -> None:
    """Marks the error of a future as retrieved. Otherwise, asyncio logs the error if no caller waits for the future."""
    if not work.cancelled():
        work.exception()
