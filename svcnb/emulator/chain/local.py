"""The built-in chain: a node that may die at any time, and a durable journal.

One writer task makes all changes of the chain, one after another. It checks the waiting transactions, writes them to
the journal in one commit, and sends them to the node in that order. It notifies the listeners before the callers get
their answers. When the node dies, it is restarted and the journal replayed, while requests wait.

Blocks have the emulator's time in whole seconds, never less than the block before. With a frozen clock all blocks have
the same timestamp, which the node allows. A block is only made when something is written. So calls use the clock's
time, not that of the latest block.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from svcnb.emulator.chain import journal
from svcnb.emulator.chain.bootstrap import EarlyNode
from svcnb.emulator.chain.connection import ConnectionLost
from svcnb.emulator.chain.engines import Engine, Node
from svcnb.emulator.chain.errors import INVALID_PARAMS, TRANSACTION_REJECTED, ChainUnavailable, RpcError
from svcnb.emulator.chain.genesis import GAS_LIMIT
from svcnb.emulator.chain.journal import BALANCE, TRANSACTION, Entry
from svcnb.emulator.chain.replica import NoBlock, Receipt, Replica
from svcnb.emulator.chain.transactions import Transaction, read as read_transaction
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.store import Store, StoreUnavailable

log = logging.getLogger(__name__)
T = TypeVar("T")

_READY_S: Final = 20.0
_ATTEMPTS: Final = 3
_NODES: Final = 8
"""How many nodes are tried for a journalled write. It could still enter a block after an answer that it failed."""
_REST_S: Final = 1.0
"""How long a chain that cannot be rebuilt refuses requests at once, until the next request makes it try again."""
_LARGEST_BATCH: Final = 64
_MAX_WEI: Final = (1 << 256) - 1


@dataclass
class _Sending:
    """A transaction that is not in a block yet."""

    transaction: Transaction
    done: asyncio.Future[Receipt]


@dataclass
class _Work:
    """A function that needs exclusive use of the chain."""

    run: Callable[[], Awaitable[Any]]
    done: asyncio.Future[Any]


class LocalChain:
    """The built-in chain.

    Args:
        store: The database of the journal.
        clock: The time of blocks.
        memory_mb: Memory ceiling of the node, in MiB.
        engine: The engine of the node.
    """

    def __init__(self, store: Store, clock: Clock, *, memory_mb: int, engine: Engine = "anvil") -> None:
        self._clock = clock
        self._replica = Replica(store, clock, memory_mb=memory_mb, engine=engine, on_exit=self._node_is_lost)
        self._ready = asyncio.Event()
        self._broken: ChainUnavailable | None = None
        self._rests_until: float | None = None
        self._untold = False
        """Whether a journalled transaction may be in a block although its receipt was not reported."""
        self._jobs: deque[_Sending | _Work] = deque()
        self._wake = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        self.on_receipt: Callable[[Receipt], None] = lambda _receipt: None
        """Called with every receipt before its sender gets an answer."""
        self.on_reset: Callable[[], Awaitable[None]] | None = None
        """Awaited after the chain went back, or advanced in a way that was not reported."""

    # --- life -------------------------------------------------------------------------------------------------------

    async def start(self, chain_id: int, balances: dict[str, int], early: EarlyNode | None = None) -> None:
        """Starts the node and rebuilds the chain from the journal. Arguments and errors are those of `Replica.open`."""
        await self._replica.open(chain_id, balances, early)
        self._ready.set()
        self._writer = asyncio.create_task(self._write_forever(), name="svcnb-chain-writer")

    async def stop(self) -> None:
        """Records what is not recorded yet, and stops the node."""
        if self._writer is not None:
            if self._broken is None:
                with suppress(ChainUnavailable, StoreUnavailable):
                    await self.exclusively(self._replica.settle)
            self._broken = ChainUnavailable("the chain was stopped")
            self._rests_until = None
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
            self._writer = None
            for job in self._jobs:
                _fail(job.done, self._broken)
            self._jobs.clear()
        await self._replica.close()
        self._ready.set()  # waiting requests now fail, because there is no node

    @property
    def head(self) -> int:
        """Number of the latest block."""
        return self._replica.head

    @property
    def node_pid(self) -> int:
        """Process id of the node, 0 while it is not running."""
        return self._replica.node.pid if self._replica.node else 0

    # --- requests ---------------------------------------------------------------------------------------------------

    async def request(self, method: str, *params: Any) -> Any:
        """Sends a request to the node. Waits while the node is being restarted.

        Raises:
            RpcError: The node answered with an error.
            ChainUnavailable: The node is not running and will not be restarted.
        """
        for _ in range(_ATTEMPTS - 1):
            node = await self._wait_for_node()
            try:
                return await node.connection.request(method, *params)
            except ConnectionLost:
                self._node_is_lost(node)
        return await (await self._wait_for_node()).connection.request(method, *params)

    async def height(self) -> int:
        """Number of the latest block."""
        return self.head

    def call_overrides(self) -> tuple[Any, ...]:
        """Further parameters of eth_call and eth_estimateGas that make a block's time the clock's time."""
        return ({}, {"time": hex(max(self._clock.now_s(), self._replica.timestamp))})

    async def _wait_for_node(self) -> Node:
        self._try_again_when_rested()
        if not self._ready.is_set():
            if self._broken is not None:
                raise self._broken
            try:
                async with asyncio.timeout(_READY_S):
                    await self._ready.wait()
            except TimeoutError as error:
                raise ChainUnavailable("the node is still being started") from error
        if self._replica.node is None:
            raise self._broken or ChainUnavailable("the chain does not run")
        return self._replica.node

    # --- changes ----------------------------------------------------------------------------------------------------

    async def submit(self, raw: bytes) -> Receipt:
        """Journals a signed transaction, sends it, and waits for its block.

        Raises:
            RpcError: It was not accepted; no part of it was kept.
            ChainUnavailable: The chain or the database is unavailable.
            TransactionInvalid: The bytes are not a transaction.
        """
        return await self.send(read_transaction(raw))

    async def send(self, transaction: Transaction) -> dict[str, Any]:
        """Sends a transaction as `submit` does, if it was decoded already."""
        chain_id = self._replica.genesis.chain_id
        if transaction.chain_id not in {None, chain_id}:
            raise RpcError(INVALID_PARAMS, f"invalid chain id for signer: have {transaction.chain_id}, want {chain_id}")
        if transaction.gas > GAS_LIMIT:
            raise RpcError(TRANSACTION_REJECTED, f"exceeds block gas limit: {transaction.gas}, a block has {GAS_LIMIT}")
        job = _Sending(transaction, asyncio.get_running_loop().create_future())
        receipt: Receipt = await self._enqueue(job)
        return receipt

    async def add_balance(self, address: str, wei: int) -> int:
        """Creates ether for an account.

        Args:
            address: The account.
            wei: The amount.

        Returns:
            The new balance in wei.

        Raises:
            RpcError: The balance would exceed what an account can hold.
        """

        async def give() -> int:
            balance = int(await self._replica.ask("eth_getBalance", address, "latest"), 16) + wei
            if balance > _MAX_WEI:
                raise RpcError(INVALID_PARAMS, f"{address} would have more than 2**256 wei")
            (entry,) = self._replica.following(BALANCE, [journal.balance_payload(address, balance)])
            await self._replica.append([entry])
            with self._as_the_journal_says():
                try:
                    await self._replica.apply_balance(entry)
                except ConnectionLost:
                    await self._rebuild()
            return balance

        return await self.exclusively(give)

    async def exclusively(self, work: Callable[[], Awaitable[T]]) -> T:
        """Runs a function while no other change of the chain is made."""
        found: T = await self._enqueue(_Work(work, asyncio.get_running_loop().create_future()))
        return found

    async def export_snapshot(self) -> bytes:
        """The whole chain as bytes."""
        dump = await self.exclusively(self._replica.snapshot)
        return journal.pack(dump, self._replica.genesis_text)

    async def import_snapshot(self, data: bytes) -> None:
        """Restores a snapshot, in the journal and in the node.

        Raises:
            SnapshotUnusable: The bytes are not a snapshot of this chain; nothing was changed.
        """
        dump = journal.unpack(data, self._replica.genesis_text)

        async def restore() -> None:
            self._ready.clear()  # requests wait; if the restore fails, the node is rebuilt
            await self._replica.go_back(dump)
            self._ready.set()
            if self.on_reset is not None:
                await self.on_reset()

        await self.exclusively(restore)

    async def _enqueue(self, job: _Sending | _Work) -> Any:
        self._try_again_when_rested()
        if self._broken is not None:
            raise self._broken
        # If the caller has gone, its error does not matter.
        job.done.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._jobs.append(job)
        self._wake.set()
        # The writer finishes what it began, even if the caller has gone.
        return await asyncio.shield(job.done)

    # --- the writer -------------------------------------------------------------------------------------------------

    async def _write_forever(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self._see_to_the_node()
            while self._jobs:
                job = self._jobs.popleft()
                if isinstance(job, _Work):
                    await self._guarded([job], self._run(job))
                else:
                    batch = [job, *self._more()]
                    await self._guarded(batch, self._write(batch))
                await self._see_to_the_node()

    def _more(self) -> list[_Sending]:
        """The transactions that wait behind this one, to be written in the same commit."""
        found: list[_Sending] = []
        while self._jobs and len(found) < _LARGEST_BATCH - 1:
            job = self._jobs[0]
            if isinstance(job, _Work):
                break
            found.append(job)
            self._jobs.popleft()
        return found

    async def _guarded(self, jobs: Sequence[_Sending | _Work], doing: Awaitable[None]) -> None:
        """Reports an error to the caller. The writer continues unless the chain is stopped."""
        try:
            await doing
        except asyncio.CancelledError:
            for job in jobs:
                _fail(job.done, self._broken or ChainUnavailable("the chain was stopped"))
            raise
        except Exception as error:  # noqa: BLE001 - as the docstring says
            for job in jobs:
                _fail(job.done, error)

    async def _run(self, job: _Work) -> None:
        if self._broken is not None:
            raise self._broken
        result = await job.run()
        if not job.done.done():
            job.done.set_result(result)

    async def _write(self, batch: list[_Sending]) -> None:
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
                with self._as_the_journal_says():
                    receipt = await self._send(job.transaction, entry, refused)
            except RpcError as error:
                refused.add(job.transaction.sender)
                _fail(job.done, error)
            else:
                self.on_receipt(receipt)
                if not job.done.done():
                    job.done.set_result(receipt)
        await self._replica.dump_when_due()

    @contextmanager
    def _as_the_journal_says(self) -> Iterator[None]:
        """Rebuilds the node after any unexpected error with an entry, before anything else is written.

        Otherwise later entries would go to a node that lacks this one, and a replay would not result in their blocks.
        """
        try:
            yield
        except RpcError:
            raise  # refused, and withdrawn from the journal
        except Exception:
            self._ready.clear()
            self._untold = True
            raise

    async def _check(self, batch: list[_Sending]) -> list[_Sending]:
        """Refuses what the node would refuse, so that the journal contains few withdrawn entries."""
        senders = list({job.transaction.sender for job in batch})
        states = await asyncio.gather(*(self._sender_state(sender) for sender in senders))
        known = dict(zip(senders, states, strict=True))
        accepted: dict[bytes, _Sending] = {}
        for job in batch:
            nonce, balance = known[job.transaction.sender]
            # The sender repeated a transaction that is under way: it is not refused.
            sent_again = job.transaction.hash in accepted
            problem = "already known" if sent_again else _problem(job.transaction, nonce, balance)
            if problem is None:
                known[job.transaction.sender] = (nonce + 1, balance - job.transaction.cost)
                accepted[job.transaction.hash] = job
            else:
                _fail(job.done, RpcError(TRANSACTION_REJECTED, problem))
        return list(accepted.values())

    async def _sender_state(self, sender: str) -> tuple[int, int]:
        nonce, balance = await asyncio.gather(
            self._replica.ask("eth_getTransactionCount", sender, "latest"),
            self._replica.ask("eth_getBalance", sender, "latest"),
        )
        return int(nonce, 16), int(balance, 16)

    async def _send(self, transaction: Transaction, entry: Entry, refused: set[str]) -> Receipt:
        """Brings a journalled transaction into a block, even if the node dies several times."""
        if transaction.sender in refused:
            # Its nonce follows that of a refused transaction: the node would keep it waiting for ever.
            await self._replica.withdraw(entry)
            raise RpcError(TRANSACTION_REJECTED, "nonce too high: a transaction before it was refused")
        if entry.position > self._replica.applied:
            try:
                return await self._replica.apply(entry)
            except RpcError:
                await self._replica.withdraw(entry)
                raise
            except NoBlock as error:
                await self._replica.withdraw(entry)
                await self._rebuild()
                raise RpcError(TRANSACTION_REJECTED, "no block took the transaction") from error
            except ConnectionLost:
                self._ready.clear()
        receipt = await self._receipt(transaction)
        if receipt is None:
            raise RpcError(TRANSACTION_REJECTED, "the chain refused the transaction")
        return receipt

    async def _receipt(self, transaction: Transaction) -> Receipt | None:
        """The receipt of a journalled transaction. If the node is gone or dies now, it is rebuilt first."""
        for attempt in range(1, _NODES + 1):
            try:
                if not self._ready.is_set():
                    await self._rebuild()  # this replays the whole journal: this entry and those after it
                receipt: Receipt | None = await self._replica.ask(
                    "eth_getTransactionReceipt", "0x" + transaction.hash.hex()
                )
            except ChainUnavailable:
                self._ready.clear()
                if attempt == _NODES:
                    raise
                await asyncio.sleep(_REST_S * attempt / _NODES)  # the cause of the failures may be temporary
            else:
                return receipt
        raise AssertionError("the last attempt answers or raises")

    # --- the node ---------------------------------------------------------------------------------------------------

    def _node_is_lost(self, node: Node) -> None:
        if self._replica.node is node and self._ready.is_set():
            self._ready.clear()
            self._wake.set()

    def _try_again_when_rested(self) -> None:
        """Allows a new rebuild: the cause of the failure, such as a full disk, may be gone."""
        if self._rests_until is not None and asyncio.get_running_loop().time() >= self._rests_until:
            self._rests_until = self._broken = None
            self._ready.clear()
            self._wake.set()

    async def _see_to_the_node(self) -> None:
        """Restarts the node if it is lost. Pauses after some attempts."""
        if self._ready.is_set() or self._broken is not None:
            return
        problem: Exception | None = None
        for attempt in range(1, _ATTEMPTS + 1):
            log.warning("the chain node is gone; starting it again (attempt %d)", attempt)
            try:
                await self._rebuild()
            except Exception as error:
                log.exception("the chain cannot be rebuilt")
                problem = error
            else:
                return
        self._broken = ChainUnavailable(f"it cannot be rebuilt: {problem}")
        self._rests_until = asyncio.get_running_loop().time() + _REST_S
        await self._replica.close()
        self._ready.set()  # waiting requests now fail, because there is no node

    async def _rebuild(self) -> None:
        self._ready.clear()
        await self._replica.rebuild()
        self._ready.set()
        if self._untold and self.on_reset is not None:
            self._untold = False
            await self.on_reset()


def _problem(transaction: Transaction, nonce: int, balance: int) -> str | None:
    """Why the chain would not accept a transaction now."""
    if transaction.nonce < nonce:
        return f"nonce too low: next nonce {nonce}, tx nonce {transaction.nonce}"
    if transaction.nonce > nonce:
        return (
            f"nonce too high: next nonce {nonce}, tx nonce {transaction.nonce}; send in order, nothing is queued here"
        )
    if transaction.cost > balance:
        return (
            f"insufficient funds for gas * price + value: {transaction.sender} has {balance} wei, "
            f"the transaction may cost {transaction.cost} wei"
        )
    return None


def _fail(future: asyncio.Future[Any], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
