"""Kernel of the reports of this package: ipykernel without a slow grammar that reports do not use.

jsonschema, which Jupyter and Altair import, builds the grammar of internationalised addresses (RFC 3987) on import when
the package ``rfc3987_syntax`` is installed. The grammar takes one to three seconds in each process.
"""

from __future__ import annotations

import runpy
import sys
from typing import Final

GRAMMAR: Final = "rfc3987_syntax"


def skip_iri_grammar() -> None:
    """Prevents jsonschema from loading the grammar in this process, unless it is already loaded."""
    if GRAMMAR not in sys.modules:
        sys.modules[GRAMMAR] = None  # type: ignore[assignment]  # how Python marks a module that cannot be imported


if __name__ == "__main__":
    skip_iri_grammar()
    runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)
