"""Files that are whole at every moment, also when the process is killed while it writes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, text: str, mode: int = 0o600) -> None:
    """Writes a file; a crash leaves the old one or the new one, never a part.

    Args:
        path: The file.
        text: What it will hold.
        mode: Who may read it; its owner alone unless told otherwise.

    Raises:
        OSError: It cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:  # the same bytes on every system, whatever ends its lines
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
