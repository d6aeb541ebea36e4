"""Encryption of usage keys at rest. Each ciphertext is bound to the id of one trigger. No response contains a key."""

from __future__ import annotations

from binascii import unhexlify

from svcnb.emulator.platform.randomness import Randomness
from svcnb.protocol.aes_gcm import NONCE_BYTES, seal, unseal


class DecryptionFailed(Exception):
    """Error for a stored key that was changed, copied to another trigger, or encrypted with a different root secret."""


class UsageKeyEncryption:
    """AES-256-GCM encryption of usage keys, with the trigger's id as additional authenticated data.

    Args:
        secret: Encryption key, 32 bytes, derived from the emulator's root secret.
        randomness: Source of nonces.
    """

    __slots__ = ("_randomness", "_secret")

    def __init__(self, secret: bytes, randomness: Randomness) -> None:
        self._secret = secret
        self._randomness = randomness

    def __repr__(self) -> str:
        return "UsageKeyEncryption(secret=<hidden>)"

    def encrypt(self, usage_key: str, trigger_id: str) -> str:
        """Encrypts a usage key, and returns nonce, ciphertext and tag as one string of hex digits.

        Args:
            usage_key: The key to encrypt. Any string is allowed.
            trigger_id: Id of the trigger that stores the key. The decryption needs the same id.
        """
        nonce = self._randomness.bytes(NONCE_BYTES, "trigger seal")
        plain = usage_key.encode("utf-8", "surrogatepass")
        return (nonce + seal(self._secret, nonce, plain, trigger_id.encode())).hex()

    def decrypt(self, sealed: str, trigger_id: str) -> str:
        """Returns the decrypted usage key.

        Raises:
            DecryptionFailed: The stored text was changed, or was encrypted for another trigger or with another secret.
                The message does not contain the key.
        """
        try:
            raw = unhexlify(sealed)
            plain = unseal(self._secret, raw[:NONCE_BYTES], raw[NONCE_BYTES:], trigger_id.encode())
            return plain.decode("utf-8", "surrogatepass")
        except ValueError:
            raise DecryptionFailed(
                "the stored usage key of the trigger cannot be decrypted: set usage_api_key again with PATCH "
                f"/api/triggers/{trigger_id}"
            ) from None
