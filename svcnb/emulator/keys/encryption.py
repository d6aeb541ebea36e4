"""Encrypt and Decrypt of the action runtime: AES-256-GCM under a wallet's own secret.

The text form is lowercase hex of nonce, ciphertext and tag, one after another (reference facts 4.4). It depends only on
the wallet: any action that may use the wallet can decrypt.
"""

from __future__ import annotations

import binascii

from svcnb.protocol.aes_gcm import NONCE_BYTES, TAG_BYTES, seal, unseal


class CipherError(ValueError):
    """A text cannot be encrypted or a ciphertext cannot be decrypted. Its message holds neither key nor plaintext."""


def encrypt(secret: bytes, text: str, nonce: bytes) -> str:
    """Encrypts a text under a wallet's secret.

    Args:
        secret: The wallet's 32 secret bytes, used as the AES-256 key.
        text: Any text that UTF-8 can hold.
        nonce: 12 bytes, never used twice with one secret.

    Returns:
        Lowercase hex without prefix.

    Raises:
        CipherError: The text holds a lone surrogate.
        ValueError: Key or nonce has another length.
    """
    try:
        plain = text.encode()
    except UnicodeEncodeError as error:
        raise CipherError(
            f"the message cannot be encrypted: character {error.start} is half of a surrogate pair, which UTF-8 "
            "cannot hold; send whole characters"
        ) from None
    return (nonce + seal(secret, nonce, plain)).hex()


def decrypt(secret: bytes, ciphertext: str) -> str:
    """Decrypts a result of `encrypt`.

    Args:
        secret: The wallet's 32 secret bytes.
        ciphertext: Hex in either case, with or without ``0x``.

    Returns:
        The text.

    Raises:
        CipherError: The text is not hex, too short, changed, or was encrypted with another wallet.
    """
    try:
        # Not bytes.fromhex, which accepts blanks.
        raw = binascii.unhexlify(ciphertext.removeprefix("0x"))
    except ValueError:  # binascii.Error, or a character outside of ASCII
        raise CipherError("the ciphertext is not hex: pass on exactly what Encrypt returned") from None
    if len(raw) < NONCE_BYTES + TAG_BYTES:
        raise CipherError(
            f"the ciphertext has {len(raw)} bytes, a nonce and a tag alone have {NONCE_BYTES + TAG_BYTES}: "
            "pass on exactly what Encrypt returned"
        )
    try:
        return unseal(secret, raw[:NONCE_BYTES], raw[NONCE_BYTES:]).decode()
    except UnicodeDecodeError:
        raise CipherError("the ciphertext decrypts to bytes that are no UTF-8 text: only texts are supported") from None
    except ValueError:
        raise CipherError(
            "the ciphertext does not decrypt with this wallet: it was changed, or another wallet encrypted it"
        ) from None
