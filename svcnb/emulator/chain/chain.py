"""Chain interface for the rest of the emulator: contract reads, contract writes and events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from svcnb.emulator.chain import deploy
from svcnb.emulator.chain.bootstrap import FUNDS, EarlyNode
from svcnb.emulator.chain.errors import ChainUnavailable, RpcError, Unsupported
from svcnb.emulator.chain.events import RESET, ChainEvent, Listener, Listeners, read_events
from svcnb.emulator.chain.gateway import Gateway
from svcnb.emulator.chain.local import LocalChain
from svcnb.emulator.chain.relay import Relay, Wallet, call_contract
from svcnb.emulator.chain.remote import RemoteChain
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform import abi
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.reachable import Reachable
from svcnb.emulator.platform.store import Store
from svcnb.emulator.settings import Settings
from svcnb.protocol import contract
from svcnb.protocol.contract import AbiError
from svcnb.protocol.hashes import function_selector
from svcnb.protocol.limits import CONTRACT_SIGNATURE_GAS

REACHABLE_S: Final = 2.0
"""Maximum time in which a reachable chain must respond to a simple request, in seconds."""

_MAGIC: Final = bytes.fromhex("1626ba7e")
_READ_GAS: Final = 10_000_000_000
"""Gas limit of a read on the emulator's own chain. Long lists need more gas than a block allows, and reads are free."""
_NODE_TROUBLE: Final = frozenset({-32005, -32700, -32600, -32601})
"""JSON-RPC error codes for calls that the node did not execute: rate limits, invalid requests and unknown methods."""


