"""``python -m svcnb`` is the same as ``svcnb``."""

from __future__ import annotations

import sys

from svcnb.cli import main

if __name__ == "__main__":
    sys.exit(main())
