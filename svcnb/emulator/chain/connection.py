"""JSON-RPC connection to the emulator's own node.

The anvil node listens on a Unix socket in a private folder. A response takes about 65 microseconds, compared with 530
microseconds over keep-alive HTTP on loopback. The socket needs no port. Web pages and other users of the machine cannot
connect to the socket. A node in a Deno process uses the pipes of the process instead.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from svcnb.emulator.chain.errors import ChainUnavailable, RpcError
from svcnb.emulator.platform.offload import LARGE_BYTES, is_large, offload
from svcnb.protocol import json_rpc
from svcnb.protocol.limits import RPC_TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST_ANSWER: Final = 1 << 30
"""Maximum length in bytes of a response to a request of the emulator itself, such as a dump of the state."""
PIECE_BYTES: Final = 128 * 1024
_HEAD: Final = re.compile(rb'\{(?:"jsonrpc":"2\.0",)?"id":([0-9]{1,18}),')
"""Pattern for the beginning of a response from the built-in nodes, with the id of the request."""


class ConnectionLost(ChainUnavailable):
    """Error for a lost connection to the node. It is unknown whether the node executed the request."""


class Connection(Protocol):
    """JSON-RPC connection to a chain node."""

    async def request(self, method: str, *params: Any, limit: int = LARGEST_ANSWER) -> Any:
        """Sends a request and returns the result.

        Args:
            method: Name of the JSON-RPC method.
            *params: Parameters of the method.
            limit: Maximum length of the response, in bytes.

        Raises:
            RpcError: The node returned an error, or a response longer than ``limit``.
            ChainUnavailable: The node did not respond, or its response is invalid.
        """

    async def close(self) -> None:
        """Closes the connection. Later requests raise `ConnectionLost`."""


@dataclass
class _Pending:
    """Request that waits for its response."""

    answer: asyncio.Future[Any]
    limit: int


class StreamConnection:
    """Connection with overlapping requests, over a Unix socket or over the pipes of a process.

    The connection writes and reads large messages in parts, so that large messages do not block the event loop.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ids = count(1)
        self._waiting: dict[int, _Pending] = {}
        self._lost: ConnectionLost | None = None
        self._parsing: set[asyncio.Task[None]] = set()
        self._writing = asyncio.Lock()
        self._task = asyncio.create_task(self._listen(), name="svcnb-chain-answers")

    @classmethod
    async def open(cls, path: Path) -> StreamConnection:
        """Connects to a Unix socket and returns the connection.

        Raises:
            OSError: No process listens on the socket.
        """
        return cls(*await asyncio.open_unix_connection(path, limit=PIECE_BYTES))

    async def request(self, method: str, *params: Any, limit: int = LARGEST_ANSWER) -> Any:
        """Sends a request and returns the result. See `Connection`."""
        if self._lost is not None:
            raise self._lost
        number = next(self._ids)
        asked = _Pending(asyncio.get_running_loop().create_future(), limit)
        self._waiting[number] = asked
        message = json_rpc.request(number, method, params)
        try:
            line = await offload(_line, message) if is_large(params) else _line(message)
            async with asyncio.timeout(RPC_TIMEOUT_S) as deadline:
                await self._write(line)  # a stopped node does not read
                if len(line) > PIECE_BYTES:
                    deadline.reschedule(asyncio.get_running_loop().time() + RPC_TIMEOUT_S)
                return await asked.answer
        except TimeoutError as error:
            raise ChainUnavailable(
                f"the chain node did not respond to {method} within {RPC_TIMEOUT_S:.0f} s"
            ) from error
        except OSError as error:
            raise ConnectionLost(f"the connection to the chain node is lost ({error})") from error
        finally:
            self._waiting.pop(number, None)
            if asked.answer.done() and not asked.answer.cancelled():
                asked.answer.exception()  # otherwise, asyncio logs the error of a request whose write failed

    async def close(self) -> None:
        """Cancels the tasks that read responses, and closes the connection. Ignores errors of the socket."""
        tasks = [self._task, *self._parsing]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._writer.transport.abort()  # unlike close, abort does not wait until the node has read all requests
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _write(self, line: bytes) -> None:
        async with self._writing:  # prevent other messages between two parts
            for at in range(0, len(line), PIECE_BYTES):
                self._writer.write(line[at : at + PIECE_BYTES])
                try:
                    await self._writer.drain()
                except asyncio.CancelledError:
                    # After a part of a message, the node cannot parse the next message.
                    self._writer.write(line[at + PIECE_BYTES :])
                    raise

    async def _listen(self) -> None:
        reason = "it was closed"
        line = _Line(self._limit_of)
        try:
            while piece := await self._reader.read(PIECE_BYTES):
                *ends, rest = piece.split(b"\n")
                for end in ends:
                    line.add(end)
                    self._take(line)
                    line = _Line(self._limit_of)
                line.add(rest)
        except (OSError, ValueError) as error:
            reason = str(error)
        finally:
            self._lost = ConnectionLost(f"the connection to the chain node is lost ({reason})")
            for asked in self._waiting.values():
                if not asked.answer.done():
                    asked.answer.set_exception(self._lost)

    def _limit_of(self, number: int) -> int:
        asked = self._waiting.get(number)
        return 0 if asked is None else asked.limit  # no request waits for this response

    def _take(self, line: _Line) -> None:
        if line.is_dropped:
            if (asked := self._waiting.get(line.number)) is not None and not asked.answer.done():
                asked.answer.set_exception(json_rpc.too_large(asked.limit))
        elif line.size > LARGE_BYTES:
            # Start a task, so that later responses do not have to wait.
            parsing = asyncio.create_task(self._handle_large(line))
            self._parsing.add(parsing)
            parsing.add_done_callback(self._parsing.discard)
        else:
            self._handle(line.parse())

    async def _handle_large(self, line: _Line) -> None:
        try:
            message = await offload(line.parse)
        except ValueError:
            self._task.cancel()  # after an unreadable response, the rest of the stream is also unreadable
            return
        self._handle(message)

    def _handle(self, message: dict[str, Any]) -> None:
        asked = self._waiting.get(message.get("id") or 0)
        if asked is None or asked.answer.done():
            return
        try:
            asked.answer.set_result(json_rpc.result(message))
        except RpcError as error:
            asked.answer.set_exception(error)
        except json_rpc.InvalidResponse as error:
            asked.answer.set_exception(ChainUnavailable(str(error)))


class _Line:
    """Response that arrives in parts. The object discards the parts of a response that is longer than allowed.

    Args:
        limit_of: Function that returns the maximum response length in bytes for a request id.
    """

    def __init__(self, limit_of: Callable[[int], int]) -> None:
        self._limit_of = limit_of
        self._pieces: list[bytes] = []
        self._limit = LARGEST_ANSWER
        self.size = 0
        self.number = 0
        self.is_dropped = False

    def add(self, piece: bytes) -> None:
        """Appends a part of the response.

        Raises:
            ValueError: The response has no id and is too long.
        """
        self.size += len(piece)
        if self.is_dropped or not piece:
            return
        self._pieces.append(piece)
        if not self.number and self.size > LARGE_BYTES and (found := _HEAD.match(b"".join(self._pieces[:2]))):
            self.number = int(found[1])
            self._limit = self._limit_of(self.number)
        if self.size > self._limit:
            if not self.number:
                raise ValueError(f"a response without an id has more than {self._limit} bytes")
            self.is_dropped = True
            self._pieces.clear()

    def parse(self) -> Any:
        return json.loads(b"".join(self._pieces))


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"
