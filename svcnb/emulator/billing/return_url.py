"""Where the payment page may send a browser on: this machine, or the host that served the page."""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import SplitResult, urlencode, urlsplit

# Browsers read a backslash as a slash and drop control characters, so what they make of such an address differs from
# what is checked here.
_MISREAD: Final = re.compile(r"[\\\x00-\x20\x7f]")


class ReturnUrlRefused(ValueError):
    """An address that the payment page does not lead to."""


def check_return_url(url: str, *, own_host: str) -> str:
    """An address that may be returned to.

    Args:
        url: Absolute, or a path on this server.
        own_host: Host header of the request, which is an allowed target.

    Returns:
        The address, unchanged.

    Raises:
        ReturnUrlRefused: It leads elsewhere: a payment page that redirects anywhere would lend its name to others.
    """
    parts = _split(url)
    if parts is not None and not _MISREAD.search(url):
        if not parts.scheme and not parts.netloc and url.startswith("/") and not url.startswith("//"):
            return url
        if parts.scheme in {"http", "https"} and (_is_loopback(parts.hostname) or parts.netloc == own_host):
            return url
    raise ReturnUrlRefused(
        "return_url must lead to this machine (http://127.0.0.1:…, http://localhost:…) or to the host of this page"
    )


def with_query(url: str, **members: str) -> str:
    """An address with members added to its query."""
    parts = urlsplit(url)
    query = "&".join(part for part in (parts.query, urlencode(members)) if part)
    return parts._replace(query=query).geturl()


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # checked only when asked for
    except ValueError:
        return None
    return parts


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False
