"""What eth-account and eth-hash need of pycryptodome, which has no build for WebAssembly on the package index."""

from typing import NoReturn


class Absent:
    """A part of pycryptodome that a page does not have. Use of it says so."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> NoReturn:
        raise NotImplementedError(f"{self._name}.{name} needs pycryptodome, which has no build for browsers")

    def __call__(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise NotImplementedError(f"{self._name} needs pycryptodome, which has no build for browsers")


Random = Absent("Crypto.Random")
