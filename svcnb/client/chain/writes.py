"""Writes to the contract: simulate, show, sign, send, wait, and name the contract's error.

The simulation finds a refusal, so it costs no gas. Each transaction is simulated on the same chain just before it is
sent.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from svcnb.client.calls import Flow, act, now, pause
from svcnb.client.chain.access import ChainAccess
from svcnb.client.chain.names import Names, sentence
from svcnb.client.chain.reverts import refused
from svcnb.client.chain.rpc import INTERNAL_ERROR, RpcError
from svcnb.client.errors import ChainError, SigningError
from svcnb.client.models.chain import Preview, Receipt, ether
from svcnb.protocol.abi import encode
from svcnb.protocol.contract import Function, function
from svcnb.protocol.hashes import checksum_address, function_selector

if TYPE_CHECKING:
    from svcnb.client.signing import Signer

SPARE_GAS: Final = (6, 5)
"""The gas limit is the estimate plus a fifth: another write may be included first and raise the cost of this one."""

RECEIPT_TIMEOUT_S: Final = 180.0
_FIRST_POLL_S: Final = 0.05
_LONGEST_POLL_S: Final = 2.0
_DEFAULT_TIP_WEI: Final = 1_000_000_000
_EXECUTE: Final = "execute(address,uint256,bytes)"
_KNOWN: Final = ("already known", "already imported")
"""Phrase of nodes' messages about a transaction that is already pending."""

View = Callable[[str, bytes], Flow[bytes]]
"""Calls a contract without a transaction: address and call data to result."""


@runtime_checkable
class Executes(Protocol):
    """Contract wallet that builds its own call data for an action; others use ``execute(address,uint256,bytes)``."""

    def execution(self, target: str, data: bytes, view: View) -> Generator[Any, Any, bytes]:
        """Returns call data for the wallet that makes it call ``target`` with ``data``.

        Args:
            target: The contract to call.
            data: The call data for it.
            view: Reads from the chain, for example the wallet's nonce: ``yield from view(address, data)``.
        """
        ...


