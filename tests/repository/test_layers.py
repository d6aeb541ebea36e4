"""Contracts of imports between packages, inside the emulator and inside the client.

CONTRIBUTING describes them in "Where things are".
"""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# Package -> the packages it may import. `svcnb` itself has the public names, and imports them on first use.
FOUNDATIONS = {
    "brief",
    "bundles",
    "checked",
    "control_tokens",
    "emulator_settings",
    "errors",
    "exit_codes",
    "in_process",
    "extras",
    "logs",
    "migrations",
    "page_storage",
    "protocol",
    "supervised",
    "tools",
}
OVER_CLIENT = FOUNDATIONS | {"client"}
LAUNCH = OVER_CLIENT | {"control", "launch", "live_lessons", "lessons"}
TOOLKIT = LAUNCH | {"toolkit"}
INTERFACES = TOOLKIT | {"charts", "panels", "reports", "workshop"}
ALLOWED: dict[str, set[str]] = {
    "extras": set(),
    "brief": set(),
    "bundles": set(),
    "checked": {"errors"},
    "errors": {"brief", "exit_codes", "extras"},
    "protocol": {"brief", "bundles", "errors", "extras"},
    "tools": {"errors", "exit_codes", "extras"},
    "exit_codes": set(),
    "logs": set(),
    "control_tokens": {"tools", "protocol"},
    "migrations": {"errors"},
    "supervised": set(),
    "in_process": {"protocol"},
    "page_storage": {"errors", "in_process"},
    # Its substitutes become a part of the site, beside this package.
    "lite": {"emulator", "extras", "in_process", "lessons", "page_storage", "protocol", "tools"},
    "emulator_settings": set(),
    "client": FOUNDATIONS,
    "emulator": FOUNDATIONS,
    "control": OVER_CLIENT,
    "launch": OVER_CLIENT | {"control"},
    "live_lessons": OVER_CLIENT | {"control"},
    "lessons": OVER_CLIENT | {"control", "launch", "live_lessons"},
    "toolkit": LAUNCH,
    "charts": TOOLKIT | {"charts"},
    "panels": INTERFACES,
    "reports": INTERFACES,
    "workshop": TOOLKIT,
    "cli": INTERFACES | {"lite"},
    "magics": INTERFACES,
    "pytest_plugin": INTERFACES | {"testing"},
    "testing": TOOLKIT,
    "__main__": {"cli"},
}
# Only the command that runs the service imports it.
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
    "keys": {"errors", "platform"},
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
    "in_page": {"errors", "main", "service", "settings"},
}

# Inside the client, lowest layer first. A module imports its own layer and those below.
CLIENT: list[set[str]] = [
    {"errors", "in_page", "secret"},
    # What a caller passes and gets; no requests.
    {"action_failure", "config", "diagnosis", "display", "explanation_graph", "frames", "listing", "models"}
    | {"permission_snapshot", "progress", "record_schema", "references", "renamed"},
    # One request.
    {"_http", "calls", "ledger", "raw_response", "request", "session", "signing", "tracing"},
    {"call_refusal", "explain", "resources"},
    {"chain"},
    {"chain_secured"},
    {"batch", "batch_file", "batch_work", "recorder", "remote", "running", "stripping"},
    {"aio", "async_client", "client", "client_settings", "triggers"},
]
# Imports that happen on first use: the explanation of a refused call, and an account that becomes ChainSecured.
UPWARDS = {("svcnb.client.request", "call_refusal"), ("svcnb.client.resources.accounts", "chain_secured")}


def package_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def part_of(module: str, package: str = "emulator") -> str:
    """The package or module inside the emulator or the client, empty outside of it."""
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


def test_every_package_has_a_contract(modules: dict[str, Path]) -> None:
    packages = {package_of(module) for module in modules} - {""}
    assert packages == set(ALLOWED), f"list in ALLOWED what each package may import: {sorted(packages ^ set(ALLOWED))}"


def test_no_import_runs_upwards(imports: list[Any]) -> None:
    wrong = [
        f"{found.importer}:{found.line} imports {found.imported}"
        for found in imports
        if (package := package_of(found.importer))
        and (target := package_of(found.imported))
        and target != package
        and target not in ALLOWED[package]
        and (found.importer, target) not in EXCEPTIONS
        and not found.importer.startswith(PROJECTS)
    ]
    assert wrong == []


@pytest.mark.parametrize(("one", "other"), [("client", "emulator"), ("emulator", "client")])
def test_client_and_emulator_never_import_each_other(imports: list[Any], one: str, other: str) -> None:
    assert [
        found for found in imports if package_of(found.importer) == one and package_of(found.imported) == other
    ] == []


def test_no_module_needs_itself_while_it_loads(imports: list[Any]) -> None:
    needs: dict[str, set[str]] = {}
    for found in imports:
        if found.at_load:
            needs.setdefault(found.importer, set()).add(found.imported)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail(f"a cycle of imports: {' -> '.join(error.args[1])}")
