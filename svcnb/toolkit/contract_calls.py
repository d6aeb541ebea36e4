"""Helpers for contracts in tests and notebooks: deploy, send, and expect a refusal, with web3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from svcnb.client.errors import ChainError, InvalidArgument
from svcnb.protocol.keccak import keccak256
from svcnb.protocol.nesting import parse

if TYPE_CHECKING:
    from web3 import Web3

_ORDER: Final = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_SIGNATURE_BYTES: Final = 65
_V_SUM: Final = 27 + 28


def deploy(w3: Web3, artifact: str | Path | Mapping[str, Any], *arguments: Any, **transaction: Any) -> Any:
    """Deploys a contract.

    Args:
        w3: A web3 object whose default account can pay, for example ``emulator.web3(signer)``.
        artifact: A JSON file with ``abi`` and ``bytecode``, or its content.
        *arguments: Arguments of the constructor.
        **transaction: Members of the transaction, for example ``value``.

    Returns:
        The contract at its address, a `web3.contract.Contract`.
    """
    content = parse(Path(artifact).read_text("utf-8")) if isinstance(artifact, (str, Path)) else artifact
    factory = w3.eth.contract(abi=content["abi"], bytecode=content["bytecode"])
    receipt = w3.eth.wait_for_transaction_receipt(factory.constructor(*arguments).transact(transaction))
    return w3.eth.contract(address=receipt["contractAddress"], abi=content["abi"])


def send(call: Any, **transaction: Any) -> Any:
    """Sends a transaction and waits until a block contains it.

    Args:
        call: A bound function of a contract: ``contract.functions.set(1)``.
        **transaction: Members of the transaction, for example ``value`` or ``from``.

    Returns:
        The receipt; ``gasUsed`` is the gas that was used.

    Raises:
        ChainError: The transaction failed in its block.
    """
    receipt = call.w3.eth.wait_for_transaction_receipt(call.transact(transaction))
    if receipt["status"] != 1:
        raise ChainError(f"{call.fn_name} failed in its block", hint="Another transaction may have come before it.")
    return receipt


def vrs(signature: str) -> tuple[int, bytes, bytes]:
    """Splits a signature into the three arguments that a Solidity function takes.

    Args:
        signature: 65 bytes as hex, as `ethers` and eth-account write them.

    Raises:
        InvalidArgument: It has another length.
    """
    raw = bytes.fromhex(signature.removeprefix("0x"))
    if len(raw) != _SIGNATURE_BYTES:
        raise InvalidArgument(f"a signature has {_SIGNATURE_BYTES} bytes, not {len(raw)}", hint="Pass r, s and v.")
    return raw[64], raw[:32], raw[32:64]


def second_form(signature: str) -> str:
    """Returns the other valid signature of the same message by the same key (EIP-2).

    Anyone can compute it without the key. So a contract that stores signatures to prevent replay must refuse it.
    """
    v, r, s = vrs(signature)
    high = (_ORDER - int.from_bytes(s)).to_bytes(32)
    return "0x" + (r + high + bytes([_V_SUM - v])).hex()


@contextmanager
def reverts(error: str) -> Iterator[None]:
    """Checks that a contract refuses a call with one of its own errors.

    Args:
        error: The error's signature, for example ``"NotTheOwner()"``.

    Raises:
        AssertionError: The call was accepted, or refused with another error.
    """
    from web3.exceptions import ContractCustomError

    selector = "0x" + keccak256(error.encode())[:4].hex()
    try:
        yield
    except ContractCustomError as refused:
        if not str(refused.data).startswith(selector):
            raise AssertionError(f"the contract refused with {refused.data}, not with {error}") from refused
        return
    raise AssertionError(f"the contract accepted the call: expected {error}")
