"""Signatures over 32-byte digests on secp256k1: made, taken apart, and turned back into the address of their signer.

libsecp256k1 does the work through coincurve (extra ``chain`` or ``emulator``). Where only eth-keys is installed, its
Python arithmetic answers the same, about a hundred times slower, with a warning.

Source: EIP-191 and EIP-712 for what is signed; SEC 1, 4.1.6 for recovery.
"""

from __future__ import annotations

from functools import cache
from typing import Final, Protocol
from warnings import warn

from svcnb.protocol.errors import MalformedSignature
from svcnb.protocol.hashes import HASH_BYTES
from svcnb.protocol.keccak import keccak256

SIGNATURE_BYTES: Final = 65
SECRET_BYTES: Final = 32
ORDER: Final = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
"""Order of the group's generator (SEC 2, 2.4.1)."""

_V: Final = 27  # what Ethereum adds to the parity of the point


class SlowSignatures(UserWarning):
    """Signatures are computed without libsecp256k1, correctly and slowly."""


class _Curve(Protocol):
    def sign(self, digest: bytes, secret: bytes) -> bytes:
        """r, s and parity (0 or 1), 65 bytes."""

    def recover(self, digest: bytes, compact: bytes, parity: int) -> bytes:
        """Coordinates of the signer's point, 64 bytes; ValueError when there is none."""

    def point(self, secret: bytes) -> bytes:
        """Coordinates of a secret's point, 64 bytes."""


class _Libsecp:
    def __init__(self) -> None:
        from coincurve import PrivateKey, PublicKey

        self._private, self._public = PrivateKey, PublicKey

    def sign(self, digest: bytes, secret: bytes) -> bytes:
        return self._private(secret).sign_recoverable(digest, hasher=None)

    def recover(self, digest: bytes, compact: bytes, parity: int) -> bytes:
        try:
            found = self._public.from_signature_and_message(compact + bytes((parity,)), digest, hasher=None)
        except Exception as error:
            raise ValueError(str(error)) from error
        return found.format(compressed=False)[1:]

    def point(self, secret: bytes) -> bytes:
        return self._public.from_secret(secret).format(compressed=False)[1:]


class _EthKeys:
    def __init__(self) -> None:
        from eth_keys.backends.native.main import NativeECCBackend
        from eth_keys.main import KeyAPI

        self._api = KeyAPI(NativeECCBackend())

    def sign(self, digest: bytes, secret: bytes) -> bytes:
        return self._api.PrivateKey(secret).sign_msg_hash(digest).to_bytes()

    def recover(self, digest: bytes, compact: bytes, parity: int) -> bytes:
        try:
            signature = self._api.Signature(compact + bytes((parity,)))
            return signature.recover_public_key_from_msg_hash(digest).to_bytes()
        except Exception as error:
            raise ValueError(str(error)) from error

    def point(self, secret: bytes) -> bytes:
        return self._api.PrivateKey(secret).public_key.to_bytes()


@cache
def _curve() -> _Curve:
    try:
        return _Libsecp()
    except ImportError:
        pass
    try:
        slow = _EthKeys()
    except ImportError:
        raise ImportError("signatures need: pip install 'svcnb[chain]'") from None
    warn(
        "coincurve is not installed, so every signature takes some milliseconds: pip install 'svcnb[chain]'",
        SlowSignatures,
        stacklevel=4,
    )
    return slow


def sign_digest(digest: bytes, secret: bytes) -> bytes:
    """Signs a digest.

    Args:
        digest: 32 bytes.
        secret: The private key, 32 bytes.

    Returns:
        65 bytes: r, s, and v of 27 or 28. The same input gives the same signature (RFC 6979), s in the lower half.

    Raises:
        ValueError: Another length, or bytes that are no private key. Neither is repeated in the message.
        ImportError: No library for the curve is installed.
    """
    _require_digest(digest)
    _require_secret(secret)
    signed = _curve().sign(digest, secret)
    return signed[:-1] + bytes((signed[-1] + _V,))


def recover_address(digest: bytes, signature: bytes) -> str:
    """The address whose key made a signature.

    Any well-formed signature leads to *some* address: compare it with the one that is expected. As with Ethereum's own
    recovery, s may lie in either half, so a signature has a twin; never use its bytes as an identity.

    Args:
        digest: The 32 bytes that were signed.
        signature: 65 bytes: r, s, and v of 27 or 28, or 0 or 1.

    Returns:
        ``0x`` and 40 lower-case digits.

    Raises:
        MalformedSignature: Another length, another v, or numbers that belong to no point of the curve.
        ValueError: The digest has another length.
        ImportError: No library for the curve is installed.
    """
    _require_digest(digest)
    if len(signature) != SIGNATURE_BYTES:
        raise MalformedSignature(
            f"the signature has {len(signature)} bytes, {SIGNATURE_BYTES} are wanted: r, s and v",
            hint="compact signatures (EIP-2098, 64 bytes) are unsupported; contract signatures have any length",
        )
    parity = signature[-1]
    if parity >= _V:
        parity -= _V
    if parity > 1:
        raise MalformedSignature(f"v of the signature is {signature[-1]}, and 27, 28, 0 or 1 are wanted")
    try:
        point = _curve().recover(digest, signature[:-1], parity)
    except ValueError:
        raise MalformedSignature("r and s of the signature belong to no point of the curve") from None
    return "0x" + keccak256(point)[-20:].hex()


def address_of_secret(secret: bytes) -> str:
    """The address of a private key.

    Args:
        secret: 32 bytes.

    Returns:
        ``0x`` and 40 lower-case digits.

    Raises:
        ValueError: The bytes are no private key; they are not repeated in the message.
        ImportError: No library for the curve is installed.
    """
    _require_secret(secret)
    return "0x" + keccak256(_curve().point(secret))[-20:].hex()


def personal_digest(message: str | bytes) -> bytes:
    """The 32 bytes that a wallet signs for a personal message (EIP-191, version ``E``).

    Args:
        message: A text, signed as UTF-8, or bytes.
    """
    body = message.encode() if isinstance(message, str) else message
    return keccak256(b"\x19Ethereum Signed Message:\n" + str(len(body)).encode() + body)


def _require_digest(digest: bytes) -> None:
    if len(digest) != HASH_BYTES:
        raise ValueError(f"a digest has {HASH_BYTES} bytes, not {len(digest)}: hash the message first")


def _require_secret(secret: bytes) -> None:
    if len(secret) != SECRET_BYTES or not 0 < int.from_bytes(secret, "big") < ORDER:
        # Not shown: almost a key is still a secret.
        raise ValueError(f"not a secp256k1 private key: want {SECRET_BYTES} bytes between 1 and the group order - 1")
