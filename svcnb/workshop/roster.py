"""Roster of a workshop: one file with names, tokens, progress and labels of saved states.

Only the system user who runs the workshop can read this file.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import threading
import unicodedata
from collections.abc import Container, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, Field

from svcnb.client.errors import InvalidArgument
from svcnb.files import replace_file
from svcnb.migrations import DocumentSchema, UnreadableVersion
from svcnb.protocol.limits import MAX_LEARNER_NAME_CHARS
from svcnb.protocol.nesting import parse

Document = TypeVar("Document", bound=BaseModel)

_ID_CHARACTERS: Final = 48
_NOT_IN_ID: Final = re.compile(r"[^a-z0-9]+")


class UnknownLearner(InvalidArgument):
    """Error for a name, e-mail address or token that belongs to no learner of the workshop, or to several learners."""


class Progress(BaseModel):
    """Progress of one learner in one exercise.

    Attributes:
        right: Whether the learner has solved the exercise.
        tries: Number of checked answers.
    """

    right: bool = False
    tries: int = 0


class Learner(BaseModel):
    """Learner of a workshop.

    Attributes:
        name: Identifier, derived from the display name: lowercase letters, digits and hyphens. The names of the
            learner's files contain the identifier.
        display: Display name. Empty if equal to ``name``.
        email: E-mail address, or empty.
        token: Token with which the learner's notebooks authenticate at the workshop's server.
        progress: Progress, with the names of the exercises as keys.
        saved: Labels of saved states.
        lesson: Lesson that the learner started last. Empty before the first start.
        exercise: Exercise that the learner answered last. Empty after the start of a lesson.
        last_at: Time of the last activity in Unix seconds. 0.0 before the first activity.
    """

    name: str
    display: str = ""
    email: str = Field(default="", repr=False)
    token: str = Field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    progress: dict[str, Progress] = Field(default_factory=dict, repr=False)
    saved: list[str] = Field(default_factory=list, repr=False)
    lesson: str = Field(default="", repr=False)
    exercise: str = Field(default="", repr=False)
    last_at: float = Field(default=0.0, repr=False)

    @property
    def title(self) -> str:
        """Display name of the learner, or the identifier if the display name is empty."""
        return self.display or self.name


def _without_shared_accounts(document: dict[str, Any]) -> dict[str, Any]:
    kept = ("name", "token", "progress")
    learners = document.get("learners", {}).items()
    return document | {
        "learners": {name: {member: each[member] for member in kept if member in each} for name, each in learners}
    }


SCHEMA: Final = DocumentSchema("roster of the workshop", 2, {0: lambda document: document, 1: _without_shared_accounts})
"""Schema of the roster file, with the migrations from older versions.

Files of version 0 contain no version. Up to version 1, all learners had accounts on one shared emulator."""


class _Content(BaseModel):
    learners: dict[str, Learner] = Field(default_factory=dict)
    unlocked: list[str] = Field(default_factory=list)


def read_document(path: Path, schema: DocumentSchema, model: type[Document]) -> Document:
    """Reads a JSON file in the folder of a workshop. Migrates a document of an earlier version.

    Raises:
        InvalidArgument: The file cannot be read, does not match the schema or the model, or has a version that this
            svcnb cannot read.
    """
    try:
        return model.model_validate(schema.read(parse(path.read_text(encoding="utf-8")), path))
    except UnreadableVersion as error:
        hint = "Install the svcnb version that this message specifies, or choose a different folder."
        raise InvalidArgument(str(error), hint=hint) from error
    except OSError as error:
        hint = "Check the permissions of the file, or choose a different folder."
        raise InvalidArgument(f"cannot read {path}: {error.strerror or error}", hint=hint) from error
    except (TypeError, ValueError) as error:
        hint = "Choose a different folder, or move this file."
        raise InvalidArgument(f"{path} does not contain the {schema.what}", hint=hint) from error


def clean(text: str, what: str = "name") -> str:
    """Returns a display name or an e-mail address in Unicode normal form C, without surrounding whitespace.

    Args:
        text: Text to normalise.
        what: Description of the text, for the error message.

    Raises:
        InvalidArgument: The text is too long, or contains a control character.
    """
    cleaned = unicodedata.normalize("NFC", text).strip()
    if len(cleaned) > MAX_LEARNER_NAME_CHARS:
        raise InvalidArgument(
            f"the learner's {what} has {len(cleaned)} characters; at most {MAX_LEARNER_NAME_CHARS} are allowed",
            hint=f"Use a shorter {what}.",
        )
    if not cleaned.isprintable():
        raise InvalidArgument(
            f"the learner's {what} {cleaned!r} contains a control character",
            hint="Remove the control characters, for example tabs and line breaks.",
        )
    return cleaned


def _identifier(text: str, taken: Container[str]) -> str:
    """Returns a unique identifier derived from a display name."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    stem = _NOT_IN_ID.sub("-", plain).strip("-")[:_ID_CHARACTERS].strip("-") or "learner"
    return next(name for number in count(1) if (name := stem if number == 1 else f"{stem}-{number}") not in taken)


