"""Replica of the chain in a node, which executes the entries of the journal.

If the node crashes, the module starts a new node, and rebuilds the chain with a replay of the journal.

This module uses no locks, because `LocalChain` makes all changes in sequence.
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
from svcnb.emulator.chain.errors import REPLAY_FIX, ChainUnavailable, ChainUnusable, RpcError
from svcnb.emulator.chain.genesis import Genesis
from svcnb.emulator.chain.journal import BALANCE, Dump, Entry
from svcnb.emulator.chain.transactions import read as read_transaction
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.offload import offload
from svcnb.emulator.platform.store import Store

log = logging.getLogger(__name__)

Receipt = dict[str, Any]

_SEND_S: Final = 15.0
_DUMP_AFTER: Final = 128
"""Number of new journal entries after which the next dump of the state is due.

Long chains have larger dumps. In a chain with more than 1,024 entries, this number is an eighth of all entries.
"""
_REPLAY_S: Final = 4.0
"""Seconds that the node can spend on new journal entries before the next dump of the state is due.

The time for a block depends on the size of the whole state. A replay takes about as long as the first execution of the
entries, and requests wait until the end of the replay. If dumps are slow, `_DUMPS_COST` extends this time."""
_DUMPS_COST: Final = 10
"""Minimum ratio of the node's work between two dumps to the duration of a dump.

With 10, dumps that are due because of `_REPLAY_S` take at most a tenth of the node's time.
"""
_KEPT_MARKS: Final = 64
"""Maximum number of states that the node stores for snapshots, each as a complete copy.

