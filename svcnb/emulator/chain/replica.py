"""A node that follows the journal. It may be lost at any time, and is then rebuilt entry by entry.

This module does no locking: `LocalChain` ensures that changes happen one after another.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from svcnb.emulator.chain import journal
from svcnb.emulator.chain.bootstrap import EarlyNode
from svcnb.emulator.chain.connection import ConnectionLost
from svcnb.emulator.chain.engines import Engine, Node, engine_of, start_node
from svcnb.emulator.chain.errors import ChainUnavailable, ChainUnusable, RpcError
from svcnb.emulator.chain.genesis import Genesis
from svcnb.emulator.chain.journal import BALANCE, Dump, Entry
from svcnb.emulator.chain.transactions import read as read_transaction
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.store import Store

log = logging.getLogger(__name__)

Receipt = dict[str, Any]

_SEND_S: Final = 15.0
_DUMP_AFTER: Final = 128
"""Entries after which the state is dumped. The number is higher on a long chain, whose dump is larger."""
_REPLAY_S: Final = 4.0
"""Seconds of the node's work after which it is dumped at the latest. The cost of a block depends on the size of the
whole state. Entries that took longer would delay a rebuild, and all requests that wait for it, as long again."""
_DUMPS_COST: Final = 10
"""Dumps take at most one part in this number of the node's time."""
_KEPT_MARKS: Final = 64
"""States that the node keeps. Each is a whole copy. It deletes one only when it goes back to a state before it."""


class NoBlock(ChainUnavailable):
    """The node accepted a transaction but made no block. It stays in the pool, so the node must be replaced."""


