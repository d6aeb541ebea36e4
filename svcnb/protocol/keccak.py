"""Keccak-256 as Ethereum uses it, with the padding that preceded FIPS 202.

pycryptodome computes the hash. This module calls pycryptodome's C functions directly, with declarations that cffi has
parsed in advance (`_keccak_abi`). If the installed pycryptodome does not match the declarations, this module uses the
documented interface of pycryptodome, which takes 50 to 90 milliseconds to load. In both cases, this module hashes the
first 24 short inputs of a process in pure Python, in a fraction of a millisecond each. A short command therefore loads
no library. An installation without the extras ``chain`` and ``emulator`` has no pycryptodome, and the module hashes
everything in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Final

from svcnb.errors import InvalidType
from svcnb.protocol.in_page import IN_PAGE, primitives

RATE_BYTES: Final = 136
"""Number of bytes absorbed between two permutations: the 1600 bits of state minus the capacity of 2 x 256 bits."""

_PURE_CALLS: Final = 24
_PURE_BYTES: Final = 4 * RATE_BYTES
_OF_NOTHING: Final = bytes.fromhex("c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")
_LANE: Final = (1 << 64) - 1

_calls = count(1)
_native: Callable[[bytes], bytes] | None = None


def keccak256(data: bytes | bytearray | memoryview) -> bytes:
    """Returns the Keccak-256 hash of bytes.

    Args:
        data: Bytes to hash.

    Returns:
        The hash, 32 bytes.

    Raises:
        InvalidType: The value is not bytes, for example a string without an encoding.
    """
    if type(data) is not bytes:
        data = _as_bytes(data)
    if _native is not None:
        return _native(data)
    if len(data) <= _PURE_BYTES and not IN_PAGE and next(_calls) <= _PURE_CALLS:
        return keccak256_pure(data)
    return _load()(data)


def _as_bytes(data: object) -> bytes:
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    raise InvalidType(
        f"keccak256 requires bytes, got {type(data).__name__}: encode strings first, for example with text.encode()"
    )


def _load() -> Callable[[bytes], bytes]:
    global _native  # noqa: PLW0603 - a library, loaded once for the process; no state
    try:
        # In a page, the search for missing modules takes up to 0.2 s: Python asks the page for the notebook's folder.
        found = _in_page() if IN_PAGE else _without_wrapper()
        if found(b"") != _OF_NOTHING:
            found = _by_wrapper()
    except (ImportError, AttributeError, OSError, TypeError):
        # The installed release is different, or cffi is missing. The documented interface works in both cases.
        try:
            found = _by_wrapper()
        except ImportError:  # an installation without extras has no pycryptodome, and computes only few hashes
            found = keccak256_pure
    _native = found
    return found


def _in_page() -> Callable[[bytes], bytes]:
    digest = primitives().keccak256
    return lambda data: bytes.fromhex(digest(data.hex()))


def _by_wrapper() -> Callable[[bytes], bytes]:
    from Crypto.Hash.keccak import new

    def native(data: bytes) -> bytes:
        digest: bytes = new(digest_bits=256, data=data).digest()
        return digest

    return native


def _without_wrapper() -> Callable[[bytes], bytes]:
    """Returns a hash function that calls pycryptodome's C functions directly.

    The creation of pycryptodome's hash object takes longer than the hash itself. The recovery of an envelope's signer
    needs three hashes, so the direct calls save a tenth of the time of a verification.
    """
    from svcnb.protocol._keccak_abi import ffi, library as functions

    init, absorb, digest, destroy = (
        functions.keccak_init,
        functions.keccak_absorb,
        functions.keccak_digest,
        functions.keccak_destroy,
    )
    new, contents = ffi.new, ffi.buffer

    def native(data: bytes) -> bytes:
        # Each call has its own state, because threads and signal handlers can hash at the same time.
        holder, out = new("void *[1]"), new("uint8_t[]", 32)
        if init(holder, 64, 24):
            raise MemoryError("there is not enough memory for a hash state")
        state = holder[0]
        try:
            absorb(state, data, len(data))
            digest(state, out, 32, 0x01)
        finally:
            destroy(state)
        result: bytes = contents(out)[:]
        return result

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
    """Returns source, rotation and target of every FIPS 202 ``lane`` except the first (steps rho and pi)."""
    moves, x, y = [], 1, 0
    for step in range(24):
        target_x, target_y = y, (2 * x + 3 * y) % 5
        moves.append((x + 5 * y, (step + 1) * (step + 2) // 2 % 64, target_x + 5 * target_y))
        x, y = target_x, target_y
    return tuple(moves)


_ROUND_CONSTANTS: Final = _round_constants()
_MOVES: Final = _rotations()


def keccak256_pure(data: bytes) -> bytes:
    """Computes Keccak-256 in pure Python, about a hundred times slower than `keccak256` with a library.

    Args:
        data: Bytes to hash.

    Returns:
        The hash, 32 bytes.
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