@dataclass
class Writer:
    """Writer of a contract: the wallet, and the steps around every write.

    Attributes:
        chain: The chain.
        owner: The wallet that acts; None when the account is only read.
        names: Names for the sentences.
        on_preview: Called with every write before it is signed; False stops the write. The asynchronous client awaits
            it.
        receipts: Every write that was included in a block, oldest first.
    """

    chain: ChainAccess
    owner: Signer | None
    names: Names = field(default_factory=Names)
    on_preview: Callable[[Preview], object] | None = None
    receipts: list[Receipt] = field(default_factory=list)

    def write(self, name: str, *arguments: Any, on_sent: Callable[[str], object] | None = None) -> Flow[Written]:
        """Calls a function of the contract by a transaction, and waits for its receipt.

        Args:
            name: The function.
            *arguments: Its arguments.
            on_sent: Called with the transaction's hash before the transaction is sent.

        Returns:
            The contract's result in the simulation, and the receipt.

        Raises:
            ChainError: The contract refused (by name, with a hint), the wallet cannot pay the gas, or the chain could
                not be reached. The message says so if it is unknown whether the write was included.
            SigningError: The wallet did not sign, or ``on_preview`` returned False.
        """
        what = function(name)
        sender, signer = self._wallets()
        yield from self.chain.require_same_chain()
        yield from self._require_function(name)
        data = what.encode_call(arguments)
        contract = (yield from self.chain.node()).contract_address
        answer = yield from self.chain.call(contract, data, sender=sender.address, name=name)
        value = what.decode_result(answer)
        to, payload = contract, data
        if signer is not sender:
            to, payload = sender.address, (yield from self._wrapped(sender, contract, data))
        transaction, preview = yield from self._prepared(what, arguments, to, payload)
        if self.on_preview is not None and (yield from act(lambda: self.on_preview(preview))) is False:  # type: ignore[misc]  # looked at in this line
            raise SigningError(f"stopped before signing: {preview.what}", hint="Nothing was sent.")
        mined = yield from self._landed(signer, transaction, preview, on_sent)
        receipt = Receipt(
            what=preview.what,
            function=name,
            transaction_hash=mined["transactionHash"],
            block=int(mined["blockNumber"], 16),
            gas_used=int(mined["gasUsed"], 16),
            cost_wei=int(mined["gasUsed"], 16) * int(mined.get("effectiveGasPrice", "0x0"), 16),
        )
        self.receipts.append(receipt)
        return Written(value, receipt)

    # --- before sending -----------------------------------------------------------------------------------------

    def _wallets(self) -> tuple[Signer, Signer]:
        """Returns the wallet that acts and the one that signs. They differ if the actor is a contract."""
        if self.owner is None:
            raise SigningError(
                "this account was opened to look at it, without a wallet that signs",
                hint="Open it with its admin wallet: svc.chain_secured.open(owner).",
            )
        signer = self.owner
        while (inner := getattr(signer, "signer", None)) is not None:
            signer = inner
        return self.owner, signer

    def _require_function(self, name: str) -> Flow[None]:
        try:
            missing = yield from self.chain.missing()
        except ChainError:
            return  # a contract without a list of its functions: the simulation decides
        if name in missing:
            raise ChainError(
                f"the deployed contract has no function {name}",
                name="FunctionNotFound",
                hint="It is of another version: svc.chain_secured.drift() lists what it lacks.",
            )

    def _wrapped(self, wallet: Signer, target: str, data: bytes) -> Flow[bytes]:
        if isinstance(wallet, Executes):

            def view(to: str, call: bytes) -> Flow[bytes]:
                return self.chain.call(to, call, sender=wallet.address, name="a view of the contract wallet")

            return (yield from wallet.execution(target, data, view))
        return function_selector(_EXECUTE) + encode(("address", "uint256", "bytes"), (target, 0, data))

    def _prepared(
        self, what: Function, arguments: Sequence[Any], to: str, data: bytes
    ) -> Flow[tuple[dict[str, Any], Preview]]:
        sender, signer = self._wallets()
        asked = {"from": signer.address, "to": to, "data": "0x" + data.hex()}
        answers = yield from self.chain.batch(
            [
                ("eth_estimateGas", (asked,)),
                ("eth_getTransactionCount", (signer.address, "pending")),
                ("eth_getBlockByNumber", ("latest", False)),
                ("eth_maxPriorityFeePerGas", ()),
                ("eth_gasPrice", ()),
                ("eth_getBalance", (signer.address, "latest")),
            ]
        )
        estimate, nonce, block, tip, legacy_price, balance = answers
        funds = 0 if isinstance(balance, RpcError) else int(balance, 16)
        if isinstance(estimate, RpcError):
            raise self._no_estimate(what.name, estimate, funds)
        for answer in (nonce, block):
            if isinstance(answer, RpcError):
                raise answer
        gas = int(estimate, 16)
        limit = gas * SPARE_GAS[0] // SPARE_GAS[1]
        chain_id = (yield from self.chain.node()).chain_id
        transaction = {
            "to": checksum_address(to),
            "data": asked["data"],
            "value": 0,
            "nonce": int(nonce, 16),
            "gas": limit,
        }
        transaction["chainId"] = chain_id
        if (base := block.get("baseFeePerGas")) is not None:
            extra = _DEFAULT_TIP_WEI if isinstance(tip, RpcError) else int(tip, 16)
            price, most = int(base, 16) + extra, 2 * int(base, 16) + extra
            transaction |= {"type": 2, "maxFeePerGas": most, "maxPriorityFeePerGas": extra}
        else:
            if isinstance(legacy_price, RpcError):
                raise legacy_price
            price = most = int(legacy_price, 16)
            transaction |= {"gasPrice": price}
        named = dict(zip(what.names, arguments, strict=True))
        preview = Preview(
            function=what.name,
            what=sentence(what.name, named, self.names),
            arguments={name: _shown(name, value) for name, value in named.items()},
            sender=sender.address,
            through=None if signer is sender else signer.address,
            gas=gas,
            cost_wei=gas * price,
            max_cost_wei=limit * most,
        )
        if funds < preview.max_cost_wei:
            raise _no_gas(signer.address, funds, preview.max_cost_wei)
        return transaction, preview

    def _no_estimate(self, name: str, error: RpcError, funds: int) -> ChainError:
        sender, signer = self._wallets()
        if funds == 0:
            return _no_gas(signer.address, 0, None)
        if signer is not sender:
            return ChainError(
                f"the contract wallet {sender.address} does not act for {signer.address}",
                hint="Is it the wallet's owner, and does the wallet execute calls the way "
                "svcnb.ContractWallet thinks it does?",
            )
        reason = error.revert_data
        return error if reason is None else refused(name, reason)

    # --- sending ------------------------------------------------------------------------------------------------

    def _landed(
        self,
        signer: Signer,
        transaction: dict[str, Any],
        preview: Preview,
        on_sent: Callable[[str], object] | None,
    ) -> Flow[dict[str, Any]]:
        sent = yield from self._sent(signer, transaction, preview, on_sent)
        begun, _ = yield from now()
        delay = _FIRST_POLL_S
        while True:
            try:
                mined = yield from self.chain.rpc("eth_getTransactionReceipt", sent)
            except ChainError as error:
                raise _in_doubt(preview, sent, error.message) from error
            if mined is not None:
                break
            here, _ = yield from now()
            if here - begun > RECEIPT_TIMEOUT_S:
                raise _in_doubt(preview, sent, f"not in a block after {RECEIPT_TIMEOUT_S:.0f} s")
            yield from pause(delay)
            delay = min(2 * delay, _LONGEST_POLL_S)
        if int(mined.get("status", "0x1"), 16) != 1:
            raise ChainError(
                f"the transaction {sent} was mined and reverted: {preview.what}",
                hint="Something changed between simulation and block. Its gas is spent, nothing else was changed; "
                "look at the account and decide again.",
            )
        return dict(mined)

    def _sent(
        self,
        signer: Signer,
        transaction: dict[str, Any],
        preview: Preview,
        on_sent: Callable[[str], object] | None,
    ) -> Flow[str]:
        from svcnb.protocol.keccak import keccak256

        sign: Callable[[dict[str, Any]], str] | None = getattr(signer, "sign_transaction", None)
        if sign is not None:
            raw = yield from act(lambda: sign(transaction))
            sent = "0x" + keccak256(bytes.fromhex(raw[2:])).hex()
            if on_sent is not None:
                yield from act(lambda: on_sent(sent))
            try:
                yield from self.chain.rpc("eth_sendRawTransaction", raw)
            except ChainError as error:
                # A response may have been lost and the transaction sent again. Nodes reject a known transaction, each
                # with its own message ("already known", or, once it is in a block, "nonce too low").
                yield from self._require_known(sent, preview, error)
            return sent
        send = getattr(signer, "send_transaction", None)
        send_async = getattr(signer, "send_transaction_async", None)
        if send is None and send_async is None:
            raise SigningError(
                f"{type(signer).__name__} signs typed data but no transactions",
                hint="Use svcnb.LocalSigner, or a wallet that has sign_transaction(transaction).",
            )
        fields = {name: hex(value) if isinstance(value, int) else value for name, value in transaction.items()}
        fields |= {"from": signer.address}
        sent = str(
            (yield from act(lambda: _call(send, fields), None if send_async is None else lambda: send_async(fields)))
        )
        if on_sent is not None:
            yield from act(lambda: on_sent(sent))
        return sent

    def _require_known(self, sent: str, preview: Preview, error: ChainError) -> Flow[None]:
        """Returns if a transaction arrived although sending it failed.

        Raises:
            ChainError: ``error`` itself if the node rejected the transaction and does not have it. Otherwise, an error
                saying that it is unknown whether it was included.
        """
        if isinstance(error, RpcError) and any(word in error.message.lower() for word in _KNOWN):
            return
        try:
            found = yield from self.chain.rpc("eth_getTransactionByHash", sent)
        except ChainError:
            raise _in_doubt(preview, sent, error.message) from error
        if found is None:
            if isinstance(error, RpcError) and error.code != INTERNAL_ERROR:
                raise error
            raise _in_doubt(preview, sent, error.message) from error  # it may still be pending


