"""Base58 with Bitcoin's alphabet (``base58btc`` in multibase), optimised for the 34 bytes of a CID."""

from __future__ import annotations

from itertools import product
from typing import Final

ALPHABET: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_PAIRS: Final = tuple(a + b for a, b in product(ALPHABET, repeat=2))
_PAIR: Final = 58**2
_FOUR: Final = 58**4  # four digits per division, because division by a number of less than 30 bits is fast


def encode(data: bytes) -> str:
    """Encodes bytes in base58. Each leading zero byte becomes a leading digit ``1``."""
    number = int.from_bytes(data, "big")
    pairs: list[str] = []
    while number:
        number, four = divmod(number, _FOUR)
        # Start at the end, because the division returns the lowest digits first.
        pairs += _PAIRS[four % _PAIR], _PAIRS[four // _PAIR]
    pairs.reverse()
    digits = "".join(pairs).lstrip("1")
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + digits
