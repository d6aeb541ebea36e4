"""Selects a secp256k1 library. No other module imports a secp256k1 library.

Three libraries produce the same results. ``coincurve`` has wheels up to Python 3.13, and ``wallycore`` up to 3.14.
These two libraries use the C library libsecp256k1. ``eth-keys`` is written in Python. This third library is about a
hundred times slower, and runs on every version of Python. This module uses the first installed library, in this order.
In a browser page, this module uses ``@noble/curves``.

Every library signs deterministically (RFC 6979) and returns s in the lower half of the order (EIP-2).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple
from warnings import catch_warnings, simplefilter, warn

from svcnb.errors import ExtraMissing
from svcnb.extras import install_command
from svcnb.protocol.in_page import primitives

ORDER: Final = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
"""Order of the group's generator (SEC 2, section 2.4.1). A private key is a number from 1 to ORDER - 1."""

SECRET_BYTES: Final = 32

_WALLY_HEADER: Final = 31  # 27, plus 4 for a compressed public key


class SlowSignatures(UserWarning):
    """Warning that svcnb signs in pure Python, without libsecp256k1. Each signature takes several milliseconds."""


class Library(NamedTuple):
    """Operations of one secp256k1 library. The callers check the arguments.

    Attributes:
        name: Name of the library in the package index.
        sign: Function of a digest and a private key, 32 bytes each. Returns r, s and the parity (0 or 1) as 65 bytes.
        recover: Function of a digest, r and s (64 bytes) and the parity. Returns the signer's public key, or raises
            ValueError if no key matches.
        public_key: Function of a private key. Returns the public key as its coordinates x and y, 64 bytes.
    """

    name: str
    sign: Callable[[bytes, bytes], bytes]
    recover: Callable[[bytes, bytes, int], bytes]
    public_key: Callable[[bytes], bytes]


def _coincurve() -> Library:
    from coincurve import PrivateKey, PublicKey

    def sign(digest: bytes, secret: bytes) -> bytes:
        return PrivateKey(secret).sign_recoverable(digest, hasher=None)

    def recover(digest: bytes, compact: bytes, parity: int) -> bytes:
        try:
            found = PublicKey.from_signature_and_message(compact + bytes((parity,)), digest, hasher=None)
        except Exception as error:  # coincurve raises a bare Exception
            raise ValueError(str(error)) from error
        return found.format(compressed=False)[1:]

    def public_key(secret: bytes) -> bytes:
        return PublicKey.from_valid_secret(secret).format(compressed=False)[1:]

    return Library("coincurve", sign, recover, public_key)


def _wallycore() -> Library:
    import ctypes

    with catch_warnings():
        # SWIG's types raise this warning while they load. If the warning is an error, it crashes the interpreter at
        # exit.
        simplefilter("ignore", DeprecationWarning)
        import wallycore
    # When SWIG releases its data at exit, SWIG creates another type that raises this warning. An additional reference
    # to the data prevents the release.
    for name in [name for name in sys.modules if name.startswith("swig_runtime_data")]:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(sys.modules[name].type_pointer_capsule))

    kind = wallycore.EC_FLAG_ECDSA | wallycore.EC_FLAG_RECOVERABLE

    def sign(digest: bytes, secret: bytes) -> bytes:
        signed = bytes(wallycore.ec_sig_from_bytes(secret, digest, kind))
        return signed[1:] + bytes((signed[0] - _WALLY_HEADER,))

    def recover(digest: bytes, compact: bytes, parity: int) -> bytes:
        found = wallycore.ec_sig_to_public_key(digest, bytes((_WALLY_HEADER + parity,)) + compact)
        return bytes(wallycore.ec_public_key_decompress(found))[1:]

    def public_key(secret: bytes) -> bytes:
        return bytes(wallycore.ec_public_key_decompress(wallycore.ec_public_key_from_private_key(secret)))[1:]

    return Library("wallycore", sign, recover, public_key)


def _eth_keys() -> Library:
    from eth_keys.backends.native.main import NativeECCBackend
    from eth_keys.main import KeyAPI

    api = KeyAPI(NativeECCBackend())

    def sign(digest: bytes, secret: bytes) -> bytes:
        return api.PrivateKey(secret).sign_msg_hash(digest).to_bytes()

    def recover(digest: bytes, compact: bytes, parity: int) -> bytes:
        try:
            return api.Signature(compact + bytes((parity,))).recover_public_key_from_msg_hash(digest).to_bytes()
        except Exception as error:
            raise ValueError(str(error)) from error

    def public_key(secret: bytes) -> bytes:
        return api.PrivateKey(secret).public_key.to_bytes()

    return Library("eth-keys", sign, recover, public_key)


def _noble() -> Library:
    found = primitives()

    def sign(digest: bytes, secret: bytes) -> bytes:
        return bytes.fromhex(found.sign(digest.hex(), secret.hex()))

    def recover(digest: bytes, compact: bytes, parity: int) -> bytes:
        key: str = found.recover(digest.hex(), compact.hex(), parity)
        if not key:
            raise ValueError("no public key matches the signature")
        return bytes.fromhex(key)

    def public_key(secret: bytes) -> bytes:
        return bytes.fromhex(found.publicKey(secret.hex()))

    return Library("@noble/curves", sign, recover, public_key)


LIBRARIES: Final = (_coincurve, _wallycore, _noble, _eth_keys)


@cache
def library() -> Library:
    """Returns the first of the libraries coincurve, wallycore and eth-keys that is installed.

    In a browser page, the function returns @noble/curves.

    Raises:
        ImportError: No secp256k1 library is installed.
    """
    for load in LIBRARIES:
        try:
            found = load()
        except ImportError:
            continue
        if load is _eth_keys:
            warn(
                "neither coincurve nor wallycore is installed, so each signature takes several milliseconds. "
                f"To install a fast library, run: {install_command('chain')}",
                SlowSignatures,
                stacklevel=4,
            )
        return found
    raise ExtraMissing("signatures require a secp256k1 library", "chain")


def is_secret(candidate: bytes) -> bool:
    """Returns whether bytes are a private key: 32 bytes, which are a number from 1 to `ORDER` - 1."""
    return len(candidate) == SECRET_BYTES and 0 < int.from_bytes(candidate, "big") < ORDER


def require_secret(candidate: bytes) -> None:
    """Checks a private key.

    Raises:
        ValueError: The bytes are not a private key. The message does not contain the bytes, because a mistyped key
            reveals most of the correct key.
    """
    if len(candidate) != SECRET_BYTES:
        raise ValueError(f"invalid secp256k1 private key of {len(candidate)} bytes: expected {SECRET_BYTES} bytes")
    if not is_secret(candidate):
        raise ValueError(f"invalid secp256k1 private key: expected a number from 1 to {ORDER - 1:#x}")
