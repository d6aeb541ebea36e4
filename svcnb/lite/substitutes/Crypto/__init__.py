"""Substitute for pycryptodome, which has no build for WebAssembly: the names that eth-keyfile and eth-hash import."""

from typing import NoReturn


class Absent:
    """Part of pycryptodome that is not available in the browser. Any use raises an error."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> NoReturn:
        raise NotImplementedError(
            f"{self._name}.{name} requires pycryptodome, which does not exist for browsers: use an installed Python"
        )

    def __call__(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise NotImplementedError(
            f"{self._name} requires pycryptodome, which does not exist for browsers: use an installed Python"
        )


Random = Absent("Crypto.Random")
