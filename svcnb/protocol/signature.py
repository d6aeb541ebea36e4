"""Functions that sign 32-byte digests with secp256k1, and recover the signer's address.

`svcnb.protocol.curve` selects the library (extra ``chain`` or ``emulator``).

Source: EIP-191 and EIP-712 for the signed bytes; SEC 1, section 4.1.6 for recovery.
"""

from __future__ import annotations

from typing import Final

from svcnb.errors import InvalidArgument, InvalidType
from svcnb.protocol.curve import library, require_secret
from svcnb.protocol.errors import MalformedSignature
from svcnb.protocol.hashes import HASH_BYTES
from svcnb.protocol.keccak import keccak256

SIGNATURE_BYTES: Final = 65
_V: Final = 27  # Ethereum adds this number to the parity of the point's y coordinate


def sign_digest(digest: bytes, secret: bytes) -> bytes:
    """Signs a 32-byte digest with a private key.

    Args:
        digest: 32 bytes.
        secret: The private key, 32 bytes.

    Returns:
        65 bytes: r, s, and v, which is 27 or 28. The same input produces the same signature (RFC 6979). The value s is
        in the lower half of the group order.

    Raises:
        InvalidArgument: The digest does not have 32 bytes.
        ValueError: ``secret`` is not a private key. The message does not contain its bytes.
        ImportError: No secp256k1 library is installed.
    """
    _require_digest(digest)
    require_secret(secret)
    signed = library().sign(digest, secret)
    return signed[:-1] + bytes((signed[-1] + _V,))


def recover_address(digest: bytes, signature: bytes) -> str:
    """Returns the address whose key created a signature.

    Any well-formed signature results in *some* address, so callers must compare the result with the expected address.
    As in Ethereum's own recovery, s can be in either half of the group order. Each signature therefore has two valid
    forms. Do not use the bytes of a signature as an identifier.

    Args:
        digest: The 32 signed bytes.
        signature: 65 bytes: r, s, and v, which is 27, 28, 0 or 1.

    Returns:
        ``0x`` and 40 lowercase hex digits.

    Raises:
        MalformedSignature: The length or v is wrong, or r and s do not belong to a point of the curve.
        InvalidArgument: The digest does not have 32 bytes.
        ImportError: No secp256k1 library is installed.
    """
    _require_digest(digest)
    if len(signature) != SIGNATURE_BYTES:
        raise MalformedSignature(
            f"the signature has {len(signature)} bytes: expected {SIGNATURE_BYTES} bytes (r, s and v)",
            hint="Pass a signature of 65 bytes. Compact signatures (EIP-2098) are not supported.",
        )
    parity = signature[-1]
    if parity >= _V:
        parity -= _V
    if parity > 1:
        raise MalformedSignature(f"the signature has the recovery value v = {signature[-1]}: expected 27, 28, 0 or 1")
    try:
        point = library().recover(digest, signature[:-1], parity)
    except ValueError:
        raise MalformedSignature(
            "no public key matches the values r and s of the signature", hint="Sign again."
        ) from None
    return "0x" + keccak256(point)[-20:].hex()


def address_of_secret(secret: bytes) -> str:
    """Returns the address of a private key.

    Args:
        secret: 32 bytes.

    Returns:
        ``0x`` and 40 lowercase hex digits.

    Raises:
        ValueError: ``secret`` is not a private key. The message does not contain its bytes.
        ImportError: No secp256k1 library is installed.
    """
    require_secret(secret)
    return "0x" + keccak256(library().public_key(secret))[-20:].hex()


def personal_digest(message: str | bytes) -> bytes:
    """Returns the 32 bytes that a wallet signs for a personal message (EIP-191, version ``E``).

    Args:
        message: Bytes, or a string, which the function encodes as UTF-8.
    """
    body = message.encode() if isinstance(message, str) else message
    return keccak256(b"\x19Ethereum Signed Message:\n" + str(len(body)).encode() + body)


def _require_digest(digest: bytes) -> None:
    if not isinstance(digest, bytes | bytearray | memoryview):
        raise InvalidType(f"a digest must be {HASH_BYTES} bytes, not {type(digest).__name__}")
    if len(digest) != HASH_BYTES:
        raise InvalidArgument(
            f"a digest must have {HASH_BYTES} bytes, not {len(digest)}",
            hint="Hash the message first, and pass the hash: svcnb.protocol.keccak.keccak256(message).",
        )
