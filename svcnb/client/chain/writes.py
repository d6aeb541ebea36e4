"""Writes to the contract, with simulation, preview, signature, receipt, and the contract's errors by name.

The client simulates each transaction on the same chain immediately before it sends the transaction. If the contract
rejects the simulated transaction, the client sends nothing, and the call costs no gas.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from svcnb.client.calls import Flow, act, polling
from svcnb.client.chain import abi
from svcnb.client.chain.access import ChainAccess
from svcnb.client.chain.names import Names, sentence
from svcnb.client.chain.reverts import refused
from svcnb.client.chain.rpc import RpcError
from svcnb.client.errors import ChainError, SigningError
from svcnb.client.models.chain import Preview, Receipt, ether
from svcnb.protocol.contract import Function, function
from svcnb.protocol.hashes import checksum_address, function_selector
from svcnb.protocol.json_rpc import INTERNAL_ERROR
from svcnb.protocol.limits import RECEIPT_TIMEOUT_S

if TYPE_CHECKING:
    from svcnb.client.signing import Signer

SPARE_GAS: Final = (6, 5)
"""Ratio of the gas limit to the estimated gas, as numerator and denominator.

If the chain executes another write first, this write can need more gas than estimated.
"""

NO_GAS: Final = "InsufficientFunds"
"""Name of the error for a wallet that cannot pay the gas.

