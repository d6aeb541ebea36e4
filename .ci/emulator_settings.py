"""Writes `svcnb/emulator_settings.py`: the settings of the emulator as typed keyword arguments of `svcnb.Emulator`.

The emulator's own table is the source. With ``--check`` it writes nothing and fails if the file differs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

from svcnb.emulator.settings import Settings

TARGET = Path(__file__).resolve().parents[1] / "svcnb" / "emulator_settings.py"
HEAD = '''"""Settings of an emulator as keyword arguments. Written by `.ci/emulator_settings.py`; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypedDict


class EmulatorSettings(TypedDict, total=False):
    """Keyword arguments of `svcnb.Emulator`; ``svcnb emulator --help`` lists them with their defaults."""
'''


def shown(annotation: Any) -> str:
    """The type that a caller may give for a setting."""
    if get_origin(annotation) is UnionType:
        parts = [shown(each) for each in get_args(annotation) if each is not NoneType]
        return " | ".join([*parts, "None"])
    if get_origin(annotation) is Literal:
        return "Literal[" + ", ".join(f'"{each}"' for each in get_args(annotation)) + "]"
    if get_origin(annotation) is tuple:
        return "Sequence[str] | str"
    return "str | Path" if annotation is Path else str(annotation.__name__)


def text() -> str:
    """The module."""
    lines = [f"    {name}: {shown(field.annotation)}" for name, field in Settings.model_fields.items()]
    return HEAD + "\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(TARGET.read_text(encoding="utf-8") != text())
    TARGET.write_text(text(), encoding="utf-8")
