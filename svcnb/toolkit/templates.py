"""Registry of released templates and of the actions derived from them.

A change of one byte in a template changes the CID, and therefore the key, of every action derived from it. For this
reason, the registry releases each version of a template once, under a name, and records its CID. The registry checks
the bytes at each later use. To change a template, release a new version. The old version remains.

Source: docs/service/index.md#derived-actions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from svcnb.checked import Checked, checked
from svcnb.client.errors import InvalidArgument
from svcnb.client.listing import Listing
from svcnb.client.models.base import Model
from svcnb.files import read_text, replace_file
from svcnb.protocol.action import Action
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.nesting import parse

VERSION: Final = 1


class TemplateChanged(InvalidArgument):
    """Error for a template whose bytes have changed since the release."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Derived(Model):
    """Action derived from a template."""

    name: str
    """Name of the action, as passed to `Templates.derive`."""
    cid: str
    """CID of the derived source, which consists of the template and the constant."""
    template: str
    """Name and version of the template, ``name@version``."""

    constant_name: str
    """JavaScript identifier with which the template reads the constant."""
    constant: Any
    """Value of the constant, which follows the template in the source."""
    protocol_version: int
    """Version of the constant's format."""


class _Made(_Strict):
    cid: str
    constant_name: str
    constant: Any
    protocol_version: int


class _Release(_Strict):
    file: str
    cid: str
    size: int
    constant_name: str = "CONST"
    protocol_version: int = 1
    description: str = ""
    derived: dict[str, _Made] = Field(default_factory=dict)


class _Content(_Strict):
    version: int = VERSION
    templates: dict[str, _Release] = Field(default_factory=dict)


