"""Storage of the secrets of new keys: only where the caller says, and before the next step."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import TypeAlias

from svcnb.client.errors import InvalidArgument
from svcnb.protocol.nesting import parse
from svcnb.toolkit.files import replace_file

Sink: TypeAlias = "str | Path | MutableMapping[str, str] | Callable[[str, str], object]"


class SecretsFile:
    """A JSON file of key names and secrets that only its owner can read.

    Args:
        path: The file; created with the first secret.

    Raises:
        InvalidArgument: The file contains something else, or others may read it.
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
            held = parse(self.path.read_text(encoding="utf-8"))
        except ValueError:
            held = None
        if not isinstance(held, dict) or not all(isinstance(value, str) for value in held.values()):
            raise InvalidArgument(f"{self.path} is no file of key secrets", hint="Name another file.")
        return held

    def __call__(self, name: str, secret: str) -> None:
        """Stores one secret. It is on disk when this returns."""
        replace_file(self.path, json.dumps(self.read() | {name: secret}, indent=2) + "\n")


class Secrets:
    """Stores the secrets of new keys where the caller said, and reads those of earlier keys there.

    Args:
        sink: Where they are stored; None if no key is created.
    """

    def __init__(self, sink: Sink | None) -> None:
        self._sink = SecretsFile(sink) if isinstance(sink, (str, Path)) else sink
        self._made: dict[str, str] = {}

    def keep(self, name: str, secret: str) -> None:
        """Stores one secret. It is stored when this returns."""
        self._made[name] = secret
        if isinstance(self._sink, MutableMapping):
            self._sink[name] = secret
        elif self._sink is not None:
            self._sink(name, secret)

    def of(self, name: str) -> str:
        """Returns the secret of a key.

        Raises:
            InvalidArgument: It is not where the caller said.
        """
        known: Mapping[str, str] = {}
        if isinstance(self._sink, SecretsFile):
            known = self._sink.read()
        elif isinstance(self._sink, Mapping):
            known = self._sink
        found = self._made.get(name) or known.get(name)
        if not found:
            raise InvalidArgument(
                f"a trigger needs the secret of key {name!r}, and nobody knows it here",
                hint="Pass the secrets' file or dictionary that holds it: apply(secrets=...).",
            )
        return found
