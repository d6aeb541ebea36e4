"""JSON-RPC connections to chain nodes, over HTTP or to the emulator's own chain in this process."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from svcnb.emulator.errors import ChainUnavailable
from svcnb.emulator.platform.offload import LARGE_BYTES, offload
from svcnb.protocol import json_rpc
from svcnb.protocol.json_rpc import RpcError
from svcnb.protocol.limits import MAX_RPC_RESPONSE_BYTES, RPC_TIMEOUT_S
from svcnb.protocol.nesting import parse

if TYPE_CHECKING:
    import httpx

_PIECE_BYTES: Final = 128 * 1024
_CLOSE_S: Final = 1.0


class Rpc:
    """JSON-RPC connection to one chain.

    Args:
        post: Function that sends a JSON-RPC request object and returns the response object.
        close: Function that closes the connections, or None if there are no connections.
    """

    def __init__(
        self, post: Callable[[dict[str, Any]], Awaitable[Any]], close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._post = post
        self._close = close
        self._ids = itertools.count(1)

    async def request(self, method: str, *params: Any) -> Any:
        """Sends a request and returns the result.

        Raises:
            RpcError: The chain returned an error, or the response is too long.
            ChainUnavailable: The chain did not respond within 30 seconds, or its response is invalid. The message omits
                the URL, which can contain a key.
        """
        message = json_rpc.request(next(self._ids), method, params)
        try:
            async with asyncio.timeout(RPC_TIMEOUT_S):
                return json_rpc.result(await self._post(message))
        except (RpcError, ChainUnavailable):
            raise
        except TimeoutError:
            raise ChainUnavailable(f"{method}: the chain node did not respond within {RPC_TIMEOUT_S:g} s") from None
        except json_rpc.InvalidResponse as error:
            raise ChainUnavailable(f"{method}: {error}") from None
        except Exception as error:  # noqa: BLE001 - a chain can fail in any way
            raise ChainUnavailable(f"{method}: the request failed with {type(error).__name__}") from None

    async def number(self, method: str = "eth_blockNumber", *params: Any) -> int:
        """Sends a request whose result is a number, and returns the number.

        The default, ``eth_blockNumber``, returns the number of the newest block.

        Raises:
            ChainUnavailable: The chain did not respond, or returned an error or a result that is not a number.
        """
        try:
            return int(await self.request(method, *params), 16)
        except RpcError as error:
            raise ChainUnavailable(f"{method}: {error}") from None
        except (TypeError, ValueError):
            raise ChainUnavailable(f"{method}: the response is not a number") from None

    async def block_hash(self, number: int) -> str | None:
        """Returns the hash of a block, or None if the block does not exist."""
        block = await self.request("eth_getBlockByNumber", hex(number), False)  # noqa: FBT003 - an argument of the JSON-RPC method
        return None if block is None else str(block["hash"])

    async def close(self) -> None:
        """Closes the connections to the chain."""
        if self._close is not None:
            await self._close()


def over_http(url: str) -> Rpc:
    """Returns an HTTP connection to a chain.

    Args:
        url: JSON-RPC URL of the chain, which error messages never contain.
    """
    node = _HttpNode(url)
    return Rpc(node.post, node.close)


class _HttpNode:
    def __init__(self, url: str) -> None:
        self._url = url
        self._client: httpx.AsyncClient | None = None
        self._under_way: set[asyncio.Task[Any]] = set()

    async def post(self, request: dict[str, Any]) -> Any:
        # Cancel only the wait, because a request that is cancelled while its connection opens never closes the
        # connection.
        asked = asyncio.ensure_future(self._ask(request))
        self._under_way.add(asked)
        asked.add_done_callback(self._done)
        return await asyncio.shield(asked)

    async def close(self) -> None:
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=_CLOSE_S)
            for asked in late:
                asked.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()

    async def _ask(self, request: dict[str, Any]) -> Any:
        import httpx

        if self._client is None:
            self._client = httpx.AsyncClient(timeout=RPC_TIMEOUT_S)
        pieces: list[bytes] = []
        size = 0
        async with self._client.stream("POST", self._url, json=request) as answer:
            async for piece in answer.aiter_bytes(_PIECE_BYTES):
                size += len(piece)
                if size > MAX_RPC_RESPONSE_BYTES:
                    raise json_rpc.too_large(MAX_RPC_RESPONSE_BYTES)
                pieces.append(piece)
        try:
            return await offload(_parsed, pieces) if size > LARGE_BYTES else _parsed(pieces)
        except ValueError:
            raise ChainUnavailable(
                f"{request['method']}: the response has status {answer.status_code} and is not JSON"
            ) from None

    def _done(self, asked: asyncio.Task[Any]) -> None:
        self._under_way.discard(asked)
        if not asked.cancelled():
            asked.exception()  # mark the error as retrieved, because the caller may have disconnected


def _parsed(pieces: list[bytes]) -> Any:
    return parse(b"".join(pieces))
