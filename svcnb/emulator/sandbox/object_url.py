"""Addresses of scripts of the package, for workers of the page of a browser."""

from __future__ import annotations


def object_url(script: bytes) -> str:
    """An address under which this page finds a script."""
    from js import URL, Blob, Object
    from pyodide.ffi import to_js

    options = to_js({"type": "text/javascript"}, dict_converter=Object.fromEntries)
    url: str = URL.createObjectURL(Blob.new(to_js([script]), options))
    return url


def revoke(url: str) -> None:
    """Ends an address of `object_url`."""
    from js import URL

    URL.revokeObjectURL(url)
