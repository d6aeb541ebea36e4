"""Functions that compute the signer's address from a signature, without a request to the service."""

from __future__ import annotations

from typing import Any

from svcnb.checked import checked
from svcnb.client.errors import SigningError
from svcnb.client.signing.typed_data import typed_data_digest
from svcnb.protocol.errors import MalformedSignature, MalformedValue
from svcnb.protocol.hashes import checksum_address, parse_hex
from svcnb.protocol.signature import personal_digest, recover_address


@checked
def recover(signed: dict[str, Any] | str | bytes, signature: str | bytes) -> str:
    """Returns the address whose key made a signature.

    Args:
        signed: Typed data as a dictionary (EIP-712), or a personal message as text or bytes (EIP-191).
        signature: 65 bytes, or the same bytes as a hex string.

    Returns:
        The address with checksum. Every well-formed signature yields an address, so compare the address with the
        expected one.

    Raises:
        SigningError: The signature is malformed, or the typed data cannot be hashed.
    """
    try:
        digest = typed_data_digest(signed) if isinstance(signed, dict) else personal_digest(signed)
        raw = signature if isinstance(signature, bytes) else parse_hex(signature, what="signature")
        return checksum_address(recover_address(digest, raw))
    except MalformedValue as error:
        raise SigningError(error.message, hint=error.hint) from error


@checked
def verify(signed: dict[str, Any] | str | bytes, signature: str | bytes, address: str) -> bool:
    """Returns whether the key of an address made a signature.

    A contract wallet has no key. Only its contract can check a signature, so the result for a contract wallet is False.
    The result is also False for a signature with a wrong length or with impossible values.

    Args:
        signed: Typed data or a personal message, as in `recover`.
        signature: 65 bytes, or the same bytes as a hex string.
        address: Address of the expected signer, ``0x`` followed by 40 hex digits.

    Raises:
        SigningError: The address is malformed, the typed data cannot be hashed, or the signature is not hex.
    """
    try:
        wanted = checksum_address(address)
    except MalformedValue as error:
        raise SigningError(error.message, hint=error.hint) from error
    try:
        return recover(signed, signature) == wanted
    except SigningError as error:
        if isinstance(error.__cause__, MalformedSignature):
            return False
        raise
