"""Source of random bytes: the operating system, or a seed so that a lesson shows the same keys everywhere."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections import Counter


class Randomness:
    """A source of random bytes.

    Args:
        seed: None for the operating system's randomness. A text gives repeatable streams (SHA-256 in counter mode).
            Each purpose has its own stream, so that request ids never disturb wallets. Anyone with the seed can compute
            every key, so a seeded emulator listens on loopback only.
        boot: How often this emulator's state was started before. A restart draws from fresh streams and so never
            repeats a key; the first start of the same seed always draws the same.
    """

    def __init__(self, seed: str | None = None, *, boot: int = 0) -> None:
        self._root = None if seed is None else hashlib.sha256(f"svcnb randomness\0{boot}\0{seed}".encode()).digest()
        self._drawn: Counter[str] = Counter()

    @property
    def seeded(self) -> bool:
        """Whether the bytes are derived from a seed."""
        return self._root is not None

    def bytes(self, count: int, purpose: str = "") -> bytes:
        """Random bytes.

        Args:
            count: How many.
            purpose: Name of the stream. A draw from one stream does not advance the others.

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
        """A version 4 UUID (RFC 9562) as text."""
        return str(uuid.UUID(bytes=self.bytes(16, purpose), version=4))

    def state(self) -> dict[str, int]:
        """The position of each stream, for a snapshot."""
        return dict(self._drawn)

    def restore(self, state: dict[str, int]) -> None:
        """Restores a state from `state`. Later draws repeat."""
        self._drawn = Counter(state)
