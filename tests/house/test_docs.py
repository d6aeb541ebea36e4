"""The documentation is derived from the code where it can be, and runs where it shows code."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from svcnb.cli._overview import COMMANDS
from svcnb.launch import Emulator

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "service").glob("*.md")),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[object]:
    return [
        pytest.param(match.group(2), id=f"{path.name}-{number}")
        for path in PAGES
        for number, match in enumerate(BLOCK.finditer(path.read_text(encoding="utf-8")))
        if match.group(1) == language
    ]


@pytest.fixture
def generate(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return import_module("generate")


@pytest.mark.slow
@pytest.mark.chain
@pytest.mark.engine
@pytest.mark.parametrize("source", blocks("python"))
def test_python_that_is_shown_runs(source: str) -> None:
    exec(compile(source, "<documentation>", "exec"), {})  # noqa: S102 - our own pages


@pytest.mark.parametrize("source", blocks("sh"))
def test_commands_that_are_shown_exist(source: str) -> None:
    for line in source.splitlines():
        words = shlex.split(line, comments=True)
        for at, word in enumerate(words):
            if word == "svcnb" and at + 1 < len(words) and words[at - 1 : at] in ([], ["&&"]):
                assert words[at + 1] in COMMANDS, line


def test_every_setting_stands_on_its_page(generate: ModuleType) -> None:
    from svcnb.emulator.settings import Settings

    written = generate.settings()
    assert [name for name in Settings.model_fields if f"| `{name}` |" not in written] == []


def test_every_forgiven_form_stands_on_its_page() -> None:
    page = (ROOT / "docs" / "service" / "strict-types.md").read_text(encoding="utf-8")
    wire = ROOT / "svcnb" / "protocol" / "wire"
    forms = re.findall(r'is_refused\(info, f?"([^"{]+)', "".join(path.read_text() for path in wire.glob("*.py")))
    forms += re.findall(r'\{"(a body [^"]+)"\}', (ROOT / "svcnb/emulator/http/endpoint.py").read_text())
    assert len(forms) >= 6
    assert [form for form in forms if form.strip() not in page] == []


def test_settings_of_the_open_points_exist() -> None:
    from svcnb.emulator.settings import Settings

    page = (ROOT / "docs" / "service" / "open-points.md").read_text(encoding="utf-8")
    rows = [line.split("|")[-2] for line in page.splitlines() if line.startswith("|") and "---" not in line]
    named = {name for cell in rows for name in re.findall(r"`(\w+)(?:=\w+)?`", cell)}
    assert len(named) > 10
    assert named - set(Settings.model_fields) == set()


def test_limits_stand_on_their_page_as_the_code_and_the_service_read_them(generate: ModuleType) -> None:
    from svcnb.emulator.settings import Settings
    from svcnb.protocol import limits

    written = generate.limits()
    in_force = Settings.load({}).limits
    for name in limits.ActionLimits._fields:
        (row,) = [line for line in written.splitlines() if line.startswith(f"| `{name}` |")]
        _, _, value, what, _ = (cell.strip() for cell in row.split("|"))
        assert value == f"`{getattr(in_force, name)}`"
        assert what.endswith(".")
    # Specification 8.
    for row in ("`max_get_keys_count` | `10`", "`max_fetch_count` | `50`", "`MIN_PAYMENT_CENTS` | `500`"):
        assert row in written


def test_every_command_stands_on_its_page(generate: ModuleType) -> None:
    written = generate.commands()
    assert [name for name in COMMANDS if f"## svcnb {name}\n" not in written] == []


def test_every_exit_code_and_what_it_means_stand_on_their_page(generate: ModuleType) -> None:
    from svcnb.exit_codes import ExitCode

    rows = generate.exit_codes().splitlines()[4:]
    assert [int(row.split("|")[1]) for row in rows] == [code.value for code in ExitCode]
    assert "requested port" in next(row for row in rows if row.startswith("| 4 |"))


def test_every_error_says_what_happened(generate: ModuleType) -> None:
    rows = generate.errors().partition("## What the client raises")[2].partition("## One by one")[0].split("\n")[4:-2]
    assert len(rows) > 20
    assert [row for row in rows if not row.split("|")[2].strip()] == []


def headings(text: str) -> set[str]:
    return {line.lstrip("#").strip() for line in text.splitlines() if line.startswith("#")}


def test_every_public_name_has_a_heading(generate: ModuleType) -> None:
    reference = import_module("reference")
    for module in reference.MODULES:
        found = headings(generate.PAGES[f"api/{module}"]())
        missing = [name for name in reference.public(import_module(module)) if f"`{module}.{name}`" not in found]
        assert missing == [], module
    nouns = headings(generate.PAGES["api/nouns"]())
    assert {"`Groups`", "`Groups.create`", "`ClockControl.advance`"} <= nouns
    assert "`Client.run`" in headings(generate.PAGES["api/svcnb"]())


def test_every_room_that_people_import_is_in_the_reference(generate: ModuleType) -> None:
    listed = {name.removeprefix("api/") for name in generate.PAGES}
    assert {f"svcnb.{room}" for room in ("charts", "panels", "reports", "testing", "workshop")} <= listed


def test_every_error_setting_and_magic_has_a_heading(generate: ModuleType) -> None:
    from svcnb.client import errors
    from svcnb.emulator.settings import Settings
    from svcnb.magics import CELL, LINE

    kinds = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.SvcnbError) and value.__module__ == errors.__name__
    }
    assert kinds - headings(generate.errors()) == set()
    assert set(Settings.model_fields) - headings(generate.settings()) == set()
    assert {f"`%{LINE}`", f"`%%{CELL}`"} <= headings(generate.magics())


def test_every_route_has_a_heading_and_a_verdict(generate: ModuleType, emulator: Emulator) -> None:
    description = httpx.get(f"{emulator.base_url}/core/v1/openapi.json", trust_env=False, timeout=300).json()
    text = generate.routes()
    served = {
        f"{method.upper()} `{path}`" for path, operations in description["paths"].items() for method in operations
    }
    assert served - headings(text) == set()
    assert headings(text) >= served
    assert set(generate.PARTLY) <= set(description["paths"])
    rows = [row for row in text.splitlines() if row.startswith(("| `GET`", "| `POST`", "| `PATCH`", "| `DELETE`"))]
    assert len(rows) == len(served)
    assert [row for row in rows if row.split("|")[3].strip() not in {"imitated", "partly"}] == []


def test_every_link_between_pages_leads_somewhere(generate: ModuleType) -> None:
    known = {f"generated/{name}.md" for name in generate.PAGES}
    lessons = ROOT / "notebooks"
    known |= {f"generated/lessons/{path.relative_to(lessons).as_posix()}" for path in lessons.rglob("*.*")}
    for page in (ROOT / "docs").glob("*.md"):
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert link in known or (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_page_is_linked_from_the_first(generate: ModuleType) -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert {name for name in pages if f"\n{name}\n" not in index} == set()
    assert {name for name in generate.PAGES if f"\ngenerated/{name}\n" not in index} == set()
