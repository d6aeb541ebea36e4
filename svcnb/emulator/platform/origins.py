"""Base URL of the emulator, and the normal form of allowed origins (the setting ``allow_origin``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.requests import Request

ANY: Final = "*"
"""Value of the setting ``allow_origin`` that allows all origins."""
RPC: Final = "/rpc"
"""Path of the chain's JSON-RPC endpoint, which wallets in browser extensions use."""


def parse_origin(text: str) -> str:
    """Returns one value of ``allow_origin`` in its normal form, which omits the default port of the scheme.

    Raises:
        ValueError: The text is neither an origin nor `ANY`.
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


class ServerAddress:
    """Base URL of one emulator.

    Attributes:
        url: Scheme, host and port without a path. Empty until the server listens.
    """

    def __init__(self) -> None:
        self.url = ""

    def seen_by(self, request: Request) -> str:
        """Returns the URL of this server as the caller sees it, without a path.

        Args:
            request: Request whose Host header contains the host and port that the caller uses.
        """
        host = request.headers.get("host")
        return f"{request.url.scheme}://{host}" if host else self.url
