"""AES-256-GCM with 16-byte tags, computed by pycryptodome, or by @noble/ciphers in a browser page.

Source: NIST SP 800-38D.
"""

from __future__ import annotations

from typing import Final

from svcnb.protocol.in_page import IN_PAGE, primitives

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
TAG_BYTES: Final = 16


def load() -> None:
    """Loads the library in advance. Otherwise, the first call would load the library, which takes about 0.1 s."""
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
    if len(key) != KEY_BYTES or len(nonce) != NONCE_BYTES:
        raise ValueError(
            f"the key has {len(key)} bytes and the nonce has {len(nonce)} bytes: AES-256-GCM requires a key of "
            f"{KEY_BYTES} bytes and a nonce of {NONCE_BYTES} bytes"
        )
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
        ValueError: The ciphertext was changed, or was encrypted with a different key, nonce or additional data.
    """
    if IN_PAGE:
        found = primitives().decrypt(key.hex(), nonce.hex(), sealed.hex(), about.hex())
        if found is None:
            raise ValueError("the ciphertext does not match the key, the nonce, or the additional data")
        return bytes.fromhex(found)
    from Crypto.Cipher import AES

    cipher = AES.new(key, AES.MODE_GCM, nonce=nonce, mac_len=TAG_BYTES)
    cipher.update(about)
    return bytes(cipher.decrypt_and_verify(sealed[:-TAG_BYTES], sealed[-TAG_BYTES:]))
