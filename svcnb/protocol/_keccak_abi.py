"""Declarations of pycryptodome's C functions for Keccak, parsed in advance for cffi.

When Python imports pycryptodome, pycryptodome passes C declarations to cffi. cffi then loads a C parser and builds
tables. These steps take 30 to 80 milliseconds, longer than the emulator needs to load its chain. In cffi's "out-of-line
ABI mode", the saved result of the parser loads in a fraction of a millisecond. This module contains that result for
`DECLARATIONS`. A test generates the result again, and compares both results.

Raises:
    ImportError: cffi or pycryptodome's library is not installed.
    OSError: pycryptodome's library cannot be loaded.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Final

import _cffi_backend

DECLARATIONS: Final = """
int keccak_init(void **state, size_t capacity_bytes, uint8_t rounds);
int keccak_destroy(void *state);
int keccak_absorb(void *state, const uint8_t *in, size_t len);
int keccak_digest(void *state, uint8_t *digest, size_t len, uint8_t padding);
"""

# fmt: off
ffi: Final[Any] = _cffi_backend.FFI(
    "svcnb.protocol._keccak_abi",
    _version=0x2601,
    _types=(
        b"\x00\x00\x13\x0d\x00\x00\x06\x03\x00\x00\x1c\x01\x00\x00\x12\x01\x00\x00\x00\x0f\x00\x00\x13\x0d"
        b"\x00\x00\x14\x03\x00\x00\x00\x0f\x00\x00\x13\x0d\x00\x00\x06\x11\x00\x00\x03\x03\x00\x00\x1c\x01"
        b"\x00\x00\x12\x01\x00\x00\x00\x0f\x00\x00\x13\x0d\x00\x00\x06\x11\x00\x00\x03\x03\x00\x00\x1c\x01"
        b"\x00\x00\x00\x0f\x00\x00\x07\x01\x00\x00\x00\x01"
    ),
    _globals=(
        b"\x00\x00\x0e\x23keccak_absorb", 0,
        b"\x00\x00\x05\x23keccak_destroy", 0,
        b"\x00\x00\x08\x23keccak_digest", 0,
        b"\x00\x00\x00\x23keccak_init", 0,
    ),
)
# fmt: on


def _opened() -> Any:
    found = find_spec("Crypto.Hash._keccak")
    if found is None or found.origin is None:
        raise ImportError("the installed pycryptodome does not contain the module Crypto.Hash._keccak")
    return ffi.dlopen(found.origin)


library: Final[Any] = _opened()
"""Loaded C functions. The module keeps this library object, because deleting it would unload the functions."""
