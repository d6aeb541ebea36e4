"""Pure functions on secp256k1 secrets: what is one, its address, its public key."""

from __future__ import annotations

from typing import Final

from svcnb.protocol.keccak import keccak256

ORDER: Final = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
"""Order of the group's generator (SEC 2, section 2.4.1); a secret is a number from 1 to ORDER - 1."""

SECRET_BYTES: Final = 32


def is_secret(candidate: bytes) -> bool:
    """Whether 32 bytes are a private key of the curve: neither zero nor the order or beyond."""
    return len(candidate) == SECRET_BYTES and 0 < int.from_bytes(candidate, "big") < ORDER


def address_of(secret: bytes) -> str:
    """Ethereum address of a private key.

    Args:
        secret: 32 bytes.

    Returns:
        ``0x`` and 40 lowercase hex digits.

    Raises:
        ValueError: The bytes are no private key.
    """
    return "0x" + keccak256(_point(secret, compressed=False)[1:])[-20:].hex()


def compressed_public_key(secret: bytes) -> str:
    """Public key of a private key, as a compressed point.

    Args:
        secret: 32 bytes.

    Returns:
        ``0x`` and the 66 hex digits of 33 bytes.

    Raises:
        ValueError: The bytes are no private key.
    """
    return "0x" + _point(secret, compressed=True).hex()


def _point(secret: bytes, *, compressed: bool) -> bytes:
    # Imported here: an emulator that has not derived a key yet has no use for the curve.
    from coincurve import PublicKey

    if not is_secret(secret):
        # The bytes are not shown: almost a key is still a secret.
        raise ValueError(f"not a secp256k1 private key: want {SECRET_BYTES} bytes between 1 and the group order - 1")
    return PublicKey.from_valid_secret(secret).format(compressed=compressed)
