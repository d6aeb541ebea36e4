"""Which pages of a browser, and under which names, may reach what no credential protects: the control plane, the chain.

A browser tells where a page came from (`Origin`), and under which name it thinks to have reached us (`Host`). Both are
looked at: the first refuses pages of other sites, the second those whose own name was pointed at this machine (DNS
rebinding), for which the two agree.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import Request


def is_local_name(name: str) -> bool:
    """Whether a host name or address means the machine itself, whatever a name server says."""
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def host_name(request: Request) -> str:
    """The name under which a caller reached us, without the port; empty when none was sent."""
    return _name(f"//{request.headers.get('host', '')}")


def is_own_origin(request: Request) -> bool:
    """Whether a request comes from no page, or from one that this server served."""
    origin = request.headers.get("origin")
    return origin is None or _place(origin) == request.headers.get("host", "")


def is_trusted_origin(request: Request) -> bool:
    """As `is_own_origin`, or a page of this machine, such as JupyterLab, or a wallet's extension."""
    origin = request.headers.get("origin")
    return is_own_origin(request) or (
        origin is not None and (_scheme(origin).endswith("-extension") or is_local_name(_name(origin)))
    )


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
