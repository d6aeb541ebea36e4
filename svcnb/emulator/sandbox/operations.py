"""Operations of an action (keys, outbound requests and imports), with their limits and their events in the trace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from svcnb.emulator.sandbox.frames import BadFrame
from svcnb.emulator.sandbox.protocol import FetchRequest, Host, OperationRefused
from svcnb.emulator.sandbox.trace import Trace
from svcnb.protocol.limits import MAX_FETCH_HEADER_CHARS, MAX_FETCH_URL_CHARS, ActionLimits

_KEY_OPERATIONS: Final = frozenset({"wallet_key", "action_key", "action_public_key", "action_address"})
_ARGUMENTS: Final = {
    "wallet_key": ("pkpId",),
    "action_key": (),
    "action_public_key": ("ipfsId",),
    "action_address": ("ipfsId",),
    "encrypt": ("pkpId", "message"),
    "decrypt": ("pkpId", "ciphertext"),
}
"""Names of the arguments of each operation on keys."""


@dataclass(eq=False, repr=False)
class Operations:
    """Executor of the operations of one run.

    Attributes:
        host: Host that has the keys and makes the requests.
        limits: Limits of the run.
        trace: Trace that receives the events.
        ended: Function that returns whether the run has ended. If an operation is cancelled before the end
            of the run, the action has aborted the operation.
    """

    host: Host
    limits: ActionLimits
    trace: Trace
    ended: Callable[[], bool]

    def __post_init__(self) -> None:
        self._key_operations = 0
        self._fetches = 0
        self._held: tuple[Callable[[], None], ...] = ()

    @property
    def holds(self) -> bool:
        """Whether results of outbound requests still use a part of the memory budget."""
        return bool(self._held)

    def release(self) -> None:
        """Releases the memory budget of results that the isolate has received or will never receive."""
        held, self._held = self._held, ()
        for release in held:
            release()

    async def answer(self, kind: str, body: dict[str, Any], blob: bytes) -> tuple[dict[str, Any], bytes | bytearray]:
        """Executes one operation.

        Args:
            kind: Kind of the operation, which is its name in the isolate's bootstrap script.
            body: Arguments of the operation.
            blob: Bytes of the operation, such as the body of a request.

        Returns:
            The response for the isolate, and its bytes.

        Raises:
            OperationRefused: The operation is not permitted, or the run has reached a limit. The action receives the
                error.
            BadFrame: There is no operation of this kind.
        """
        if kind == "fetch":
            return await self._fetch(body, blob)
        if kind == "import":
            return await self._import(body)
        if kind not in _ARGUMENTS:
            raise BadFrame(f"unknown operation {kind[:32]!r}")
        return {"value": await self._key_operation(kind, body)}, b""

    async def _key_operation(self, kind: str, body: dict[str, Any]) -> str:
        if kind in _KEY_OPERATIONS:
            self._key_operations += 1
            if self._key_operations > self.limits.max_get_keys_count:
                self.trace.add("key", operation=kind, refused="limit")
                raise OperationRefused(
                    f"too many key operations: at most {self.limits.max_get_keys_count} are allowed per execution. "
                    "Request each key only once, and store it in a variable."
                )
        arguments = [str(body[name]) for name in _ARGUMENTS[kind]]
        event = "key" if kind in _KEY_OPERATIONS else kind
        since = self.trace.elapsed_s
        try:
            value = await self.host.key_operation(kind, *arguments)
        except OperationRefused as refused:
            self.trace.timed(event, since, operation=kind, refused=str(refused))
            raise
        self.trace.timed(event, since, operation=kind)
        return value

    async def _fetch(self, body: dict[str, Any], blob: bytes) -> tuple[dict[str, Any], bytes | bytearray]:
        self._fetches += 1
        method, url = str(body["method"]), str(body["url"])
        parts = urlsplit(url[:MAX_FETCH_URL_CHARS])
        about = {"method": method, "host": parts.hostname or ""}
        if self._fetches > self.limits.max_fetch_count:
            self.trace.add("fetch", **about, refused="limit")
            raise OperationRefused(
                f"too many outbound requests: at most {self.limits.max_fetch_count} are allowed per execution. Send "
                "fewer requests, or divide them among several executions."
            )
        if parts.scheme in {"data", "blob"}:
            self.trace.add("fetch", method=method, host="", scheme=parts.scheme)
            return {"local": True}, b""
        headers = tuple((str(name), str(value)) for name, value in body["headers"])
        _check_head(url, headers)
        request = FetchRequest(method, url, headers, blob if body["hasBody"] else None, str(body["redirect"]))
        since = self.trace.add("fetch", **about, phase="start")
        try:
            answer = await self.host.fetch(request, self.limits)
        except OperationRefused as refused:
            self.trace.timed("fetch", since, **about, refused=str(refused))
            raise
        except asyncio.CancelledError:
            if not self.ended():
                self.trace.timed("fetch", since, **about, refused="aborted")
            raise
        self.trace.timed("fetch", since, **about, status=answer.status, bytes=len(answer.body))
        self._held += answer.held
        meta = {
            "status": answer.status,
            "statusText": answer.status_text,
            "headers": answer.headers,
            "url": answer.url,
            "redirected": answer.redirected,
        }
        return meta, answer.body

    async def _import(self, body: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        importer = body.get("importer")
        module = await self.host.package(str(body["specifier"]), None if importer is None else str(importer))
        source = module.source.encode()
        self.trace.add("import", name=module.name, bytes=len(source))
        about = {"name": module.name, "integrity": module.integrity, "bytes": len(source)}
        return {**about, "source": module.source}, b""


def _check_head(url: str, headers: tuple[tuple[str, str], ...]) -> None:
    """Rejects an outbound request whose parsing would block the event loop for too long.

    Raises:
        OperationRefused: The URL or the headers are too long. The action receives a TypeError.
    """
    if len(url) > MAX_FETCH_URL_CHARS:
        what = (
            f"the URL has {len(url)} characters, but at most {MAX_FETCH_URL_CHARS} are allowed: send long data in the "
            "body"
        )
    elif (size := sum(len(name) + len(value) for name, value in headers)) > MAX_FETCH_HEADER_CHARS:
        what = (
            f"the headers have {size} characters, but at most {MAX_FETCH_HEADER_CHARS} are allowed: send fewer headers"
        )
    else:
        return
    raise OperationRefused(f"fetch failed: {what}", name="TypeError")
