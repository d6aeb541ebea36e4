"""Imports never run upwards, and the two wings never import each other (CONTRIBUTING, "Where things are")."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# Room -> the rooms it may import. `svcnb` itself is the public face and resolves its names on first use.
FLOOR = {
    "brief",
    "checked",
    "control_tokens",
    "emulator_settings",
    "errors",
    "exit_codes",
    "in_process",
    "extras",
    "logs",
    "migrations",
    "protocol",
    "supervised",
    "tools",
}
WING = FLOOR | {"client"}
LAUNCH = WING | {"control", "launch", "live_lessons", "lessons"}
TOOLKIT = LAUNCH | {"toolkit"}
FACES = TOOLKIT | {"charts", "panels", "reports", "workshop"}
ALLOWED: dict[str, set[str]] = {
    "extras": set(),
    "brief": set(),
    "checked": {"errors"},
    "errors": {"brief", "extras"},
    "protocol": {"errors", "extras"},
    "tools": {"errors", "extras"},
    "exit_codes": set(),
    "logs": set(),
    "control_tokens": {"tools", "protocol"},
    "migrations": {"errors"},
    "supervised": set(),
    "in_process": {"protocol"},
    # Its substitutes become a part of the site, beside this package.
    "lite": {"extras", "lessons", "protocol", "tools"},
    "emulator_settings": set(),
    "client": FLOOR,
    "emulator": FLOOR,
    "control": WING,
    "launch": WING | {"control"},
    "live_lessons": WING | {"control"},
    "lessons": WING | {"control", "launch", "live_lessons"},
    "toolkit": LAUNCH,
    "charts": TOOLKIT | {"charts"},
    "panels": FACES,
    "reports": FACES,
    "workshop": TOOLKIT,
    "cli": FACES | {"lite"},
    "magics": FACES,
    "pytest_plugin": FACES | {"testing"},
    "testing": TOOLKIT,
    "__main__": {"cli"},
}
# The command that runs the service is the one door to it: its options, and what it does.
# In the page of a browser, where there is no process to start, it is called.
EXCEPTIONS = {("svcnb.cli.emulator", "emulator"), ("svcnb.cli._serve", "emulator"), ("svcnb.launch", "emulator")}
# Files of the projects that recipes become: they use svcnb as its users do.
PROJECTS = ("svcnb.toolkit.cookbook.recipes.", "svcnb.toolkit.cookbook.project.")

# Inside the emulator: components know no area, and an area uses another only as the components that it is given.
COMPONENTS = {"errors", "platform", "settings"}
EMULATOR: dict[str, set[str]] = {
    "errors": set(),
    "platform": {"errors"},
    "settings": {"platform"},
    "http": COMPONENTS,
    "keys": {"platform"},
    "chain": COMPONENTS | {"keys"},
    "sandbox": {"keys", "platform", "settings"},
    "access": COMPONENTS | {"chain", "http"},
    "billing": COMPONENTS | {"access", "chain", "http", "keys"},
    "accounts": COMPONENTS | {"access", "billing", "chain", "http", "keys", "sandbox"},
    "actions": COMPONENTS | {"access", "billing", "http", "keys", "sandbox"},
    "triggers": COMPONENTS | {"http", "keys"},
    "control": COMPONENTS | {"actions", "billing", "chain", "http", "sandbox", "triggers"},
    "bootstrap": {"chain", "keys", "platform", "settings"},
    "service": COMPONENTS
    | {"access", "accounts", "actions", "billing", "bootstrap", "chain", "control", "keys", "sandbox", "triggers"},
    "areas": {"accounts", "actions", "billing", "control", "http", "service", "triggers"},
    "main": {"areas", "bootstrap", "http", "platform", "sandbox", "service", "settings"},
    "in_page": {"main", "service", "settings"},
}


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def part_of(module: str) -> str:
    """The package or module inside the emulator, empty outside of it."""
    names = module.split(".")
    return names[2] if names[1:2] == ["emulator"] and len(names) > 2 else ""


def test_packages_of_the_emulator_import_only_what_their_row_allows(imports: list[Any]) -> None:
    pairs = {(part_of(found.importer), part_of(found.imported)) for found in imports}
    wrong = [(part, other) for part, other in pairs if part and other and part != other and other not in EMULATOR[part]]
    assert wrong == []


def test_the_rows_of_the_emulator_allow_no_circle() -> None:
    order = list(TopologicalSorter(EMULATOR).static_order())  # raises CycleError
    assert order[-1] == "in_page"


def test_every_room_has_a_place_in_the_house(modules: dict[str, Path]) -> None:
    rooms = {room_of(module) for module in modules} - {""}
    assert rooms <= set(ALLOWED), f"say in ALLOWED what these may import: {sorted(rooms - set(ALLOWED))}"


def test_no_import_runs_upwards(imports: list[Any]) -> None:
    wrong = [
        f"{found.importer}:{found.line} imports {found.imported}"
        for found in imports
        if (room := room_of(found.importer))
        and (target := room_of(found.imported))
        and target != room
        and target not in ALLOWED.get(room, set())
        and (found.importer, target) not in EXCEPTIONS
        and not found.importer.startswith(PROJECTS)
    ]
    assert wrong == []


@pytest.mark.parametrize(("wing", "other"), [("client", "emulator"), ("emulator", "client")])
def test_the_wings_meet_only_on_the_wire(imports: list[Any], wing: str, other: str) -> None:
    assert [found for found in imports if room_of(found.importer) == wing and room_of(found.imported) == other] == []


def test_no_module_needs_itself_while_it_loads(imports: list[Any]) -> None:
    needs: dict[str, set[str]] = {}
    for found in imports:
        if found.at_load:
            needs.setdefault(found.importer, set()).add(found.imported)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")
