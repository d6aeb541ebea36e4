"""Entry point of ``python -m svcnb``, which runs the ``svcnb`` command."""

from __future__ import annotations

import sys

from svcnb.cli import main

if __name__ == "__main__":
    sys.exit(main())
