"""Versions of all state on disk, and the migrations from each version to the next.

Each kind of state has a `Schema`: its current version and one step for each earlier version. A step changes the state
from its version to the next one. Before the first step the caller keeps a copy (`copy_file`, or a copy inside the
database), so that the earlier program can still be used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from svcnb.errors import SvcnbError

T = TypeVar("T")

VERSION_KEY: Final = "version"
"""Member of a JSON document that holds its version; a document without it has version 0."""

WRITER_KEY: Final = "written_by"
"""Member of a JSON document that names the svcnb that wrote it."""


class UnreadableVersion(SvcnbError):
    """A stored state has a version that this program cannot read. The message names the program that can."""


class Schema(Generic[T]):
    """The versions of one kind of state.

    Args:
        what: Name of the state, for messages.
        current: The version that this program writes.
        steps: Steps that change the state to the next version, by the version that they change.
    """

    def __init__(self, what: str, current: int, steps: Mapping[int, Callable[[T], T]] | None = None) -> None:
        self.what = what
        self.current = current
        self.steps = dict(steps or {})

    def needs_migration(self, found: int, where: object, writer: str = "") -> bool:
        """Checks whether this program can read a version.

        Args:
            found: The version of the state.
            where: Its file or database, for the message; without secrets.
            writer: Version of the svcnb that wrote it, if it is known.

        Returns:
            Whether `migrate` must be called.

        Raises:
            UnreadableVersion: The state is newer than this program, or older than every migration.
        """
        if found > self.current:
            reader = f"svcnb {writer} or newer" if writer else "the newer svcnb that wrote it"
            raise UnreadableVersion(
                f"the {self.what} at {where} has version {found}, and this svcnb {program_version()} reads versions "
                f"up to {self.current}: use {reader}"
            )
        if any(number not in self.steps for number in range(found, self.current)):
            raise UnreadableVersion(
                f"the {self.what} at {where} is of version {found}, and this svcnb reads version {self.current}: "
                "use the svcnb that wrote it"
            )
        return found < self.current

    def migrate(self, state: T, found: int) -> T:
        """Applies every step from a version to the current one, in order."""
        for number in range(found, self.current):
            state = self.steps[number](state)
        return state


class DocumentSchema(Schema[dict[str, Any]]):
    """Versions of a JSON document in a file. Arguments as in `Schema`."""

    def read(self, document: Any, path: Path) -> dict[str, Any]:
        """Returns a document in its current version, and keeps a copy of the file of an earlier one.

        Args:
            document: The parsed file.
            path: The file.

        Raises:
            UnreadableVersion: As in `needs_migration`.
            ValueError: It is not a JSON object, or its version is not a number.
            OSError: The copy cannot be written.
        """
        if not isinstance(document, dict):
            raise ValueError("it is not a JSON object")  # noqa: TRY004 - as every other fault of the content
        found = document.get(VERSION_KEY, 0)
        if not isinstance(found, int) or found < 0:
            raise ValueError(f"{VERSION_KEY} is not a number of at least 0")
        if self.needs_migration(found, path, str(document.get(WRITER_KEY, ""))):
            copy_file(path, found)
            document = self.migrate(document, found)
        return {**document, VERSION_KEY: self.current}

    def stamped(self, document: dict[str, Any]) -> dict[str, Any]:
        """Returns a document with its version and the version of this program."""
        return document | {VERSION_KEY: self.current, WRITER_KEY: program_version()}


def program_version() -> str:
    """Returns the version of this svcnb."""
    from svcnb import __version__

    return __version__


def copy_path(path: Path, found: int) -> Path:
    """Returns the path of the copy of a file of an earlier version: ``state.db.version-2``."""
    return path.with_name(f"{path.name}.version-{found}")


def copy_file(path: Path, found: int) -> Path:
    """Copies a file before its migration, readable by its owner alone. Keeps an existing copy, which is earlier.

    Args:
        path: The file.
        found: Its version.

    Returns:
        The copy.

    Raises:
        OSError: It cannot be written.
    """
    copy = copy_path(path, found)
    if copy.exists():
        return copy
    draft = copy.with_name(f"{copy.name}.{os.getpid()}.partial")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(path.read_bytes())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(copy)
    finally:
        draft.unlink(missing_ok=True)
    return copy