@dataclass(frozen=True)
class Written:
    """Result of a write that was included in a block.

    Attributes:
        value: The contract's result in the simulation, such as a new group's number.
        receipt: The chain's receipt.
    """

    value: Any
    receipt: Receipt


def _call(send: Callable[[dict[str, Any]], object] | None, fields: dict[str, Any]) -> object:
    if send is None:
        raise SigningError(
            "this wallet's owner is asked elsewhere, so it cannot send while Python waits",
            hint="Use svcnb.AsyncClient: mine = await svc.chain_secured.open(owner).",
        )
    return send(fields)


def _shown(name: str, value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and name.lower().endswith(("hash", "action")):
        return f"0x{value:064x}"
    if name == "cidHashes":
        return [f"0x{item:064x}" for item in value]
    return list(value) if isinstance(value, (list, tuple)) else value


def _no_gas(address: str, funds: int, wanted: int | None) -> ChainError:
    needed = f"; this write may cost up to {ether(wanted)}" if wanted is not None else ""
    return ChainError(
        f"the wallet {address} has {ether(funds)} to pay gas with{needed}; nothing was sent",
        name="InsufficientFunds",
        arguments=(address, funds),
        hint="Send it ETH of this chain; on the emulator: emu.faucet(address). Then do the same again.",
    )


def _in_doubt(preview: Preview, sent: str, why: str) -> ChainError:
    return ChainError(
        f"it is not known whether this landed: {preview.what} ({why})",
        name="Pending",
        arguments=(sent,),
        hint=f"Look for the transaction {sent}; it may still be mined. Doing it again may do it twice.",
    )
