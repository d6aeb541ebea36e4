"""The chain's interface for the rest of the emulator: contract reads, contract writes and events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from svcnb.emulator.chain import deploy, journal
from svcnb.emulator.chain.bootstrap import FUNDS, EarlyNode
from svcnb.emulator.chain.errors import ChainUnavailable, ChainUnusable, RpcError, Unsupported
from svcnb.emulator.chain.events import RESET, ChainEvent, Listener, events_of
from svcnb.emulator.chain.gateway import Gateway
from svcnb.emulator.chain.local import LocalChain
from svcnb.emulator.chain.relay import Relay, Wallet, call_contract
from svcnb.emulator.chain.remote import RemoteChain
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.reachable import Reachable
from svcnb.emulator.platform.store import Store
from svcnb.emulator.settings import Settings
from svcnb.protocol import contract
from svcnb.protocol.abi import AbiError, encode
from svcnb.protocol.hashes import function_selector
from svcnb.protocol.limits import CONTRACT_SIGNATURE_GAS

log = logging.getLogger(__name__)

REACHABLE_S: Final = 2.0
"""Seconds within which a reachable chain answers a simple request."""

_ETHER: Final = 10**18
_LOW: Final = 1_000 * _ETHER
_MAGIC: Final = bytes.fromhex("1626ba7e")
_READ_GAS: Final = 10_000_000_000
"""Gas of a read on the built-in chain. Lists of some thousand entries need more than a block's, and reads are free."""
_NODE_TROUBLE: Final = frozenset({-32005, -32700, -32600, -32601})
"""JSON-RPC codes that mean that the node did not run a call at all: rate limits and unknown requests."""


