"""Substitute for aiohttp, which has no build for WebAssembly. web3 imports it for its asynchronous provider."""

from typing import NoReturn


class ClientError(Exception):
    """Substitute for ``aiohttp.ClientError``."""


class _Absent:
    def __init__(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise NotImplementedError("asynchronous connections of web3 require aiohttp, which has no build for browsers")


class ClientTimeout:
    """Substitute for ``aiohttp.ClientTimeout``, which stores its values but does not use them."""

    def __init__(self, total: "float | None" = None, **_kwargs: object) -> None:
        self.total = total


class ClientResponse(_Absent):
    """Substitute for ``aiohttp.ClientResponse``, which raises an error."""


class ClientSession(_Absent):
    """Substitute for ``aiohttp.ClientSession``, which raises an error."""


class TCPConnector(_Absent):
    """Substitute for ``aiohttp.TCPConnector``, which raises an error."""
