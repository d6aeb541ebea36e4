"""Base class of all results."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from svcnb.client import display


class Model(BaseModel):
    """Immutable result of a call. Notebooks show the result as a small table.

    The result also contains the fields of the response that this version of the client does not define.

    Displays show the fields in the order of their definition. Displays contain no memory addresses, local times or
    secrets, so equal results have the same display on every machine.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True,
        extra="allow",
        populate_by_name=True,
        arbitrary_types_allowed=True,
        hide_input_in_errors=True,
        defer_build=True,
    )

    quiet: ClassVar[frozenset[str]] = frozenset()
    """Fields that displays omit because their values differ between runs."""

    headings: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Column labels of fields whose JSON name is unclear."""

    categories: ClassVar[frozenset[str]] = frozenset(
        {"status", "kind", "state", "source", "event", "change", "severity"}
    )
    """String fields with few distinct values. DataFrames store these fields as categories."""

    unix_seconds: ClassVar[frozenset[str]] = frozenset()
    """Fields that contain Unix seconds. 0 and None mean that the time is not set."""

    @classmethod
    def framed(cls) -> dict[str, Any]:
        """Returns the names and types of a DataFrame's columns: all fields except secrets and long strings."""
        from svcnb.client.frames import is_secret

        return {
            name: field.annotation
            for name, field in cls.model_fields.items()
            if field.repr and not is_secret(field.annotation)
        }

    def shown(self) -> dict[str, Any]:
        """Returns the values of all fields by name, except the fields in `quiet`."""
        return {name: getattr(self, name) for name in type(self).model_fields if name not in self.quiet}

    def summary(self) -> dict[str, Any]:
        """Returns the values that ``repr`` and the table in a notebook show, by label.

        By default, these are all values of `shown`. Some classes return fewer values, or values in a shorter form.
        """
        return self.shown()

    @classmethod
    def heading(cls, name: str) -> str:
        """Returns the column label of a field."""
        return cls.headings.get(name, name.replace("_", " "))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.summary().items() if not _is_blank(value))
        return f"{type(self).__name__}({inside})"

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        rows = [(self.heading(name), value) for name, value in self.summary().items() if not _is_blank(value)]
        return display.record(type(self).__name__, rows)


def _is_blank(value: object) -> bool:
    return value is None or value in ("", ())
