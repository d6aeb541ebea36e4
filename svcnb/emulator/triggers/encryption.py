"""Usage keys at rest: encrypted, bound to their trigger, never shown."""

from __future__ import annotations

from binascii import unhexlify
from typing import Final

from svcnb.emulator.platform.randomness import Randomness

_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16


class SealBroken(Exception):
    """A stored key cannot be opened: it was changed, moved to another trigger, or sealed under another root secret."""


class Seal:
    """AES-256-GCM with the trigger's id as additional data.

    Args:
        secret: 32 bytes that follow from the emulator's root secret.
        randomness: Where nonces come from.
    """

    __slots__ = ("_randomness", "_secret")

    def __init__(self, secret: bytes, randomness: Randomness) -> None:
        self._secret = secret
        self._randomness = randomness

    def __repr__(self) -> str:
        return "Seal(secret=<hidden>)"

    def close(self, usage_key: str, trigger_id: str) -> str:
        """The key as hex of nonce, ciphertext and tag."""
        from Crypto.Cipher import AES

        nonce = self._randomness.bytes(_NONCE_BYTES, "trigger seal")
        cipher = AES.new(self._secret, AES.MODE_GCM, nonce=nonce, mac_len=_TAG_BYTES)
        cipher.update(trigger_id.encode())
        sealed, tag = cipher.encrypt_and_digest(usage_key.encode("utf-8", "surrogatepass"))
        return (nonce + sealed + tag).hex()

    def open(self, sealed: str, trigger_id: str) -> str:
        """The key.

        Raises:
            SealBroken: It cannot be opened; the message holds nothing of it.
        """
        from Crypto.Cipher import AES

        try:
            raw = unhexlify(sealed)
            nonce, middle, tag = raw[:_NONCE_BYTES], raw[_NONCE_BYTES:-_TAG_BYTES], raw[-_TAG_BYTES:]
            cipher = AES.new(self._secret, AES.MODE_GCM, nonce=nonce, mac_len=_TAG_BYTES)
            cipher.update(trigger_id.encode())
            return cipher.decrypt_and_verify(middle, tag).decode("utf-8", "surrogatepass")
        except ValueError:
            raise SealBroken("the stored usage key cannot be opened: set it again with PATCH") from None