class Replica:
    """A node that follows the journal.

    Args:
        store: The database of the journal.
        clock: The time of blocks.
        memory_mb: Memory ceiling of the node, in MiB.
        engine: The engine of the node.
        on_exit: Called when the node has ended without a stop.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        memory_mb: int,
        engine: Engine = "anvil",
        on_exit: Callable[[Node], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._memory_mb = memory_mb
        self._engine = engine_of(engine)
        self._on_exit = on_exit
        self.node: Node | None = None
        """The running node, None while it is not running."""
        self._ending: asyncio.Task[None] | None = None
        self.genesis: Genesis
        self.genesis_text = ""
        self.head = 0
        """Number of the latest block."""
        self.timestamp = 0
        """Unix seconds of the latest block."""
        self.applied = 0
        """Position of the last entry that the node has, or that was withdrawn."""
        self._head_hash = ""
        self._position = 0
        self._digest = journal.START
        self._dumped_at = 0
        self._worked_s = self._dump_took_s = 0.0
        self._unconfirmed: list[tuple[int, str]] = []
        self._marks: dict[bytes, str] = {}

    async def open(self, chain_id: int, balances: dict[str, int], early: EarlyNode | None = None) -> None:
        """Determines the chain from the journal, and builds it.

        Args:
            chain_id: The chain's number.
            balances: Wei by address in the first block, if this is the first start.
            early: A node that is already booting. It is used if its first block is the right one.

        Raises:
            ChainUnusable: The journal belongs to another chain, or is damaged beyond its tail.
            ChainUnavailable: The node does not start.
            PartMissing: The node's binary is not installed.
        """
        if not await self._store.run(journal.is_ours):
            raise ChainUnusable(
                "another server keeps its own chain in this database: give all servers that share it one chain with "
                "--chain-rpc, or each its own database"
            )
        proposed = Genesis(chain_id, self._clock.now_s(), balances, self._engine) if early is None else early.genesis
        self.genesis_text = await self._store.run(
            lambda connection: journal.genesis_text(connection, proposed.as_text())
        )
        self.genesis = Genesis.from_text(self.genesis_text)
        if self.genesis.chain_id != chain_id:
            raise ChainUnusable(
                f"the state is of chain {self.genesis.chain_id}, the settings say {chain_id}: "
                f"start with --chain-id {self.genesis.chain_id}, or with another state folder"
            )
        if self.genesis.engine != self._engine:
            raise ChainUnusable(
                f"the chain of this state was made with {self.genesis.engine}, the settings say {self._engine}: "
                f"start with --chain-engine {self.genesis.engine}, or with another state folder"
            )
        await self.rebuild(early)

    async def close(self) -> None:
        """Stops the node, even if the caller is cancelled. The next call waits until it has ended."""
        if self.node is not None:
            node, self.node = self.node, None
            self._ending = asyncio.create_task(node.stop(), name="svcnb-chain-end")
        if self._ending is not None:
            await asyncio.shield(self._ending)
            self._ending = None

    async def ask(self, method: str, *params: Any) -> Any:
        """Sends a request to the node.

        Raises:
            RpcError: It answered with an error.
            ConnectionLost: The node is gone.
        """
        if self.node is None:
            raise ConnectionLost("the node does not run")
        return await self.node.connection.request(method, *params)

    # --- advancing --------------------------------------------------------------------------------------------------

    def following(self, kind: str, payloads: Sequence[bytes]) -> list[Entry]:
        """The next entries of the journal."""
        timestamp = max(self._clock.now_s(), self.timestamp)
        digest, entries = self._digest, []
        for position, payload in enumerate(payloads, self._position + 1):
            entry = journal.follow(digest, position, kind, timestamp, payload)
            entries.append(entry)
            digest = entry.digest
        return entries

    async def append(self, new: Sequence[Entry]) -> None:
        """Writes entries to the journal, and the results of earlier ones.

        Raises:
            StoreUnavailable: Nothing was written.
        """
        confirmed = list(self._unconfirmed)
        await self._store.run(lambda connection: journal.append(connection, new, confirmed))
        del self._unconfirmed[: len(confirmed)]
        if new:
            self._position, self._digest = new[-1].position, new[-1].digest

    async def apply(self, entry: Entry) -> Receipt:
        """Sends a journalled transaction to the node.

        Returns:
            Its receipt, even if the transaction was reverted.

        Raises:
            RpcError: The node refused it.
            NoBlock: The node keeps it in its pool.
            ConnectionLost: The node is gone.
        """
        began = time.monotonic()
        try:
            async with asyncio.timeout(_SEND_S):
                # One request after the other: the node may process requests that are sent together in another order.
                await self.ask("evm_setNextBlockTimestamp", hex(entry.timestamp))
                receipt: Receipt = await self.ask("eth_sendRawTransactionSync", "0x" + entry.payload.hex())
        except TimeoutError as error:
            raise NoBlock("the node made no block of a transaction") from error
        self._worked_s += time.monotonic() - began
        self.applied = entry.position
        self.timestamp = entry.timestamp
        self._head_hash = receipt["blockHash"]
        self.head = int(receipt["blockNumber"], 16)
        self._unconfirmed.append((entry.position, receipt["blockHash"]))
        return receipt

    async def apply_balance(self, entry: Entry) -> None:
        """Sets a balance as recorded in the journal."""
        address, wei = journal.read_balance(entry.payload)
        await self.ask("anvil_setBalance", address, hex(wei))
        self.applied = entry.position

    async def withdraw(self, entry: Entry) -> None:
        """Records in the journal that the node refused an entry."""
        await self._store.run(lambda connection: journal.withdraw(connection, entry.position))
        self.applied = max(self.applied, entry.position)

    async def dump_when_due(self) -> None:
        """Dumps the state when it is due, so that a rebuild stays fast."""
        many = self._position - self._dumped_at >= max(_DUMP_AFTER, self._position // 8)
        if many or self._worked_s >= max(_REPLAY_S, _DUMPS_COST * self._dump_took_s):
            await self._save_dump()

    async def settle(self) -> None:
        """Saves the state, so that the next start is fast."""
        if self._store.url is not None and self._position > self._dumped_at:
            await self._save_dump()

    async def _save_dump(self) -> None:
        await self.append([])
        began = time.monotonic()
        dump = await self._dump()
        self._worked_s, self._dump_took_s = 0.0, time.monotonic() - began
        await self._store.run(lambda connection: journal.save_dump(connection, dump))
        self._dumped_at = dump.position

    async def _dump(self) -> Dump:
        content = bytes.fromhex((await self.ask("anvil_dumpState"))[2:])
        return Dump(self._position, self._digest, self.timestamp, self._head_hash, content)

    # --- restoring --------------------------------------------------------------------------------------------------

    async def snapshot(self) -> Dump:
        """The whole state. The node keeps it too, unless it keeps too many."""
        dump = await self._dump()
        if dump.digest not in self._marks and len(self._marks) < _KEPT_MARKS:
            self._marks[dump.digest] = await self.ask("evm_snapshot")
        return dump

    async def go_back(self, dump: Dump) -> None:
        """Restores a state, in the journal and in the node."""
        await self._store.run(lambda connection: journal.restore(connection, dump))
        self._unconfirmed.clear()
        if await self._revert(dump):
            self._stand_at(dump)
            self.head = int(await self.ask("eth_blockNumber"), 16)
        else:
            await self.rebuild()

    async def _revert(self, dump: Dump) -> bool:
        """Restores a state within the running node, which takes a millisecond instead of a tenth of a second."""
        if (mark := self._marks.get(dump.digest)) is None:
            return False
        # When the node restores a state, it deletes that state and those after it.
        order = list(self._marks)
        for later in order[order.index(dump.digest) :]:
            del self._marks[later]
        try:
            if not await self.ask("evm_revert", mark):
                return False
            block = await self._latest_block()
            if block["hash"] != dump.block_hash:
                return False
            # The node does not restore the gas price of the next block.
            await self.ask("anvil_setNextBlockBaseFeePerGas", hex(next_base_fee(block)))
            self._marks[dump.digest] = await self.ask("evm_snapshot")
        except (RpcError, ChainUnavailable):
            return False
        return True

    # --- rebuilding -------------------------------------------------------------------------------------------------

    async def rebuild(self, early: EarlyNode | None = None) -> None:
        """Starts a new node and replays the journal on it.

        Args:
            early: A new node that is already booting. It is used if its first block is the right one.

        Raises:
            ChainUnusable: The journal cannot be read.
            ChainUnavailable: The node does not start, or does not make the blocks that are recorded in the journal.
        """
        self._marks.clear()
        self._worked_s = 0.0  # the replayed work counts again
        await self.close()
        await self.append([])
        try:
            history = await self._store.run(journal.read)
        except journal.JournalUnusable as error:
            raise ChainUnusable(str(error)) from error
        if history.cut:
            log.warning(
                "%d entries at the end of the chain's journal are damaged and were set aside (table %s): "
                "the chain continues from the last sound one",
                history.cut,
                journal.CUT.name,
            )
        if early is not None and early.genesis == self.genesis:
            node = await early.take()
        else:
            node = await start_node(self.genesis, memory_mb=self._memory_mb)
        self.node = node
        await self._begin(history.dump)
        for entry in history.tail:
            await self._replay(entry)
        self.head = int(await self.ask("eth_blockNumber"), 16)
        node.exited.add_done_callback(lambda _task: self._on_exit(node))

    async def _begin(self, dump: Dump | None) -> None:
        if dump is not None:
            await self.ask("anvil_loadState", "0x" + dump.content.hex())
        block = await self._latest_block()
        if dump is None:
            dump = Dump(0, journal.START, int(block["timestamp"], 16), block["hash"], b"")
        elif block["hash"] != dump.block_hash:
            raise ChainUnavailable(f"a dump of block {dump.block_hash} led to {block['hash']}")
        self._stand_at(dump)

    def _stand_at(self, dump: Dump) -> None:
        self._position, self._digest = dump.position, dump.digest
        self.applied = self._dumped_at = dump.position
        self.timestamp, self._head_hash = dump.timestamp, dump.block_hash

    async def _replay(self, entry: Entry) -> None:
        if not entry.withdrawn:
            if entry.kind == BALANCE:
                await self.apply_balance(entry)
            elif entry.block_hash is None:
                await self._replay_unconfirmed(entry)
            else:
                await self._replay_confirmed(entry, entry.block_hash)
        self._position, self._digest, self.applied = entry.position, entry.digest, entry.position

    async def _replay_confirmed(self, entry: Entry, block_hash: str) -> None:
        try:
            receipt = await self.apply(entry)
        except RpcError as error:
            raise ChainUnavailable(f"entry {entry.position} of the journal is refused now: {error}") from error
        if receipt["blockHash"] != block_hash:
            raise ChainUnavailable(
                f"entry {entry.position} of the journal led to block {block_hash} and now to {receipt['blockHash']}: "
                "was it written with another version of the node?"
            )

    async def _replay_unconfirmed(self, entry: Entry) -> None:
        """Replays an entry of the last moments. It was written, and may have been refused before that was recorded."""
        transaction = read_transaction(entry.payload)
        nonce = int(await self.ask("eth_getTransactionCount", transaction.sender, "latest"), 16)
        try:
            if transaction.nonce == nonce:
                await self.apply(entry)
                return
        except RpcError:
            pass
        except NoBlock:
            await self.withdraw(entry)
            raise  # the node is unusable; the next one will not get this entry
        await self.withdraw(entry)

    async def _latest_block(self) -> dict[str, Any]:
        with_transactions = False
        block: dict[str, Any] = await self.ask("eth_getBlockByNumber", "latest", with_transactions)
        return block


def next_base_fee(block: dict[str, Any]) -> int:
    """Price of gas in the block after this one, in wei (EIP-1559)."""
    fee, used, target = int(block["baseFeePerGas"], 16), int(block["gasUsed"], 16), int(block["gasLimit"], 16) // 2
    if used > target:
        return fee + max(fee * (used - target) // target // 8, 1)
    return fee - fee * (target - used) // target // 8
