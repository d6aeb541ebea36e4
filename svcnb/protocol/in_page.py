"""Access to JavaScript in a browser page, for the hashes, signatures and encryption of the @noble libraries.

Pyodide has no builds of the libraries that other platforms use.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

from svcnb.bundles import read_bundle

IN_PAGE: Final = sys.platform == "emscripten"
"""Whether this interpreter runs in a browser page, which has no processes, threads or sockets."""

BUNDLE: Final = Path(__file__).with_name("static") / "primitives.js"


def primitives() -> Any:
    """Returns the functions of ``widgets/src/primitives/main.ts`` as a JavaScript object.

    Raises:
        ImportError: This interpreter does not run in a page.
    """
    return load_script(BUNDLE)


@cache
def load_script(bundle: Path) -> Any:
    """Evaluates a script of the package once, and returns its value as a JavaScript object.

    Raises:
        ImportError: This interpreter does not run in a page.
    """
    from pyodide.code import run_js

    return run_js(read_bundle(bundle).decode())
