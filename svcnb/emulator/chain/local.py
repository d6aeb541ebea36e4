"""The emulator's own chain, with a node that can crash at any time, and a durable journal.

One writer task makes all changes of the chain in sequence. The task checks the pending transactions, writes them to the
journal in one commit, and sends them to the node in journal order. The task notifies the listeners, and then returns
results to the callers. After a crash, requests wait until the chain has restarted the node and replayed the journal.

The timestamp of a block is the emulator's time in whole seconds, but never earlier than the timestamp of the previous
block. The node allows equal timestamps, so the clock can be frozen. The node creates a block only for a write. Calls
therefore use the clock's time, not the timestamp of the latest block.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

from svcnb.emulator.chain import admission, journal
from svcnb.emulator.chain.bootstrap import EarlyNode
from svcnb.emulator.chain.connection import LARGEST_ANSWER, ConnectionLost
from svcnb.emulator.chain.engines import Engine, Node
from svcnb.emulator.chain.errors import INVALID_PARAMS, TRANSACTION_REJECTED, ChainUnavailable, RpcError
from svcnb.emulator.chain.events import ignore
from svcnb.emulator.chain.genesis import GAS_LIMIT
from svcnb.emulator.chain.jobs import Jobs, Sending, Work, fail
from svcnb.emulator.chain.journal import BALANCE, TRANSACTION, Entry
from svcnb.emulator.chain.replica import NoBlock, Receipt, Replica
from svcnb.emulator.chain.transactions import Transaction, read as read_transaction
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.offload import offload
from svcnb.emulator.platform.store import Store, StoreUnavailable

log = logging.getLogger(__name__)
T = TypeVar("T")

_READY_S: Final = 20.0
_ATTEMPTS: Final = 3
_NODES: Final = 8
"""Maximum number of nodes that the chain starts for one journalled write before it reports a failure."""
_REST_S: Final = 1.0
"""Seconds for which the chain rejects requests after a failed rebuild. A request after this time starts a rebuild."""
_MAX_WEI: Final = (1 << 256) - 1


class LocalChain:
    """The emulator's own chain.

    Args:
        store: Database that contains the journal.
        clock: Clock for the timestamps of blocks.
        memory_mb: Memory limit of the node, in MiB.
        engine: Engine of the node.
    """

    def __init__(self, store: Store, clock: Clock, *, memory_mb: int, engine: Engine = "anvil") -> None:
        self._clock = clock
        self._replica = Replica(store, clock, memory_mb=memory_mb, engine=engine, on_exit=self._node_is_lost)
        self._ready = asyncio.Event()
        self._broken: ChainUnavailable | None = None
        self._next_rebuild_at: float | None = None
        self._is_unreported = False
        """Whether `on_receipt` may have missed the receipt of a journalled transaction."""
        self._jobs = Jobs()
        self._writer: asyncio.Task[None] | None = None
        self.on_receipt: Callable[[Receipt], Awaitable[None]] = ignore
        """Coroutine function to call with each receipt before the sender receives a response."""
        self.on_reset: Callable[[], Awaitable[None]] | None = None
        """Coroutine function to call after the restore of a snapshot, or after a rebuild if receipts are missing."""

    # --- start and stop ---------------------------------------------------------------------------------------------

    async def start(self, chain_id: int, balances: dict[str, int], early: EarlyNode | None = None) -> None:
        """Starts the node and rebuilds the chain from the journal. For arguments and errors, see `Replica.open`."""
        await self._replica.open(chain_id, balances, early)
        self._ready.set()
        self._writer = asyncio.create_task(self._write_forever(), name="svcnb-chain-writer")

    async def stop(self) -> None:
        """Saves a dump of the state if it has changed, and stops the node. See `Replica.settle`."""
        if self._writer is not None:
            if self._broken is None:
                with suppress(ChainUnavailable, StoreUnavailable):
                    await self.exclusively(self._replica.settle)
            self._broken = ChainUnavailable("the chain was stopped")
            self._next_rebuild_at = None
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
            self._writer = None
            self._jobs.fail_all(self._broken)
        await self._replica.close()
        self._ready.set()  # waiting requests now fail, because no node is running

    @property
    def head(self) -> int:
        """Number of the latest block."""
        return self._replica.head

    @property
    def node_pid(self) -> int:
        """Process id of the node, or 0 while no node is running."""
        return self._replica.node.pid if self._replica.node else 0

    # --- requests ---------------------------------------------------------------------------------------------------

    async def request(self, method: str, *params: Any, limit: int = LARGEST_ANSWER) -> Any:
        """Sends a request to the node. Waits while the chain restarts the node.

        Args:
            method: Name of the JSON-RPC method.
            *params: Parameters of the method.
            limit: Maximum length of the response, in bytes.

        Raises:
            RpcError: The node returned an error, or a response longer than ``limit``.
            ChainUnavailable: The node did not start or respond in time, cannot be restarted, or was stopped.
        """
        for _ in range(_ATTEMPTS - 1):
            node = await self._wait_for_node()
            try:
                return await node.connection.request(method, *params, limit=limit)
            except ConnectionLost:
                self._node_is_lost(node)
        return await (await self._wait_for_node()).connection.request(method, *params, limit=limit)

    async def height(self) -> int:
        """Returns the number of the latest block."""
        return self.head

    def call_overrides(self) -> tuple[Any, ...]:
        """Returns parameters that make a call use the clock's time, but never a time before the latest block."""
        return ({}, {"time": hex(max(self._clock.now_s(), self._replica.timestamp))})

    async def _wait_for_node(self) -> Node:
        self._allow_next_rebuild()
        if not self._ready.is_set():
            if self._broken is not None:
                raise self._broken
            try:
                async with asyncio.timeout(_READY_S):
                    await self._ready.wait()
            except TimeoutError as error:
                raise ChainUnavailable("the chain node is still starting") from error
        if self._replica.node is None:
            raise self._broken or ChainUnavailable("the chain is not running")
        return self._replica.node

    # --- changes ----------------------------------------------------------------------------------------------------

    async def submit(self, raw: bytes) -> Receipt:
        """Writes a signed transaction to the journal, sends it to the node, and returns its receipt.

        Raises:
            RpcError: The chain rejected the transaction. The chain is unchanged.
            ChainUnavailable, StoreUnavailable: The chain or the database is unavailable.
            TransactionInvalid: The bytes are not a valid transaction.
        """
        return await self.send(read_transaction(raw))

    async def send(self, transaction: Transaction) -> dict[str, Any]:
        """Sends a decoded transaction. See `submit`."""
        chain_id = self._replica.genesis.chain_id
        if transaction.chain_id not in {None, chain_id}:
            raise RpcError(INVALID_PARAMS, f"invalid chain id for signer: have {transaction.chain_id}, want {chain_id}")
        if transaction.gas > GAS_LIMIT:
            problem = f"exceeds block gas limit: the transaction's gas limit is {transaction.gas}, maximum {GAS_LIMIT}"
            raise RpcError(TRANSACTION_REJECTED, problem)
        job = Sending(transaction, asyncio.get_running_loop().create_future())
        receipt: Receipt = await self._enqueue(job)
        return receipt

    async def add_balance(self, address: str, wei: int) -> int:
        """Adds newly created ether to an account.

        Args:
            address: Address of the account.
            wei: Amount in wei.

        Returns:
            New balance in wei.

        Raises:
            RpcError: The new balance exceeds the maximum of 2**256 - 1 wei.
        """

        async def give() -> int:
            balance = int(await self._replica.ask("eth_getBalance", address, "latest"), 16) + wei
            if (excess := balance - _MAX_WEI) > 0:
                raise RpcError(INVALID_PARAMS, f"{address} can have at most 2**256 - 1 wei: add {excess} wei less")
            (entry,) = self._replica.following(BALANCE, [journal.balance_payload(address, balance)])
            await self._replica.append([entry])
            with self._rebuild_after_errors():
                try:
                    await self._replica.apply_balance(entry)
                except ConnectionLost:
                    await self._rebuild()
            return balance

        return await self.exclusively(give)

    async def exclusively(self, work: Callable[[], Awaitable[T]]) -> T:
        """Runs a function and returns its result. The chain makes no other changes while the function runs."""
        found: T = await self._enqueue(Work(work, asyncio.get_running_loop().create_future()))
        return found

    async def export_snapshot(self) -> bytes:
        """Returns a snapshot of the whole chain as bytes."""
        dump = await self.exclusively(self._replica.snapshot)
        return await offload(journal.pack, dump, self._replica.genesis_text)

    async def import_snapshot(self, data: bytes) -> None:
        """Restores a snapshot, in the journal and in the node.

        Raises:
            SnapshotUnusable: The bytes are not a snapshot of this chain. The chain is unchanged.
        """
        dump = await offload(journal.unpack, data, self._replica.genesis_text)

        async def restore() -> None:
            self._ready.clear()  # requests now wait, and the chain rebuilds the node if the restore fails
            await self._replica.go_back(dump)
            self._ready.set()
            if self.on_reset is not None:
                await self.on_reset()

        await self.exclusively(restore)

    async def _enqueue(self, job: Sending | Work) -> Any:
        self._allow_next_rebuild()
        if self._broken is not None:
            raise self._broken
        # Without a callback, asyncio logs an error as never retrieved if the caller has disconnected.
        job.done.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._jobs.add(job)
        # Complete the started work, even if the caller has disconnected.
        return await asyncio.shield(job.done)

    # --- the writer -------------------------------------------------------------------------------------------------

    async def _write_forever(self) -> None:
        while True:
            await self._jobs.wait()
            await self._ensure_node()
            while (job := self._jobs.take()) is not None:
                if isinstance(job, Work):
                    await self._guarded([job], self._run(job))
                else:
                    await self._guarded(job, self._write(job))
                await self._ensure_node()

    async def _guarded(self, jobs: Sequence[Sending | Work], doing: Awaitable[None]) -> None:
        """Waits for ``doing``, and raises its errors in the callers of the jobs, so that the writer continues."""
        try:
            await doing
        except asyncio.CancelledError:
            for job in jobs:
                fail(job.done, self._broken or ChainUnavailable("the chain was stopped"))
            raise
        except Exception as error:  # noqa: BLE001 - the writer continues after any error
            for job in jobs:
                fail(job.done, error)

    async def _run(self, job: Work) -> None:
        if self._broken is not None:
            raise self._broken
        result = await job.run()
        if not job.done.done():
            job.done.set_result(result)

    async def _write(self, batch: list[Sending]) -> None:
        if self._broken is not None:
            raise self._broken
        try:
            accepted = await self._check(batch)
        except ConnectionLost:
            await self._rebuild()
            accepted = await self._check(batch)
        entries = self._replica.following(TRANSACTION, [job.transaction.raw for job in accepted])
        await self._replica.append(entries)
        refused: set[str] = set()
        for job, entry in zip(accepted, entries, strict=True):
            try:
                with self._rebuild_after_errors():
                    receipt = await self._send(job.transaction, entry, refused)
            except RpcError as error:
                refused.add(job.transaction.sender)
                fail(job.done, error)
            else:
                await self.on_receipt(receipt)
                if not job.done.done():
                    job.done.set_result(receipt)
        await self._replica.dump_when_due()

    @contextmanager
    def _rebuild_after_errors(self) -> Iterator[None]:
        """Requests a rebuild before the next write if the execution of an entry raises an unexpected error.

        Otherwise, the node would execute later entries without this entry, and a replay would give different blocks.
        """
        try:
            yield
        except RpcError:
            raise  # the node rejected the entry, and the journal marks it as withdrawn
        except Exception:
            self._ready.clear()
            self._is_unreported = True
            raise

    async def _check(self, batch: list[Sending]) -> list[Sending]:
        """Returns the valid transactions. Rejects the others, so that the journal contains few withdrawn entries."""
        problems = await admission.problems([job.transaction for job in batch], self._replica.ask)
        for job, problem in zip(batch, problems, strict=True):
            if problem is not None:
                fail(job.done, RpcError(TRANSACTION_REJECTED, problem))
        return [job for job, problem in zip(batch, problems, strict=True) if problem is None]

    async def _send(self, transaction: Transaction, entry: Entry, refused: set[str]) -> Receipt:
        """Executes a journalled transaction and returns its receipt, even if the node crashes several times."""
        if transaction.sender in refused:
            await self._replica.withdraw(entry)
            message = "nonce too high: an earlier transaction of this sender was rejected. Correct and send it first."
            raise RpcError(TRANSACTION_REJECTED, message)
        if entry.position > self._replica.applied:
            try:
                return await self._replica.apply(entry)
            except RpcError:
                await self._replica.withdraw(entry)
                raise
            except NoBlock as error:
                await self._replica.withdraw(entry)
                await self._rebuild()
                message = f"no block included the transaction 0x{transaction.hash.hex()}: send it again"
                raise RpcError(TRANSACTION_REJECTED, message) from error
            except ConnectionLost:
                self._ready.clear()
        receipt = await self._receipt(transaction)
        if receipt is None:
            text = f"the chain rejected the transaction 0x{transaction.hash.hex()}: check its nonce, and send it again"
            raise RpcError(TRANSACTION_REJECTED, text)
        return receipt

    async def _receipt(self, transaction: Transaction) -> Receipt | None:
        """Returns the receipt of a journalled transaction, or None if the node rejected it. Replaces a lost node."""
        for attempt in range(1, _NODES + 1):
            try:
                if not self._ready.is_set():
                    await self._rebuild()  # this replays the whole journal, including this entry and all later entries
                receipt: Receipt | None = await self._replica.ask(
                    "eth_getTransactionReceipt", "0x" + transaction.hash.hex()
                )
            except ChainUnavailable:
                self._ready.clear()
                if attempt == _NODES:
                    raise
                await asyncio.sleep(_REST_S * attempt / _NODES)  # the cause of the failure can be temporary
            else:
                return receipt
        raise AssertionError("the last attempt returns a receipt or raises an error")

    # --- the node ---------------------------------------------------------------------------------------------------

    def _node_is_lost(self, node: Node) -> None:
        if self._replica.node is node and self._ready.is_set():
            self._ready.clear()
            self._jobs.wake()

    def _allow_next_rebuild(self) -> None:
        """Allows another rebuild after a pause, because the cause of a failure, such as a full disk, can disappear."""
        if self._next_rebuild_at is not None and asyncio.get_running_loop().time() >= self._next_rebuild_at:
            self._next_rebuild_at = self._broken = None
            self._ready.clear()
            self._jobs.wake()

    async def _ensure_node(self) -> None:
        """Restarts the node if it has stopped. Rejects requests for a while after several failed attempts."""
        if self._ready.is_set() or self._broken is not None:
            return
        problem: Exception | None = None
        for attempt in range(1, _ATTEMPTS + 1):
            log.warning("restarting the chain node (attempt %d of %d)", attempt, _ATTEMPTS)
            try:
                await self._rebuild()
            except Exception as error:
                log.exception("the chain cannot be rebuilt")
                problem = error
            else:
                return
        self._broken = ChainUnavailable(f"the chain node stopped and cannot be restarted ({problem})")
        self._next_rebuild_at = asyncio.get_running_loop().time() + _REST_S
        await self._replica.close()
        self._ready.set()  # waiting requests now fail, because no node is running

    async def _rebuild(self) -> None:
        self._ready.clear()
        await self._replica.rebuild()
        self._ready.set()
        if self._is_unreported and self.on_reset is not None:
            self._is_unreported = False
            await self.on_reset()
