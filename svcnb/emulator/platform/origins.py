"""Checks of the web pages that may use the emulator, and of the host names under which it answers.

A browser sends the origin of a page (`Origin`) and the name by which it reached the server (`Host`). The first
identifies pages of other sites. The second identifies pages whose own name was pointed at this machine (DNS rebinding),
for which the two agree.
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
"""Path of the chain, which wallets in browser extensions use."""


class Origins:
    """Origin checks of one emulator.

    Args:
        allowed: Origins that the user allows, ``*`` for all.
        private: Whether only people on this machine can reach the emulator, so that a foreign name is a rebound one.
    """

    def __init__(self, allowed: tuple[str, ...], *, private: bool) -> None:
        self._allowed = frozenset(allowed)
        self._names = frozenset(host_of(each) for each in allowed)
        # Behind a hub, pages have the hub's name, and a remote browser cannot reach this machine's loopback.
        self._checks_names = private and "JUPYTERHUB_SERVICE_PREFIX" not in os.environ and ANY not in self._allowed

    def trusts(self, headers: Headers, path: str) -> bool:
        """Whether a request comes from a program, our own page, an allowed origin, or (to the chain) a wallet."""
        origin = headers.get("origin")
        if origin is None or ANY in self._allowed or origin in self._allowed or is_own_place(origin, headers):
            return True
        return path == RPC and _scheme(origin).endswith("-extension")

    def knows_name(self, headers: Headers) -> bool:
        """Whether the name by which the caller reached the emulator can be its own. An IP address cannot be rebound."""
        name = _name(f"//{headers.get('host', '')}")
        return not self._checks_names or name == "localhost" or _is_address(name) or name in self._names


def parse_origin(text: str) -> str:
    """Reads one value of ``allow_origin``.

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
            f"invalid allow_origin {text[:80]!r}: expected scheme, host and perhaps port, "
            "for example https://dashboard.example or http://localhost:3000, or * for every page"
        )
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in {None, default} else "")


def host_of(origin: str) -> str:
    """The host of an origin, without the port."""
    return _name(origin)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_own_place(origin: str, headers: Headers) -> bool:
    """Whether an origin is the server that the caller reached."""
    return _place(origin) == headers.get("host", "")


def is_own_origin(request: Request) -> bool:
    """Whether a request comes from a program, or from a page that this server served."""
    origin = request.headers.get("origin")
    return origin is None or is_own_place(origin, request.headers)


def _name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _place(url: str) -> str:
    try:
        return urlsplit(url).netloc
    except ValueError:
        return ""


def _scheme(url: str) -> str:
    return url.partition("://")[0]
