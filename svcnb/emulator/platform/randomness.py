"""Source of random bytes: the operating system, or a seed that produces the same keys on every machine."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections import Counter


class Randomness:
    """Source of random bytes.

    Args:
        seed: None for the operating system's randomness. A string produces reproducible streams (SHA-256 in counter
            mode). Each purpose has its own stream, so the number of created request ids does not change the keys of
            wallets. Anyone with the seed can compute all keys, so a seeded emulator listens only on loopback.
        boot: Number of earlier starts with the same stored state. A restart uses new streams, so a restart
            never repeats a key. The first start with the same seed always produces the same bytes.
    """

    def __init__(self, seed: str | None = None, *, boot: int = 0) -> None:
        self._root = None if seed is None else hashlib.sha256(f"svcnb randomness\0{boot}\0{seed}".encode()).digest()
        self._drawn: Counter[str] = Counter()

    @property
    def seeded(self) -> bool:
        """Whether the bytes come from a seed."""
        return self._root is not None

    def bytes(self, count: int, purpose: str = "") -> bytes:
        """Returns random bytes.

        Args:
            count: Number of bytes.
            purpose: Name of the stream. Streams are independent of each other.

        Returns:
            ``count`` bytes.
        """
        if self._root is None:
            return os.urandom(count)
        out = b""
        while len(out) < count:
            block = self._root + self._drawn[purpose].to_bytes(16, "big") + purpose.encode()
            out += hashlib.sha256(block).digest()
            self._drawn[purpose] += 1
        return out[:count]

    def uuid4(self, purpose: str = "uuid") -> str:
        """Returns a version 4 UUID (RFC 9562) as text."""
        return str(uuid.UUID(bytes=self.bytes(16, purpose), version=4))

    def state(self) -> dict[str, int]:
        """Returns the position of each stream, for a snapshot."""
        return dict(self._drawn)

    def restore(self, state: dict[str, int]) -> None:
        """Restores stream positions from `state`.

        The source then repeats the bytes that it returned after the call of `state`.
        """
        self._drawn = Counter(state)
