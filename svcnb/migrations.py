"""Versions of all state on disk, and the migrations between them.

Each kind of state has a `Schema`, with its current version and one step for each earlier version. A step migrates the
state from one version to the next. Before the first step, the caller makes a copy (`copy_file`, or a copy inside the
database). The user can then still return to an earlier svcnb.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from svcnb.errors import SvcnbError
from svcnb.files import replace_file

T = TypeVar("T")

VERSION_KEY: Final = "version"
"""Name of the JSON field with the version of a document. A document without this field has version 0."""

WRITER_KEY: Final = "written_by"
"""Name of the JSON field with the version of the svcnb that wrote a document."""


class UnreadableVersion(SvcnbError):
    """Error for a stored state whose version this svcnb cannot read.

    The message names a version of svcnb that can read the state.
    """


class Schema(Generic[T]):
    """Versions of one kind of state.

    Args:
        what: Name of the state, for messages.
        current: Version that this svcnb writes.
        steps: Functions that migrate the state from one version to the next, with the earlier version as the key.
    """

    def __init__(self, what: str, current: int, steps: Mapping[int, Callable[[T], T]] | None = None) -> None:
        self.what = what
        self.current = current
        self.steps = dict(steps or {})

    def needs_migration(self, found: int, where: object, writer: str = "") -> bool:
        """Checks whether this svcnb can read a version, and whether the state needs a migration.

        Args:
            found: Version of the state.
            where: File or database of the state, without secrets, for the message.
            writer: Version of the svcnb that wrote the state, if known.

        Returns:
            Whether the caller must call `migrate`.

        Raises:
            UnreadableVersion: The state is newer than this svcnb, or too old to be migrated.
        """
        wrote = f"version of svcnb that wrote the {self.what}"
        if found > self.current:
            reader = f"svcnb {writer} or newer" if writer else f"the newer {wrote}"
            raise UnreadableVersion(
                f"the {self.what} at {where} has version {found}, but svcnb {program_version()} reads only "
                f"versions up to {self.current}: use {reader}"
            )
        if any(number not in self.steps for number in range(found, self.current)):
            oldest = next(number for number in range(self.current, found, -1) if number - 1 not in self.steps)
            raise UnreadableVersion(
                f"the {self.what} at {where} has version {found}, but svcnb {program_version()} reads only versions "
                f"from {oldest} to {self.current}: use {f'svcnb {writer}' if writer else f'the {wrote}'}"
            )
        return found < self.current

    def migrate(self, state: T, found: int) -> T:
        """Applies, in order, all steps from version ``found`` to the current version, and returns the new state."""
        for number in range(found, self.current):
            state = self.steps[number](state)
        return state


class DocumentSchema(Schema[dict[str, Any]]):
    """Versions of a JSON document in a file. The arguments are the same as for `Schema`."""

    def read(self, document: Any, path: Path) -> dict[str, Any]:
        """Returns a document in the current version. If a migration is necessary, copies the file before the migration.

        Args:
            document: Parsed content of the file.
            path: Path of the file.

        Raises:
            UnreadableVersion: See `needs_migration`.
            ValueError: The document is not a JSON object, or its version is not a number.
            OSError: The copy cannot be written.
        """
        if not isinstance(document, dict):
            raise ValueError("the content is not a JSON object")  # noqa: TRY004 - the same class as for all other invalid content
        found = document.get(VERSION_KEY, 0)
        if not isinstance(found, int) or found < 0:
            raise ValueError(f"the field {VERSION_KEY!r} is {found!r}: expected a whole number of at least 0")
        if self.needs_migration(found, path, str(document.get(WRITER_KEY, ""))):
            copy_file(path, found)
            document = self.migrate(document, found)
        return {**document, VERSION_KEY: self.current}

    def stamped(self, document: dict[str, Any]) -> dict[str, Any]:
        """Returns a copy of a document, with the current version number and the version of this svcnb added."""
        return document | {VERSION_KEY: self.current, WRITER_KEY: program_version()}


def program_version() -> str:
    """Returns the version of this svcnb."""
    from svcnb import __version__

    return __version__


def copy_path(path: Path, found: int) -> Path:
    """Returns the path for a copy of a file that has an earlier version, for example ``state.db.version-2``."""
    return path.with_name(f"{path.name}.version-{found}")


def copy_file(path: Path, found: int) -> Path:
    """Copies a file before its migration, and returns the path of the copy.

    Only the owner can read the copy. The function does not replace an existing copy, because that copy is older.
    """
    copy = copy_path(path, found)
    if not copy.exists():
        replace_file(copy, path.read_bytes())
    return copy
