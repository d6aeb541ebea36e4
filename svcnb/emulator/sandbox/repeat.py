"""Host for repeated runs. It answers the second attempt as the first, so that no operation happens twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from svcnb.emulator.sandbox.protocol import (
    FetchRequest,
    FetchResponse,
    Host,
    Meter,
    Module,
    OperationRefused,
)
from svcnb.protocol.limits import ActionLimits

T = TypeVar("T")

MAX_REPEATABLE_BYTES: Final = 8 * 1024 * 1024
"""Maximum bytes of remembered operations and answers. A run with larger requests or answers is not repeated."""
_ENTRY_BYTES: Final = 1_024
ASTRAY_TEXT: Final = "The repeated run makes other requests than before"


@dataclass(frozen=True, eq=False)
class _Entry:
    """One operation of the first attempt.

    Attributes:
        asked: Its name and arguments.
        is_request: Whether it reaches beyond the service.
        work: Its answer or refusal. It continues if the attempt ends first.
    """

    asked: tuple[object, ...]
    is_request: bool
    work: asyncio.Future[object]

    @property
    def held(self) -> tuple[Callable[[], None], ...]:
        """Functions that release the memory budget of its answer."""
        if not self.work.done() or self.work.cancelled() or self.work.exception() is not None:
            return ()
        result = self.work.result()
        return result.held if isinstance(result, FetchResponse) else ()


class RepeatableHost:
    """Host that remembers its answers, so that a repeated run gets the same ones.

    Operations of the first attempt are answered from memory, or by the same request if it is still under way. A key
    operation can be repeated without harm. A request cannot, because it may have had effects elsewhere.

    So the repetition diverges in two cases. It makes a new request while requests of the first attempt are unused, or
    it ends without having made one of them.

    Args:
        host: Answers new operations.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._entries: list[_Entry] = []
        self._left: list[_Entry] | None = None
        self._elapsed_s = 0.0
        self._lost_its_way = False
        self._kept_bytes = 0
        self._forgets = False
        self._held: list[Callable[[], None]] = []

    @property
    def operations(self) -> int:
        """How many operations the run has requested."""
        return len(self._entries)

    def repeat(self, elapsed_s: float) -> None:
        """Starts the second attempt of the run.

        Args:
            elapsed_s: Seconds that the first attempt took. They count for the credit of the paying account.
        """
        self._left = list(self._entries)
        self._elapsed_s = elapsed_s

    @property
    def astray(self) -> bool:
        """Whether the finished repetition does not match the operations that happened."""
        return self._lost_its_way or any(entry.is_request for entry in self._left or ())

    @property
    def headers(self) -> dict[str, str]:
        """Request and correlation id."""
        return self._host.headers

    @property
    def account(self) -> str:
        """The account of the run."""
        return self._host.account

    @property
    def meter(self) -> Meter | None:
        """Checks the credit of the account that pays for both attempts."""
        meter = self._host.meter
        if meter is None or not self._elapsed_s:
            return meter
        return Meter(meter.every_s, lambda elapsed_s: meter.lasts(self._elapsed_s + elapsed_s))

    async def get_private_key(self, pkp_id: str) -> str:
        """See `Host`."""
        return await self._answer(("wallet_key", pkp_id), lambda: self._host.get_private_key(pkp_id))

    async def get_action_private_key(self) -> str:
        """See `Host`."""
        return await self._answer(("action_key",), self._host.get_action_private_key)

    async def get_action_public_key(self, ipfs_id: str) -> str:
        """See `Host`."""
        return await self._answer(("public_key", ipfs_id), lambda: self._host.get_action_public_key(ipfs_id))

    async def get_action_wallet_address(self, ipfs_id: str) -> str:
        """See `Host`."""
        return await self._answer(("address", ipfs_id), lambda: self._host.get_action_wallet_address(ipfs_id))

    async def encrypt(self, pkp_id: str, message: str) -> str:
        """See `Host`."""
        return await self._answer(("encrypt", pkp_id, message), lambda: self._host.encrypt(pkp_id, message))

    async def decrypt(self, pkp_id: str, ciphertext: str) -> str:
        """See `Host`."""
        return await self._answer(("decrypt", pkp_id, ciphertext), lambda: self._host.decrypt(pkp_id, ciphertext))

    async def fetch(self, request: FetchRequest, limits: ActionLimits) -> FetchResponse:
        """See `Host`."""
        return await self._answer(("fetch", request), lambda: self._host.fetch(request, limits), is_request=True)

    async def package(self, specifier: str, importer: str | None) -> Module:
        """See `Host`. Loading a package changes nothing, so it is not remembered."""
        return await self._host.package(specifier, importer)

    def close(self) -> None:
        """Cancels requests without a waiting caller, after both attempts have ended."""
        for entry in self._entries:
            entry.work.cancel()
        for give_back in (*self._held, *(each for entry in self._entries for each in entry.held)):
            give_back()
        # Errors refer to this host, and the host to them. Without this step, their data waits for the garbage
        # collector.
        self._entries.clear()
        self._left = None

    async def _answer(
        self, asked: tuple[object, ...], ask: Callable[[], Coroutine[Any, Any, T]], *, is_request: bool = False
    ) -> T:
        entry = self._find(asked)
        if entry is None:
            if is_request and self._left is not None and self._lost_its_way:
                raise OperationRefused(ASTRAY_TEXT)
            if is_request and any(other.is_request for other in self._left or ()):
                self._lost_its_way = True
                raise OperationRefused(ASTRAY_TEXT)
            entry = _Entry(asked, is_request, asyncio.ensure_future(ask()))
            entry.work.add_done_callback(_look_at)
            self._entries.append(entry)
            self._note(_ENTRY_BYTES + sum(map(_size, asked)))
        try:
            answer = await asyncio.shield(entry.work)
            self._note(_size(answer))
        finally:
            if entry.work.done():
                self._forget(entry)
            del entry  # an error of the operation refers to this frame
        return cast("T", answer)

    def _note(self, size: int) -> None:
        """Counts the bytes remembered for a repetition."""
        self._kept_bytes += size
        if self._left is None and self._kept_bytes > MAX_REPEATABLE_BYTES:
            self._forgets = True
            for entry in [entry for entry in self._entries if entry.work.done()]:
                self._forget(entry)

    def _forget(self, entry: _Entry) -> None:
        """Drops an answered operation once there are too many bytes to remember."""
        if not self._forgets or entry not in self._entries:
            return
        self._entries.remove(entry)
        self._held += entry.held  # the caller may have gone
        # A key operation may be repeated; a request must not be made twice.
        if entry.is_request and self._left is None:
            self._lost_its_way = True

    def _find(self, asked: tuple[object, ...]) -> _Entry | None:
        entry = next((entry for entry in self._left or () if entry.asked == asked), None)
        if entry is not None and self._left is not None:
            self._left.remove(entry)
        return entry


def _size(value: object) -> int:
    """Approximate size of a part of an operation, in bytes."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, FetchResponse):
        return len(value.body)
    if isinstance(value, FetchRequest):
        return len(value.url) + len(value.body or b"") + sum(len(name) + len(text) for name, text in value.headers)
    return 0


def _look_at(work: asyncio.Future[object]) -> None:
    """Ignores a refusal without a waiting caller."""
    if not work.cancelled():
        work.exception()
