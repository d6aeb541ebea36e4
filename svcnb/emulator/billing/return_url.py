"""Check of the URL to which the payment page redirects. Permits only this machine and the host of the page."""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import SplitResult, urlencode, urlsplit

# Browsers read a backslash as a slash and ignore control characters. A browser can therefore open a different address
# than the address that this module checks.
_MISREAD: Final = re.compile(r"[\\\x00-\x20\x7f]")


class ReturnUrlRefused(ValueError):
    """Error for a URL to which the payment page must not redirect."""


def check_return_url(url: str, *, own_host: str) -> str:
    """Checks the URL to which the payment page redirects, and returns the URL.

    Args:
        url: Absolute URL, or a path on this server.
        own_host: The Host header of the request. Redirects to this host and to this machine are allowed.

    Returns:
        The URL, unchanged.

    Raises:
        ReturnUrlRefused: The URL is invalid, or is not on this machine or the host of the page. A redirect to any
            host could make other sites look trusted.
    """
    parts = _split(url)
    if parts is not None and not _MISREAD.search(url):
        if not parts.scheme and not parts.netloc and url.startswith("/") and not url.startswith("//"):
            return url
        if parts.scheme in {"http", "https"} and (_is_loopback(parts.hostname) or parts.netloc == own_host):
            return url
    raise ReturnUrlRefused(
        f"invalid return_url {url[:80]!r}: use an address on this machine (http://127.0.0.1:…, http://localhost:…) or "
        "on the host of this page"
    )


def with_query(url: str, **members: str) -> str:
    """Returns a URL with additional parameters at the end of its query."""
    parts = urlsplit(url)
    query = "&".join(part for part in (parts.query, urlencode(members)) if part)
    return parts._replace(query=query).geturl()


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # reading the port validates it
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
