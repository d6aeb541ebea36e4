"""Where random bytes come from: the operating system, or a seed so that a lesson shows the same keys everywhere."""

from __future__ import annotations

import hashlib
import os
import uuid


class Randomness:
    """A source of random bytes.

    Args:
        seed: None for the operating system's randomness. A text gives a repeatable stream, hash-based in counter mode
            over SHA-256: anyone who knows the seed can compute every key, so a seeded emulator never leaves loopback.
    """

    def __init__(self, seed: str | None = None) -> None:
        self._key = None if seed is None else hashlib.sha256(b"svcnb randomness\0" + seed.encode()).digest()
        self.position = 0
        """Blocks drawn so far. Kept with the emulator's state, so that a restart does not repeat keys."""

    @property
    def seeded(self) -> bool:
        """Whether the stream can be guessed by whoever knows the seed."""
        return self._key is not None

    def bytes(self, count: int) -> bytes:
        """Random bytes.

        Args:
            count: How many.

        Returns:
            ``count`` bytes.
        """
        if self._key is None:
            return os.urandom(count)
        out = b""
        while len(out) < count:
            out += hashlib.sha256(self._key + self.position.to_bytes(16, "big")).digest()
            self.position += 1
        return out[:count]

    def uuid4(self) -> str:
        """A version 4 UUID (RFC 9562) as text."""
        return str(uuid.UUID(bytes=self.bytes(16), version=4))
