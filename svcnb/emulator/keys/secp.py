"""Pure functions for secp256k1 private keys: validity, address and public key."""

from __future__ import annotations

from svcnb.protocol.curve import ORDER, SECRET_BYTES, is_secret, library, require_secret
from svcnb.protocol.keccak import keccak256

__all__ = ["ORDER", "SECRET_BYTES", "address_of", "compressed_public_key", "is_secret"]


def address_of(secret: bytes) -> str:
    """Returns the Ethereum address of a private key.

    Args:
        secret: Private key, 32 bytes.

    Returns:
        ``0x`` and 40 lowercase hex digits.

    Raises:
        ValueError: The bytes are not a private key.
    """
    return "0x" + keccak256(_point(secret))[-20:].hex()


def compressed_public_key(secret: bytes) -> str:
    """Returns the public key of a private key, as a compressed point.

    Args:
        secret: Private key, 32 bytes.

    Returns:
        ``0x`` and 66 hex digits (33 bytes).

    Raises:
        ValueError: The bytes are not a private key.
    """
    point = _point(secret)
    return f"0x{2 + (point[-1] & 1):02x}{point[:32].hex()}"


def _point(secret: bytes) -> bytes:
    require_secret(secret)
    return library().public_key(secret)
