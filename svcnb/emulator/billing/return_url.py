"""Check of the address to which the payment page may redirect: this machine, or the host that served the page."""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import SplitResult, urlencode, urlsplit

# Browsers read a backslash as a slash and drop control characters, so they would read such an address differently from
# this check.
_MISREAD: Final = re.compile(r"[\\\x00-\x20\x7f]")


class ReturnUrlRefused(ValueError):
    """The payment page refuses to redirect to this address."""


def check_return_url(url: str, *, own_host: str) -> str:
    """Checks and returns an address for the redirect.

    Args:
        url: Absolute, or a path on this server.
        own_host: Host header of the request, which is an allowed target.

    Returns:
        The address, unchanged.

    Raises:
        ReturnUrlRefused: It leads elsewhere. A payment page that redirects anywhere would make other sites look
            trusted.
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
        _ = parts.port  # the port is checked only when it is read
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
