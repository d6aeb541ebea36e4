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
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from svcnb.emulator.chain import journal
from svcnb.emulator.chain.connection import ConnectionLost
from svcnb.emulator.chain.errors import (
    INVALID_PARAMS,
    TRANSACTION_REJECTED,
    ChainUnavailable,
    ChainUnusable,
    RpcError,
)
from svcnb.emulator.chain.journal import BALANCE, TRANSACTION, Dump, Entry
from svcnb.emulator.chain.node import GAS_LIMIT, Genesis, Node
from svcnb.emulator.chain.transactions import Transaction, read as read_transaction
from svcnb.emulator.clock import Clock
from svcnb.emulator.store import Store

log = logging.getLogger(__name__)
T = TypeVar("T")

Receipt = dict[str, Any]

_READY_S: Final = 20.0
_SEND_S: Final = 15.0
_ATTEMPTS: Final = 3
_DUMP_AFTER: Final = 128
"""Entries after which the state is dumped; more on a long chain, whose dump is larger."""
_LARGEST_BATCH: Final = 64
_KEPT_MARKS: Final = 64


@dataclass
class _Job:
    """Something for the writer: a transaction, or a function that wants the chain for itself."""

    done: asyncio.Future[Any]
    transaction: Transaction | None = None
    work: Callable[[], Awaitable[Any]] | None = None
    entry: Entry | None = None


