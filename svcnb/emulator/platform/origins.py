"""Address of the emulator, and checks of the origin and the host name of requests.

A browser sends the origin of a page (`Origin`) and the host name of the server (`Host`). `Origin` reveals pages of
other sites. `Host` reveals pages whose own host name resolves to this machine (DNS rebinding). For such pages, the two
headers match.
"""

from __future__ import annotations

import os
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.requests import Request

ANY: Final = "*"
RPC: Final = "/rpc"
"""Path of the chain's JSON-RPC endpoint, which wallets in browser extensions use."""


class Origins:
    """Origin and host checks of one emulator.

    Args:
        allowed: Allowed origins. ``*`` allows all origins.
        private: Whether only this machine can reach the emulator, so that an unknown host name means DNS rebinding.
    """

    def __init__(self, allowed: tuple[str, ...], *, private: bool) -> None:
        self._allowed = frozenset(allowed)
        self._names = frozenset(host_of(each) for each in allowed)
        # Behind JupyterHub, pages have the hub's host name, and a remote browser cannot reach this machine's loopback.
        self._checks_names = private and "JUPYTERHUB_SERVICE_PREFIX" not in os.environ and ANY not in self._allowed

    def trusts(self, headers: Headers, path: str) -> bool:
        """Returns whether a program, a page of this server, an allowed origin or a wallet extension sent a request."""
        origin = headers.get("origin")
        if origin is None or ANY in self._allowed or origin in self._allowed or is_same_origin(origin, headers):
            return True
        return path == RPC and _scheme(origin).endswith("-extension")

    def has_valid_name(self, headers: Headers) -> bool:
        """Returns whether the Host header contains a valid name of the emulator.

        IP addresses are valid, because DNS rebinding needs a name.
        """
        name = _name(f"//{headers.get('host', '')}")
        return not self._checks_names or name == "localhost" or _is_address(name) or name in self._names


def parse_origin(text: str) -> str:
    """Returns one value of ``allow_origin`` in its normal form, without a default port.

    Raises:
        ValueError: The text is not an origin.
    """
    given = text.strip().rstrip("/")
    if given == ANY:
        return ANY
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    plain = parts.scheme and parts.hostname and not (parts.path or parts.query or parts.fragment or parts.username)
    if not plain:
        raise ValueError(
            f"invalid allow_origin {text[:80]!r}: expected scheme, host and optionally port, for example "
            "https://dashboard.example or http://localhost:3000, or * for every page"
        )
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in {None, default} else "")


def host_of(origin: str) -> str:
    """Returns the host of an origin, without the port."""
    return _name(origin)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_same_origin(origin: str, headers: Headers) -> bool:
    """Returns whether an origin equals the server's own origin, as the caller sees it."""
    return _netloc(origin) == headers.get("host", "")


def is_own_origin(request: Request) -> bool:
    """Returns whether a request comes from a program or from a page of this server."""
    origin = request.headers.get("origin")
    return origin is None or is_same_origin(origin, request.headers)


def _name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _netloc(url: str) -> str:
    try:
        return urlsplit(url).netloc
    except ValueError:
        return ""


def _scheme(url: str) -> str:
    return url.partition("://")[0]


class ServerAddress:
    """Address of one emulator.

    Attributes:
        url: Scheme, host and port without a path. Empty until the server listens.
    """

    def __init__(self) -> None:
        self.url = ""

    def seen_by(self, request: Request) -> str:
        """Returns the address of this server as the caller sees it, without a path.

        Args:
            request: The caller's request.
        """
        host = request.headers.get("host")
        return f"{request.url.scheme}://{host}" if host else self.url
