"""Relay of managed writes. Its payers are wallets of the service that send several writes at the same time.

Every write is first tried as a call, so a refusal costs nothing and its name is available. Each payer has at most one
unfinished transaction. That keeps its nonces in order without waiting for the chain's count. The scheduling is fair:
the account with the fewest unfinished writes gets the next payer.
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
from svcnb.emulator.keys.secp import address_of
from svcnb.emulator.platform import leases
from svcnb.emulator.platform.fair_limit import FairLimit
from svcnb.emulator.platform.offload import current_account
from svcnb.emulator.platform.store import Store
from svcnb.protocol.abi import AbiError
from svcnb.protocol.contract import Function, decode_revert

T = TypeVar("T")

GAS: Final = 25_000_000
"""Gas limit on the built-in chain, whose blocks contain one transaction and have 30 million gas."""
MAX_FEE: Final = 1_000_000_000_000
"""Maximum of wei per unit of gas there. The price is that of the block, 1 gwei unless blocks are full."""


_TOO_LARGE: Final = "intrinsic gas"
"""Text of a node's error for a call whose bytes alone cost more gas than its limit."""


@dataclass
class Wallet:
    """Signing wallet of the service.

    Attributes:
        address: Lowercase 0x.
        nonce: Number of its next transaction. None when it must be read from the chain.
    """

    address: str
    secret: Callable[[], bytes]
    nonce: int | None = None

    @classmethod
    def of(cls, secret: bytes) -> Wallet:
        """The wallet of a private key."""
        # In a function, so that no repr, dump or traceback with locals shows the secret.
        return cls(address_of(secret), lambda: secret)

    def __repr__(self) -> str:
        return f"Wallet({self.address})"


