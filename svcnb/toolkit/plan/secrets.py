"""Where the secrets of new keys go: only where the caller says, and before anything else happens."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import TypeAlias

from svcnb.client.errors import InvalidArgument
from svcnb.toolkit.files import replace_file

Sink: TypeAlias = "str | Path | MutableMapping[str, str] | Callable[[str, str], object]"


class SecretsFile:
    """A JSON file of key names and secrets, readable by its owner alone.

    Args:
        path: The file; made when the first secret comes.

    Raises:
        InvalidArgument: The file holds something else, or others may read it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self.read()

    def read(self) -> dict[str, str]:
        """Returns all secrets by name."""
        if not self.path.exists():
            return {}
        if os.name == "posix" and self.path.stat().st_mode & 0o077:
            raise InvalidArgument(f"others may read {self.path}", hint=f"Run: chmod 600 {self.path}")
        try:
            held = json.loads(self.path.read_text(encoding="utf-8"))
        except ValueError:
            held = None
        if not isinstance(held, dict) or not all(isinstance(value, str) for value in held.values()):
            raise InvalidArgument(f"{self.path} is no file of key secrets", hint="Name another file.")
        return held

    def __call__(self, name: str, secret: str) -> None:
        """Keeps one secret, on disk when this returns."""
        replace_file(self.path, json.dumps(self.read() | {name: secret}, indent=2) + "\n")


def sink_of(chosen: Sink) -> Callable[[str, str], object]:
    """Returns what takes a name and a secret."""
    if isinstance(chosen, (str, Path)):
        return SecretsFile(chosen)
    if isinstance(chosen, MutableMapping):
        return chosen.__setitem__
    return chosen
