"""Keccak-256 as Ethereum uses it, with the padding from before FIPS 202.

pycryptodome does the work, but loading it costs 50 to 90 milliseconds (cffi parses C declarations), as much as the
whole rest of a short command. So the first few short inputs of a process are hashed in Python, at a fraction of a
millisecond each; whoever hashes more, or something long, gets the library.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Final

RATE_BYTES: Final = 136
"""Bytes absorbed between two permutations: 1600 bits of state without twice the 256 bits of capacity."""

_PURE_CALLS: Final = 24
_PURE_BYTES: Final = 4 * RATE_BYTES
_LANE: Final = (1 << 64) - 1

_calls = count(1)
_native: Callable[[bytes], bytes] | None = None


def keccak256(data: bytes | bytearray | memoryview) -> bytes:
    """Hashes bytes.

    Args:
        data: What to hash.

    Returns:
        32 bytes.

    Raises:
        TypeError: Something else than bytes was given, for example a text that was not encoded.
    """
    if type(data) is not bytes:
        data = _as_bytes(data)
    if _native is not None:
        return _native(data)
    if len(data) <= _PURE_BYTES and next(_calls) <= _PURE_CALLS:
        return keccak256_pure(data)
    return _load()(data)


def _as_bytes(data: object) -> bytes:
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    raise TypeError(f"keccak256 hashes bytes, not {type(data).__name__}: encode a text first, text.encode()")


def _load() -> Callable[[bytes], bytes]:
    global _native  # noqa: PLW0603 - a library, loaded once for the process; no state
    from Crypto.Hash import keccak

    new = keccak.new

    def native(data: bytes) -> bytes:
        return new(digest_bits=256, data=data).digest()

    _native = native
    return native


# --- FIPS 202, section 3, in plain Python -----------------------------------------------------------------------


def _round_constants() -> tuple[int, ...]:
    constants, register = [], 1
    for _ in range(24):
        value = 0
        for bit in range(7):
            if register & 1:
                value |= 1 << ((1 << bit) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(value)
    return tuple(constants)


def _rotations() -> tuple[tuple[int, int, int], ...]:
    """For every lane but the first: where it comes from, how far it is rotated, where it goes (rho, then pi)."""
    moves, x, y = [], 1, 0
    for step in range(24):
        target_x, target_y = y, (2 * x + 3 * y) % 5
        moves.append((x + 5 * y, (step + 1) * (step + 2) // 2 % 64, target_x + 5 * target_y))
        x, y = target_x, target_y
    return tuple(moves)


_ROUND_CONSTANTS: Final = _round_constants()
_MOVES: Final = _rotations()


def keccak256_pure(data: bytes) -> bytes:
    """The same hash without any library, about a hundred times slower.

    Args:
        data: What to hash.

    Returns:
        32 bytes.
    """
    padded = bytearray(data)
    padded += bytes(RATE_BYTES - len(data) % RATE_BYTES)
    padded[len(data)] |= 0x01
    padded[-1] |= 0x80
    state = [0] * 25
    for block in range(0, len(padded), RATE_BYTES):
        for lane in range(RATE_BYTES // 8):
            start = block + 8 * lane
            state[lane] ^= int.from_bytes(padded[start : start + 8], "little")
        _permute(state)
    return b"".join(lane.to_bytes(8, "little") for lane in state[:4])


def _permute(state: list[int]) -> None:
    moved = [0] * 25
    for constant in _ROUND_CONSTANTS:
        columns = [state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20] for x in range(5)]
        for x in range(5):
            after = columns[(x + 1) % 5]
            mix = columns[x - 1] ^ ((after << 1 | after >> 63) & _LANE)
            for y in range(0, 25, 5):
                state[x + y] ^= mix
        moved[0] = state[0]
        for source, shift, target in _MOVES:
            lane = state[source]
            moved[target] = (lane << shift | lane >> (64 - shift)) & _LANE
        for y in range(0, 25, 5):
            a, b, c, d, e = moved[y : y + 5]
            state[y : y + 5] = [a ^ (~b & c), b ^ (~c & d), c ^ (~d & e), d ^ (~e & a), e ^ (~a & b)]
        state[0] ^= constant