The node deletes a state only when it restores this state or an earlier state."""


class NoBlock(ChainUnavailable):
    """Error for a transaction that the node accepted without creating a block.

    The transaction stays in the node's transaction pool, so the emulator must replace the node.
    """


class Replica:
    """Node that executes the entries of the journal.

    Args:
        store: Database that contains the journal.
        clock: Clock for the timestamps of blocks.
        memory_mb: Memory limit of the node, in MiB.
        engine: Engine of the node.
        on_exit: Function to call after an unexpected exit of the node.
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
        self._engine: Engine = engine_of(engine)
        self._on_exit = on_exit
        self.node: Node | None = None
        """Running node, or None while no node is running."""
        self._ending: asyncio.Task[None] | None = None
        self.genesis: Genesis
        self.genesis_text = ""
        self.head = 0
        """Number of the latest block."""
        self.timestamp = 0
        """Timestamp of the latest block, in Unix seconds."""
        self.applied = 0
        """Position of the last applied or withdrawn journal entry."""
        self._head_hash = ""
        self._position = 0
        self._digest = journal.START
        self._dumped_at = 0
        self._worked_s = self._dump_took_s = 0.0
        self._unconfirmed: list[tuple[int, str]] = []
        self._marks: dict[bytes, str] = {}

    async def open(self, chain_id: int, balances: dict[str, int], early: EarlyNode | None = None) -> None:
        """Reads the first block from the database, or creates it, and rebuilds the chain from the journal.

        Args:
            chain_id: Id of the chain (EIP-155) from the settings.
            balances: Balances in the first block, in wei by address. The balances apply only at the first start.
            early: Node that is already starting, or None. The method uses this node if its first block matches.

        Raises:
            ChainUnusable: The journal belongs to another server, chain or engine, or cannot be read.
            ChainUnavailable: The node did not start.
            ToolMissing: The node's binary is not installed.
        """
        if not await self._store.run(journal.may_write):
            raise ChainUnusable(
                "another server runs its own chain in this database: use one chain for all servers with "
                "--chain-rpc, or a separate database for each server"
            )
        proposed = Genesis(chain_id, self._clock.now_s(), balances, self._engine) if early is None else early.genesis
        self.genesis_text = await self._store.run(
            lambda connection: journal.genesis_text(connection, proposed.as_text())
        )
        self.genesis = Genesis.from_text(self.genesis_text)
        if self.genesis.chain_id != chain_id:
            raise ChainUnusable(
                f"the state has chain id {self.genesis.chain_id}, but the settings have {chain_id}: "
                f"start with --chain-id {self.genesis.chain_id}, or with a different state folder"
            )
        if self.genesis.engine != self._engine:
            raise ChainUnusable(
                f"the chain of this state was created with {self.genesis.engine}, but the settings select "
                f"{self._engine}: start with --chain-engine {self.genesis.engine}, or with a different state folder"
            )
        await self.rebuild(early)

    async def close(self) -> None:
        """Stops the node and waits until it has exited.

        If the caller is cancelled, the node still stops, and the next call of `close` waits until the node has exited.
        """
        if self.node is not None:
            node, self.node = self.node, None
            self._ending = asyncio.create_task(node.stop(), name="svcnb-chain-end")
        if self._ending is not None:
            await asyncio.shield(self._ending)
            self._ending = None

    async def ask(self, method: str, *params: Any) -> Any:
        """Sends a request to the node.

        Raises:
            RpcError: The node returned an error.
            ConnectionLost: The node has stopped.
            ChainUnavailable: The node did not respond in time.
        """
        if self.node is None:
            raise ConnectionLost("the chain node is not running")
        return await self.node.connection.request(method, *params)

    # --- advancing --------------------------------------------------------------------------------------------------

    def following(self, kind: str, payloads: Sequence[bytes]) -> list[Entry]:
        """Returns the next journal entries for transactions or balances, but does not write them to the database."""
        timestamp = max(self._clock.now_s(), self.timestamp)
        digest, entries = self._digest, []
        for position, payload in enumerate(payloads, self._position + 1):
            entry = journal.follow(digest, position, kind, timestamp, payload)
            entries.append(entry)
            digest = entry.digest
        return entries

    async def append(self, new: Sequence[Entry]) -> None:
        """Writes entries to the journal, and the block hashes of earlier entries.

        Raises:
            StoreUnavailable: The database is unavailable, or another server has the lease. The journal is unchanged.
        """
        confirmed = list(self._unconfirmed)
        await self._store.run(lambda connection: journal.append(connection, new, confirmed))
        del self._unconfirmed[: len(confirmed)]
        if new:
            self._position, self._digest = new[-1].position, new[-1].digest

    async def apply(self, entry: Entry) -> Receipt:
        """Sends a journalled transaction to the node.

        Returns:
            The receipt, even if the contract reverted the transaction.

        Raises:
            RpcError: The node rejected the transaction.
            NoBlock: The node accepted the transaction but created no block.
            ConnectionLost: The node has stopped.
        """
        began = time.monotonic()
        try:
            async with asyncio.timeout(_SEND_S):
                # Send the requests in sequence, because the node can reorder simultaneous requests.
                await self.ask("evm_setNextBlockTimestamp", hex(entry.timestamp))
                receipt: Receipt = await self.ask("eth_sendRawTransactionSync", "0x" + entry.payload.hex())
        except TimeoutError as error:
            raise NoBlock(f"the chain node did not create a block for a transaction within {_SEND_S:g} s") from error
        self._worked_s += time.monotonic() - began
        self.applied = entry.position
        self.timestamp = entry.timestamp
        self._head_hash = receipt["blockHash"]
        self.head = int(receipt["blockNumber"], 16)
        self._unconfirmed.append((entry.position, receipt["blockHash"]))
        return receipt

    async def apply_balance(self, entry: Entry) -> None:
        """Sets a balance from a journal entry."""
        address, wei = journal.read_balance(entry.payload)
        await self.ask("anvil_setBalance", address, hex(wei))
        self.applied = entry.position

    async def withdraw(self, entry: Entry) -> None:
        """Records in the journal that the node rejected an entry."""
        await self._store.run(lambda connection: journal.withdraw(connection, entry.position))
        self.applied = max(self.applied, entry.position)

    async def dump_when_due(self) -> None:
        """Saves a dump of the state if `_DUMP_AFTER` or `_REPLAY_S` is reached, so that a rebuild stays fast."""
        many = self._position - self._dumped_at >= max(_DUMP_AFTER, self._position // 8)
        if many or self._worked_s >= max(_REPLAY_S, _DUMPS_COST * self._dump_took_s):
            await self._save_dump()

    async def settle(self) -> None:
        """Saves a dump of a changed state, so that the next start is fast. Does nothing for a database in memory."""
        if self._store.url is not None and self._position > self._dumped_at:
            await self._save_dump()

    async def _save_dump(self) -> None:
        await self.append([])
        began = time.monotonic()
        dump = await self._dump()
        self._worked_s, self._dump_took_s = 0.0, time.monotonic() - began
        await self._store.run_long(lambda connection: journal.save_dump(connection, dump))
        self._dumped_at = dump.position

    async def _dump(self) -> Dump:
        shown = await self.ask("anvil_dumpState")
        content = await offload(lambda: bytes.fromhex(shown[2:]))
        return Dump(self._position, self._digest, self.timestamp, self._head_hash, content)

    # --- restoring --------------------------------------------------------------------------------------------------

    async def snapshot(self) -> Dump:
        """Returns a dump of the whole state. The node also stores a copy of the state, up to `_KEPT_MARKS` copies."""
        dump = await self._dump()
        if dump.digest not in self._marks and len(self._marks) < _KEPT_MARKS:
            self._marks[dump.digest] = await self.ask("evm_snapshot")
        return dump

    async def go_back(self, dump: Dump) -> None:
        """Restores the state of a dump, in the journal and in the node."""
        await self._store.run_long(lambda connection: journal.restore(connection, dump))
        self._unconfirmed.clear()
        if await self._revert(dump):
            self._set_position(dump)
            self.head = int(await self.ask("eth_blockNumber"), 16)
        else:
            await self.rebuild()

    async def _revert(self, dump: Dump) -> bool:
        """Restores the state of a dump from the running node's own copy. Returns False if this is not possible.

        The restore takes a millisecond. A rebuild takes a tenth of a second.
        """
        if (mark := self._marks.get(dump.digest)) is None:
            return False
        # When the node restores a state, it deletes that state and all later states.
        order = list(self._marks)
        for later in order[order.index(dump.digest) :]:
            del self._marks[later]
        try:
            if not await self.ask("evm_revert", mark):
                return False
            block = await self._latest_block()
            if block["hash"] != dump.block_hash:
                return False
            # The node does not restore the base fee of the next block.
            await self.ask("anvil_setNextBlockBaseFeePerGas", hex(next_base_fee(block)))
            self._marks[dump.digest] = await self.ask("evm_snapshot")
        except (RpcError, ChainUnavailable):
            return False
        return True

    # --- rebuilding -------------------------------------------------------------------------------------------------

    async def rebuild(self, early: EarlyNode | None = None) -> None:
        """Starts a new node and replays the journal on it.

        Args:
            early: Node that is already starting, or None. The method uses this node if its first block matches.

        Raises:
            ChainUnusable: The journal cannot be read.
            ChainUnavailable: The node did not start, or its blocks differ from the blocks that the journal records.
        """
        self._marks.clear()
        self._worked_s = 0.0  # the replay counts as new work
        await self.close()
        await self.append([])
        try:
            history = await self._store.run_long(journal.read)
        except journal.JournalUnusable as error:
            raise ChainUnusable(str(error)) from error
        if history.cut:
            log.warning(
                (
                    "%d damaged entries at the end of the chain's journal were moved to the table %s. The chain "
                    "continues from the last valid entry."
                ),
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
            await self.ask("anvil_loadState", "0x" + await offload(dump.content.hex))
        block = await self._latest_block()
        if dump is None:
            dump = Dump(0, journal.START, int(block["timestamp"], 16), block["hash"], b"")
        elif block["hash"] != dump.block_hash:
            raise ChainUnavailable(
                f"the stored state is unusable: expected block {dump.block_hash}, got block {block['hash']}",
                fix=REPLAY_FIX,
            )
        self._set_position(dump)

    def _set_position(self, dump: Dump) -> None:
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
            detail = f"journal entry {entry.position} cannot be replayed: {error}"
            raise ChainUnavailable(detail, fix=REPLAY_FIX) from error
        if receipt["blockHash"] != block_hash:
            detail = f"journal entry {entry.position} now results in block {receipt['blockHash']}, not {block_hash}"
            raise ChainUnavailable(detail, fix=REPLAY_FIX)

    async def _replay_unconfirmed(self, entry: Entry) -> None:
        """Replays an entry without a recorded block. Withdraws the entry if the node rejects the transaction.

        The previous node may have rejected the transaction before a crash, so a rejection is not an error here.
        """
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
            raise  # the node is unusable, and the next node will not receive this entry
        await self.withdraw(entry)

    async def _latest_block(self) -> dict[str, Any]:
        with_transactions = False
        block: dict[str, Any] = await self.ask("eth_getBlockByNumber", "latest", with_transactions)
        return block


def next_base_fee(block: dict[str, Any]) -> int:
    """Returns the base fee of the next block, in wei per unit of gas (EIP-1559)."""
    fee, used, target = int(block["baseFeePerGas"], 16), int(block["gasUsed"], 16), int(block["gasLimit"], 16) // 2
    if used > target:
        return fee + max(fee * (used - target) // target // 8, 1)
    return fee - fee * (target - used) // target // 8
