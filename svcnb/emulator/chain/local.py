"""The built-in chain: a node that can die at any time, and a journal that cannot.

One writer task does everything that changes the chain, one thing after another: it checks what waits, writes it to the
journal in one commit, hands it to the node in that order, and tells the listeners before anybody gets an answer. When
the node dies it is started again and the journal replayed; requests wait meanwhile.

Blocks carry the emulator's clock in whole seconds, never less than the block before. With a frozen clock all blocks
have the same timestamp, which the node allows; and since a block is only made when something is written, calls are
asked about the clock's time and not the latest block's.
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
"""How many nodes a write of the journal is brought to: it would land even after an answer that says it failed."""
_REST_S: Final = 1.0
"""How long a chain that cannot be rebuilt refuses at once, until the next to ask makes it try again."""
_LARGEST_BATCH: Final = 64
_MAX_WEI: Final = (1 << 256) - 1


@dataclass
class _Sending:
    """A transaction on its way into a block."""

    transaction: Transaction
    done: asyncio.Future[Receipt]


@dataclass
class _Work:
    """A function that wants the chain for itself."""

    run: Callable[[], Awaitable[Any]]
    done: asyncio.Future[Any]


class LocalChain:
    """The built-in chain.

    Args:
        store: Where the journal is kept.
        clock: The time of blocks.
        memory_mb: Memory ceiling of the node, in MiB.
        engine: What runs it.
    """

    def __init__(self, store: Store, clock: Clock, *, memory_mb: int, engine: Engine = "anvil") -> None:
        self._clock = clock
        self._replica = Replica(store, clock, memory_mb=memory_mb, engine=engine, on_exit=self._node_is_lost)
        self._ready = asyncio.Event()
        self._broken: ChainUnavailable | None = None
        self._rests_until: float | None = None
        self._untold = False
        """Whether the journal may have brought a transaction into a block whose receipt nobody was given."""
        self._jobs: deque[_Sending | _Work] = deque()
        self._wake = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        self.on_receipt: Callable[[Receipt], None] = lambda _receipt: None
        """Called with every receipt before its sender gets an answer."""
        self.on_reset: Callable[[], Awaitable[None]] | None = None
        """Awaited after the chain went back, or on in a way that was not told."""

    # --- life -------------------------------------------------------------------------------------------------------

    async def start(self, chain_id: int, balances: dict[str, int], early: EarlyNode | None = None) -> None:
        """Starts the node and rebuilds the chain from the journal; arguments and errors as of `Replica.open`."""
        await self._replica.open(chain_id, balances, early)
        self._ready.set()
        self._writer = asyncio.create_task(self._write_forever(), name="svcnb-chain-writer")

    async def stop(self) -> None:
        """Notes what is not noted yet, and ends the node."""
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
        self._ready.set()  # those who wait for a node learn that there is none

    @property
    def head(self) -> int:
        """Number of the latest block."""
        return self._replica.head

    @property
    def node_pid(self) -> int:
        """Process id of the node, 0 while there is none."""
        return self._replica.node.pid if self._replica.node else 0

    # --- asking -----------------------------------------------------------------------------------------------------

    async def request(self, method: str, *params: Any) -> Any:
        """Asks the node; waits while it is being started again.

        Raises:
            RpcError: The node answered with an error.
            ChainUnavailable: There is no node, and none to come.
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

    # --- changing ---------------------------------------------------------------------------------------------------

    async def submit(self, raw: bytes) -> Receipt:
        """Journals a signed transaction, sends it, and waits for its block.

        Raises:
            RpcError: It is not accepted; nothing of it was kept.
            ChainUnavailable: The chain or the database is down.
            TransactionInvalid: The bytes are no transaction.
        """
        return await self.send(read_transaction(raw))

    async def send(self, transaction: Transaction) -> dict[str, Any]:
        """As `submit`, for a transaction that was read already."""
        chain_id = self._replica.genesis.chain_id
        if transaction.chain_id not in {None, chain_id}:
            raise RpcError(INVALID_PARAMS, f"invalid chain id for signer: have {transaction.chain_id}, want {chain_id}")
        if transaction.gas > GAS_LIMIT:
            raise RpcError(TRANSACTION_REJECTED, f"exceeds block gas limit: {transaction.gas}, a block has {GAS_LIMIT}")
        job = _Sending(transaction, asyncio.get_running_loop().create_future())
        receipt: Receipt = await self._enqueue(job)
        return receipt

    async def add_balance(self, address: str, wei: int) -> int:
        """Gives ether from nowhere.

        Args:
            address: Who gets it.
            wei: How much.

        Returns:
            The new balance in wei.

        Raises:
            RpcError: More than an account can hold.
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
        """Runs something while nothing else changes the chain."""
        found: T = await self._enqueue(_Work(work, asyncio.get_running_loop().create_future()))
        return found

    async def export_snapshot(self) -> bytes:
        """The whole chain as bytes."""
        dump = await self.exclusively(self._replica.snapshot)
        return journal.pack(dump, self._replica.genesis_text)

    async def import_snapshot(self, data: bytes) -> None:
        """Goes back to a snapshot, in the journal and in the node.

        Raises:
            SnapshotUnusable: The bytes are no snapshot of this chain; nothing was changed.
        """
        dump = journal.unpack(data, self._replica.genesis_text)

        async def restore() -> None:
            self._ready.clear()  # asking waits; and should going back fail, the node is built again
            await self._replica.go_back(dump)
            self._ready.set()
            if self.on_reset is not None:
                await self.on_reset()

        await self.exclusively(restore)

    async def _enqueue(self, job: _Sending | _Work) -> Any:
        self._try_again_when_rested()
        if self._broken is not None:
            raise self._broken
        # An error that nobody waits for any more is no news.
        job.done.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._jobs.append(job)
        self._wake.set()
        # The writer finishes what it began, also when whoever asked has gone.
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
        """The transactions that wait behind one, to share its commit."""
        found: list[_Sending] = []
        while self._jobs and len(found) < _LARGEST_BATCH - 1:
            job = self._jobs[0]
            if isinstance(job, _Work):
                break
            found.append(job)
            self._jobs.popleft()
        return found

    async def _guarded(self, jobs: Sequence[_Sending | _Work], doing: Awaitable[None]) -> None:
        """Whoever asked gets the error; the writer lives on, unless the chain is stopped."""
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
        """Whatever unexpected happens to an entry, the node is built again before anything else is written.

        Else later entries would go to a node that lacks this one, and the journal would not lead to their blocks.
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
        """Refuses what the node would refuse, so that the journal holds little that was withdrawn."""
        senders = list({job.transaction.sender for job in batch})
        states = await asyncio.gather(*(self._sender_state(sender) for sender in senders))
        known = dict(zip(senders, states, strict=True))
        accepted: dict[bytes, _Sending] = {}
        for job in batch:
            nonce, balance = known[job.transaction.sender]
            # Sent again by somebody who lost patience: not refused, but on its way.
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
        """Brings a journalled transaction into a block, over the death of the node if need be."""
        if transaction.sender in refused:
            # Its nonce counted on one that was refused: the node would keep it waiting for ever.
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
        """What became of a transaction of the journal; a node that is gone, or goes meanwhile, is built again first."""
        for attempt in range(1, _NODES + 1):
            try:
                if not self._ready.is_set():
                    await self._rebuild()  # which replays the whole journal: this entry and those after it
                receipt: Receipt | None = await self._replica.ask(
                    "eth_getTransactionReceipt", "0x" + transaction.hash.hex()
                )
            except ChainUnavailable:
                self._ready.clear()
                if attempt == _NODES:
                    raise
                await asyncio.sleep(_REST_S * attempt / _NODES)  # what keeps nodes from living may be over soon
            else:
                return receipt
        raise AssertionError("the last attempt answers or raises")

    # --- the node ---------------------------------------------------------------------------------------------------

    def _node_is_lost(self, node: Node) -> None:
        if self._replica.node is node and self._ready.is_set():
            self._ready.clear()
            self._wake.set()

    def _try_again_when_rested(self) -> None:
        """What kept the chain from being rebuilt, such as a full disk, may be over."""
        if self._rests_until is not None and asyncio.get_running_loop().time() >= self._rests_until:
            self._rests_until = self._broken = None
            self._ready.clear()
            self._wake.set()

    async def _see_to_the_node(self) -> None:
        """Starts the node again if it is lost; rests after some attempts."""
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
        self._ready.set()  # those who wait for a node learn that there is none

    async def _rebuild(self) -> None:
        self._ready.clear()
        await self._replica.rebuild()
        self._ready.set()
        if self._untold and self.on_reset is not None:
            self._untold = False
            await self.on_reset()


def _problem(transaction: Transaction, nonce: int, balance: int) -> str | None:
    """Why the chain would not take a transaction now."""
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
