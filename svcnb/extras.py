"""Functions that return the installation commands for extras."""

from __future__ import annotations

import sys


def install_command(extra: str) -> str:
    """Returns the command that installs an extra, for example ``chain``.

    In a clone of the repository, the command installs the tested versions of all packages. Elsewhere, pip keeps the
    installed svcnb and adds the packages of the extra.
    """
    from pathlib import Path  # imported here, because most commands do not need it

    if (Path(__file__).parents[1] / "constraints.txt").is_file():
        return f"pip install -c constraints.txt -e '.[{extra}]' in your clone of this project"
    return f"pip install 'svcnb[{extra}]'"


def how_to_get(extra: str) -> str:
    """Returns the hint for a missing extra.

    The hint contains the installation command. In a browser page, where users cannot install packages, the hint says
    that the user needs a local installation of svcnb.
    """
    if sys.platform == "emscripten":
        return "This page does not contain the package. Install svcnb outside the browser, and repeat the step there."
    return f"Install the package: {install_command(extra)}"
