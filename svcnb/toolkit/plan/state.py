"""State file of a plan, which maps names to wallets, groups, keys and triggers.

The file also records the resource whose creation can be incomplete.

The file contains only addresses, numbers, ids and key hashes, no secrets. By default, the file is next to the file of
the description, with the name ``<name>.state.json``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from svcnb.client.errors import InvalidArgument
from svcnb.files import read_text, replace_file
from svcnb.migrations import DocumentSchema, UnreadableVersion
from svcnb.protocol.nesting import parse

SCHEMA: Final = DocumentSchema("plan state", 1)


class Begun(BaseModel):
    """Record of a resource whose creation the plan requested, but whose identifier is not known yet."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    kind: str
    """Kind of resource: ``wallets``, ``groups``, ``keys`` or ``triggers``."""

    name: str
    before: tuple[str, ...] = ()
    """Identifiers of the resources of this kind before the request. All other resources of this kind are new."""


class State(BaseModel):
    """Resources of one account by their names in the description, stored in a file or in memory.

    Attributes:
        account: Hash of a ChainSecured account, or address of the master wallet. Empty before the first plan.
        wallets: Addresses of wallets, with their names as keys.
        groups: Ids of groups, with their names as keys.
        keys: Hashes of usage keys, with their names as keys.
        triggers: Ids of triggers, with their names as keys.
        begun: Creation that the plan requested, and whose result is unknown. None if there is no such creation.
        path: Path of the file. None keeps the state in memory.
    """

    version: int = SCHEMA.current
    account: str = ""
    wallets: dict[str, str] = Field(default_factory=dict)
    groups: dict[str, int] = Field(default_factory=dict)
    keys: dict[str, str] = Field(default_factory=dict)
    triggers: dict[str, str] = Field(default_factory=dict)
    begun: Begun | None = None

    path: Path | None = Field(default=None, exclude=True)

    @classmethod
    def load(cls, path: Path | None) -> State:
        """Returns the state in a file, or an empty state if the file is missing.

        Raises:
            InvalidArgument: The file is not a state file.
        """
        state = cls() if path is None or not path.exists() else _read(path)
        state.path = path
        return state

    def belongs_to(self, account: str) -> None:
        """Checks that the names belong to an account, and records this account.

        Args:
            account: Hash of a ChainSecured account, or address of the master wallet of an account in API mode.

        Raises:
            InvalidArgument: The names belong to another account.
        """
        if self.account and self.account != account:
            raise InvalidArgument(
                f"the state file {self.path} belongs to the account {self.account}, but the plan is for the "
                f"account {account}",
                hint="Use a client of the account in the state file, or pass another state file.",
            )
        self.account = account

    def begin(self, kind: str, name: str, before: tuple[str, ...]) -> None:
        """Records the next creation, so that a later plan can find the resource after an interruption."""
        self.begun = Begun(kind=kind, name=name, before=before)
        self.save()

    def end(self, kind: str, name: str, identity: Any) -> None:
        """Records the identifier of the created resource. Its creation is then complete."""
        getattr(self, kind)[name] = identity
        self.begun = None
        self.save()

    def clear_begun(self) -> None:
        """Removes the record of the last creation, after the plan has deleted the created resource."""
        self.begun = None
        self.save()

    def save(self) -> None:
        """Writes the state file. Without a path, the method has no effect."""
        if self.path is not None:
            document = SCHEMA.stamped(self.model_dump(mode="json"))
            replace_file(self.path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _read(path: Path) -> State:
    try:
        return State.model_validate(SCHEMA.read(parse(read_text(path)), path))
    except UnreadableVersion as error:
        raise InvalidArgument(
            str(error),
            hint="Install the svcnb version that this message specifies, or pass a different file: "
            'state="new.state.json".',
        ) from error
    except OSError as error:
        raise InvalidArgument(
            f"cannot read the state of a plan from {path}: {error.strerror or error}",
            hint='Check the path and the permissions of the file, or pass a different file: state="new.state.json".',
        ) from error
    except (TypeError, ValueError, ValidationError) as error:
        raise InvalidArgument(
            f"{path} does not contain the state of a plan",
            hint="Pass a state file that Plan.apply() or `svcnb apply` wrote, or pass a new file: "
            'state="new.state.json".',
        ) from error
