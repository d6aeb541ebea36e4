"""Allowed imports between packages, inside the emulator and inside the client. `layers.py` contains the tables."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import pytest

from tests.repository.layers import (
    CLIENT,
    EMULATOR,
    IMPORTERS_OF_THE_EMULATOR,
    PACKAGES,
    PROJECTS,
    ROOT,
    UPWARDS,
    with_drawing,
)

if TYPE_CHECKING:
    from pathlib import Path


def package_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def part_of(module: str, package: str = "emulator") -> str:
    """Returns the package or module inside the emulator or the client, or an empty string outside of them."""
    names = module.split(".")
    return names[2] if names[1:2] == [package] and len(names) > 2 else ""


def test_packages_of_the_emulator_import_only_what_their_row_allows(imports: list[Any]) -> None:
    pairs = {(part_of(found.importer), part_of(found.imported)) for found in imports}
    wrong = [(part, other) for part, other in pairs if part and other and part != other and other not in EMULATOR[part]]
    assert wrong == []


def test_the_rows_of_the_emulator_allow_no_cycle() -> None:
    order = list(TopologicalSorter(EMULATOR).static_order())  # raises CycleError
    assert order[-1] == "in_page"


def test_modules_of_the_client_import_no_layer_above_their_own(imports: list[Any], modules: dict[str, Path]) -> None:
    layer = {part: number for number, parts in enumerate(CLIENT) for part in parts}
    assert {part_of(module, "client") for module in modules} - {""} == set(layer)
    upwards = {
        (found.importer, part)
        for found in imports
        if (own := part_of(found.importer, "client"))
        and (part := part_of(found.imported, "client"))
        and layer[part] > layer[own]
    }
    assert upwards == UPWARDS


def test_no_private_name_is_imported_from_another_package(modules: dict[str, Path]) -> None:
    wrong = []
    for module, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("svcnb"):
                names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
                private = [name for name in names if name.startswith("_") and not name.endswith("__")]
                if private and module.split(".")[1] != names[1]:
                    wrong.append(f"{module}:{node.lineno} imports {', '.join(private)} of {node.module}")
    assert wrong == []


def test_a_package_imports_only_layers_below_its_own(imports: list[Any], modules: dict[str, Path]) -> None:
    layer = {package: -number for number, (_, packages) in enumerate(PACKAGES) for package in packages}
    assert {package_of(module) for module in modules} - {""} == set(layer), "every package needs a place in PACKAGES"
    wrong = [
        f"{found.importer}:{found.line} imports {found.imported}"
        for found in imports
        if (package := package_of(found.importer))
        and (target := package_of(found.imported))
        and target != package
        and layer[target] >= layer[package]
        and not found.importer.startswith(PROJECTS)
    ]
    assert wrong == []


def test_only_what_runs_the_emulator_imports_it(imports: list[Any]) -> None:
    assert [
        f"{found.importer}:{found.line}"
        for found in imports
        if package_of(found.imported) == "emulator" != package_of(found.importer)
        and not found.importer.startswith(IMPORTERS_OF_THE_EMULATOR)
    ] == []


def test_the_emulator_does_not_import_the_client(imports: list[Any]) -> None:
    assert [
        found
        for found in imports
        if package_of(found.importer) == "emulator" and package_of(found.imported) == "client"
    ] == []


def test_contributing_draws_these_layers() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert text == with_drawing(text), "run: python -m tests.repository.layers"


def test_no_module_imports_itself_while_it_loads(imports: list[Any]) -> None:
    needs: dict[str, set[str]] = {}
    for found in imports:
        if found.at_load:
            needs.setdefault(found.importer, set()).add(found.imported)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail(f"a cycle of imports: {' -> '.join(error.args[1])}")
