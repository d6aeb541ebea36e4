"""The base of all results."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from svcnb.client import display


class Model(BaseModel):
    """A frozen result that keeps members it does not know and shows itself as a small table.

    What is shown is made of values alone, in the order of the fields: no addresses in memory, no times of the machine,
    no secrets. Equal results show equally on every machine.
    """

    model_config = ConfigDict(
        frozen=True, extra="allow", populate_by_name=True, arbitrary_types_allowed=True, hide_input_in_errors=True
    )

    quiet: ClassVar[frozenset[str]] = frozenset()
    """Fields that are left out of displays: they differ from run to run."""

    headings: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """What tables call a field whose name on the wire says little to people."""

    categories: ClassVar[frozenset[str]] = frozenset({"status", "kind", "state", "source", "event", "change", "weight"})
    """Text fields with few different values."""

    unix_seconds: ClassVar[frozenset[str]] = frozenset()
    """Fields that count seconds since 1970; 0 and None mean never."""

    @classmethod
    def framed(cls) -> dict[str, Any]:
        """Returns name and type of the fields that a frame has: all except secrets and long texts."""
        from svcnb.client.frames import is_secret

        return {
            name: field.annotation
            for name, field in cls.model_fields.items()
            if field.repr and not is_secret(field.annotation)
        }

    def shown(self) -> dict[str, Any]:
        """Returns the fields that displays show, by name."""
        return {name: getattr(self, name) for name in type(self).model_fields if name not in self.quiet}

    def summary(self) -> dict[str, Any]:
        """Returns what texts and tables for people show; like `shown` where a kind has no shorter way to say it."""
        return self.shown()

    @classmethod
    def heading(cls, name: str) -> str:
        """Returns what tables call a field."""
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