class Templates(Checked):
    """Registry of templates, stored in a JSON file that should be under version control.

    Args:
        path: Path of the file. The method `release` creates a missing file.

    Raises:
        InvalidArgument: The file is not a registry of templates.

    Example:
        ::

            templates = Templates("templates.json")
            templates.release("transfer", "transfer.js", version="1", constant_name="LIMIT")
            action = templates.derive("transfer@1", {"cents": 500}, name="small transfers")
    """

    def __init__(self, path: str | Path) -> None:
        self.path: Path = Path(path)
        self._content = _read(self.path)

    def __len__(self) -> int:
        return len(self._content.templates)

    def __iter__(self) -> Iterator[str]:
        return iter(self._content.templates)

    def release(
        self,
        name: str,
        file: str | Path,
        *,
        version: str = "1",
        constant_name: str = "CONST",
        protocol_version: int = 1,
        description: str = "",
    ) -> Action:
        """Records a template permanently. A second release of the same bytes has no effect.

        Args:
            name: Name of the template.
            file: Source file. A relative path starts at the folder of the registry.
            version: Version of the template. Each change needs a new version.
            constant_name: JavaScript name of the constant of derived actions.
            protocol_version: Version of the constant's format.
            description: Purpose of the template.

        Returns:
            The template, as an action.

        Raises:
            TemplateChanged: The release with this name and version contains different bytes.
            InvalidArgument: A name or the version is invalid, or the file cannot be read.
        """
        for what, given in (("name", name), ("version", version)):
            if not given or "@" in given:
                raise InvalidArgument(
                    f"invalid template {what} {given!r}: expected a non-empty string without @",
                    hint='Pass, for example, the name "transfer" and the version "1".',
                )
        key = f"{name}@{version}"
        action = self._source(str(file), name)
        known = self._content.templates.get(key)
        if known is not None and known.cid != action.cid:
            raise TemplateChanged(
                f"{key} was released with the CID {known.cid}, but {file} has the CID {action.cid}",
                hint=f"Release the changed file as a new version: release({name!r}, ..., version=...).",
            )
        if known is None:
            try:
                action.derive("probe", name=constant_name, protocol_version=protocol_version)
            except MalformedValue as error:
                raise InvalidArgument(f"cannot release {key}: {error.message}", hint=error.hint) from error
            self._content.templates[key] = _Release(
                file=str(file),
                cid=action.cid,
                size=action.size,
                constant_name=constant_name,
                protocol_version=protocol_version,
                description=description,
            )
            self._write()
        return action

    def template(self, key: str) -> Action:
        """Checks the bytes of a template, and returns the template as an action.

        Args:
            key: ``name@version``.

        Raises:
            TemplateChanged: The bytes of the file differ from the released bytes.
            InvalidArgument: The registry has no such template, or its file cannot be read.
        """
        release = self._release(key)
        action = self._source(release.file, key.partition("@")[0])
        if action.cid != release.cid:
            raise TemplateChanged(
                f"{key} was released with the CID {release.cid} ({release.size} bytes), but "
                f"{release.file} now has the CID {action.cid} "
                f"({action.size} bytes)",
                hint="Restore the released file with the same line endings, and release the change as a new version.",
            )
        return action

    def derive(self, key: str, constant: Any, *, name: str, description: str = "") -> Action:
        """Derives an action from a template, and records and returns the action.

        The same constant always produces the same action.

        Args:
            key: ``name@version``.
            constant: Constant to append, with the same fields and types as in earlier actions of the template.
            name: Name of the action.
            description: Purpose of the action.

        Raises:
            TemplateChanged: The bytes of the template have changed.
            InvalidArgument: The template is unknown. The constant cannot be appended. The constant has another
                structure than earlier constants. Another derived action has the same name.
        """
        release = self._release(key)
        template = self.template(key)
        for other_name, other in release.derived.items():
            if shape(constant) != shape(other.constant):
                raise InvalidArgument(
                    f"the constant of {name!r} has the structure {_shown(constant)}, but the constant of "
                    f"{other_name!r} has the structure {_shown(other.constant)}",
                    hint="Use a different template version for a constant with a different structure.",
                )
        try:
            action = template.derive(
                constant,
                name=release.constant_name,
                protocol_version=release.protocol_version,
                title=name,
                description=description,
            )
        except MalformedValue as error:
            raise InvalidArgument(f"cannot derive {name!r}: {error.message}", hint=error.hint) from error
        made = release.derived.get(name)
        if made is not None and made.cid != action.cid:
            raise InvalidArgument(
                f"{name!r} was already derived with another constant, and has the CID {made.cid}",
                hint="Choose another name for the derived action.",
            )
        if made is None:
            stamp = action.stamp
            release.derived[name] = _Made(
                cid=action.cid,
                constant_name=release.constant_name,
                constant=stamp.constant if stamp else constant,
                protocol_version=release.protocol_version,
            )
            self._write()
        return action

    def derived(self, key: str | None = None) -> Listing[Derived]:
        """Returns the actions derived from templates.

        Args:
            key: Template, as ``name@version``. None means all templates.

        Raises:
            InvalidArgument: The registry has no such template.
        """
        keys = [key] if key is not None else list(self._content.templates)
        return Listing(
            (
                Derived(template=each, name=name, **made.model_dump())
                for each in keys
                for name, made in self._release(each).derived.items()
            ),
            of="derived actions",
            kind=Derived,
        )

    def origin(self, action: Action | str) -> Derived | None:
        """Returns the template and the constant from which an action was derived, or None for an unknown action."""
        cid = action.cid if isinstance(action, Action) else action
        return next((each for each in self.derived() if each.cid == cid), None)

    def check(self) -> list[str]:
        """Checks the bytes of every template, and the CID of every derived action.

        Returns:
            One sentence for each problem. The list is empty if the templates and actions have not changed since the
            release.
        """
        wrong: list[str] = []
        for key, release in self._content.templates.items():
            try:
                template = self.template(key)
            except InvalidArgument as error:
                wrong.append(error.message)
                continue
            for name, made in release.derived.items():
                action = template.derive(
                    made.constant, name=made.constant_name, protocol_version=made.protocol_version, title=name
                )
                if action.cid != made.cid:
                    wrong.append(
                        f"the registry contains the CID {made.cid} for {name} of {key}, but the constant "
                        f"results in the CID {action.cid}"
                    )
        return wrong

    def _source(self, file: str, name: str) -> Action:
        try:
            return Action.from_file(self.path.parent / file, name=name)
        except MalformedValue as error:
            raise InvalidArgument(error.message, hint=error.hint) from error
        except OSError as error:
            raise InvalidArgument(
                f"{file} cannot be read: {error.strerror}",
                hint=f"Pass a path relative to {self.path.parent.resolve()}, and check the permissions of the file.",
            ) from error

    def _release(self, key: str) -> _Release:
        if key not in self._content.templates:
            known = ", ".join(self._content.templates) or "none"
            raise InvalidArgument(
                f"unknown template {key!r}: expected name@version of a released template",
                hint=f"Use one of the released templates: {known}.",
            )
        return self._content.templates[key]

    def _write(self) -> None:
        replace_file(self.path, json.dumps(self._content.model_dump(), indent=2, ensure_ascii=False) + "\n", mode=0o644)


@checked
def shape(value: Any) -> Any:
    """Returns the structure and types of a constant, without its values.

    The code of a template depends on the structure and the types of its constant.
    """
    if isinstance(value, Mapping):
        return {str(name): shape(item) for name, item in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        kinds = {json.dumps(shape(item), sort_keys=True) for item in value}
        return ["list", *sorted(kinds)]
    if isinstance(value, bool) or value is None:
        return type(value).__name__
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def _shown(value: Any) -> str:
    return json.dumps(shape(value))


def _read(path: Path) -> _Content:
    if not path.exists():
        return _Content()
    try:
        return _Content.model_validate(parse(read_text(path)))
    except (ValueError, ValidationError, OSError) as error:
        raise InvalidArgument(
            f"{path} is not a registry of templates: {error}",
            hint="Pass a registry that svcnb wrote, or the path of a new file.",
        ) from error
