"""Functions Encrypt and Decrypt of the action runtime: AES-256-GCM with a wallet's private key as the AES key.

An encrypted text is the lowercase hex form of nonce, ciphertext and tag, concatenated
(docs/service/keys.md#encryption). The key depends only on the wallet, so any action with the permission to use the
wallet can decrypt the text.
"""

from __future__ import annotations

import binascii

from svcnb.protocol.aes_gcm import NONCE_BYTES, TAG_BYTES, seal, unseal


class CipherError(ValueError):
    """Error for text that cannot be encrypted, or ciphertext that cannot be decrypted.

    The error message contains neither the key nor the plaintext.
    """


def encrypt(secret: bytes, text: str, nonce: bytes) -> str:
    """Encrypts a text with a wallet's private key.

    Args:
        secret: The wallet's private key, 32 bytes, used as the AES-256 key.
        text: Any text that UTF-8 can encode.
        nonce: Nonce, 12 bytes. Never use a nonce twice with the same secret.

    Returns:
        Lowercase hex without the prefix ``0x``.

    Raises:
        CipherError: The text contains an unpaired surrogate.
        ValueError: The secret or the nonce has the wrong length.
    """
    try:
        plain = text.encode()
    except UnicodeEncodeError as error:
        raise CipherError(
            f"the message cannot be encrypted: character {error.start} is an unpaired surrogate, which UTF-8 "
            "cannot encode. Send complete characters."
        ) from None
    return (nonce + seal(secret, nonce, plain)).hex()


def decrypt(secret: bytes, ciphertext: str) -> str:
    """Decrypts a result of `encrypt`.

    Args:
        secret: The wallet's private key, 32 bytes.
        ciphertext: Uppercase or lowercase hex, with or without the prefix ``0x``.

    Returns:
        The plaintext.

    Raises:
        CipherError: The ciphertext is not hex, is too short, was changed, or belongs to another wallet. The
            plaintext is not UTF-8 text.
    """
    try:
        # Do not use bytes.fromhex, because it also accepts spaces.
        raw = binascii.unhexlify(ciphertext.removeprefix("0x"))
    except ValueError:  # this includes binascii.Error and a non-ASCII character
        raise CipherError(
            "the ciphertext is not hex: expected an even number of hex digits. Pass the unchanged result of Encrypt."
        ) from None
    if len(raw) < NONCE_BYTES + TAG_BYTES:
        raise CipherError(
            f"the ciphertext has {len(raw)} bytes: expected at least {NONCE_BYTES + TAG_BYTES} bytes for the nonce and "
            "the tag. Pass the unchanged result of Encrypt."
        )
    try:
        return unseal(secret, raw[:NONCE_BYTES], raw[NONCE_BYTES:]).decode()
    except UnicodeDecodeError:
        raise CipherError("the ciphertext decrypts to bytes that are not UTF-8 text: encrypt only text") from None
    except ValueError:
        raise CipherError(
            "the ciphertext does not decrypt with this wallet: it was changed, or another wallet encrypted it. "
            "Pass the unchanged result of Encrypt, and the wallet that you passed to Encrypt."
        ) from None
