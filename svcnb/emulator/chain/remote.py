"""External chain, which has no journal, faucet or snapshots. The module polls the chain's blocks for events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from svcnb.emulator.chain.errors import ChainUnavailable, RpcError
from svcnb.emulator.chain.events import ignore
from svcnb.emulator.platform.json_rpc import over_http
from svcnb.protocol.limits import CHAIN_EVENT_SCAN_BLOCKS

log = logging.getLogger(__name__)

_RECEIPT_S: Final = 120.0
_FIRST_WAIT_S: Final = 0.05
_LONGEST_WAIT_S: Final = 2.0
_EVENT_POLL_S: Final = 1.0


class RemoteChain:
    """Chain at an external JSON-RPC endpoint.

    Args:
        url: URL of the endpoint.
    """

    def __init__(self, url: str) -> None:
        self._connection = over_http(url)
        self._poller: asyncio.Task[None] | None = None
        self.head = 0
        """Number of the last block whose events this object has read."""
        self.on_receipt: Callable[[dict[str, Any]], Awaitable[None]] = ignore
        """Coroutine function to call with each receipt, before the sender of the transaction receives a response.

        The polling for events also calls the function, with a dictionary that contains only the key ``logs``.
        """

    @property
    def node_pid(self) -> int:
        """Always 0, because the emulator does not run a process for this chain."""
        return 0

    async def chain_id(self) -> int:
        """Returns the chain id that the external chain reports."""
        return await self._connection.number("eth_chainId")

    async def stop(self) -> None:
        """Stops the polling for events, and closes the connection. The external chain continues to run."""
        if self._poller is not None:
            self._poller.cancel()
            await asyncio.gather(self._poller, return_exceptions=True)
        await self._connection.close()

    async def request(self, method: str, *params: Any) -> Any:
        """Sends a request to the chain.

        Raises:
            RpcError: The chain returned an error.
            ChainUnavailable: The chain did not respond.
        """
        return await self._connection.request(method, *params)

    async def height(self) -> int:
        """Returns the number of the latest block."""
        return await self._connection.number()

    def call_overrides(self) -> tuple[Any, ...]:
        """Returns no overrides, because this chain has its own time."""
        return ()

    async def submit(self, raw: bytes) -> dict[str, Any]:
        """Sends a signed transaction, waits for its block, and returns the receipt.

        Raises:
            RpcError: The chain rejected the transaction.
            ChainUnavailable: The chain is unavailable, or the transaction was not in a block within two minutes.
        """
        sent = await self.request("eth_sendRawTransaction", "0x" + raw.hex())
        wait = _FIRST_WAIT_S
        try:
            async with asyncio.timeout(_RECEIPT_S):
                while (receipt := await self.request("eth_getTransactionReceipt", sent)) is None:
                    await asyncio.sleep(wait)
                    wait = min(2 * wait, _LONGEST_WAIT_S)
        except TimeoutError as error:
            raise ChainUnavailable(
                f"transaction {sent} was not included in a block within {_RECEIPT_S:.0f} s",
                fix="Before you try again, check whether a block includes the transaction.",
            ) from error
        await self.on_receipt(receipt)
        found: dict[str, Any] = receipt
        return found

    async def follow(self, address: str) -> None:
        """Starts to poll for a contract's events, because transactions of other senders can also emit events."""
        self.head = await self.height()
        self._poller = asyncio.create_task(self._poll(address), name="svcnb-chain-events")

    async def _poll(self, address: str) -> None:
        while True:
            await asyncio.sleep(_EVENT_POLL_S)
            try:
                latest = await self.height()
                while self.head < latest:
                    await self._read_events(address, min(latest, self.head + CHAIN_EVENT_SCAN_BLOCKS))
            except (RpcError, ChainUnavailable) as error:
                log.warning("events of the chain cannot be read: %s", error)
            except Exception:  # continue after any error, or cached permissions become outdated
                log.exception("events of the chain cannot be read")

    async def _read_events(self, address: str, last: int) -> None:
        """Reads the events of the blocks after `head`, up to the block ``last``. Updates `head`.

        If the chain rejects the range of blocks, the method reads only the first half, and repeats this if necessary.
        """
        first = self.head + 1
        try:
            logs = await self.request(
                "eth_getLogs", {"address": address, "fromBlock": hex(first), "toBlock": hex(last)}
            )
        except RpcError:
            # Providers limit the range or the number of results with different messages, so any error halves the range.
            if first == last:
                raise
            await self._read_events(address, (first + last) // 2)
            return
        await self.on_receipt({"logs": logs})
        self.head = last