class Chain:
    """A chain with the contract on it. Addresses are available at once; everything else needs `start`.

    Args:
        settings: Selects the chain and the number of payers.
        store: The database of the journal.
        custody: Keys of owner and payers.
        clock: The time of blocks.

    Attributes:
        chain_id: The chain's number. For a chain that the emulator did not start, it is 0 until `start`.
        contract_address: The contract, lowercase 0x. The custody's root secret determines it.
        payers: The wallets that relay managed writes, lowercase 0x.
        admin_payer: The wallet that manages them, lowercase 0x.
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
        self._listeners: list[Listener] = []
        self._reachable: Reachable | None = None
        self.chain_id = settings.chain_id if settings.chain_rpc is None else 0
        self.contract_address = self._artifact.address(self._owner.address)
        self.payers = tuple(payer.address for payer in self._payers)
        self.admin_payer = self._admin.address

    async def start(self, early: EarlyNode | None = None) -> None:
        """Starts the built-in chain, or connects to another, and completes the deployment.

        Args:
            early: The built-in chain's node, if it is booting already.

        Raises:
            ChainUnusable: It cannot be used with this state or these settings.
            ChainUnavailable: It cannot be reached or started.
            PartMissing: The node's binary is not installed.
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
            else:
                self.chain_id = await chain.chain_id()
            chain.on_receipt = self._tell
            chain.on_reset = self._reset
            delay_s = settings.chain_block_time_ms / 1000
            self._chain = chain
            self._relay = Relay(chain, self.chain_id, self._payers, store=self._store, delay_s=delay_s)
            self._gateway = Gateway(chain)
            self._reachable = Reachable(self._answers)
            async with self._relay.holding(self._owner):
                await self._prepare()
        except BaseException:
            await chain.stop()
            raise

    async def restart(self, between: Callable[[], Awaitable[object]]) -> None:
        """Stops the built-in chain and starts a new one. Listeners receive a reset.

        Args:
            between: Awaited while the chain is stopped.

        Raises:
            Unsupported: The chain is not the built-in one.
        """
        if self._settings.chain_rpc is not None:
            raise Unsupported("a chain that the emulator did not start cannot go back to its beginning")
        await self.stop()
        await between()
        self._forget_nonces()
        await self.start()
        self._notify(ChainEvent(RESET, block_number=self._chain.head))

    async def stop(self) -> None:
        """Stops the built-in chain, if it was started. Everything accepted is in the journal. May be called twice."""
        if self._reachable is None:
            return
        await self._reachable.close()
        await self._chain.stop()
        await self._relay.stop()
        self._reachable = None

    @property
    def node_pid(self) -> int:
        """Process id of the built-in chain's node, 0 if it has none."""
        return self._chain.node_pid

    async def _prepare(self) -> None:
        owner = self._owner.address
        if isinstance(self._chain, LocalChain):
            wallets = (owner, self.admin_payer, *self.payers)
            asking = (self._chain.request("eth_getBalance", address, "latest") for address in wallets)
            for address, balance in zip(wallets, await asyncio.gather(*asking), strict=True):
                if int(balance, 16) < _LOW:
                    await self._chain.add_balance(address, FUNDS)
        creations = await deploy.missing(self._chain.request, self._artifact, owner)
        await self._send_as_owner(creations)
        if not creations:
            await deploy.check_version(self._chain.request, self.contract_address)
        calls = await deploy.settings_calls(
            self._chain.request, self.contract_address, payers=self.payers, admin_payer=self.admin_payer
        )
        await self._send_as_owner(calls)
        if isinstance(self._chain, RemoteChain):
            await self._chain.follow(self.contract_address)

    async def _send_as_owner(self, calls: list[deploy.Creation]) -> None:
        if isinstance(self._chain, LocalChain):
            receipts = await self._relay.send_all(self._owner, [(call.to, call.data) for call in calls])
            for call, receipt in zip(calls, receipts, strict=True):
                _check(call, receipt)
            return
        for call in calls:  # on another chain, the needs of a call depend on the call before it
            try:
                _check(call, await self._relay.send(self._owner, call.to, call.data))
            except ChainUnavailable as error:
                raise ChainUnusable(
                    f"{call.what} cannot be deployed by {self._owner.address}: {error.message} "
                    "Give that address ether on the chain, and keep the seed or state folder."
                ) from error

    # --- the contract -----------------------------------------------------------------------------------------------

    async def view(self, function: str, *args: Any, sender: str | None = None, block: int | None = None) -> Any:
        """Reads from the contract.

        Args:
            function: Name of the function.
            *args: Its arguments.
            sender: The address of the caller; only relevant to functions that read it.
            block: Number of the block to read from, the latest when None. For a block whose state is no longer kept
                (see `node.KEPT_STATES`), the latest is used.

        Returns:
            The value, or a tuple of several.

        Raises:
            ContractRevert: The contract refused the call.
            ChainUnavailable: The chain cannot be reached.
            KeyError: There is no such function.
            AbiError: An argument does not fit.
        """
        known = contract.function(function)
        call = {"to": self.contract_address, "data": "0x" + known.encode_call(args).hex()}
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
            return known.decode_result(data)
        except AbiError as error:
            raise ChainUnavailable(
                f"the contract at {self.contract_address} answers {function} with: {error}"
            ) from error

    async def write(self, function: str, *args: Any) -> Any:
        """Writes to the contract through a payer and waits for the block.

        Args:
            function: Name of the function.
            *args: Its arguments.

        Returns:
            The return value of the function.

        Raises:
            ContractRevert: The contract refused the call; nothing was sent.
            ChainUnavailable: The chain cannot be reached.
            KeyError: There is no such function.
            AbiError: An argument does not fit.
        """
        return await self._relay.write(self.contract_address, contract.function(function), args)

    async def write_together(self, *calls: tuple[str, tuple[Any, ...]]) -> None:
        """Writes several changes that must all happen, and waits for their blocks.

        Args:
            *calls: Names of functions, each with its arguments. None may need the effect of another.

        Raises:
            ContractRevert: The contract refused one of them; nothing was sent.
            ChainUnavailable: The chain cannot be reached.
            KeyError: There is no such function.
            AbiError: An argument does not fit.
        """
        known = [(contract.function(name), arguments) for name, arguments in calls]
        await self._relay.write_together(self.contract_address, known)

    async def is_valid_signature(self, address: str, digest: bytes, signature: bytes) -> bool:
        """Whether a contract wallet accepts a signature as its own (ERC-1271).

        Args:
            address: The wallet.
            digest: The 32 bytes that were signed.
            signature: The signature, in the form that the wallet requires.

        Raises:
            ChainUnavailable: The chain cannot be reached.
        """
        data = function_selector("isValidSignature(bytes32,bytes)") + encode(("bytes32", "bytes"), (digest, signature))
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
        """Creates a contract wallet that accepts its owner's signatures (ERC-1271).

        Args:
            owner: The address of the signer.

        Returns:
            The wallet's address, lowercase 0x.

        Raises:
            ChainUnavailable: The chain cannot be reached.
            AbiError: ``owner`` is not an address.
        """
        return await self._relay.create(self._artifact.wallet(owner))

    # --- the chain itself -------------------------------------------------------------------------------------------

    async def is_reachable(self) -> bool:
        """Whether the chain answers within `REACHABLE_S`; see `svcnb.emulator.platform.reachable.Reachable`."""
        return self._reachable is not None and await self._reachable.now(self.node_pid)

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(REACHABLE_S):
                await self._chain.request("eth_chainId")
        except (TimeoutError, ChainUnavailable):
            return False
        except RpcError:
            pass  # an error is an answer too
        return True

    async def rpc(self, body: Any) -> Any:
        """Answers a JSON-RPC request or batch. Accepted transactions are in the journal before they are sent.

        Args:
            body: The parsed body.

        Returns:
            The answer's body, or None when there is nothing to answer.
        """
        return await self._gateway.answer(body)

    async def faucet(self, address: str, wei: int) -> int:
        """Adds ether to an account on the built-in chain.

        Args:
            address: The account.
            wei: The amount.

        Returns:
            The new balance in wei.

        Raises:
            Unsupported: The chain is not the built-in one.
        """
        return await self._chain.add_balance(address, wei)

    async def export_snapshot(self) -> bytes:
        """The whole chain as bytes: state, blocks and the position in the journal.

        Raises:
            Unsupported: The chain is not the built-in one.
        """
        return await self._chain.export_snapshot()

    async def import_snapshot(self, data: bytes) -> None:
        """Restores bytes from `export_snapshot`, in the journal too. Listeners receive a reset.

        It makes no difference whether the database was restored to that moment before this call.

        Raises:
            SnapshotUnusable: The bytes are not a snapshot of this chain; nothing was changed.
            Unsupported: The chain is not the built-in one.
        """
        await self._chain.import_snapshot(data)

    async def snapshot(self, name: str) -> None:
        """Saves the chain under a name in the database. Replaces a snapshot of that name."""
        content = await self.export_snapshot()
        await self._store.run(lambda connection: journal.save_snapshot(connection, name, content))

    async def restore(self, name: str) -> None:
        """Restores a saved snapshot.

        Raises:
            LookupError: There is no snapshot of that name.
        """
        content = await self._store.run(lambda connection: journal.read_snapshot(connection, name))
        if content is None:
            raise LookupError(f"there is no chain snapshot {name!r}")
        await self.import_snapshot(content)

    # --- events -----------------------------------------------------------------------------------------------------

    async def events(self, names: Sequence[str], *indexed: int) -> list[ChainEvent]:
        """Reads the contract's events since the first block, oldest first.

        Args:
            names: Names of the events.
            *indexed: Their first indexed fields.

        Raises:
            ChainUnavailable: The chain does not answer.
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
        return list(events_of(logs, self.contract_address))

    async def call_data(self, transaction_hash: str) -> bytes:
        """The data of a transaction, empty when the transaction is unknown.

        Raises:
            ChainUnavailable: The chain does not answer.
        """
        try:
            found = await self._chain.request("eth_getTransactionByHash", transaction_hash)
        except RpcError as error:
            raise ChainUnavailable(str(error)) from error
        return b"" if found is None else bytes.fromhex(found["input"][2:])

    def on_event(self, listener: Listener) -> None:
        """Calls a function with every event of the contract, from every sender.

        For transactions through this emulator, the call happens before `write` or `rpc` return. After a return to a
        snapshot, it is called once with an event of the name ``reset``.

        Args:
            listener: Called on the event loop. It must not block.
        """
        self._listeners.append(listener)

    def _tell(self, receipt: dict[str, Any]) -> None:
        for event in events_of(receipt["logs"], self.contract_address):
            self._notify(event)

    def _forget_nonces(self) -> None:
        self._relay.forget_nonces()
        self._owner.nonce = None

    async def _reset(self) -> None:
        self._forget_nonces()
        self._notify(ChainEvent(RESET, block_number=self._chain.head))

    def _notify(self, event: ChainEvent) -> None:
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed on the event %s", event.name)


def _check(call: deploy.Creation, receipt: dict[str, Any]) -> None:
    if receipt["status"] != "0x1":
        raise ChainUnusable(f"{call.what} cannot be deployed: the transaction {receipt['transactionHash']} failed")