class Roster:
    """Thread-safe roster of learners, stored in a file or in memory.

    Args:
        path: Path of the file. With None, the roster exists only in memory.

    Raises:
        InvalidArgument: The file cannot be read, is not a roster, or has a version that this svcnb cannot read.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.lock = threading.RLock()
        """Lock that a thread holds while it reads or changes learners and writes the file."""
        self._content = _Content()
        if path is not None and path.exists():
            self._content = read_document(path, SCHEMA, _Content)

    def __iter__(self) -> Iterator[Learner]:
        return iter(sorted(self._content.learners.values(), key=lambda each: each.name))

    @property
    def unlocked(self) -> list[str]:
        """File names of the notebooks with unlocked solutions."""
        return self._content.unlocked

    def add(self, name: str = "", email: str = "") -> Learner:
        """Adds a learner, or returns an existing learner.

        An existing learner has the same e-mail address or, if ``email`` is empty, the same name. If both arguments are
        empty, the new learner gets the name *Learner* and a number.

        Args:
            name: Display name or identifier.
            email: E-mail address, which distinguishes two learners with the same name.

        Raises:
            InvalidArgument: The name or the e-mail address is too long or contains a control character.
        """
        name, email = clean(name), clean(email, "e-mail address")
        with self.lock:
            if known := self._named(email or name):
                return known[0]
            display = name or email or f"Learner {len(self._content.learners) + 1}"
            learner = Learner(name=_identifier(display, self._content.learners), display=display, email=email)
            if learner.display == learner.name:
                learner.display = ""
            # Replace the dictionary instead of changing it, because the server reads tokens in another thread at the
            # same time.
            self._content.learners = {**self._content.learners, learner.name: learner}
            return learner

    def of_name(self, name: str) -> Learner:
        """Returns the learner who has the given name.

        Args:
            name: Identifier, display name or e-mail address.

        Raises:
            UnknownLearner: No learner or more than one learner has this name.
            InvalidArgument: The name is too long or contains a control character.
        """
        name = clean(name)
        found = self._named(name)
        if len(found) == 1:
            return found[0]
        if found:
            raise UnknownLearner(
                f"the name is ambiguous: {len(found)} learners have the name {name[:80]!r}",
                hint=f"Use one of the identifiers {', '.join(each.name for each in found)}.",
            )
        raise UnknownLearner(
            f"no learner has the name {name[:80]!r}",
            hint="Check the name, or add the learner with Workshop.add(name) or `svcnb workshop add NAME`.",
        )

    def _named(self, name: str) -> list[Learner]:
        """Returns the learner with this identifier, or all learners with this display name or e-mail address."""
        if name in self._content.learners:
            return [self._content.learners[name]]
        wanted = name.casefold()
        return [
            each
            for each in self._content.learners.values()
            if wanted and wanted in {each.display.casefold(), each.email.casefold()}
        ]

    def of_token(self, token: str) -> Learner:
        """Returns the learner to whom a token belongs.

        Raises:
            UnknownLearner: The token does not belong to a learner.
        """
        given = token.encode()
        found = [each for each in self._content.learners.values() if hmac.compare_digest(each.token.encode(), given)]
        if not found:
            raise UnknownLearner(
                "the token does not belong to a learner of this workshop",
                hint="Ask your instructor for a new environment file.",
            )
        return found[0]

    def keep(self) -> None:
        """Writes the roster to its file. Does nothing for a roster that exists only in memory.

        Raises:
            OSError: The file cannot be written.
        """
        if self._path is not None:
            with self.lock:
                document = SCHEMA.stamped(self._content.model_dump(mode="json"))
                replace_file(self._path, json.dumps(document, indent=1, ensure_ascii=False))
