"""Base58 in Bitcoin's alphabet, fast for the 34 bytes of a CID (multibase's name for it: base58btc)."""

from __future__ import annotations

from itertools import product
from typing import Final

ALPHABET: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_PAIRS: Final = tuple(a + b for a, b in product(ALPHABET, repeat=2))
_PAIR: Final = 58**2
_FOUR: Final = 58**4  # number of digits at once: division by a number below 30 bits is fast
_VALUES: Final = {digit: value for value, digit in enumerate(ALPHABET)}


def encode(data: bytes) -> str:
    """Writes bytes in base58; leading zero bytes become leading ones."""
    number = int.from_bytes(data, "big")
    pairs: list[str] = []
    while number:
        number, four = divmod(number, _FOUR)
        # From the end, since the lowest digits come first.
        pairs += _PAIRS[four % _PAIR], _PAIRS[four // _PAIR]
    pairs.reverse()
    digits = "".join(pairs).lstrip("1")
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + digits


def decode(text: str) -> bytes:
    """Reads base58.

    Raises:
        ValueError: A character is not in the alphabet.
    """
    number = 0
    for digit in text:
        value = _VALUES.get(digit)
        if value is None:
            raise ValueError(f"{digit!r} is no digit of base58, which leaves out 0, O, I and l")
        number = number * 58 + value
    zeros = len(text) - len(text.lstrip("1"))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")
