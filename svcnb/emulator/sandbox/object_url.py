"""Object URLs of the package's scripts, for workers in a browser page."""

from __future__ import annotations


def object_url(script: bytes) -> str:
    """Creates a URL under which this page finds a script."""
    from js import URL, Blob, Object
    from pyodide.ffi import to_js

    options = to_js({"type": "text/javascript"}, dict_converter=Object.fromEntries)
    url: str = URL.createObjectURL(Blob.new(to_js([script]), options))
    return url


def revoke(url: str) -> None:
    """Revokes a URL from `object_url`."""
    from js import URL

    URL.revokeObjectURL(url)
