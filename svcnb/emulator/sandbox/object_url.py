"""Object URLs for the package's scripts, which web workers in a browser page load."""

from __future__ import annotations


def object_url(script: bytes) -> str:
    """Creates an object URL from which this page can load a script."""
    from js import URL, Blob, Object
    from pyodide.ffi import to_js

    options = to_js({"type": "text/javascript"}, dict_converter=Object.fromEntries)
    url: str = URL.createObjectURL(Blob.new(to_js([script]), options))
    return url


def revoke(url: str) -> None:
    """Revokes an object URL from `object_url`."""
    from js import URL

    URL.revokeObjectURL(url)
