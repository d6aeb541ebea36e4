"""What is public is on purpose."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import svcnb

if TYPE_CHECKING:
    from pathlib import Path

# Public modules that need an extra are loaded only where it is installed; in the tests all of them are.


def test_the_public_names_are_sorted_and_each_once() -> None:
    assert list(svcnb.__all__) == sorted(set(svcnb.__all__))


def test_every_public_name_can_be_had() -> None:
    assert [name for name in svcnb.__all__ if not hasattr(svcnb, name)] == []


def test_every_public_name_explains_itself() -> None:
    plain = (str, int, float, tuple, list, dict)
    silent = [
        name
        for name in svcnb.__all__
        if not isinstance(value := getattr(svcnb, name), plain) and not (getattr(value, "__doc__", "") or "").strip()
    ]
    assert silent == []


def test_the_public_names_are_what_dir_shows() -> None:
    assert set(svcnb.__all__) <= set(dir(svcnb))


def test_a_name_that_does_not_exist_is_refused_as_python_does() -> None:
    assert not hasattr(svcnb, "no_such_name")


def test_every_list_of_public_names_is_sorted_and_true(modules: dict[str, Path]) -> None:
    wrong = []
    for name, path in modules.items():
        if "\n__all__" not in path.read_text(encoding="utf-8"):
            continue
        module = importlib.import_module(name)
        if list(module.__all__) != sorted(module.__all__) or not all(hasattr(module, each) for each in module.__all__):
            wrong.append(name)
    assert wrong == []
