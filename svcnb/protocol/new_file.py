"""Function that gives a complete file a name that no other file has."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from svcnb.protocol.in_page import IN_PAGE


def publish(draft: Path, path: Path) -> None:
    """Gives a complete file its final name. Unlike a rename, this never replaces a file of another process.

    Args:
        draft: The complete file, in the same folder. The function does not delete it.
        path: The final name.

    Raises:
        FileExistsError: A file already has that name.
    """
    if not IN_PAGE:
        os.link(draft, path)
    elif path.exists():
        raise FileExistsError(f"{path} exists")
    else:  # a page has no links and only one process
        shutil.copy(draft, path)
