"""Store for the secrets of new keys.

The plan stores each secret before the next step, and only in the location that the caller chooses.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import TypeAlias

from svcnb.checked import Checked
from svcnb.client.errors import InvalidArgument
from svcnb.files import read_text, replace_file
from svcnb.protocol.nesting import parse

Sink: TypeAlias = "str | Path | MutableMapping[str, str] | Callable[[str, str], object]"


class SecretsFile(Checked):
    """JSON file that maps the names of keys to their secrets. Only the owner of the file can read it.

    Args:
        path: Path of the file. If the file does not exist, the first call that stores a secret creates the file.

    Raises:
        InvalidArgument: The file has other content, or other users can read it.
    """

    def __init__(self, path: str | Path) -> None:
        self.path: Path = Path(path).expanduser()
        self.read()

    def read(self) -> dict[str, str]:
        """Returns all secrets, with the names of their keys as dictionary keys."""
        if not self.path.exists():
            return {}
        if os.name == "posix" and self.path.stat().st_mode & 0o077:
            raise InvalidArgument(
                f"{self.path} contains the secrets of keys, but other users can read it",
                hint=f"Run: chmod 600 {self.path}",
            )
        try:
            held = parse(read_text(self.path))
        except ValueError:
            held = None
        if not isinstance(held, dict) or not all(isinstance(value, str) for value in held.values()):
            raise InvalidArgument(
                f"{self.path} is not a JSON object of key names and secrets",
                hint="Pass a new file, or a file that `svcnb apply --secrets` wrote.",
            )
        return held

    def __call__(self, name: str, secret: str) -> None:
        """Stores one secret. When the method returns, the file on disk contains the secret."""
        replace_file(self.path, json.dumps(self.read() | {name: secret}, indent=2) + "\n")


class Secrets:
    """Store of key secrets: the secrets of new keys, and of keys that earlier plans created.

    Args:
        sink: Location that the caller chose for the secrets. None stores new secrets only in memory.
    """

    def __init__(self, sink: Sink | None) -> None:
        self._sink = SecretsFile(sink) if isinstance(sink, (str, Path)) else sink
        self._made: dict[str, str] = {}

    def keep(self, name: str, secret: str) -> None:
        """Stores the secret of a new key in memory and at the location that the caller chose."""
        self._made[name] = secret
        if isinstance(self._sink, MutableMapping):
            self._sink[name] = secret
        elif self._sink is not None:
            self._sink(name, secret)

    def of(self, name: str) -> str:
        """Returns the secret of a key.

        Raises:
            InvalidArgument: The store does not contain the secret.
        """
        known: Mapping[str, str] = {}
        if isinstance(self._sink, SecretsFile):
            known = self._sink.read()
        elif isinstance(self._sink, Mapping):
            known = self._sink
        found = self._made.get(name) or known.get(name)
        if not found:
            raise InvalidArgument(
                f"a trigger requires the secret of the key {name!r}, but the given secrets do not contain it",
                hint='Pass the file or the dictionary with the secret: apply(secrets="keys.json").',
            )
        return found
