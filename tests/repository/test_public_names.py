"""All public names are intentional."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import svcnb

if TYPE_CHECKING:
    from pathlib import Path

# Python imports public modules of an extra only if the extra is installed. The tests install all extras.


def test_the_public_names_are_sorted_and_each_once() -> None:
    assert list(svcnb.__all__) == sorted(set(svcnb.__all__))


def test_every_public_name_can_be_imported() -> None:
    assert [name for name in svcnb.__all__ if not hasattr(svcnb, name)] == []


def test_every_public_name_has_a_docstring() -> None:
    plain = (str, int, float, tuple, list, dict)
    silent = [
        name
        for name in svcnb.__all__
        if not isinstance(value := getattr(svcnb, name), plain) and not (getattr(value, "__doc__", "") or "").strip()
    ]
    assert silent == []


def test_the_public_names_are_what_dir_shows() -> None:
    assert set(svcnb.__all__) <= set(dir(svcnb))


@pytest.mark.slow
def test_submodules_are_available_without_an_import() -> None:
    code = (
        "import svcnb; rooms = ['charts', 'panels', 'reports', 'testing', 'toolkit', 'workshop']\n"
        "assert set(rooms) <= set(dir(svcnb))\n"
        "assert [getattr(svcnb, room).__name__ for room in rooms] == [f'svcnb.{room}' for room in rooms]\n"
        "assert [getattr(svcnb.toolkit, name).__name__.split('.')[-1] for name in dir(svcnb.toolkit)]"
        " == dir(svcnb.toolkit)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_the_error_for_a_mistyped_name_suggests_a_similar_one() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import svcnb; svcnb.Acton"], capture_output=True, text=True, timeout=300, check=False
    )
    assert "Did you mean: 'Action'?" in done.stderr


def test_a_name_that_does_not_exist_is_refused_as_python_does() -> None:
    assert not hasattr(svcnb, "no_such_name")


def test_every_list_of_public_names_is_sorted_and_correct(modules: dict[str, Path]) -> None:
    wrong = []
    for name, path in modules.items():
        if "\n__all__" not in path.read_text(encoding="utf-8"):
            continue
        module = importlib.import_module(name)
        if list(module.__all__) != sorted(module.__all__) or not all(hasattr(module, each) for each in module.__all__):
            wrong.append(name)
    assert wrong == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("PartMissing", "ToolMissing"),
        ("PartCorrupt", "ToolCorrupt"),
        ("EmulatorPartMissing", "EmulatorToolMissing"),
    ],
)
def test_a_renamed_error_keeps_its_old_name_with_a_warning(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"svcnb\.{old} is deprecated.*use svcnb\.{new}"):
        found = getattr(svcnb, old)
    assert found is getattr(svcnb, new)
