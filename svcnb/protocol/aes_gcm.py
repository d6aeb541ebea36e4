"""AES-256-GCM with 16-byte tags, computed by pycryptodome, or by @noble/ciphers in a browser page.

Source: NIST SP 800-38D.
"""

from __future__ import annotations

from typing import Final

from svcnb.protocol.in_page import IN_PAGE, primitives

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
TAG_BYTES: Final = 16

# AES-GCM cannot determine which of these values differs.
_REJECTED: Final = (
    "the tag of the ciphertext is wrong: pass the unchanged ciphertext, with the key, nonce and additional data of the "
    "encryption"
)


def load() -> None:
    """Loads the library in advance, in about 0.1 s. Otherwise, the first call of `seal` or `unseal` loads it."""
    seal(bytes(KEY_BYTES), bytes(NONCE_BYTES), b"")  # importing the package does not load its modules


def seal(key: bytes, nonce: bytes, plain: bytes, about: bytes = b"") -> bytes:
    """Encrypts and authenticates bytes.

    Args:
        key: 32 bytes.
        nonce: 12 bytes. Never use a nonce twice with the same key.
        plain: Bytes to encrypt.
        about: Additional authenticated data, which the cipher does not encrypt.

    Returns:
        Ciphertext and tag.

    Raises:
        ValueError: The key or the nonce has the wrong length.
    """
    _require_lengths(key, nonce)
    if IN_PAGE:
        return bytes.fromhex(primitives().encrypt(key.hex(), nonce.hex(), plain.hex(), about.hex()))
    from Crypto.Cipher import AES

    cipher = AES.new(key, AES.MODE_GCM, nonce=nonce, mac_len=TAG_BYTES)
    cipher.update(about)
    sealed, tag = cipher.encrypt_and_digest(plain)
    return bytes(sealed + tag)


def unseal(key: bytes, nonce: bytes, sealed: bytes, about: bytes = b"") -> bytes:
    """Decrypts a result of `seal`, checks its tag, and returns the decrypted bytes.

    Args:
        key: The 32 bytes with which `seal` encrypted.
        nonce: The 12 bytes with which `seal` encrypted.
        sealed: Ciphertext and tag.
        about: The additional authenticated data that `seal` received.

    Raises:
        ValueError: The key or the nonce has the wrong length. The ciphertext was changed. The ciphertext was encrypted
            with a different key, nonce or additional data.
    """
    _require_lengths(key, nonce)
    if IN_PAGE:
        found = primitives().decrypt(key.hex(), nonce.hex(), sealed.hex(), about.hex())
        if found is None:
            raise ValueError(_REJECTED)
        return bytes.fromhex(found)
    from Crypto.Cipher import AES

    cipher = AES.new(key, AES.MODE_GCM, nonce=nonce, mac_len=TAG_BYTES)
    cipher.update(about)
    try:
        return bytes(cipher.decrypt_and_verify(sealed[:-TAG_BYTES], sealed[-TAG_BYTES:]))
    except ValueError:
        raise ValueError(_REJECTED) from None


def _require_lengths(key: bytes, nonce: bytes) -> None:
    if len(key) != KEY_BYTES:
        raise ValueError(f"the key has {len(key)} bytes: AES-256-GCM requires a key of {KEY_BYTES} bytes")
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"the nonce has {len(nonce)} bytes: this function requires a nonce of {NONCE_BYTES} bytes")
