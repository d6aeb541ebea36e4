"""Relay that sends several managed writes in parallel. Wallets of the service, the payers, sign the writes.

A managed write is a transaction that the service sends for an account in API mode.

The relay first simulates each write as a call. A revert therefore costs no gas, and the name of the contract's error is
available. Each payer sends the transactions of only one write or group of writes at a time, so the payer's nonces stay
in order. The scheduling is fair: the account with the fewest unfinished writes gets the next payer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from svcnb.emulator.chain.errors import REVERTED, ChainUnavailable, ContractRevert, RpcError
from svcnb.emulator.chain.local import LocalChain
from svcnb.emulator.chain.remote import RemoteChain
from svcnb.emulator.chain.transactions import sign
from svcnb.emulator.platform import abi, leases
from svcnb.emulator.platform.fair_limit import FairLimit
from svcnb.emulator.platform.offload import current_account
from svcnb.emulator.platform.store import Store
from svcnb.protocol.contract import AbiError, Function, decode_revert
from svcnb.protocol.signature import address_of_secret

T = TypeVar("T")

GAS: Final = 25_000_000
"""Gas limit of each transaction of the relay on the emulator's own chain.

A block of this chain contains one transaction, and uses at most 30 million gas."""
MAX_FEE: Final = 1_000_000_000_000
"""Maximum fee that the relay's transactions offer on the emulator's own chain, in wei per unit of gas.

The chain charges only the block's base fee. The base fee starts at 1 gwei and changes with the gas use of the blocks
(EIP-1559)."""


_TOO_LARGE: Final = "intrinsic gas"
"""Text in a node's error for a call whose data alone costs more gas than the gas limit of the call."""


@dataclass
class Wallet:
    """Signing wallet of the service.

    Attributes:
        address: Address of the wallet, in lowercase with the prefix 0x.
        secret: Function that returns the private key.
        nonce: Nonce of the next transaction, or None if the relay must read it from the chain.
    """

    address: str
    secret: Callable[[], bytes]
    nonce: int | None = None

    @classmethod
    def of(cls, secret: bytes) -> Wallet:
        """Returns the wallet of a private key."""
        # Keep the secret in a closure, so that no repr, dump or traceback with locals shows it.
        return cls(address_of_secret(secret), lambda: secret)

    def __repr__(self) -> str:
        return f"Wallet({self.address})"


