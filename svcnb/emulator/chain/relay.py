"""The payers: wallets of the service that send managed writes, several at a time.

Every write is tried as a call first, so a refusal costs nothing and is known by name. Each payer has one transaction
under way at most, which keeps its nonces in order without waiting for the chain to count them. Accounts take turns: who
has the fewest writes under way gets the next payer.
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
"""Gas offered on the built-in chain, whose blocks hold one transaction and 30 million."""
MAX_FEE: Final = 1_000_000_000_000
"""Wei for a unit of gas offered there; the price is that of the block, 1 gwei unless somebody fills blocks."""


_TOO_LARGE: Final = "intrinsic gas"
"""In a node's words about a call whose bytes alone cost more gas than it may use."""


@dataclass
class Wallet:
    """A wallet that the service signs with.

    Attributes:
        address: Lowercase 0x.
        nonce: Number of its next transaction, None when the chain must be asked.
    """

    address: str
    secret: Callable[[], bytes]
    nonce: int | None = None

    @classmethod
    def of(cls, secret: bytes) -> Wallet:
        """The wallet of a private key."""
        # In a function, so that no repr, dump or traceback of locals shows it.
        return cls(address_of(secret), lambda: secret)

    def __repr__(self) -> str:
        return f"Wallet({self.address})"


class Relay:
    """Signs and sends for the service's wallets.

    Args:
        chain: Where to.
        chain_id: Its number.
        payers: The wallets that send managed writes.
        store: Where servers that share a database tell each other which payers are busy.
        delay_s: Seconds a managed write waits before it is sent, as it would for a block.
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
        self._under_way: set[asyncio.Task[Any]] = set()  # the loop itself holds tasks only weakly

    def forget_nonces(self) -> None:
        """Asks the chain again before the next transaction of each payer."""
        for payer in self._payers:
            payer.nonce = None

    async def write(self, to: str, function: Function, arguments: tuple[Any, ...]) -> Any:
        """Sends a managed write and waits for its block.

        Args:
            to: The contract.
            function: What to call there.
            arguments: Its arguments.

        Returns:
            What the function returned.

        Raises:
            ContractRevert: The contract refuses; nothing was sent.
            ChainUnavailable: The chain cannot be reached, or did not take the transaction.
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
                # Something came between trial and block; the contract tells again what it is.
                await self._simulate(payer.address, to, data)
                raise _refused_in_block(function)
            if function.outputs and int(receipt["blockNumber"], 16) != seen + 1:
                # Blocks came between, so the trial may have answered another number than the block did.
                result = await self._simulate(payer.address, to, data, before=int(receipt["blockNumber"], 16))
            return result

        result = await self._by_a_payer(send)
        try:
            return function.decode_result(result)
        except AbiError as error:
            raise ChainUnavailable(f"{function.name}: the answer cannot be read: {error}") from error

    async def write_together(self, to: str, calls: Sequence[tuple[Function, tuple[Any, ...]]]) -> None:
        """Sends managed writes that belong together and waits for their blocks.

        On the built-in chain they stand in the journal by one commit, so that after a stop at any moment there are all
        of them or none. On another chain they go one after another: order them so that a first part alone does no harm.

        Args:
            to: The contract.
            calls: What to call there, with arguments; none may need another's effect.

        Raises:
            ContractRevert: The contract refuses one of them; nothing was sent.
            ChainUnavailable: The chain cannot be reached, or did not take all of them.
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
        """Creates a contract by a payer.

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
        """Gives up writes that nobody waits for any more; the chain has stopped."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _by_a_payer(self, work: Callable[[Wallet], Coroutine[Any, Any, T]]) -> T:
        """Runs work with a payer that is free, to its end also when whoever asked has gone.

        The payer is free again only when the chain has answered: its next nonce is not known before.
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
                task.exception()  # an error that nobody waits for any more is no news

        task.add_done_callback(ended)
        return await asyncio.shield(task)

    async def _alone(self, payer: Wallet, work: Callable[[Wallet], Coroutine[Any, Any, T]]) -> T:
        """Runs work while no other server uses the payer."""
        async with self.holding(payer):
            return await work(payer)

    @asynccontextmanager
    async def holding(self, wallet: Wallet) -> AsyncIterator[None]:
        """Keeps other servers on this chain from sending for a wallet.

        They may have sent since, so its nonce is asked again. The built-in chain belongs to one server.
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
            wallet: Who sends; nobody else may be sending for it.
            to: The receiver, or None to create a contract.
            data: Its data.

        Returns:
            The receipt, of a reverted one too.

        Raises:
            ChainUnavailable: The chain cannot be reached, or did not take the transaction.
        """
        try:
            if wallet.nonce is None:
                # Also counts what a server that was killed has sent, and no block holds yet.
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
        """Sends several transactions in order on the built-in chain, where they share one commit of the journal.

        Args:
            wallet: Who sends; nobody else may be sending for it.
            calls: Receiver, or None to create a contract, and data of each.

        Returns:
            Their receipts, of reverted ones too.

        Raises:
            ChainUnavailable: The chain cannot be reached, or did not take one of them.
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
        """Gas, most wei for a unit of it, and the tip of that."""
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
            call["gas"] = hex(GAS)  # what the transaction will have; with more, the trial would promise too much
        where = ("latest", *self._chain.call_overrides()) if before is None else (hex(before - 1),)
        return await call_contract(self._chain, call, *where)


def _refused_in_block(function: Function) -> ChainUnavailable:
    return ChainUnavailable(f"{function.name} was refused in its block and would be accepted now: try again")


async def call_contract(chain: LocalChain | RemoteChain, call: dict[str, Any], *where: Any) -> bytes:
    """Calls a contract without changing anything.

    Args:
        chain: Where it is.
        call: The call, as eth_call wants it.
        *where: Block and overrides, as eth_call wants them.

    Returns:
        The bytes it returned.

    Raises:
        ContractRevert: It refused.
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
