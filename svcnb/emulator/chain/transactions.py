"""Signed transactions. The relay creates transactions, and the gateway decodes and validates transactions.

Supported types are legacy (with or without EIP-155), EIP-2930 and EIP-1559. The emulator rejects blob and set-code
transactions.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from svcnb.emulator.chain import rlp
from svcnb.emulator.chain.rlp import Item, RlpError
from svcnb.protocol.curve import ORDER, library
from svcnb.protocol.keccak import keccak256

_ACCESS_LIST: Final = 1
_DYNAMIC_FEE: Final = 2
_FIRST_LEGACY: Final = 0xC0
_KINDS: Final = "legacy, EIP-2930 or EIP-1559"
_FIELDS: Final = {0: 9, _ACCESS_LIST: 11, _DYNAMIC_FEE: 12}


class TransactionInvalid(ValueError):
    """Error for bytes that are not a valid signed transaction of a supported type."""


class Transaction(NamedTuple):
    """Decoded signed transaction.

    Attributes:
        raw: Encoded bytes.
        hash: keccak256 hash of the encoded bytes.
        sender: Address of the signer, in lowercase with the prefix 0x.
        chain_id: Id of the chain (EIP-155), or None for a legacy transaction that is valid on any chain.
        nonce: Nonce of the sender.
        gas: Gas limit.
        max_fee: Maximum fee, or the gas price of legacy and EIP-2930 transactions, in wei per unit of gas.
        to: Address of the receiver, in lowercase with the prefix 0x. None for the creation of a contract.
        value: Transferred amount in wei.
    """

    raw: bytes
    hash: bytes
    sender: str
    chain_id: int | None
    nonce: int
    gas: int
    max_fee: int
    to: str | None
    value: int

    @property
    def cost(self) -> int:
        """Maximum amount that the transaction can cost the sender, in wei."""
        return self.gas * self.max_fee + self.value


def sign(
    secret: bytes, *, chain_id: int, nonce: int, to: str | None, data: bytes, gas: int, max_fee: int, tip: int = 0
) -> bytes:
    """Returns the bytes of a signed EIP-1559 transaction that transfers no ether.

    Args:
        secret: Private key of the sender.
        chain_id: Id of the chain on which the transaction is valid (EIP-155).
        nonce: Nonce of the sender.
        to: Address of the receiver, or None to create a contract.
        data: Call data or creation code.
        gas: Gas limit.
        max_fee: Maximum fee in wei per unit of gas.
        tip: Maximum priority fee in wei per unit of gas, which is part of ``max_fee``.
    """
    fields: list[Item] = [
        *(rlp.number(value) for value in (chain_id, nonce, tip, max_fee, gas)),
        bytes.fromhex(to[2:]) if to else b"",
        b"",
        data,
        [],
    ]
    kind = bytes([_DYNAMIC_FEE])
    signature = library().sign(keccak256(kind + rlp.encode(fields)), secret)
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big")
    return kind + rlp.encode([*fields, *(rlp.number(value) for value in (signature[64], r, s))])


def contract_address(sender: str, nonce: int) -> str:
    """Returns the address of the contract that the sender's transaction with this nonce creates.

    The address is in lowercase with the prefix 0x.
    """
    return "0x" + keccak256(rlp.encode([bytes.fromhex(sender[2:]), rlp.number(nonce)]))[12:].hex()


def read(raw: bytes) -> Transaction:
    """Returns the decoded transaction with its recovered signer.

    Raises:
        TransactionInvalid: The bytes are not a transaction, its type is not supported, or its signature is invalid.
    """
    try:
        return _read(raw)
    except RlpError as error:
        raise TransactionInvalid(
            f"failed to decode signed transaction: {error}. Send the unchanged bytes of a signed transaction."
        ) from error


def _read(raw: bytes) -> Transaction:
    if not raw:
        raise TransactionInvalid("the transaction data is empty: send the bytes of a signed transaction")
    kind = 0 if raw[0] >= _FIRST_LEGACY else raw[0]
    if kind not in _FIELDS:
        raise TransactionInvalid(f"transaction type {kind} is not supported: send a {_KINDS} transaction")
    fields = rlp.decode(raw if kind == 0 else raw[1:])
    if isinstance(fields, bytes) or len(fields) != _FIELDS[kind]:
        given = "no list of fields" if isinstance(fields, bytes) else f"{len(fields)} fields"
        raise TransactionInvalid(
            f"the transaction has {given}: a signed transaction of type {kind} has {_FIELDS[kind]} fields"
        )
    *body, v_, r_, s_ = fields
    v, r, s = rlp.read_number(v_), rlp.read_number(r_), rlp.read_number(s_)
    chain_id: int | None
    if kind == 0:
        chain_id, parity, signed = _legacy(list(body), v)
        nonce, fee, gas, to, value = body[:5]
    else:
        chain_id, parity, signed = rlp.read_number(body[0]), v, bytes([kind]) + rlp.encode(body)
        nonce, fee, gas, to, value = body[1], body[kind + 1], body[kind + 2], body[kind + 3], body[kind + 4]
    if not isinstance(to, bytes) or len(to) not in {0, 20}:
        given = f"{len(to)} bytes" if isinstance(to, bytes) else "a list"
        raise TransactionInvalid(
            f"the recipient is not an address: expected 20 bytes, or no bytes to create a contract, got {given}"
        )
    return Transaction(
        raw=raw,
        hash=keccak256(raw),
        sender=_sender(keccak256(signed), r, s, parity),
        chain_id=chain_id,
        nonce=rlp.read_number(nonce, 64),
        gas=rlp.read_number(gas, 64),
        max_fee=rlp.read_number(fee),
        to="0x" + to.hex() if to else None,
        value=rlp.read_number(value),
    )


def _legacy(body: list[Any], v: int) -> tuple[int | None, int, bytes]:
    if v in {27, 28}:
        return None, v - 27, rlp.encode(body)
    if v < 35:  # noqa: PLR2004 - EIP-155: v is 35 + parity + twice the chain id
        raise TransactionInvalid(f"signature v is {v}: expected 27, 28, or at least 35 (EIP-155)")
    chain_id, parity = divmod(v - 35, 2)
    return chain_id, parity, rlp.encode([*body, rlp.number(chain_id), b"", b""])


def _sender(digest: bytes, r: int, s: int, parity: int) -> str:
    if s > ORDER // 2:
        raise TransactionInvalid(
            "signature s is in the upper half of the curve's order: sign the transaction with a low s value (EIP-2)"
        )
    if parity > 1:
        raise TransactionInvalid(f"signature parity is {parity}: expected 0 or 1. Sign the transaction again.")
    try:
        point = library().recover(digest, r.to_bytes(32, "big") + s.to_bytes(32, "big"), parity)
    except (ValueError, OverflowError) as error:
        raise TransactionInvalid("no key matches the signature: sign the transaction again") from error
    return "0x" + keccak256(point)[12:].hex()
