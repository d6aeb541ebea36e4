"""Helpers that deploy contracts, send transactions and check reverts in tests and notebooks, based on web3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from svcnb.checked import checked
from svcnb.client.errors import ChainError, InvalidArgument
from svcnb.files import read_text
from svcnb.protocol.keccak import keccak256
from svcnb.protocol.nesting import parse

if TYPE_CHECKING:
    from web3 import Web3

_ORDER: Final = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_SIGNATURE_BYTES: Final = 65
_V_SUM: Final = 27 + 28


@checked
def deploy(w3: Web3, artifact: str | Path | Mapping[str, Any], *arguments: Any, **transaction: Any) -> Any:
    """Deploys a contract.

    Args:
        w3: A web3 object whose default account can pay for gas, for example ``emulator.web3(signer)``.
        artifact: A JSON file with ``abi`` and ``bytecode``, or the parsed content of such a file.
        *arguments: Arguments of the constructor.
        **transaction: Fields of the transaction, for example ``value``.

    Returns:
        The deployed contract, a `web3.contract.Contract`.
    """
    content = parse(read_text(artifact)) if isinstance(artifact, (str, Path)) else artifact
    factory = w3.eth.contract(abi=content["abi"], bytecode=content["bytecode"])
    receipt = w3.eth.wait_for_transaction_receipt(factory.constructor(*arguments).transact(transaction))
    return w3.eth.contract(address=receipt["contractAddress"], abi=content["abi"])


@checked
def send(call: Any, **transaction: Any) -> Any:
    """Sends a transaction and waits until a block contains it.

    Args:
        call: A bound function of a contract, for example ``contract.functions.set(1)``.
        **transaction: Fields of the transaction, for example ``value`` or ``from``.

    Returns:
        The receipt. Its field ``gasUsed`` contains the amount of gas.

    Raises:
        ChainError: The transaction is in a block, but failed. If the failure is known before sending, web3 raises its
            own error.
    """
    receipt = call.w3.eth.wait_for_transaction_receipt(call.transact(transaction))
    if receipt["status"] != 1:
        raise ChainError(
            f"the transaction that calls {call.fn_name} was included in a block but failed",
            hint="Check whether an earlier transaction changed the contract, and send the transaction again.",
        )
    return receipt


@checked
def vrs(signature: str) -> tuple[int, bytes, bytes]:
    """Returns the three parts v, r and s of a signature, as arguments of a Solidity function.

    Args:
        signature: 65 bytes in hex (r, s and v), as `ethers` and eth-account return a signature.

    Raises:
        InvalidArgument: The signature does not have 65 bytes.
        ValueError: The signature is not hex.
    """
    raw = bytes.fromhex(signature.removeprefix("0x"))
    if len(raw) != _SIGNATURE_BYTES:
        raise InvalidArgument(f"the signature has {len(raw)} bytes: expected {_SIGNATURE_BYTES} bytes (r, s and v)")
    return raw[64], raw[:32], raw[32:64]


@checked
def second_form(signature: str) -> str:
    """Returns the other valid signature of the same message by the same key (EIP-2).

    Anyone can compute this second signature without the key. A contract that stores signatures to prevent replay must
    therefore reject the second signature.

    Args:
        signature: 65 bytes in hex (r, s and v), where v is 27 or 28.
    """
    v, r, s = vrs(signature)
    high = (_ORDER - int.from_bytes(s)).to_bytes(32)
    return "0x" + (r + high + bytes([_V_SUM - v])).hex()


@checked
@contextmanager
def reverts(error: str) -> Iterator[None]:
    """Checks that the code in a ``with`` block makes a contract revert with a custom error.

    Args:
        error: The error's signature, for example ``"NotTheOwner()"``.

    Raises:
        AssertionError: The contract accepted the call, or rejected it with another custom error. All other exceptions
            of the block stay unchanged.
    """
    from web3.exceptions import ContractCustomError

    selector = "0x" + keccak256(error.encode())[:4].hex()
    try:
        yield
    except ContractCustomError as refused:
        if not str(refused.data).startswith(selector):
            raise AssertionError(
                f"the contract rejected the call with the error data {refused.data}: expected the error {error} (data "
                f"that starts with {selector})"
            ) from refused
        return
    raise AssertionError(f"the contract accepted the call: expected the error {error}")