class LocalChain:
    """The built-in chain.

    Args:
        store: Where the journal is kept.
        clock: The time of blocks.
        memory_mb: Memory ceiling of the node, in MiB.
    """

    def __init__(self, store: Store, clock: Clock, *, memory_mb: int) -> None:
        self._store = store
        self._clock = clock
        self._memory_mb = memory_mb
        self._genesis: Genesis
        self._genesis_text = ""
        self._node: Node | None = None
        self._ready = asyncio.Event()
        self._broken: ChainUnavailable | None = None
        self._jobs: deque[_Job] = deque()
        self._wake = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        self._digest = journal.START
        self._position = 0
        self._applied = 0
        self._dumped_at = 0
        self._timestamp = 0
        self._head_hash = ""
        self.head = 0
        """Number of the latest block."""
        self._unconfirmed: list[tuple[int, str]] = []
        self._marks: dict[bytes, str] = {}
        self.on_receipt: Callable[[Receipt], None] = lambda _receipt: None
        """Called with every receipt before its sender gets an answer."""
        self.on_reset: Callable[[], Awaitable[None]] | None = None
        """Awaited after the chain went back."""

    # --- life -------------------------------------------------------------------------------------------------------

    async def start(self, chain_id: int, balances: dict[str, int]) -> None:
        """Starts the node and rebuilds the chain from the journal.

        Args:
            chain_id: The chain's number.
            balances: Wei by address in the first block, if this is the first start.

        Raises:
            ChainUnusable: The journal is of another chain, or damaged beyond its tail.
            ChainUnavailable: The node does not start.
            PartMissing: The node's binary is not here.
        """
        proposed = Genesis(chain_id, self._clock.now_s(), balances)
        text = await self._store.run(lambda connection: journal.genesis_text(connection, proposed.as_text()))
        self._genesis = Genesis.from_text(text)
        self._genesis_text = text
        if self._genesis.chain_id != chain_id:
            raise ChainUnusable(
                f"the state is of chain {self._genesis.chain_id}, the settings say {chain_id}: "
                f"start with --chain-id {self._genesis.chain_id}, or with another state folder"
            )
        await self._rebuild()
        self._writer = asyncio.create_task(self._write_forever(), name="svcnb-chain-writer")

    async def stop(self) -> None:
        """Notes what is not noted yet, and ends the node."""
        if self._writer is not None:
            if self._broken is None:
                with suppress(ChainUnavailable):
                    await self.exclusively(self._settle)
            self._broken = ChainUnavailable("the chain was stopped")
            self._writer.cancel()
            with suppress(asyncio.CancelledError):
                await self._writer
            self._writer = None
        self._ready.clear()
        for job in self._jobs:
            self._fail(job, self._broken or ChainUnavailable("the chain was stopped"))
        self._jobs.clear()
        if self._node is not None:
            await self._node.stop()
            self._node = None

    @property
    def node_pid(self) -> int:
        """Process id of the node, 0 while there is none."""
        return self._node.pid if self._node else 0

    # --- asking -----------------------------------------------------------------------------------------------------

    async def request(self, method: str, *params: Any) -> Any:
        """Asks the node; waits while it is being started again.

        Raises:
            RpcError: The node answered with an error.
            ChainUnavailable: There is no node, and none to come.
        """
        for attempt in range(_ATTEMPTS):
            node = await self._wait_for_node()
            try:
                return await node.connection.request(method, *params)
            except ConnectionLost:
                self._node_is_lost(node)
                if attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError("unreachable")

    async def height(self) -> int:
        """Number of the latest block."""
        return self.head

    def call_overrides(self) -> tuple[Any, ...]:
        """Further parameters of eth_call and eth_estimateGas that make a block's time the clock's time."""
        return ({}, {"time": hex(max(self._clock.now_s(), self._timestamp))})

    async def _wait_for_node(self) -> Node:
        if not self._ready.is_set():
            if self._broken is not None:
                raise self._broken
            try:
                async with asyncio.timeout(_READY_S):
                    await self._ready.wait()
            except TimeoutError as error:
                raise ChainUnavailable("the node is still being started") from error
        if self._node is None:
            raise self._broken or ChainUnavailable("the chain does not run")
        return self._node

    # --- changing ---------------------------------------------------------------------------------------------------

    async def submit(self, raw: bytes) -> Receipt:
        """Journals a signed transaction, sends it, and waits for its block.

        Raises:
            RpcError: It is not accepted; nothing of it was kept.
            ChainUnavailable: The chain or the database is down.
            TransactionInvalid: The bytes are no transaction.
        """
        transaction = read_transaction(raw)
        if transaction.chain_id not in {None, self._genesis.chain_id}:
            raise RpcError(
                INVALID_PARAMS,
                f"invalid chain id for signer: have {transaction.chain_id}, want {self._genesis.chain_id}",
            )
        if transaction.gas > GAS_LIMIT:
            raise RpcError(TRANSACTION_REJECTED, f"exceeds block gas limit: {transaction.gas}, a block has {GAS_LIMIT}")
        receipt: Receipt = await self._enqueue(_Job(asyncio.get_running_loop().create_future(), transaction))
        return receipt

    async def add_balance(self, address: str, wei: int) -> int:
        """Gives ether from nowhere.

        Args:
            address: Who gets it.
            wei: How much.

        Returns:
            The new balance in wei.
        """

        async def give() -> int:
            balance = int(await self._ask("eth_getBalance", address, "latest"), 16) + wei
            if balance >= 1 << 256:
                raise RpcError(INVALID_PARAMS, f"{address} would have more than 2**256 wei")
            entry = self._next(BALANCE, journal.balance_payload(address, balance))
            await self._append([entry])
            try:
                await self._ask("anvil_setBalance", address, hex(balance))
                self._applied = entry.position
            except ConnectionLost:
                await self._rebuild()
            return balance

        return await self.exclusively(give)

    async def exclusively(self, work: Callable[[], Awaitable[T]]) -> T:
        """Runs something while nothing else changes the chain."""
        found: T = await self._enqueue(_Job(asyncio.get_running_loop().create_future(), work=work))
        return found

    async def _enqueue(self, job: _Job) -> Any:
        if self._broken is not None:
            raise self._broken
        self._jobs.append(job)
        self._wake.set()
        # The writer finishes what it began, also when whoever asked has gone.
        return await asyncio.shield(job.done)

    # --- snapshots --------------------------------------------------------------------------------------------------

    async def export_snapshot(self) -> bytes:
        """The whole chain as bytes."""

        async def export() -> bytes:
            dump = await self._dump()
            self._marks[dump.digest] = await self._ask("evm_snapshot")
            while len(self._marks) > _KEPT_MARKS:
                self._marks.pop(next(iter(self._marks)))
            return journal.pack(dump, self._genesis_text)

        return await self.exclusively(export)

    async def import_snapshot(self, data: bytes) -> None:
        """Goes back to a snapshot, in the journal and in the node.

        Raises:
            SnapshotUnusable: The bytes are no snapshot of this chain; nothing was changed.
        """
        dump = journal.unpack(data, self._genesis_text)

        async def restore() -> None:
            await self._store.run(lambda connection: journal.restore(connection, dump))
            self._unconfirmed.clear()
            if await self._revert(dump):
                self._stand_at(dump)
                self.head = int(await self._ask("eth_blockNumber"), 16)
            else:
                await self._rebuild()
            if self.on_reset is not None:
                await self.on_reset()

        await self.exclusively(restore)

    async def _revert(self, dump: Dump) -> bool:
        """Goes back within the running node, which takes a millisecond instead of a tenth of a second."""
        mark = self._marks.pop(dump.digest, None)
        if mark is None:
            return False
        try:
            if not await self._ask("evm_revert", mark):
                return False
            block = await self._latest_block()
            if block["hash"] != dump.block_hash:
                return False
            # The node forgets to go back with the price of the next block.
            await self._ask("anvil_setNextBlockBaseFeePerGas", hex(next_base_fee(block)))
            self._marks[dump.digest] = await self._ask("evm_snapshot")
        except (RpcError, ChainUnavailable):
            return False
        return True

    async def _dump(self) -> Dump:
        content = bytes.fromhex((await self._ask("anvil_dumpState"))[2:])
        return Dump(self._position, self._digest, self._timestamp, self._head_hash, content)

    # --- the writer -------------------------------------------------------------------------------------------------

    async def _write_forever(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if not self._ready.is_set():
                await self._try_rebuild()
            while self._jobs:
                batch = self._take()
                try:
                    await self._write(batch)
                except Exception as error:  # noqa: BLE001 - whoever asked gets it, the writer lives on
                    failure = error if isinstance(error, (ChainUnavailable, RpcError)) else _unexpected(error)
                    for job in batch:
                        if not job.done.done():
                            job.done.set_exception(failure)
                if not self._ready.is_set() and self._broken is None:
                    await self._try_rebuild()

    def _take(self) -> list[_Job]:
        batch = [self._jobs.popleft()]
        while batch[0].work is None and self._jobs and self._jobs[0].work is None and len(batch) < _LARGEST_BATCH:
            batch.append(self._jobs.popleft())
        return batch

    async def _write(self, batch: list[_Job]) -> None:
        if self._broken is not None:
            raise self._broken
        if (work := batch[0].work) is not None:
            await _settle_future(batch[0].done, work())
            return
        await self._check(batch)
        accepted = [job for job in batch if not job.done.done()]
        new: list[Entry] = []
        for job in accepted:
            assert job.transaction is not None  # noqa: S101 - jobs without work have one
            job.entry = self._next(TRANSACTION, job.transaction.raw, after=new)
            new.append(job.entry)
        await self._append(new)
        refused: set[str] = set()
        for job in accepted:
            await self._send(job, refused)
        await self._maybe_dump()

    async def _check(self, batch: list[_Job]) -> None:
        """Refuses what the node would refuse, so that the journal holds little that was withdrawn."""
        transactions = [job.transaction for job in batch if job.transaction is not None]
        senders = list({transaction.sender for transaction in transactions})
        states = await asyncio.gather(*(self._sender_state(sender) for sender in senders))
        known = dict(zip(senders, states, strict=True))
        for job, transaction in zip(batch, transactions, strict=True):
            nonce, balance = known[transaction.sender]
            problem = _problem(transaction, nonce, balance)
            if problem is None:
                known[transaction.sender] = (nonce + 1, balance - transaction.cost)
            elif not job.done.done():
                job.done.set_exception(RpcError(TRANSACTION_REJECTED, problem))

    async def _sender_state(self, sender: str) -> tuple[int, int]:
        nonce, balance = await asyncio.gather(
            self._ask("eth_getTransactionCount", sender, "latest"), self._ask("eth_getBalance", sender, "latest")
        )
        return int(nonce, 16), int(balance, 16)

    async def _send(self, job: _Job, refused: set[str]) -> None:
        transaction, entry = job.transaction, job.entry
        assert transaction is not None  # noqa: S101 - as in _write
        assert entry is not None  # noqa: S101 - as in _write
        receipt: Receipt | None = None
        try:
            if transaction.sender in refused:
                # Its nonce counted on one that was refused: the node would keep it waiting for ever.
                await self._refuse(job, RpcError(TRANSACTION_REJECTED, "nonce too high: one before it was refused"))
                return
            if entry.position > self._applied:
                receipt = await self._apply(entry)
        except ConnectionLost:
            await self._rebuild()  # which replays the whole journal, this entry and those after it
        except RpcError as error:
            refused.add(transaction.sender)
            await self._refuse(job, error)
            return
        if receipt is None:
            receipt = await self._ask("eth_getTransactionReceipt", "0x" + transaction.hash.hex())
        if receipt is None:
            self._fail(job, RpcError(TRANSACTION_REJECTED, "the chain refused the transaction"))
            return
        self.on_receipt(receipt)
        if not job.done.done():
            job.done.set_result(receipt)

    async def _refuse(self, job: _Job, error: RpcError) -> None:
        entry = job.entry
        assert entry is not None  # noqa: S101 - as in _write
        await self._store.run(lambda connection: journal.withdraw(connection, entry.position))
        self._applied = entry.position
        self._fail(job, error)

    @staticmethod
    def _fail(job: _Job, error: Exception) -> None:
        if not job.done.done():
            job.done.set_exception(error)

    async def _apply(self, entry: Entry) -> Receipt:
        """Hands an entry to the node. Two requests after one another: sent together they may overtake each other."""
        assert self._node is not None  # noqa: S101 - the writer runs only with a node
        await self._ask("evm_setNextBlockTimestamp", hex(entry.timestamp))
        raw = "0x" + entry.payload.hex()
        try:
            async with asyncio.timeout(_SEND_S):
                receipt: Receipt = await self._ask("eth_sendRawTransactionSync", raw)
        except TimeoutError as error:
            # It sits in the pool, which the journal cannot tell; a fresh node has an empty one.
            raise ConnectionLost("the node did not make a block") from error
        self._applied = entry.position
        self._timestamp = entry.timestamp
        self._head_hash = receipt["blockHash"]
        self.head = int(receipt["blockNumber"], 16)
        self._unconfirmed.append((entry.position, receipt["blockHash"]))
        return receipt

    async def _ask(self, method: str, *params: Any) -> Any:
        if self._node is None:
            raise ConnectionLost("the node does not run")
        return await self._node.connection.request(method, *params)

    async def _latest_block(self) -> dict[str, Any]:
        with_transactions = False
        block: dict[str, Any] = await self._ask("eth_getBlockByNumber", "latest", with_transactions)
        return block

    # --- the journal ------------------------------------------------------------------------------------------------

    def _next(self, kind: str, payload: bytes, after: Sequence[Entry] = ()) -> Entry:
        digest, position = (after[-1].digest, after[-1].position) if after else (self._digest, self._position)
        timestamp = max(self._clock.now_s(), self._timestamp, after[-1].timestamp if after else 0)
        return journal.follow(digest, position + 1, kind, timestamp, payload)

    async def _append(self, new: list[Entry]) -> None:
        confirmed = list(self._unconfirmed)
        await self._store.run(lambda connection: journal.append(connection, new, confirmed))
        del self._unconfirmed[: len(confirmed)]
        if new:
            self._position, self._digest = new[-1].position, new[-1].digest

    async def _maybe_dump(self) -> None:
        if self._position - self._dumped_at >= max(_DUMP_AFTER, self._position // 8):
            await self._save_dump()

    async def _save_dump(self) -> None:
        await self._append([])
        dump = await self._dump()
        await self._store.run(lambda connection: journal.save_dump(connection, dump))
        self._dumped_at = dump.position

    async def _settle(self) -> None:
        """Makes the next start quick."""
        if self._store.url is not None and self._position > self._dumped_at:
            await self._save_dump()

    # --- rebuilding -------------------------------------------------------------------------------------------------

    def _node_is_lost(self, node: Node) -> None:
        if self._node is node and self._ready.is_set():
            self._ready.clear()
            self._wake.set()

    def _watch(self, node: Node) -> None:
        node.exited.add_done_callback(lambda _task: self._node_is_lost(node))

    async def _try_rebuild(self) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            log.warning("the chain node is gone; starting it again (attempt %d)", attempt)
            try:
                await self._rebuild()
            except Exception as error:
                log.exception("the chain cannot be rebuilt")
                self._broken = error if isinstance(error, ChainUnavailable) else _unexpected(error)
            else:
                self._broken = None
                return

    async def _rebuild(self) -> None:
        """Starts a node and brings it to where the journal is."""
        self._ready.clear()
        self._marks.clear()
        if self._node is not None:
            old, self._node = self._node, None
            await old.stop()
        await self._append([])
        try:
            history = await self._store.run(journal.read)
        except journal.JournalUnusable as error:
            raise ChainUnusable(str(error)) from error
        if history.cut:
            log.warning(
                "%d entries at the end of the chain's journal are damaged and were set aside (table %s): "
                "the chain continues from the last sound one",
                history.cut,
                journal.cut.name,
            )
        self._node = await Node.start(self._genesis, memory_mb=self._memory_mb)
        block = await self._latest_block()
        start = Dump(0, journal.START, int(block["timestamp"], 16), block["hash"], b"")
        if history.dump is not None:
            await self._load(history.dump)
        self._stand_at(history.dump or start)
        for entry in history.tail:
            await self._replay(entry)
        self.head = int(await self._ask("eth_blockNumber"), 16)
        self._watch(self._node)
        self._ready.set()

    def _stand_at(self, dump: Dump) -> None:
        self._position, self._digest = dump.position, dump.digest
        self._applied = self._dumped_at = dump.position
        self._timestamp, self._head_hash = dump.timestamp, dump.block_hash

    async def _load(self, dump: Dump) -> None:
        await self._ask("anvil_loadState", "0x" + dump.content.hex())
        block = await self._latest_block()
        if block["hash"] != dump.block_hash:
            raise ChainUnavailable(f"a dump of block {dump.block_hash} led to {block['hash']}")

    async def _replay(self, entry: Entry) -> None:
        if entry.withdrawn:
            pass
        elif entry.kind == BALANCE:
            address, wei = journal.read_balance(entry.payload)
            await self._ask("anvil_setBalance", address, hex(wei))
        else:
            try:
                receipt = await self._apply(entry)
            except RpcError as error:
                if entry.block_hash is not None:
                    raise ChainUnavailable(f"entry {entry.position} of the journal is refused now: {error}") from error
                # Written, then refused, and the emulator ended before it could note that.
                await self._store.run(lambda connection: journal.withdraw(connection, entry.position))
            else:
                if entry.block_hash not in {None, receipt["blockHash"]}:
                    raise ChainUnavailable(
                        f"entry {entry.position} of the journal led to block {entry.block_hash} and now to "
                        f"{receipt['blockHash']}: was it written with another version of the node?"
                    )
        self._position, self._digest, self._applied = entry.position, entry.digest, entry.position


def next_base_fee(block: dict[str, Any]) -> int:
    """Price of gas in the block after this one, in wei (EIP-1559)."""
    fee, used, target = int(block["baseFeePerGas"], 16), int(block["gasUsed"], 16), int(block["gasLimit"], 16) // 2
    if used > target:
        return fee + max(fee * (used - target) // target // 8, 1)
    return fee - fee * (target - used) // target // 8


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


def _unexpected(error: Exception) -> ChainUnavailable:
    failure = ChainUnavailable(f"{type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure


async def _settle_future(future: asyncio.Future[Any], work: Awaitable[Any]) -> None:
    try:
        result = await work
    except Exception as error:  # noqa: BLE001 - belongs to whoever asked
        if not future.done():
            future.set_exception(error)
    else:
        if not future.done():
            future.set_result(result)
