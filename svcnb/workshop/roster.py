"""The roster of a workshop: names, tokens, progress and saved states, in one file for the instructor alone."""

from __future__ import annotations

import hmac
import json
import re
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field, ValidationError

from svcnb.client.errors import InvalidArgument
from svcnb.migrations import DocumentSchema, UnreadableVersion
from svcnb.protocol.nesting import parse
from svcnb.toolkit.files import replace_file

NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
"""What a learner may be called: also a user of JupyterHub and a part of an address."""


class UnknownLearner(InvalidArgument):
    """Nobody of that name, or with that token, is on the roster."""


class Progress(BaseModel):
    """One learner at one exercise."""

    right: bool = False
    tries: int = 0


class Learner(BaseModel):
    """One learner.

    Attributes:
        name: Lower-case letters, digits, dots, hyphens.
        token: Identifies the learner's notebooks at the workshop's server.
        progress: By name of the exercise.
        saved: Labels of saved states.
    """

    name: str
    token: str = Field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    progress: dict[str, Progress] = Field(default_factory=dict, repr=False)
    saved: list[str] = Field(default_factory=list, repr=False)


def _without_shared_accounts(document: dict[str, Any]) -> dict[str, Any]:
    kept = ("name", "token", "progress")
    learners = document.get("learners", {}).items()
    return document | {
        "learners": {name: {member: each[member] for member in kept if member in each} for name, each in learners}
    }


SCHEMA: Final = DocumentSchema("roster of the workshop", 2, {0: lambda document: document, 1: _without_shared_accounts})
"""Version 0 did not say its version. Up to version 1 learners had accounts on one emulator that all shared."""


class _Content(BaseModel):
    learners: dict[str, Learner] = Field(default_factory=dict)


def check_name(name: str) -> None:
    """Looks whether somebody can be called so.

    Raises:
        InvalidArgument: Nobody can.
    """
    if NAME.fullmatch(name) is None:
        raise InvalidArgument(
            f"{name!r} cannot be a learner's name",
            hint="Lower-case letters, digits, dots and hyphens, 64 at most; it begins with a letter or digit.",
        )


class Roster:
    """The learners, kept in a file or in memory. May be used from several threads.

    Args:
        path: The file; None keeps it in memory.

    Raises:
        InvalidArgument: The file is no roster.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.lock = threading.RLock()
        """Held while a learner is read, changed and written."""
        self._content = _Content()
        if path is not None and path.exists():
            try:
                document = parse(path.read_text(encoding="utf-8"))
                self._content = _Content.model_validate(SCHEMA.read(document, path))
            except UnreadableVersion as error:
                raise InvalidArgument(str(error), hint="Or choose another folder.") from error
            except (ValidationError, TypeError, ValueError, OSError) as error:
                raise InvalidArgument(
                    f"{path} is no roster of a workshop", hint="Choose another folder, or move this file away."
                ) from error

    def __iter__(self) -> Iterator[Learner]:
        return iter(sorted(self._content.learners.values(), key=lambda each: each.name))

    def add(self, name: str) -> Learner:
        """Returns the learner of a name, new or known.

        Raises:
            InvalidArgument: Nobody can be called so.
        """
        check_name(name)
        with self.lock:
            if name not in self._content.learners:
                # Another dictionary, not a longer one: the server looks for tokens at the same time, in another thread.
                self._content.learners = {**self._content.learners, name: Learner(name=name)}
            return self._content.learners[name]

    def of_name(self, name: str) -> Learner:
        """Returns a learner.

        Raises:
            UnknownLearner: Nobody is called so.
        """
        try:
            return self._content.learners[name]
        except KeyError:
            raise UnknownLearner(
                f"no learner is called {name!r}", hint="Add learners with room.add(name) or `svcnb workshop add NAME`."
            ) from None

    def of_token(self, token: str) -> Learner:
        """Returns the learner who holds a token.

        Raises:
            UnknownLearner: Nobody does.
        """
        given = token.encode()
        found = [each for each in self._content.learners.values() if hmac.compare_digest(each.token.encode(), given)]
        if not found:
            raise UnknownLearner("this token is not a learner's", hint="Ask your instructor for your file again.")
        return found[0]

    def keep(self) -> None:
        """Writes the file."""
        if self._path is not None:
            with self.lock:
                document = SCHEMA.stamped(self._content.model_dump(mode="json"))
                replace_file(self._path, json.dumps(document, indent=1, ensure_ascii=False))