class Relay:
    """Signs and sends transactions for the service's wallets.

    Args:
        chain: The chain.
        chain_id: Its number.
        payers: The wallets that send managed writes.
        store: The database in which servers that share it record busy payers.
        delay_s: Seconds that a managed write waits before it is sent, to simulate the wait for a block.
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
        self._under_way: set[asyncio.Task[Any]] = set()  # the event loop holds only weak references to tasks

    def forget_nonces(self) -> None:
        """Reads the nonce of each payer from the chain before its next transaction."""
        for payer in self._payers:
            payer.nonce = None

    async def write(self, to: str, function: Function, arguments: tuple[Any, ...]) -> Any:
        """Sends a managed write and waits for its block.

        Args:
            to: The contract.
            function: The function to call.
            arguments: Its arguments.

        Returns:
            The return value of the function.

        Raises:
            ContractRevert: The contract refused the call; nothing was sent.
            ChainUnavailable: The chain cannot be reached, or did not accept the transaction.
            AbiError: An argument does not fit.
        """
        data = function.encode_call(arguments)

        async def send(payer: Wallet) -> bytes:
            seen = await self._height()
            result = await self._simulate(payer.address, to, data)
            if self._delay_s:
                await asyncio.sleep(self._delay_s)
            receipt = await self.send(payer, to, data)
            if receipt["status"] != "0x1":
                # Another transaction came between trial and block. The contract reports the error again.
                await self._simulate(payer.address, to, data)
                raise _refused_in_block(function)
            if function.outputs and int(receipt["blockNumber"], 16) != seen + 1:
                # Other blocks came in between, so the trial may have returned another number than the block did.
                result = await self._simulate(payer.address, to, data, before=int(receipt["blockNumber"], 16))
            return result

        result = await self._by_a_payer(send)
        try:
            return function.decode_result(result)
        except AbiError as error:
            raise ChainUnavailable(f"{function.name}: the answer cannot be read: {error}") from error

    async def write_together(self, to: str, calls: Sequence[tuple[Function, tuple[Any, ...]]]) -> None:
        """Sends managed writes that belong together, and waits for their blocks.

        On the built-in chain one commit writes them all to the journal. After a stop at any moment, either all of them
        exist or none. On another chain they are sent one after another: order them so that the first ones alone do no
        harm.

        Args:
            to: The contract.
            calls: The functions to call, with arguments. None may need the effect of another.

        Raises:
            ContractRevert: The contract refused one of them; nothing was sent.
            ChainUnavailable: The chain cannot be reached, or did not accept all of them.
            AbiError: An argument does not fit.
        """
        data = [function.encode_call(arguments) for function, arguments in calls]

        async def send(payer: Wallet) -> None:
            await asyncio.gather(*(self._simulate(payer.address, to, each) for each in data))
            if self._delay_s:
                await asyncio.sleep(self._delay_s)
            if isinstance(self._chain, LocalChain):
                receipts = await self.send_all(payer, [(to, each) for each in data])
            else:
                receipts = [await self.send(payer, to, each) for each in data]
            for (function, _), each, receipt in zip(calls, data, receipts, strict=True):
                if receipt["status"] != "0x1":
                    await self._simulate(payer.address, to, each)
                    raise _refused_in_block(function)

        await self._by_a_payer(send)

    async def create(self, data: bytes) -> str:
        """Creates a contract, sent by a payer.

        Args:
            data: Its creation code.

        Returns:
            Its address, lowercase 0x.
        """
        receipt = await self._by_a_payer(lambda payer: self.send(payer, None, data))
        if receipt["status"] != "0x1":
            raise ChainUnavailable("the contract was not created")
        address: str = receipt["contractAddress"]
        return address.lower()

    async def stop(self) -> None:
        """Cancels unfinished writes without a waiting caller. The chain has stopped."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _by_a_payer(self, work: Callable[[Wallet], Coroutine[Any, Any, T]]) -> T:
        """Runs work with a free payer. The work completes even if the caller has gone.

        The payer is free again only after the chain has answered, because its next nonce is unknown before.
        """
        account = current_account.get()
        await self._turns.take(account)
        payer = self._free.pop()
        task = asyncio.ensure_future(self._alone(payer, work))
        self._under_way.add(task)

        def ended(task: asyncio.Task[T]) -> None:
            self._under_way.discard(task)
            self._free.append(payer)
            self._turns.give_back(account)
            if not task.cancelled():
                task.exception()  # if the caller has gone, the error does not matter

        task.add_done_callback(ended)
        return await asyncio.shield(task)

    async def _alone(self, payer: Wallet, work: Callable[[Wallet], Coroutine[Any, Any, T]]) -> T:
        """Runs work while no other server uses the payer."""
        async with self.holding(payer):
            return await work(payer)

    @asynccontextmanager
    async def holding(self, wallet: Wallet) -> AsyncIterator[None]:
        """Prevents other servers on this chain from sending for a wallet.

        They may have sent before, so the nonce is read again. The built-in chain belongs to one server.
        """
        if isinstance(self._chain, LocalChain) or not self._store.shared:
            yield
            return
        async with leases.held(self._store, f"wallet {wallet.address}"):
            wallet.nonce = None
            yield

    async def send(self, wallet: Wallet, to: str | None, data: bytes) -> dict[str, Any]:
        """Signs and sends one transaction and waits for its block.

        Args:
            wallet: The sender. No other task may be sending for it.
            to: The receiver, or None to create a contract.
            data: Its data.

        Returns:
            The receipt, even if the transaction was reverted.

        Raises:
            ChainUnavailable: The chain cannot be reached, or did not accept the transaction.
        """
        try:
            if wallet.nonce is None:
                # Also counts transactions that a killed server has sent and that are not in a block yet.
                count = await self._chain.request("eth_getTransactionCount", wallet.address, "pending")
                wallet.nonce = int(count, 16)
            gas, fee, tip = await self._price(wallet.address, to, data)
            raw = sign(
                wallet.secret(),
                chain_id=self._chain_id,
                nonce=wallet.nonce,
                to=to,
                data=data,
                gas=gas,
                max_fee=fee,
                tip=tip,
            )
            nonce, wallet.nonce = wallet.nonce, None  # unknown until the chain has answered
            receipt = await self._chain.submit(raw)
        except RpcError as error:
            raise ChainUnavailable(f"the chain refused a transaction of {wallet.address}: {error}") from error
        wallet.nonce = nonce + 1
        return receipt

    async def send_all(self, wallet: Wallet, calls: Sequence[tuple[str | None, bytes]]) -> list[dict[str, Any]]:
        """Sends several transactions in order on the built-in chain, where one journal commit contains them all.

        Args:
            wallet: The sender. No other task may be sending for it.
            calls: Receiver (None to create a contract) and data of each.

        Returns:
            Their receipts, also for reverted ones.

        Raises:
            ChainUnavailable: The chain cannot be reached, or did not accept one of them.
        """
        first = wallet.nonce
        if first is None:
            first = int(await self._chain.request("eth_getTransactionCount", wallet.address, "latest"), 16)
        wallet.nonce = None  # unknown until the chain has answered
        signed = [
            sign(
                wallet.secret(),
                chain_id=self._chain_id,
                nonce=nonce,
                to=to,
                data=data,
                gas=GAS,
                max_fee=MAX_FEE,
                tip=0,
            )
            for nonce, (to, data) in enumerate(calls, first)
        ]
        try:
            receipts = await asyncio.gather(*map(self._chain.submit, signed))
        except RpcError as error:
            raise ChainUnavailable(f"the chain refused a transaction of {wallet.address}: {error}") from error
        wallet.nonce = first + len(signed)
        return receipts

    async def _height(self) -> int:
        try:
            return await self._chain.height()
        except RpcError as error:
            raise ChainUnavailable(str(error)) from error

    async def _price(self, sender: str, to: str | None, data: bytes) -> tuple[int, int, int]:
        """Gas limit, maximum fee per gas in wei, and the tip within it."""
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
            call["gas"] = hex(GAS)  # as the transaction: with more, the trial could wrongly succeed
        where = ("latest", *self._chain.call_overrides()) if before is None else (hex(before - 1),)
        return await call_contract(self._chain, call, *where)


def _refused_in_block(function: Function) -> ChainUnavailable:
    return ChainUnavailable(f"{function.name} was refused in its block and would be accepted now: try again")


async def call_contract(chain: LocalChain | RemoteChain, call: dict[str, Any], *where: Any) -> bytes:
    """Calls a contract without a change of state.

    Args:
        chain: The chain of the contract.
        call: The call object of eth_call.
        *where: Block and overrides of eth_call.

    Returns:
        The bytes it returned.

    Raises:
        ContractRevert: The contract refused the call.
        ChainUnavailable: The chain cannot be reached, or could not run the call.
    """
    try:
        answer: str = await chain.request("eth_call", call, *where)
    except RpcError as error:
        if error.code == REVERTED or _TOO_LARGE in error.message:
            revert = decode_revert(error.revert_data)
            raise ContractRevert(revert.name, revert.args) from error
        raise ChainUnavailable(str(error)) from error
    return bytes.fromhex(answer[2:])
