"""Keccak-256 hash function with pycryptodome's interface."""

from svcnb.protocol.keccak import keccak256


class Keccak_Hash:
    """Keccak-256 hash of appended bytes, with methods of pycryptodome's class of the same name."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def update(self, data: bytes) -> "Keccak_Hash":
        """Appends bytes to the hashed data, and returns this object."""
        self._data += bytes(data)
        return self

    def digest(self) -> bytes:
        """Returns the hash of all appended bytes."""
        return keccak256(self._data)

    def copy(self) -> "Keccak_Hash":
        """Returns an independent hash object to which the same bytes have been appended."""
        return Keccak_Hash(self._data)


def new(*, data: bytes = b"", digest_bits: int = 256, update_after_digest: bool = False) -> Keccak_Hash:  # noqa: ARG001 - the library's signature
    """Returns a new Keccak-256 hash object, to which ``data`` has been appended.

    Raises:
        NotImplementedError: ``digest_bits`` is not 256.
    """
    if digest_bits != 256:
        raise NotImplementedError(
            f"Keccak-{digest_bits} requires pycryptodome, which has no build for browsers: use a local Python"
        )
    return Keccak_Hash(bytes(data))
