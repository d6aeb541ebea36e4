"""Scripts of JavaScript in the page of a browser, with hashes, signatures and encryption from @noble.

Pyodide has no build of the libraries that are used elsewhere.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

IN_PAGE: Final = sys.platform == "emscripten"
"""Whether this interpreter runs in the page of a browser, where there are no processes, threads or sockets."""

BUNDLE: Final = Path(__file__).with_name("static") / "primitives.js"


def primitives() -> Any:
    """The functions of ``widgets/src/primitives/main.ts``, as an object of JavaScript.

    Raises:
        ImportError: This interpreter does not run in a page.
    """
    return load_script(BUNDLE)


@cache
def load_script(bundle: Path) -> Any:
    """Evaluates a script of the package, once, and returns its value as an object of JavaScript.

    Raises:
        ImportError: This interpreter does not run in a page.
    """
    from pyodide.code import run_js

    return run_js(bundle.read_text("utf-8"))