class Chain:
    """Chain with the deployed contract. Addresses are available immediately. Call `start` before all other methods.

    Args:
        settings: Settings that select the chain and the number of payers.
        store: Database that contains the journal.
        custody: Custody that derives the keys of the owner and the payers.
        clock: Clock for the timestamps of blocks.

    Attributes:
        chain_id: Id of the chain (EIP-155). For an external chain, the value is 0 until `start`.
        contract_address: Address of the contract, in lowercase with the prefix 0x. The custody's root secret determines
            this address.
        payers: Addresses of the wallets that send the writes of API mode, in lowercase with the prefix 0x.
        admin_payer: Address of the wallet that manages the payers, in lowercase with the prefix 0x.
    """

    _chain: LocalChain | RemoteChain
    _relay: Relay
    _gateway: Gateway

    def __init__(self, settings: Settings, store: Store, custody: Custody, clock: Clock) -> None:
        self._settings = settings
        self._store = store
        self._clock = clock
        self._owner, self._admin = Wallet.of(custody.owner_secret()), Wallet.of(custody.admin_payer_secret())
        self._payers = [Wallet.of(custody.payer_secret(n)) for n in range(settings.api_payers)]
        self._artifact = deploy.Artifact()
        self._listeners = Listeners()
        self._reachable: Reachable | None = None
        self.chain_id = settings.chain_id if settings.chain_rpc is None else 0
        self.contract_address = self._artifact.address(self._owner.address)
        self.payers = tuple(payer.address for payer in self._payers)
        self.admin_payer = self._admin.address

    async def start(self, early: EarlyNode | None = None) -> None:
        """Starts the emulator's own chain or connects to an external chain, and completes the deployment.

        Args:
            early: Node of the emulator's own chain that is already starting, or None to start a new node.

        Raises:
            ChainUnusable: The chain cannot start with this state or these settings.
            ChainUnavailable: The chain does not respond or cannot start.
            ToolMissing: The node's binary is not installed.
        """
        settings = self._settings
        chain: LocalChain | RemoteChain
        if settings.chain_rpc is None:
            chain = LocalChain(
                self._store, self._clock, memory_mb=settings.chain_memory_mb, engine=settings.chain_engine
            )
        else:
            chain = RemoteChain(settings.chain_rpc)
        try:
            if isinstance(chain, LocalChain):
                wallets = (self._owner, self._admin, *self._payers)
                await chain.start(settings.chain_id, {wallet.address: FUNDS for wallet in wallets}, early)
                chain.on_reset = self._reset
            else:
                self.chain_id = await chain.chain_id()
            chain.on_receipt = self._publish
            delay_s = settings.chain_block_time_ms / 1000
            self._chain = chain
            self._relay = Relay(chain, self.chain_id, self._payers, store=self._store, delay_s=delay_s)
            self._gateway = Gateway(chain)
            self._reachable = Reachable(self._answers)
            async with self._relay.holding(self._owner):
                await deploy.complete(
                    chain,
                    self._relay,
                    self._artifact,
                    owner=self._owner,
                    payers=self.payers,
                    admin_payer=self.admin_payer,
                )
        except BaseException as error:
            await chain.stop()
            if isinstance(error, RpcError | AbiError):
                raise ChainUnavailable(
                    f"the chain rejected a call for the contract, or returned invalid data: {error.message}"
                ) from error
            raise

    async def restart(self, between: Callable[[], Awaitable[object]]) -> None:
        """Stops the emulator's own chain and starts it again from the database. Listeners receive the event `RESET`.

        Args:
            between: Coroutine function to call between the stop and the start, for example to empty the database.

        Raises:
            Unsupported: The chain is not the emulator's own chain.
            ChainUnavailable: The chain does not start again.
        """
        if self._settings.chain_rpc is not None:
            raise Unsupported("the emulator cannot reset an external chain")
        await self.stop()
        await between()
        self._clear_nonces()
        await self.start()
        self._listeners.notify(ChainEvent(RESET, block_number=self._chain.head))

    async def stop(self) -> None:
        """Stops the emulator's own chain, or disconnects from an external chain. Repeated calls have no effect."""
        if self._reachable is None:
            return
        await self._reachable.close()
        await self._chain.stop()
        await self._relay.stop()
        self._reachable = None

    @property
    def node_pid(self) -> int:
        """Process id of the node of the emulator's own chain, or 0 if the node has no process."""
        return self._chain.node_pid

    # --- the contract -----------------------------------------------------------------------------------------------

    async def view(self, function: str, *args: Any, sender: str | None = None, block: int | None = None) -> Any:
        """Calls a view function of the contract.

        Args:
            function: Name of the function.
            *args: Arguments of the function.
            sender: Address of the caller, or None if the function does not read the caller's address.
            block: Number of the block to read from, or None for the latest block. If the node cannot read the given
                block (see `node.KEPT_STATES`), the method reads from the latest block.

        Returns:
            The returned value, or a tuple of several values.

        Raises:
            ContractRevert: The contract reverted the call.
            ChainUnavailable: The chain does not respond, or returned an unexpected result.
            KeyError: The contract has no function with that name.
            AbiError: An argument does not match its ABI type.
        """
        known = contract.function(function)
        call = {"to": self.contract_address, "data": "0x" + known.encode_call(abi, args).hex()}
        if sender is not None:
            call["from"] = sender
        if isinstance(self._chain, LocalChain):
            call["gas"] = hex(_READ_GAS)
        latest = ("latest", *self._chain.call_overrides())
        try:
            data = await call_contract(self._chain, call, *(latest if block is None else (hex(block),)))
        except ChainUnavailable:
            if block is None:
                raise
            data = await call_contract(self._chain, call, *latest)
        try:
            return known.decode_result(abi, data)
        except AbiError as error:
            raise ChainUnavailable(
                f"the contract at {self.contract_address} returned an unexpected result for {function}: {error.message}"
            ) from error

    async def write(self, function: str, *args: Any) -> Any:
        """Calls a function of the contract in a transaction that a payer sends, and waits for its block.

        Args:
            function: Name of the function.
            *args: Arguments of the function.

        Returns:
            The return value of the function.

        Raises:
            ContractRevert: The contract reverted the simulated call or the transaction. The state is unchanged.
            ChainUnavailable: The chain does not respond, or rejected the transaction.
            KeyError: The contract has no function with that name.
            AbiError: An argument does not match its ABI type.
        """
        return await self._relay.write(self.contract_address, contract.function(function), args)

    async def write_together(self, *calls: tuple[str, tuple[Any, ...]]) -> None:
        """Sends several writes that must all take effect, and waits for their blocks.

        Args:
            *calls: Pairs of function name and arguments. The calls must not depend on each other.

        Raises:
            ContractRevert: The contract reverted one of the calls. See `Relay.write_together`.
            ChainUnavailable: The chain does not respond, or rejected one of the transactions.
            KeyError: The contract has no function with that name.
            AbiError: An argument does not match its ABI type.
        """
        known = [(contract.function(name), arguments) for name, arguments in calls]
        await self._relay.write_together(self.contract_address, known)

    async def is_valid_signature(self, address: str, digest: bytes, signature: bytes) -> bool:
        """Returns whether a contract wallet accepts a signature (ERC-1271).

        Args:
            address: Address of the contract wallet.
            digest: Signed digest, 32 bytes.
            signature: Signature in the format that the wallet requires.

        Raises:
            ChainUnavailable: The chain does not respond.
        """
        data = function_selector("isValidSignature(bytes32,bytes)") + abi.encode(
            ("bytes32", "bytes"), (digest, signature)
        )
        call = {"to": address, "data": "0x" + data.hex(), "gas": hex(CONTRACT_SIGNATURE_GAS)}
        try:
            answer = await self._chain.request("eth_call", call, "latest", *self._chain.call_overrides())
        except RpcError as error:
            if error.code in _NODE_TROUBLE:
                raise ChainUnavailable(str(error)) from error
            return False
        found = bytes.fromhex(answer[2:])
        return len(found) >= 32 and found[:4] == _MAGIC  # noqa: PLR2004 - one word

    async def deploy_contract_wallet(self, owner: str) -> str:
        """Deploys a contract wallet that accepts its owner's signatures (ERC-1271).

        Args:
            owner: Address of the signer.

        Returns:
            Address of the contract wallet, in lowercase with the prefix 0x.

        Raises:
            ChainUnavailable: The chain does not respond, rejected the transaction, or reverted it.
            AbiError: ``owner`` is not an address.
        """
        return await self._relay.create(self._artifact.wallet(owner))

    # --- the chain itself -------------------------------------------------------------------------------------------

    async def is_reachable(self) -> bool:
        """Returns whether the chain responds within `REACHABLE_S` seconds. See `svcnb.emulator.platform.reachable`."""
        return self._reachable is not None and await self._reachable.now(self.node_pid)

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(REACHABLE_S):
                await self._chain.request("eth_chainId")
        except (TimeoutError, ChainUnavailable):
            return False
        except RpcError:
            pass  # a response with an error is also a response
        return True

    async def rpc(self, body: Any) -> Any:
        """Handles a JSON-RPC request or batch.

        The emulator's own chain records each transaction in the journal before it executes the transaction.

        Args:
            body: Parsed body of the request.

        Returns:
            Body of the response, or None if the request contains only notifications.
        """
        return await self._gateway.answer(body)

    async def faucet(self, address: str, wei: int) -> int:
        """Adds ether to an account on the emulator's own chain, and returns the new balance in wei.

        Args:
            address: Address of the account.
            wei: Amount in wei.

        Raises:
            RpcError: The new balance exceeds the maximum of 2**256 - 1 wei.
            Unsupported: The chain is not the emulator's own chain.
        """
        chain = self._own_chain("the emulator cannot create ether on an external chain: use the faucet of that chain")
        return await chain.add_balance(address, wei)

    async def export_snapshot(self) -> bytes:
        """Returns a snapshot of the whole chain as bytes: its state, its blocks and its position in the journal.

        Raises:
            Unsupported: The chain is not the emulator's own chain.
        """
        return await self._own_chain("the emulator cannot save a snapshot of an external chain").export_snapshot()

    async def import_snapshot(self, data: bytes) -> None:
        """Restores a snapshot from `export_snapshot`, in the node and in the journal.

        Listeners receive the event `RESET`. The method does not restore the other tables of the database.

        Raises:
            SnapshotUnusable: The bytes are not a snapshot of this chain. The chain is unchanged.
            Unsupported: The chain is not the emulator's own chain.
        """
        await self._own_chain("the emulator cannot restore a snapshot of an external chain").import_snapshot(data)

    def _own_chain(self, problem: str) -> LocalChain:
        if not isinstance(self._chain, LocalChain):
            raise Unsupported(problem)
        return self._chain

    # --- events -----------------------------------------------------------------------------------------------------

    async def events(self, names: Sequence[str], *indexed: int) -> list[ChainEvent]:
        """Returns the contract's events since the first block, oldest first.

        Args:
            names: Names of the events to return.
            *indexed: Required values of the first indexed fields, in the order of the fields.

        Raises:
            ChainUnavailable: The chain does not respond.
        """
        topics = [event.topic for event in contract.events().values() if event.name in names]
        query = {
            "address": self.contract_address,
            "fromBlock": "0x0",
            "toBlock": "latest",
            "topics": [["0x" + topic.hex() for topic in topics], *(f"0x{number:064x}" for number in indexed)],
        }
        try:
            logs = await self._chain.request("eth_getLogs", query)
        except RpcError as error:
            raise ChainUnavailable(str(error)) from error
        return await read_events(logs, self.contract_address)

    async def call_data(self, transaction_hash: str) -> bytes:
        """Returns the call data of a transaction. The result is empty if the transaction is unknown.

        Raises:
            ChainUnavailable: The chain does not respond.
        """
        try:
            found = await self._chain.request("eth_getTransactionByHash", transaction_hash)
        except RpcError as error:
            raise ChainUnavailable(str(error)) from error
        return b"" if found is None else bytes.fromhex(found["input"][2:])

    def on_event(self, listener: Listener) -> None:
        """Registers a listener for all events of the contract, from all senders.

        For transactions through this emulator, the chain calls the listener before `write` or `rpc` returns. After a
        restart or the restore of a snapshot, the chain calls the listener once with the event `RESET`.

        Args:
            listener: Function to call on the event loop. The function must not block.
        """
        self._listeners.append(listener)

    async def _publish(self, receipt: dict[str, Any]) -> None:
        for event in await read_events(receipt["logs"], self.contract_address):
            self._listeners.notify(event)

    def _clear_nonces(self) -> None:
        self._relay.clear_nonces()
        self._owner.nonce = None

    async def _reset(self) -> None:
        self._clear_nonces()
        self._listeners.notify(ChainEvent(RESET, block_number=self._chain.head))
