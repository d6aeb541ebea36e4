"""Memory limit for the bodies of requests in progress, shared by all callers."""

from __future__ import annotations

from collections import Counter
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from svcnb.emulator.errors import StructuredError
from svcnb.protocol.limits import MAX_BODIES_BYTES, MAX_BODIES_BYTES_PER_CALLER

_CREDENTIALS: Final = frozenset({b"x-api-key", b"authorization", b"x-wallet-auth"})
_RETRY_AFTER_S: Final = 1


class BodyBudget:
    """Middleware that limits the memory for the received bodies of requests in progress.

    A single caller cannot use the whole budget. A credential identifies the caller. Requests without a credential share
    one part.

    Args:
        app: The application. It converts an error while reading a body to a response.
        total: Maximum number of body bytes in memory.
        per_caller: Maximum number of body bytes in memory for one caller.
    """

    def __init__(
        self, app: ASGIApp, *, total: int = MAX_BODIES_BYTES, per_caller: int = MAX_BODIES_BYTES_PER_CALLER
    ) -> None:
        self._app = app
        self._total = total
        self._per_caller = per_caller
        self._held: Counter[int] = Counter()
        self._all = 0

    @property
    def held(self) -> int:
        """Number of body bytes of all requests in progress."""
        return self._all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = hash(tuple(value for name, value in scope["headers"] if name in _CREDENTIALS))
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            if size := len(message.get("body", b"")):
                self._take(caller, size)
                taken += size
            return message

        try:
            await self._app(scope, counted, send)
        finally:
            self._give_back(caller, taken)

    def _take(self, caller: int, size: int) -> None:
        if self._all + size > self._total:
            raise _used_up(f"The bodies of all requests in progress already contain {self._total} bytes")
        if self._held[caller] + size > self._per_caller:
            raise _used_up(f"The bodies of this caller's requests in progress already contain {self._per_caller} bytes")
        self._held[caller] += size
        self._all += size

    def _give_back(self, caller: int, size: int) -> None:
        self._all -= size
        self._held[caller] -= size
        if self._held[caller] <= 0:
            del self._held[caller]


def _used_up(what: str) -> StructuredError:
    return StructuredError(
        503,
        f"{what}, which is the maximum.",
        fix="Wait until other requests have ended, or send smaller bodies. An action can fetch large data.",
        headers={"Retry-After": str(_RETRY_AFTER_S)},
    )
