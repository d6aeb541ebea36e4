"""Description of an account with named actions, wallets, groups, keys and triggers, from a TOML file or from Python.

::

    [actions.sign]
    file = "sign.js"                    # in the folder of this file; or source = "...", or cid = "Qm..."

    [actions.capped]
    file = "template.js"                # a template, and the constant of the derived action
    constant = { cents = 500 }
    constant_name = "LIMIT"
    protocol_version = 1

    [wallets.hot]                       # created if it does not exist; for an existing wallet: address = "0x..."

    [groups.signers]
    actions = ["sign", "capped"]        # names from above; ["*"] permits every action
    wallets = ["hot"]                   # names from above; "master" is the account's master wallet

    [keys.runner]
    execute_in_groups = ["signers"]     # names from above; ["*"] means every group

    [triggers.nightly]                  # needs a client of the triggers service
    action = "sign"
    key = "runner"
    kind = "schedule"
    config = { cron = "0 3 * * *" }
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from svcnb.client.errors import InvalidArgument
from svcnb.files import read_text
from svcnb.protocol.action import Action
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.hashes import hashed_cid
from svcnb.protocol.limits import MAX_KEY_GROUPS
from svcnb.protocol.wire.values import WILDCARD_HASH

EVERYTHING: Final = "*"
MASTER: Final = "master"

_RESERVED: Final = (("actions", EVERYTHING), ("wallets", EVERYTHING), ("wallets", MASTER), ("groups", EVERYTHING))


class _Spec(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    description: str = ""


class ActionSpec(_Spec):
    """Description of an action with exactly one of the fields file, source, cid and action."""

    file: Path | None = None
    """Path of the source file, relative to the folder of the description."""

    source: str | None = None
    cid: str | None = None
    """CID of an action whose source is not in this description."""

    action: Action | None = None
    """Action of a description that is written in Python instead of TOML."""

    constant: Any = None
    """Constant of a derived action. The plan appends the constant to the source, which is then the template."""

    constant_name: str = "CONST"
    protocol_version: int = 1

    @model_validator(mode="after")
    def _one_origin(self) -> ActionSpec:
        given = [name for name in ("file", "source", "cid", "action") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                "expected exactly one of 'file', 'source', 'cid' and 'action', got "
                f"{', '.join(map(repr, given)) or 'none of them'}"
            )
        if self.constant is not None and self.cid is not None:
            raise ValueError(
                "'constant' requires 'file', 'source' or 'action', but the entry contains 'cid': replace 'cid', "
                "or delete 'constant'"
            )
        return self

    def resolve(self, name: str, folder: Path) -> Action | str:
        """Returns the action, or its CID if the description contains only the CID.

        Raises:
            InvalidArgument: The file cannot be read, or the source is not a valid action.
        """
        if self.cid is not None:
            return self.cid
        try:
            if self.file is not None:
                action = Action.from_file(folder / self.file, name=name, description=self.description)
            elif self.action is not None:
                action = self.action
            else:
                action = Action(self.source or "", name=name, description=self.description)
            if self.constant is None:
                return action
            return action.derive(
                self.constant, name=self.constant_name, protocol_version=self.protocol_version, title=name
            )
        except OSError as error:
            raise InvalidArgument(
                f"the file {self.file} of the action {name!r} cannot be read: {error.strerror}",
                hint="Check the path and the permissions of the file.",
            ) from error
        except MalformedValue as error:
            raise InvalidArgument(f"invalid action {name!r}: {error.message}", hint=error.hint) from error


class WalletSpec(_Spec):
    """Description of a new wallet, which the plan creates, or of an existing wallet."""

    address: str | None = None
    """Address of an existing wallet. None means a new wallet."""


class GroupSpec(_Spec):
    """Description of a group: the actions and the wallets that the group permits."""

    actions: tuple[str, ...] = ()
    """Names of actions. ``*`` means every action."""

    wallets: tuple[str, ...] = ()
    """Names of wallets. ``master`` means the master wallet, and ``*`` every wallet."""


class KeySpec(_Spec):
    """Description of a usage key and its permissions."""

    execute_in_groups: tuple[str, ...] = ()
    """Names of groups. ``*`` means every group, here and in the other lists."""

    manage_ipfs_ids_in_groups: tuple[str, ...] = ()
    add_pkp_to_groups: tuple[str, ...] = ()
    remove_pkp_from_groups: tuple[str, ...] = ()
    can_create_groups: bool = False
    can_delete_groups: bool = False
    can_create_pkps: bool = False

    def lists(self) -> dict[str, tuple[str, ...]]:
        """Returns the four lists of groups, with the names of the permissions as keys."""
        return {
            "execute_in_groups": self.execute_in_groups,
            "manage_ipfs_ids_in_groups": self.manage_ipfs_ids_in_groups,
            "add_pkp_to_groups": self.add_pkp_to_groups,
            "remove_pkp_from_groups": self.remove_pkp_from_groups,
        }

    def flags(self) -> dict[str, bool]:
        """Returns the three boolean permissions, with their names as keys."""
        return {
            "can_create_groups": self.can_create_groups,
            "can_delete_groups": self.can_delete_groups,
            "can_create_pkps": self.can_create_pkps,
        }


class TriggerSpec(_Spec):
    """Description of a trigger: its action, usage key, kind and settings.

    The plan needs the secret of the trigger's usage key. Therefore, the plan must create the key, or the caller must
    pass a store that contains the secret.
    """

    action: str
    """Name of an action in the description. The description must contain the source of this action."""

    key: str
    """Name of a usage key in the description."""

    kind: Literal["webhook", "schedule", "chain_event"] = "webhook"
    config: dict[str, Any] = Field(default_factory=dict)
    """Settings that this kind of trigger needs, for example ``{ cron = "0 3 * * *" }``."""

    default_params: dict[str, Any] = Field(default_factory=dict)
    max_runs_per_minute: int | None = None
    max_queued_runs: int | None = None
    enabled: bool = True

    def members(self) -> dict[str, Any]:
        """Returns the arguments for the creation of the trigger, without name, action, key and kind.

        The result contains the limits only if the description sets them.
        """
        limits = {"max_runs_per_minute": self.max_runs_per_minute, "max_queued_runs": self.max_queued_runs}
        given = {name: value for name, value in limits.items() if value is not None}
        return {"config": dict(self.config), "default_params": dict(self.default_params)} | given


class Description(BaseModel):
    """Description of all resources that an account should have, with their names.

    Other resources stay unchanged, unless you call `plan` with ``prune=True``.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)

    actions: dict[str, ActionSpec] = Field(default_factory=dict)
    wallets: dict[str, WalletSpec] = Field(default_factory=dict)
    groups: dict[str, GroupSpec] = Field(default_factory=dict)
    keys: dict[str, KeySpec] = Field(default_factory=dict)
    triggers: dict[str, TriggerSpec] = Field(default_factory=dict)

    _folder: Path = PrivateAttr(default_factory=Path.cwd)
    _file: Path | None = PrivateAttr(default=None)
    _resolved: dict[str, Action | str] = PrivateAttr(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path) -> Description:
        """Returns the description in a TOML file. Paths in the file are relative to the folder of the file.

        Raises:
            InvalidArgument: The file cannot be read, or does not describe an account. The message names the line or the
                setting.
        """
        file = Path(path)
        try:
            values = tomllib.loads(read_text(file))
        except OSError as error:
            raise InvalidArgument(
                f"{file} cannot be read: {error.strerror}", hint="Check the path and the permissions of the file."
            ) from error
        except UnicodeDecodeError as error:
            raise InvalidArgument(
                f"{file} is not UTF-8 text: invalid byte {error.object[error.start]:#04x} at position {error.start}",
                hint="Save the file as UTF-8.",
            ) from None
        except tomllib.TOMLDecodeError as error:
            raise InvalidArgument(
                f"{file} is not valid TOML: {error}", hint="Correct the line of the file that the error message names."
            ) from error
        return cls._made(values, file.parent, file)

    @classmethod
    def of(cls, values: Mapping[str, Any], *, folder: str | Path = ".") -> Description:
        """Returns a description from dictionaries with the structure of the TOML file.

        Args:
            values: The tables ``actions``, ``wallets``, ``groups``, ``keys`` and ``triggers``.
            folder: Folder of the files to which the description refers.

        Raises:
            InvalidArgument: The values do not describe an account.
        """
        return cls._made(values, Path(folder), None)

    @classmethod
    def _made(cls, values: Mapping[str, Any], folder: Path, file: Path | None) -> Description:
        try:
            made = cls.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) + (f" in {file}" if file else "")
            message = f": {str(first['msg']).removeprefix('Value error, ').replace('a valid tuple', 'a list')}"
            wrong = "unknown setting" if first["type"] == "extra_forbidden" else "invalid setting"
            raise InvalidArgument(
                f"{wrong} {where}{message if wrong == 'invalid setting' else ''}",
                hint="Use only the settings that the documentation of plans lists (docs/plans.md)."
                if wrong == "unknown setting"
                else "Correct this setting. The documentation of plans lists all settings (docs/plans.md).",
            ) from None
        made._folder, made._file = folder, file  # noqa: SLF001 - an object of this class
        made._check()  # noqa: SLF001 - an object of this class
        return made

    @property
    def file(self) -> Path | None:
        """File of the description. None for a description from Python."""
        return self._file

    def action(self, name: str) -> Action | str:
        """Returns the action with the given name, or its CID if the description contains only the CID."""
        if name not in self._resolved:
            self._resolved[name] = self.actions[name].resolve(name, self._folder)
        return self._resolved[name]

    def action_hash(self, name: str) -> str:
        """Returns the hashed CID of the action with the given name, or the wildcard for ``*``."""
        if name == EVERYTHING:
            return WILDCARD_HASH
        action = self.action(name)
        return hashed_cid(action) if isinstance(action, str) else action.hashed_cid

    def cid(self, name: str) -> str:
        """Returns the CID of the action with the given name."""
        action = self.action(name)
        return action if isinstance(action, str) else action.cid

    def _check(self) -> None:
        """Rejects unknown, reserved and repeated names, keys with too many groups, and actions with two names."""
        for table, reserved in _RESERVED:
            if reserved in getattr(self, table):
                raise InvalidArgument(
                    f"{table} has an entry named {reserved!r}, which is a reserved name", hint="Rename this entry."
                )
        for name, group in self.groups.items():
            _known(f"groups.{name}.actions", group.actions, {*self.actions, EVERYTHING})
            _known(f"groups.{name}.wallets", group.wallets, {*self.wallets, EVERYTHING, MASTER})
        for name, key in self.keys.items():
            for field, groups in key.lists().items():
                _known(f"keys.{name}.{field}", groups, {*self.groups, EVERYTHING})
                if len(groups) > MAX_KEY_GROUPS:
                    raise InvalidArgument(
                        f"keys.{name}.{field} has {len(groups)} groups; at most {MAX_KEY_GROUPS} are allowed",
                        hint='Use fewer groups, or ["*"].',
                    )
        self._check_triggers()
        self._check_actions()

    def _check_triggers(self) -> None:
        for name, trigger in self.triggers.items():
            _known(f"triggers.{name}.action", (trigger.action,), set(self.actions))
            _known(f"triggers.{name}.key", (trigger.key,), set(self.keys))
            if isinstance(self.action(trigger.action), str):
                raise InvalidArgument(
                    (
                        f"triggers.{name} runs {trigger.action!r}, but the description contains "
                        "only the CID of this action"
                    ),
                    hint="Add the file or source of the action, because the triggers service needs the source.",
                )

    def _check_actions(self) -> None:
        hashes: dict[str, str] = {}
        for name in self.actions:
            twin = hashes.setdefault(self.action_hash(name), name)
            if twin != name:
                raise InvalidArgument(
                    f"actions {twin!r} and {name!r} have the same CID, but an action can have only one name",
                    hint="Delete one of these entries, or derive the actions with different constants.",
                )


def _known(where: str, names: tuple[str, ...], allowed: set[str]) -> None:
    for name in names:
        if name not in allowed:
            raise InvalidArgument(
                f"{where} contains {name!r}, which the description does not define",
                hint=f"Define the name, or use one of the defined names: {', '.join(sorted(allowed)) or 'none'}.",
            )
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InvalidArgument(f"{where} contains {twice[0]!r} more than once", hint="Remove the duplicates.")
