"""Derivation of all the service's keys from one root secret.

The service does not store wallet keys. It stores the root secret, and derives each wallet key when it needs the key
(docs/service/keys.md#derivation-of-keys). The keys are therefore the same after a restart, in a restored copy, and on a
second server with the same root secret. For each wallet, the chain stores only a derivation path.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import count
from typing import NoReturn

from svcnb.emulator.platform.randomness import Randomness
from svcnb.protocol.curve import SECRET_BYTES, is_secret
from svcnb.protocol.keccak import keccak256
from svcnb.protocol.signature import address_of_secret
from svcnb.protocol.vocabulary import Vocabulary

_VERSION = "v1/"
_WALLET_PURPOSE = "client"
_LABEL_PURPOSE = "svcnb label"
_SEAL_PURPOSE = "svcnb seal"
_ADDRESSES_KEPT = 4_096


class Custody:
    """Root secret and the derivation of keys from it.

    A custody key is ``custody_key(path, purpose) = HMAC-SHA256(root, purpose || 0x00 || path)``. The private key is the
    keccak256 hash of the custody key. With a probability below 2**-127, this hash is not a valid private key of the
    curve. In that case, the derivation appends ``0x00`` and a four-byte counter to the path. The counter starts at 1
    and increases until the hash is valid. The result of ``repr`` and error messages never contain a secret. Pickling
    and copying the object raise `TypeError`.

    Args:
        root_secret: Root secret, 32 bytes, from `svcnb.emulator.keys.root.load_root_secret`.
        vocabulary: Names that are part of the derivation of action and payer keys.
        randomness: Source of new derivation paths.
    """

    __slots__ = ("_mac", "_randomness", "_vocabulary", "wallet_address")

    def __init__(self, root_secret: bytes, vocabulary: Vocabulary, randomness: Randomness) -> None:
        if len(root_secret) != SECRET_BYTES:
            raise ValueError(f"the root secret has {len(root_secret)} bytes: expected {SECRET_BYTES}")
        # Create the HMAC once with the key and copy it for every derivation. A copy is faster, and no attribute
        # contains the root secret as bytes.
        self._mac = hmac.new(root_secret, digestmod=hashlib.sha256)
        self._vocabulary = vocabulary
        self._randomness = randomness
        self.wallet_address: Callable[[int], str] = lru_cache(_ADDRESSES_KEPT)(self._wallet_address)
        """Returns the address of the wallet at a derivation path. Caches recent addresses, which are public."""

    def __repr__(self) -> str:
        return "Custody(root_secret=<hidden>)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("Custody contains the root secret and cannot be pickled or copied")

    def new_path(self) -> int:
        """Returns a new derivation path: the keccak256 hash of 32 random bytes as a uint256, never 0."""
        while True:
            path = int.from_bytes(keccak256(self._randomness.bytes(32, "derivation path")), "big")
            if path:  # in the contract, 0 means "not registered"
                return path

    def wallet_secret(self, path: int) -> bytes:
        """Returns the private key of the wallet at a derivation path.

        Args:
            path: Derivation path from `new_path`, a uint256.

        Returns:
            The private key, 32 bytes.

        Raises:
            ValueError: The path is 0 or is not a uint256.
        """
        if not 0 < path < 1 << 256:
            raise ValueError(f"derivation path {path} is not between 1 and 2**256 - 1: register the wallet first")
        return self._secret(f"{_VERSION}{path:064x}", _WALLET_PURPOSE)

    def _wallet_address(self, path: int) -> str:
        return address_of_secret(self.wallet_secret(path))

    def action_secret(self, cid: str) -> bytes:
        """Returns the private key of an action. The key depends only on the CID, so it is the same for every account.

        Args:
            cid: The CID as text. Like the service, the method does not validate the text, so every string has a key.
        """
        digest = keccak256(f"{self._vocabulary.action_key_prefix}{cid}".encode("utf-8", "surrogatepass"))
        return self._secret(_VERSION + digest.hex(), self._vocabulary.action_key_purpose)

    def payer_secret(self, n: int) -> bytes:
        """Returns the private key of payer wallet ``n``, counted from 0. These wallets send the writes of API mode."""
        return self._secret(f"{_VERSION}payer_{n}", self._vocabulary.payer_key_purpose)

    def admin_payer_secret(self) -> bytes:
        """Returns the private key of the wallet that manages the payers."""
        return self._secret(f"{_VERSION}admin_api_payer", self._vocabulary.payer_key_purpose)

    def owner_secret(self) -> bytes:
        """Returns the private key of the wallet that deploys and owns the contract."""
        return self._secret(f"{_VERSION}contract_owner", self._vocabulary.payer_key_purpose)

    def label(self, name: str) -> bytes:
        """Returns 32 public bytes that identify this root secret for one purpose. The bytes do not reveal any secret.

        Args:
            name: Purpose of the bytes. Each purpose has different bytes.
        """
        return self._custody_key(name.encode(), _LABEL_PURPOSE)

    def derived_key(self, name: str) -> bytes:
        """Returns a 32-byte key for one purpose, such as the encryption of stored data. No wallet uses such a key.

        Args:
            name: Purpose of the key. Each purpose has a different key.
        """
        return self._custody_key(name.encode(), _SEAL_PURPOSE)

    def _secret(self, path: str, purpose: str) -> bytes:
        return first_secret(self._candidates(path, purpose))

    def _candidates(self, path: str, purpose: str) -> Iterator[bytes]:
        yield keccak256(self._custody_key(path.encode(), purpose))
        for attempt in count(1):
            yield keccak256(self._custody_key(path.encode() + b"\0" + attempt.to_bytes(4, "big"), purpose))

    def _custody_key(self, path: bytes, purpose: str) -> bytes:
        mac = self._mac.copy()
        mac.update(purpose.encode() + b"\0" + path)
        return mac.digest()


def first_secret(candidates: Iterable[bytes]) -> bytes:
    """Returns the first 32-byte value that is a valid private key of the curve secp256k1."""
    return next(candidate for candidate in candidates if is_secret(candidate))
