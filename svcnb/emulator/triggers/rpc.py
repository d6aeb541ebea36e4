"""JSON-RPC client for chains. Calls the built-in chain directly, and others over HTTP."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from svcnb.emulator.platform.offload import LARGE_BYTES, offload

if TYPE_CHECKING:
    import httpx

_TIMEOUT_S: Final = 30.0
_FAREWELL_S: Final = 1.0


class RpcTrouble(Exception):
    """A chain did not answer, or answered with an error.

    Args:
        message: What happened, without the address of the chain, which may contain a key.
        code: JSON-RPC error code, None when there was no answer.
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


class Rpc:
    """Connection to one chain.

    Args:
        post: Sends a JSON-RPC request object and returns the answer object.
        close: Closes connections.
    """

    def __init__(
        self, post: Callable[[dict[str, Any]], Awaitable[Any]], close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._post = post
        self._close = close
        self._ids = itertools.count(1)

    async def call(self, method: str, *params: object) -> Any:
        """Calls a method.

        Returns:
            The ``result`` member.

        Raises:
            RpcTrouble: No answer within thirty seconds, or an error.
        """
        request = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": list(params)}
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                answer = await self._post(request)
        except RpcTrouble:
            raise
        except TimeoutError:
            raise RpcTrouble(f"{method}: no answer within {_TIMEOUT_S:g} s") from None
        except Exception as error:  # noqa: BLE001 - a chain may fail in any way; the next poll tries again
            raise RpcTrouble(f"{method}: {type(error).__name__}") from None
        if not isinstance(answer, dict) or ("result" not in answer and "error" not in answer):
            raise RpcTrouble(f"{method}: the answer is not JSON-RPC")
        if problem := answer.get("error"):
            message, code = (problem.get("message"), problem.get("code")) if isinstance(problem, dict) else (problem, 0)
            raise RpcTrouble(f"{method}: {str(message)[:200]}", code if isinstance(code, int) else 0)
        return answer["result"]

    async def number(self) -> int:
        """The newest block's number."""
        return int(await self.call("eth_blockNumber"), 16)

    async def block_hash(self, number: int) -> str | None:
        """The hash of a block, or None when the block does not exist."""
        block = await self.call("eth_getBlockByNumber", hex(number), False)  # noqa: FBT003 - the protocol's argument
        return None if block is None else str(block["hash"])

    async def close(self) -> None:
        """Closes connections."""
        if self._close is not None:
            await self._close()


def over_http(url: str) -> Rpc:
    """A connection to a chain behind a URL.

    Args:
        url: Its JSON-RPC address. It never appears in errors.
    """
    chain = _OverHttp(url)
    return Rpc(chain.post, chain.close)


class _OverHttp:
    def __init__(self, url: str) -> None:
        self._url = url
        self._client: httpx.AsyncClient | None = None
        self._under_way: set[asyncio.Task[Any]] = set()

    async def post(self, request: dict[str, Any]) -> Any:
        # Cancelling a request while its connection is being made leaves the connection open. So only the wait is
        # cancelled.
        asked = asyncio.ensure_future(self._ask(request))
        self._under_way.add(asked)
        asked.add_done_callback(self._done)
        return await asyncio.shield(asked)

    async def close(self) -> None:
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=_FAREWELL_S)
            for asked in late:
                asked.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()

    async def _ask(self, request: dict[str, Any]) -> Any:
        import httpx

        if self._client is None:
            self._client = httpx.AsyncClient(timeout=_TIMEOUT_S)
        answer = await self._client.post(self._url, json=request)
        if answer.is_error and not answer.headers.get("content-type", "").startswith("application/json"):
            raise RpcTrouble(f"{request['method']}: HTTP {answer.status_code}")
        return await offload(answer.json) if len(answer.content) > LARGE_BYTES else answer.json()

    def _done(self, asked: asyncio.Task[Any]) -> None:
        self._under_way.discard(asked)
        if not asked.cancelled():
            asked.exception()  # the caller may be gone
