"""Substitute for aiohttp, which has no build for WebAssembly. The asynchronous provider of web3 imports aiohttp."""

from typing import NoReturn


class ClientError(Exception):
    """Substitute for ``aiohttp.ClientError``. No code in the page raises this error."""


class _Absent:
    def __init__(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise NotImplementedError(
            "asynchronous connections of web3 require aiohttp, which has no build for browsers: use web3.HTTPProvider"
        )


class ClientTimeout:
    """Substitute for ``aiohttp.ClientTimeout`` that stores the total timeout but does not use it."""

    def __init__(self, total: "float | None" = None, **_kwargs: object) -> None:
        self.total = total


class ClientResponse(_Absent):
    """Substitute for ``aiohttp.ClientResponse`` that always raises an error."""


class ClientSession(_Absent):
    """Substitute for ``aiohttp.ClientSession`` that always raises an error."""


class TCPConnector(_Absent):
    """Substitute for ``aiohttp.TCPConnector`` that always raises an error."""
