"""Computation of public keys from secp256k1 private keys."""

from __future__ import annotations

from svcnb.protocol.curve import library, require_secret


def compressed_public_key(secret: bytes) -> str:
    """Returns the public key of a private key, as a compressed point.

    Args:
        secret: Private key, 32 bytes.

    Returns:
        ``0x`` and 66 hex digits (33 bytes).

    Raises:
        ValueError: The bytes are not a private key.
    """
    require_secret(secret)
    point = library().public_key(secret)
    return f"0x{2 + (point[-1] & 1):02x}{point[:32].hex()}"