class Relay:
    """Relay that signs and sends transactions of the service's wallets.

    Args:
        chain: Chain that receives the transactions.
        chain_id: Id of that chain (EIP-155), which is part of each signed transaction.
        payers: Wallets that send managed writes.
        store: Database. If several servers share the database, the servers lock the payers with leases.
        delay_s: Delay of a managed write, in seconds. The delay simulates the wait for a block.
    """

    def __init__(
        self,
        chain: LocalChain | RemoteChain,
        chain_id: int,
        payers: list[Wallet],
        *,
        store: Store,
        delay_s: float,
    ) -> None:
        self._chain = chain
        self._chain_id = chain_id
        self._store = store
        self._delay_s = delay_s
        self._payers = payers
        self._free = payers[::-1]
        self._turns = FairLimit(len(payers), len(payers))
        self._under_way: set[asyncio.Task[Any]] = set()  # the event loop keeps only weak references to tasks

    def clear_nonces(self) -> None:
        """Discards the payers' cached nonces. The relay reads the nonces from the chain before the next transaction."""
        for payer in self._payers:
            payer.nonce = None

    async def write(self, to: str, function: Function, arguments: tuple[Any, ...]) -> Any:
        """Sends a managed write and waits for its block.

        Args:
            to: Address of the contract.
            function: Function to call.
            arguments: Arguments of the function.

        Returns:
            The return value of the function.

        Raises:
            ContractRevert: The contract reverted the simulated call, or the transaction itself. In both cases, the
                contract's state is unchanged.
            ChainUnavailable: The chain does not respond, or rejected the transaction.
            AbiError: An argument does not match its ABI type.
        """
        data = function.encode_call(abi, arguments)

        async def send(payer: Wallet) -> bytes:
            seen = await self._chain.height()
            result = await self._simulate(payer.address, to, data)
            if self._delay_s:
                await asyncio.sleep(self._delay_s)
            receipt = await self.send(payer, to, data)
            if receipt["status"] != "0x1":
                # The chain executed another transaction after the simulation. A new simulation raises the contract's
                # error.
                await self._simulate(payer.address, to, data)
                raise _refused_in_block(function)
            if function.outputs and int(receipt["blockNumber"], 16) != seen + 1:
                # The chain created other blocks after the simulation, so the simulation may have returned a different
                # value.
                result = await self._simulate(payer.address, to, data, before=int(receipt["blockNumber"], 16))
            return result

        result = await self._by_a_payer(send)
        try:
            return function.decode_result(abi, result)
        except AbiError as error:
            raise ChainUnavailable(f"the response of {function.name} cannot be decoded ({error.message})") from error

    async def write_together(self, to: str, calls: Sequence[tuple[Function, tuple[Any, ...]]]) -> None:
        """Sends several related managed writes, and waits for their blocks.

        On the emulator's own chain, one commit records all of the writes in the journal. Even if the emulator stops,
        either all of the writes exist or none. On an external chain, the relay sends the writes in sequence. Order the
        writes so that the earlier writes cause no harm if a later write fails.

        Args:
            to: Address of the contract.
            calls: Functions to call, each with its arguments. The calls must not depend on each other.

        Raises:
            ContractRevert: The contract reverted one of the simulated calls, and the relay sent no transaction. Or the
                contract reverted one of the transactions in its block.
            ChainUnavailable: The chain does not respond, or rejected one of the transactions.
            AbiError: An argument does not match its ABI type.
        """
        data = [function.encode_call(abi, arguments) for function, arguments in calls]

        async def send(payer: Wallet) -> None:
            await asyncio.gather(*(self._simulate(payer.address, to, each) for each in data))
            if self._delay_s:
                await asyncio.sleep(self._delay_s)
            receipts = await self.send_all(payer, [(to, each) for each in data])
            for (function, _), each, receipt in zip(calls, data, receipts, strict=True):
                if receipt["status"] != "0x1":
                    await self._simulate(payer.address, to, each)
                    raise _refused_in_block(function)

        await self._by_a_payer(send)

    async def create(self, data: bytes) -> str:
        """Deploys a contract through a payer.

        Args:
            data: Creation code of the contract.

        Returns:
            Address of the contract, in lowercase with the prefix 0x.

        Raises:
            ChainUnavailable: The chain does not respond, rejected the transaction, or reverted it.
        """
        receipt = await self._by_a_payer(lambda payer: self.send(payer, None, data))
        if receipt["status"] != "0x1":
            raise ChainUnavailable(
                f"the transaction {receipt['transactionHash']} was reverted and did not create the contract"
            )
        address: str = receipt["contractAddress"]
        return address.lower()

    async def stop(self) -> None:
        """Cancels unfinished writes. Call this method after the chain has stopped."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _by_a_payer(self, work: Callable[[Wallet], Coroutine[Any, Any, T]]) -> T:
        """Runs a function with a free payer and returns its result. The run continues if the caller is cancelled.

        The relay releases the payer only after the chain has responded, because the payer's next nonce is unknown
        until then.
        """
        account = current_account.get()
        await self._turns.take(account)
        payer = self._free.pop()
        task = asyncio.ensure_future(self._alone(payer, work))
        self._under_way.add(task)

        def ended(task: asyncio.Task[T]) -> None:
            self._under_way.discard(task)
            self._free.append(payer)
            self._turns.release(account)
            if not task.cancelled():
                task.exception()  # this marks the error as retrieved, because the caller may have disconnected

        task.add_done_callback(ended)
        return await asyncio.shield(task)

    async def _alone(self, payer: Wallet, work: Callable[[Wallet], Coroutine[Any, Any, T]]) -> T:
        async with self.holding(payer):
            return await work(payer)

    @asynccontextmanager
    async def holding(self, wallet: Wallet) -> AsyncIterator[None]:
        """Locks a wallet, so that no other server on this chain sends transactions from it.

        Other servers may have sent transactions from the wallet before this lock. Therefore, the relay reads the nonce
        again. The emulator's own chain belongs to one server and needs no lock.
        """
        if isinstance(self._chain, LocalChain) or not self._store.shared:
            yield
            return
        async with leases.held(self._store, f"wallet {wallet.address}"):
            wallet.nonce = None
            yield

    async def send(self, wallet: Wallet, to: str | None, data: bytes) -> dict[str, Any]:
        """Sends one transaction and returns its receipt. See `send_all`."""
        [receipt] = await self.send_all(wallet, [(to, data)])
        return receipt

    async def send_all(self, wallet: Wallet, calls: Sequence[tuple[str | None, bytes]]) -> list[dict[str, Any]]:
        """Signs and sends transactions in order, and waits for their blocks.

        On the emulator's own chain, one commit records all of the transactions in the journal. On an external chain,
        the relay sends each transaction only after a block contains the previous transaction.

        Args:
            wallet: Sender. Other tasks must not send transactions from this wallet at the same time.
            calls: Receiver (None to create a contract), and call data or creation code, of each transaction.

        Returns:
            The receipts of all transactions, including reverted transactions.

        Raises:
            ChainUnavailable: The chain does not respond, or rejected one of the transactions.
        """
        first = wallet.nonce
        wallet.nonce = None  # the nonce is unknown until the chain has responded
        try:
            if first is None:
                # "pending" also counts unconfirmed transactions that a killed server has sent.
                first = int(await self._chain.request("eth_getTransactionCount", wallet.address, "pending"), 16)
            numbered = list(enumerate(calls, first))
            if isinstance(self._chain, LocalChain):
                receipts = await asyncio.gather(*(self._submit(wallet, nonce, *call) for nonce, call in numbered))
            else:
                receipts = [await self._submit(wallet, nonce, *call) for nonce, call in numbered]
        except RpcError as error:
            raise ChainUnavailable(
                f"the chain returned an error for a transaction of {wallet.address}: {error}"
            ) from error
        wallet.nonce = first + len(calls)
        return receipts

    async def _submit(self, wallet: Wallet, nonce: int, to: str | None, data: bytes) -> dict[str, Any]:
        gas, fee, tip = await self._price(wallet.address, to, data)
        raw = sign(
            wallet.secret(),
            chain_id=self._chain_id,
            nonce=nonce,
            to=to,
            data=data,
            gas=gas,
            max_fee=fee,
            tip=tip,
        )
        return await self._chain.submit(raw)

    async def _price(self, sender: str, to: str | None, data: bytes) -> tuple[int, int, int]:
        """Returns gas limit, maximum fee and tip. The fee includes the tip, and both are in wei per unit of gas."""
        if isinstance(self._chain, LocalChain):
            return GAS, MAX_FEE, 0
        call = {"from": sender, "data": "0x" + data.hex()} | ({"to": to} if to else {})
        gas, price = await asyncio.gather(
            self._chain.request("eth_estimateGas", call), self._chain.request("eth_gasPrice")
        )
        tip = int(await self._chain.request("eth_maxPriorityFeePerGas"), 16)
        return int(gas, 16) * 5 // 4, int(price, 16) * 2 + tip, tip

    async def _simulate(self, sender: str, to: str, data: bytes, *, before: int | None = None) -> bytes:
        call = {"from": sender, "to": to, "data": "0x" + data.hex()}
        if isinstance(self._chain, LocalChain):
            call["gas"] = hex(GAS)  # use the gas of the transaction, so that the results are the same
        where = ("latest", *self._chain.call_overrides()) if before is None else (hex(before - 1),)
        return await call_contract(self._chain, call, *where)


def _refused_in_block(function: Function) -> ChainUnavailable:
    return ChainUnavailable(
        f"the transaction of {function.name} failed in its block, but a simulation after this block succeeds: try again"
    )


async def call_contract(chain: LocalChain | RemoteChain, call: dict[str, Any], *where: Any) -> bytes:
    """Calls a contract without changing its state.

    Args:
        chain: Chain of the contract.
        call: Call object of eth_call.
        *where: Block and overrides of eth_call.

    Returns:
        The returned bytes.

    Raises:
        ContractRevert: The contract reverted the call.
        ChainUnavailable: The chain does not respond, or cannot run the call.
    """
    try:
        answer: str = await chain.request("eth_call", call, *where)
    except RpcError as error:
        if error.code == REVERTED or _TOO_LARGE in error.message:
            revert = decode_revert(abi, error.revert_data)
            raise ContractRevert(revert.name, revert.args) from error
        raise ChainUnavailable(str(error)) from error
    return bytes.fromhex(answer[2:])
