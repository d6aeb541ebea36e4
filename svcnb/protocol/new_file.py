"""Publication of a complete file under a name that no other process has taken."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from svcnb.protocol.in_page import IN_PAGE


def publish(draft: Path, path: Path) -> None:
    """Gives a complete file its final name. Unlike a rename, this never replaces a file of another process.

    Args:
        draft: The complete file, in the same folder. It remains.
        path: The final name.

    Raises:
        FileExistsError: A file has that name.
    """
    if not IN_PAGE:
        os.link(draft, path)
    elif path.exists():
        raise FileExistsError(f"{path} exists")
    else:  # a page has no links, and a single process
        shutil.copy(draft, path)
