"""Actions: JavaScript programs, identified by the CID of their bytes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from svcnb.errors import InvalidType
from svcnb.files import read_file
from svcnb.protocol.cid import cid as cid_of, encode_source
from svcnb.protocol.derived_action import Stamp
from svcnb.protocol.errors import MalformedValue, shown
from svcnb.protocol.hashes import hashed_cid as hash_of
from svcnb.renamed import renamed

if TYPE_CHECKING:
    from svcnb.protocol.action_diff import ActionDiff

_CELL: Final = "text-align:left;padding:2px 10px"
_SHOWN_CHARACTERS: Final = 2_000


@dataclass(frozen=True, repr=False)
class Action:
    """The source of an action, with its CID and hash.

    Two actions are equal if their sources are equal. The name and the description are only for display. The caller of
    a run cannot change values in the source, but chooses the parameters (``js_params``). The action must check them.

    Args:
        source: JavaScript that defines ``main``. The CID depends on every character, including trailing whitespace.
        name: Name to show in lists.
        description: Description to show in lists.

    Raises:
        InvalidType: The source is not a string.
        MalformedValue: The source is the name of a JavaScript file, or cannot be encoded as UTF-8.

    Example:
        >>> Action("async function main({ n }) { return n + 1; }").cid
        'QmVuJt1peHoaofSAHR9e1Xn8X47JVi81QYxkivpwJeSDq6'

    Source: docs/service/keys.md#content-identifiers, docs/service/index.md#derived-actions.
    """

    source: str
    name: str = field(default="", compare=False, kw_only=True)
    description: str = field(default="", compare=False, kw_only=True)

    stamp: Stamp | None = field(default=None, compare=False, kw_only=True)
    """The constant that `derive` appended. None for an action that is not derived."""

    template_cid: str | None = field(default=None, compare=False, kw_only=True)
    """CID of the template of this derived action. None for an action that is not derived."""

    def __post_init__(self) -> None:
        _require_text(self.source)
        cid_of(self.source)  # reject file names, and strings that UTF-8 cannot encode, at the creation

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, name: str | None = None, description: str = "") -> Action:
        """Returns an action whose source is the content of a file.

        The bytes do not change: line endings and a byte order mark are part of the source.

        Args:
            path: A UTF-8 file.
            name: Name to show in lists. If omitted, the file name without its extension.
            description: Description to show in lists.

        Raises:
            MalformedValue: The file is not UTF-8.
            OSError: The file cannot be read, or is not a regular file.
        """
        data = read_file(path)
        try:
            source = data.decode()
        except UnicodeDecodeError as error:
            raise MalformedValue(
                f"the file {shown(str(path))} is not valid UTF-8: byte {error.start} is {data[error.start]:#04x}",
                hint="Save the file as UTF-8, and keep its line endings.",
            ) from None
        return cls(source, name=Path(path).stem if name is None else name, description=description)

    @cached_property
    def cid(self) -> str:
        """CIDv0 of the source. It starts with ``Qm``, and identifies the action."""
        return cid_of(self.source)

    @cached_property
    def hashed_cid(self) -> str:
        """Id of the action in the contract: keccak256 of the CID text, as ``0x`` and 64 hex digits."""
        return hash_of(self.cid)

    @cached_property
    def size(self) -> int:
        """Size of the source in UTF-8, in bytes."""
        return len(encode_source(self.source))

    def derive(
        self,
        constant: Any,
        *,
        name: str = "CONST",
        protocol_version: int = 1,
        title: str | None = None,
        description: str | None = None,
    ) -> Action:
        """Derives an action from this template by appending a constant to its source.

        The derived source starts with the unchanged bytes of the audited template. Each constant results in a different
        CID, and therefore in a different key. The action declares the constant after all other code. Functions of the
        template can therefore use the constant, but statements that run while the source loads cannot.

        Args:
            constant: Value that consists of strings, numbers, booleans, None, lists and dictionaries. Equal constants
                produce equal CIDs. The order of the members has no effect.
            name: The JavaScript identifier that the template reads.
            protocol_version: Version of the constant's format, stored with the constant. Increase the version when a
                new template interprets its constant differently. A dictionary gets the member ``protocolVersion``. For
                any other constant, the source declares ``<name>_PROTOCOL_VERSION``.
            title: Name to show in lists. The default is the template's name.
            description: Description to show in lists. The default is the template's description.

        Returns:
            The derived action, with the constant and the template's CID.

        Raises:
            MalformedValue: JavaScript cannot represent the constant exactly. The name is not a valid identifier, or
                the template already declares it. The version is not a positive integer.

        Example:
            >>> template = Action("function main() { return LIMIT.cents; }")
            >>> print(template.derive({"cents": 500}, name="LIMIT").source)
            function main() { return LIMIT.cents; }
            const LIMIT = {"cents": 500, "protocolVersion": 1};
            <BLANKLINE>

        Source: docs/service/index.md#derived-actions.
        """
        stamp = Stamp(name, constant, protocol_version)
        return Action(
            stamp.append_to(self.source),
            name=self.name if title is None else title,
            description=self.description if description is None else description,
            stamp=stamp,
            template_cid=self.cid,
        )

    def parse_derived(self, derived: Action) -> Stamp | None:
        """Returns the constant that a derived action contains after this template. Use this method to audit the action.

        Args:
            derived: The action to compare with this template.

        Returns:
            The constant. None if the action is not exactly this template followed by one constant.

        Raises:
            InvalidType: ``derived`` is not an action.
        """
        if not isinstance(derived, Action):
            raise InvalidType(
                f"expected the derived action as an Action, got {type(derived).__name__}: pass svcnb.Action(source)"
            )
        return Stamp.read(self.source, derived.source)

    def stamp_in(self, derived: Action) -> Stamp | None:
        """Deprecated name of `parse_derived`."""
        renamed("Action.stamp_in", "Action.parse_derived")
        return self.parse_derived(derived)

    def diff(self, other: Action) -> ActionDiff:
        """Returns the differences between this action and another action, including invisible characters.

        Args:
            other: Action whose source is the newer version.

        Raises:
            InvalidType: ``other`` is not an action.
        """
        if not isinstance(other, Action):
            raise InvalidType(f"cannot compare an action with {type(other).__name__}: pass svcnb.Action(source)")
        from svcnb.protocol.action_diff import ActionDiff

        return ActionDiff.between(self, other)

    def __repr__(self) -> str:
        named = f"{self.name!r}, " if self.name else ""
        derived = f", derived from {self.template_cid}" if self.template_cid else ""
        return f"Action({named}{self.cid}, {self.size} bytes{derived})"

    def _repr_html_(self) -> str:
        from svcnb.brief import NO_MATH

        rows = {
            "name": self.name,
            "description": self.description,
            "CID": self.cid,
            "hashed CID": self.hashed_cid,
            "template": self.template_cid,
            "size": f"{self.size} bytes",
        }
        body = "".join(
            f"<tr><th scope='row' style='{_CELL}'>{title}</th><td style='{_CELL}'>{escape(value)}</td></tr>"
            for title, value in rows.items()
            if value
        )
        source = self.source[:_SHOWN_CHARACTERS] + ("…" if len(self.source) > _SHOWN_CHARACTERS else "")
        return (
            f"<table class='{NO_MATH}' "
            "style='border-collapse:collapse;color:var(--jp-ui-font-color1,inherit);font-size:0.9em'>"
            f"<caption style='text-align:left'>Action</caption>{body}</table>"
            f"<details><summary>Source</summary><pre>{escape(source)}</pre></details>"
        )


def _require_text(source: object) -> None:
    if not isinstance(source, str):
        raise InvalidType(
            f"the source of an action must be a string, not {type(source).__name__}",
            hint="Decode bytes first, or use Action.from_file(path).",
        )
