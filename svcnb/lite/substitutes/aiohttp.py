"""Substitute for aiohttp, which has no build for WebAssembly. web3 imports it for its asynchronous provider."""

from typing import NoReturn


class ClientError(Exception):
    """Error of a client."""


class _Absent:
    def __init__(self, *_args: object, **_kwargs: object) -> NoReturn:
        raise NotImplementedError("asynchronous connections of web3 need aiohttp, which has no build for browsers")


class ClientTimeout:
    """Substitute for ``aiohttp.ClientTimeout``, whose values are stored but not used."""

    def __init__(self, total: "float | None" = None, **_kwargs: object) -> None:
        self.total = total


class ClientResponse(_Absent):
    """Response of a client."""


class ClientSession(_Absent):
    """Client."""


class TCPConnector(_Absent):
    """Connections of a client."""
