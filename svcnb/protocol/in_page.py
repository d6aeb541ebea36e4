"""Access to JavaScript in a browser page, for the hashes, signatures and encryption of the @noble libraries.

Pyodide has no builds of the libraries that other platforms use.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

IN_PAGE: Final = sys.platform == "emscripten"
"""Whether this interpreter runs in a browser page, which has no processes, threads or sockets."""


def primitives() -> Any:
    """Returns the functions of ``widgets/src/primitives/main.ts`` as a JavaScript object.

    Raises:
        ImportError: This interpreter does not run in a page.
    """
    return load_script(bundle())


def bundle() -> Path:
    """Returns the path of the script that contains the functions of `primitives`."""
    from pathlib import Path

    return Path(__file__).with_name("static") / "primitives.js"


@cache
def load_script(script: Path) -> Any:
    """Evaluates a script of the package once, and returns its value as a JavaScript object.

    Raises:
        ImportError: This interpreter does not run in a page.
    """
    from pyodide.code import run_js

    from svcnb.bundles import read_bundle

    return run_js(read_bundle(script).decode())


def object_url(script: bytes) -> str:
    """Returns a new object URL from which this page can load a script."""
    from js import URL, Blob, Object
    from pyodide.ffi import to_js

    options = to_js({"type": "text/javascript"}, dict_converter=Object.fromEntries)
    url: str = URL.createObjectURL(Blob.new(to_js([script]), options))
    return url


def revoke(url: str) -> None:
    """Revokes an object URL from `object_url`."""
    from js import URL

    URL.revokeObjectURL(url)
