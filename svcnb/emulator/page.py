"""Modules of JavaScript in the page of a browser (Pyodide)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_modules: dict[str, Any] = {}


async def import_module(bundle: Path) -> Any:
    """Imports a bundle of the package, once.

    Args:
        bundle: A module that imports nothing.

    Returns:
        What it exports, as an object of JavaScript.
    """
    found = _modules.get(bundle.name)
    if found is None:
        from pyodide.code import run_js

        load = run_js("(url) => import(url)")
        url = object_url(bundle.read_bytes())  # noqa: ASYNC240 - files of a page are in memory
        try:
            found = _modules[bundle.name] = await load(url)
        finally:
            revoke(url)
    return found


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