The arguments of the error are the wallet's address and its balance in wei.
"""

_FIRST_POLL_S: Final = 0.05
_LONGEST_POLL_S: Final = 2.0
_DEFAULT_TIP_WEI: Final = 1_000_000_000
_EXECUTE: Final = "execute(address,uint256,bytes)"
_KNOWN: Final = ("already known", "already imported")
"""Phrases that nodes use in messages about a transaction that is already pending."""

View = Callable[[str, bytes], Flow[bytes]]
"""Function that calls the contract at an address with call data, without a transaction, and returns the result."""


@runtime_checkable
class Executes(Protocol):
    """Interface of a contract wallet that builds its own call data.

    All other contract wallets use ``execute(address,uint256,bytes)``.
    """

    def execution(self, target: str, data: bytes, view: View) -> Generator[Any, Any, bytes]:
        """Returns call data for the contract wallet, with which the wallet calls ``target`` and passes ``data``.

        Args:
            target: The contract to call.
            data: Call data for that contract.
            view: Function that reads from the chain, for example the wallet's nonce: ``yield from view(address,
                data)``.
        """
        ...


@dataclass
class Writer:
    """Contract writer. It simulates, previews, signs and sends each write, and returns its receipt.

    Attributes:
        chain: Access to the chain.
        owner: The wallet that sends the writes, or None if the account is read-only.
        names: Names of the account's objects, for the descriptions of writes.
        on_preview: Function that the client calls with a preview of every write before the wallet signs the
            transaction. If the function returns False, the client cancels the write. The asynchronous client awaits
            the result.
        receipts: Receipts of all successful writes, oldest first.
    """

    chain: ChainAccess
    owner: Signer | None
    names: Names = field(default_factory=Names)
    on_preview: Callable[[Preview], object] | None = None
    receipts: list[Receipt] = field(default_factory=list)

    def write(self, name: str, *arguments: Any, on_sent: Callable[[str], object] | None = None) -> Flow[Written]:
        """Calls a function of the contract with a transaction, and waits for the receipt.

        Args:
            name: Name of the function.
            *arguments: Arguments of the function.
            on_sent: Function that receives the transaction's hash. The client calls the function before it sends the
                transaction. If the wallet sends the transaction, the client calls the function afterwards.

        Returns:
            The contract's result in the simulation, and the receipt.

        Raises:
            ChainError: The contract rejected the call, the wallet cannot pay the gas, or the chain could not be
                reached. If the result of the write is unknown, the message says so.
            SigningError: The wallet did not sign, or ``on_preview`` returned False.
        """
        what = function(name)
        sender = self.require_owner()
        signer = gas_payer(sender)
        yield from self.chain.require_same_chain()
        yield from self._require_function(name)
        data = what.encode_call(abi, arguments)
        contract = (yield from self.chain.node()).contract_address
        answer = yield from self.chain.call(contract, data, sender=sender.address, name=name)
        value = what.decode_result(abi, answer)
        to, payload = contract, data
        if signer is not sender:
            to, payload = sender.address, (yield from self._wrapped(sender, contract, data))
        transaction, preview = yield from self._prepared(what, arguments, sender, to, payload)
        if self.on_preview is not None and (yield from act(lambda: self.on_preview(preview))) is False:  # type: ignore[misc] # checked on the same line
            raise SigningError(
                f"the call was stopped before signing, because on_preview returned False: {preview.what}",
                hint="To make the change, repeat the call with an on_preview that does not return False. No "
                "transaction was sent.",
            )
        sent = yield from self._send(signer, transaction, preview, on_sent)
        mined = yield from self._wait(sent, preview)
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

    def require_owner(self) -> Signer:
        """Returns the wallet that sends the writes.

        Raises:
            SigningError: The account is read-only.
        """
        if self.owner is None:
            raise SigningError(
                "this account is open for reading only, because it was opened without a signer",
                hint="Open the account with its admin wallet: svc.chain_secured.open(owner).",
            )
        return self.owner

    def _require_function(self, name: str) -> Flow[None]:
        try:
            missing = yield from self.chain.missing()
        except ChainError:
            return  # the contract has no list of its functions, so only the simulation can check the call
        if name in missing:
            raise ChainError(
                f"the deployed contract does not have the function {name}",
                name="FunctionNotFound",
                hint="Use a version of svcnb that supports this contract. To list the missing functions, call "
                "svc.chain_secured.drift().",
            )

    def _wrapped(self, wallet: Signer, target: str, data: bytes) -> Flow[bytes]:
        # A call to an address without a contract succeeds and costs gas, but has no effect.
        if (yield from self.chain.rpc("eth_getCode", wallet.address, "latest")) in ("0x", ""):
            raise ChainError(
                f"there is no contract at the address {wallet.address} of the contract wallet; no transaction was sent",
                hint="Deploy the contract wallet on this chain first, or pass the address of a deployed wallet.",
            )
        if isinstance(wallet, Executes):

            def view(to: str, call: bytes) -> Flow[bytes]:
                return self.chain.call(to, call, sender=wallet.address, name="a view function of the contract wallet")

            return (yield from wallet.execution(target, data, view))
        return function_selector(_EXECUTE) + abi.encode(("address", "uint256", "bytes"), (target, 0, data))

    def _prepared(
        self, what: Function, arguments: Sequence[Any], sender: Signer, to: str, data: bytes
    ) -> Flow[tuple[dict[str, Any], Preview]]:
        signer = gas_payer(sender)
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
        for answer in (nonce, block, balance):
            if isinstance(answer, RpcError):
                raise answer
        funds = int(balance, 16)
        if isinstance(estimate, RpcError):
            raise _no_estimate(sender, what.name, estimate, funds)
        gas = int(estimate, 16)
        limit = gas * SPARE_GAS[0] // SPARE_GAS[1]
        fees, price, most = _fees(block, tip, legacy_price)
        transaction = {
            "to": checksum_address(to),
            "data": asked["data"],
            "value": 0,
            "nonce": int(nonce, 16),
            "gas": limit,
            "chainId": (yield from self.chain.node()).chain_id,
            **fees,
        }
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

    # --- sending ------------------------------------------------------------------------------------------------

    def _wait(self, sent: str, preview: Preview) -> Flow[dict[str, Any]]:
        polls = yield from polling(RECEIPT_TIMEOUT_S, first=_FIRST_POLL_S, longest=_LONGEST_POLL_S)
        while True:
            try:
                mined = yield from self.chain.rpc("eth_getTransactionReceipt", sent)
            except ChainError as error:
                raise _outcome_unknown(preview, sent, error.message) from error
            if mined is not None:
                break
            if not (yield from polls.wait()):
                raise _outcome_unknown(preview, sent, f"not in a block after {RECEIPT_TIMEOUT_S:.0f} s")
        if int(mined.get("status", "0x1"), 16) != 1:
            raise ChainError(
                f"the transaction {sent} was mined and reverted: {preview.what}",
                hint="Read the account again. Then repeat the call if you still need it. The account changed between "
                "the simulation and the block. The gas is spent, but no other change was made.",
            )
        return dict(mined)

    def _send(
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
                # If a response is lost, the client sends the transaction again. Nodes reject a known transaction with
                # different messages, for example "already known", or "nonce too low" if the transaction is in a block.
                yield from self._require_known(sent, preview, error)
            return sent
        send = getattr(signer, "send_transaction", None)
        send_async = getattr(signer, "send_transaction_async", None)
        if send is None and send_async is None:
            raise SigningError(
                f"{type(signer).__name__} cannot sign transactions, only typed data",
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
        """Checks that the node has a transaction, after the request that sent the transaction failed.

        Raises:
            ChainError: The node rejected the transaction and does not have the transaction (``error`` itself), or it is
                unknown whether a block contains the transaction.
        """
        if isinstance(error, RpcError) and any(word in error.message.lower() for word in _KNOWN):
            return
        try:
            found = yield from self.chain.rpc("eth_getTransactionByHash", sent)
        except ChainError:
            raise _outcome_unknown(preview, sent, error.message) from error
        if found is None:
            if isinstance(error, RpcError) and error.code != INTERNAL_ERROR:
                raise error
            raise _outcome_unknown(preview, sent, error.message) from error  # the transaction may still be pending


@dataclass(frozen=True)
class Written:
    """Result of a successful write.

    Attributes:
        value: The contract's result in the simulation, for example the number of a new group.
        receipt: Receipt of the transaction.
    """

    value: Any
    receipt: Receipt


def _call(send: Callable[[dict[str, Any]], object] | None, fields: dict[str, Any]) -> object:
    if send is None:
        raise SigningError(
            "this signer needs an approval outside Python, for example in a browser wallet, and a synchronous client "
            "cannot wait for the approval",
            hint="Use the asynchronous client: mine = await svc.to_async().chain_secured.open(owner).",
        )
    return send(fields)


def _shown(name: str, value: Any) -> Any:
    if name == "cidHashes":
        return [f"0x{item:064x}" for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and name.lower().endswith(("hash", "action")):
        return f"0x{value:064x}"
    return list(value) if isinstance(value, (list, tuple)) else value


def _fees(block: Mapping[str, Any], tip: Any, legacy_price: Any) -> tuple[dict[str, int], int, int]:
    """Returns the fee fields of a transaction, and its expected and highest price per unit of gas, in wei."""
    if (base := block.get("baseFeePerGas")) is not None:
        extra = _DEFAULT_TIP_WEI if isinstance(tip, RpcError) else int(tip, 16)
        most = 2 * int(base, 16) + extra
        return {"type": 2, "maxFeePerGas": most, "maxPriorityFeePerGas": extra}, int(base, 16) + extra, most
    if isinstance(legacy_price, RpcError):
        raise legacy_price
    price = int(legacy_price, 16)
    return {"gasPrice": price}, price, price


def gas_payer(wallet: Signer) -> Signer:
    """Returns the wallet that signs and pays the gas: the owner of a contract wallet, or the wallet itself."""
    while (inner := getattr(wallet, "signer", None)) is not None:
        wallet = inner
    return wallet


def _no_estimate(sender: Signer, name: str, error: RpcError, funds: int) -> ChainError:
    signer = gas_payer(sender)
    if funds == 0:
        return _no_gas(signer.address, 0, None)
    if signer is not sender:
        needed = "" if isinstance(sender, Executes) else f" The contract must have the function {_EXECUTE}."
        return ChainError(
            f"the contract wallet {sender.address} does not execute calls for {signer.address}",
            hint=f"Check that the signer is the owner of the wallet.{needed}",
        )
    reason = error.revert_data
    return error if reason is None else refused(name, reason)


def _no_gas(address: str, funds: int, wanted: int | None) -> ChainError:
    needed = f"; this transaction can cost up to {ether(wanted)}" if wanted is not None else ""
    return ChainError(
        f"the wallet {address} has {ether(funds)} to pay for gas{needed}; no transaction was sent",
        name=NO_GAS,
        arguments=(address, funds),
        hint="Send ETH on this chain to the wallet. On the emulator, call emu.faucet(address). Then repeat the call.",
    )


def _outcome_unknown(preview: Preview, sent: str, why: str) -> ChainError:
    return ChainError(
        f"the outcome of the transaction is unknown: {preview.what} ({why})",
        name="Pending",
        arguments=(sent,),
        hint=f"Before you repeat the call, check whether a block includes the transaction {sent}, for example with "
        "eth_getTransactionReceipt. If a block includes the transaction later, a repeated call can make the change "
        "twice.",
    )
