"""Function that moves a complete file to a path that does not exist yet."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from svcnb.protocol.in_page import IN_PAGE


def publish(draft: Path, path: Path) -> None:
    """Links a complete file to its final path. Unlike a rename, this never replaces a file of another process.

    Args:
        draft: The complete file, in the same folder. The function does not delete it.
        path: The final path.

    Raises:
        FileExistsError: A file with this path already exists.
    """
    if not IN_PAGE:
        os.link(draft, path)
    elif path.exists():
        raise FileExistsError(f"{path} exists")
    else:  # a browser page has only one process, and its file system does not support links
        shutil.copy(draft, path)
