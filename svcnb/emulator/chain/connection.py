"""JSON-RPC connections to a node: over a Unix socket to our own, over HTTP to any other.

Our own node listens on a socket in a private folder. It answers in 65 microseconds, compared with 530 over keep-alive
HTTP on loopback. It needs no port, and no other user or web page of the machine can reach it.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from svcnb.emulator.chain.errors import ChainUnavailable, RpcError
from svcnb.emulator.platform.offload import LARGE_BYTES, is_large, offload

if TYPE_CHECKING:
    import httpx

LARGEST_ANSWER: Final = 1 << 30
_TIMEOUT_S: Final = 30.0


class ConnectionLost(ChainUnavailable):
    """The connection to the node is lost. Whether the node executed the request is unknown."""


class Connection(Protocol):
    """Connection to a node."""

    async def request(self, method: str, *params: Any) -> Any:
        """Sends a request and returns the result.

        Raises:
            RpcError: The node answered with an error.
            ChainUnavailable: The node did not answer.
        """

    async def close(self) -> None:
        """Closes the connection."""


class StreamConnection:
    """Connection over a Unix socket or the pipes of a process. Requests may overlap."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._lost: ConnectionLost | None = None
        self._parsing: set[asyncio.Task[None]] = set()
        self._task = asyncio.create_task(self._listen(), name="svcnb-chain-answers")

    @classmethod
    async def open(cls, path: Path) -> StreamConnection:
        """Connects.

        Raises:
            OSError: No process listens there.
        """
        return cls(*await asyncio.open_unix_connection(path, limit=LARGEST_ANSWER))

    async def request(self, method: str, *params: Any) -> Any:
        """As in `Connection`."""
        if self._lost is not None:
            raise self._lost
        number = next(self._ids)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        try:
            text = await offload(json.dumps, message) if is_large(params) else json.dumps(message)
            self._writer.write(text.encode() + b"\n")
            await self._writer.drain()
            async with asyncio.timeout(_TIMEOUT_S):
                return await answer
        except TimeoutError as error:
            raise ChainUnavailable(f"no answer to {method} within {_TIMEOUT_S:.0f} s") from error
        except OSError as error:
            raise ConnectionLost(f"the node is gone: {error}") from error
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """As in `Connection`."""
        tasks = [self._task, *self._parsing]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _listen(self) -> None:
        reason = "it closed the connection"
        try:
            while line := await self._reader.readline():
                if len(line) > LARGE_BYTES:
                    self._parse_beside(line)  # later answers need not wait
                else:
                    self._hear(json.loads(line))
        except (OSError, ValueError) as error:
            reason = str(error)
        finally:
            self._lost = ConnectionLost(f"the node is gone: {reason}")
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(self._lost)

    def _parse_beside(self, line: bytes) -> None:
        parsing = asyncio.create_task(self._hear_large(line))
        self._parsing.add(parsing)
        parsing.add_done_callback(self._parsing.discard)

    async def _hear_large(self, line: bytes) -> None:
        try:
            message = await offload(json.loads, line)
        except ValueError:
            self._task.cancel()  # after an unreadable answer, the rest is unreadable too
            return
        self._hear(message)

    def _hear(self, message: dict[str, Any]) -> None:
        answer = self._waiting.get(message.get("id") or 0)
        if answer is None or answer.done():
            return
        try:
            answer.set_result(result_of(message))
        except RpcError as error:
            answer.set_exception(error)


class HttpConnection:
    """Connection over HTTP.

    Args:
        url: The node's address. It may contain a secret, so no error repeats it.
    """

    def __init__(self, url: str) -> None:
        import httpx

        self._client: httpx.AsyncClient = httpx.AsyncClient(timeout=_TIMEOUT_S)
        self._url = url
        self._ids = count(1)

    async def request(self, method: str, *params: Any) -> Any:
        """As in `Connection`."""
        import httpx

        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        try:
            answer = await self._client.post(self._url, json=message)
            content = await offload(answer.json) if len(answer.content) > LARGE_BYTES else answer.json()
        except httpx.HTTPError as error:
            raise ChainUnavailable(f"{method}: {type(error).__name__}") from error
        except ValueError as error:
            raise ChainUnavailable(f"{method}: status {answer.status_code}, and the body is not JSON") from error
        if not isinstance(content, dict) or not ("result" in content or "error" in content):
            raise ChainUnavailable(f"{method}: status {answer.status_code}, and the body is no JSON-RPC answer")
        return result_of(content)

    async def close(self) -> None:
        """As in `Connection`."""
        await self._client.aclose()


def result_of(message: dict[str, Any]) -> Any:
    """Returns the result in an answer.

    Raises:
        RpcError: The answer is an error.
    """
    error = message.get("error")
    if error is None:
        return message.get("result")
    if not isinstance(error, dict):
        raise RpcError(-32603, str(error))
    raise RpcError(int(error.get("code", -32603)), str(error.get("message", "")), error.get("data"))
