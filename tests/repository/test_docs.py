"""The documentation matches the code from which it is derived, and its examples run."""

from __future__ import annotations

import json
import re
import shlex
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import httpx
import pytest

import svcnb
from svcnb.cli._overview import COMMANDS
from svcnb.client.chain.writes import Writer
from svcnb.client.chain_secured.account import ChainSecuredAccount
from svcnb.client.chain_secured.ownership import Ownership
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
    names: dict[str, Any] = {}
    try:
        exec(compile(source, "<documentation>", "exec"), names)  # noqa: S102 - our own pages
    finally:
        for each in names.values():
            if isinstance(each, Emulator):  # an example without a `with` block
                each.stop()


@pytest.mark.parametrize("source", blocks("sh"))
def test_commands_that_are_shown_exist(source: str) -> None:
    for line in source.splitlines():
        words = shlex.split(line, comments=True)
        for at, word in enumerate(words):
            if word == "svcnb" and at + 1 < len(words) and words[at - 1 : at] in ([], ["&&"]):
                assert words[at + 1] in COMMANDS, line


def test_every_setting_is_on_its_page(generate: ModuleType) -> None:
    from svcnb.emulator.settings import Settings

    written = generate.settings()
    assert [name for name in Settings.model_fields if f"| `{name}` |" not in written] == []


def test_every_accepted_deviation_is_on_its_page() -> None:
    page = (ROOT / "docs" / "service" / "strict-types.md").read_text(encoding="utf-8").replace("`", "")
    wire = ROOT / "svcnb" / "protocol" / "wire"
    forms = re.findall(r'is_refused\(info, f?"([^"{]+)', "".join(path.read_text() for path in wire.glob("*.py")))
    forms += re.findall(r'\{"(a body [^"]+)"\}', (ROOT / "svcnb/emulator/http/routing.py").read_text())
    assert len(forms) >= 6
    assert [form for form in forms if form.strip() not in page] == []


def test_settings_of_the_open_points_exist() -> None:
    from svcnb.emulator.settings import Settings

    page = (ROOT / "docs" / "service" / "open-points.md").read_text(encoding="utf-8")
    rows = [line.split("|")[-2] for line in page.splitlines() if line.startswith("|") and "---" not in line]
    named = {name for cell in rows for name in re.findall(r"`(\w+)(?:=\w+)?`", cell)}
    assert len(named) > 10
    assert named - set(Settings.model_fields) == set()


def test_limits_on_their_page_match_the_code_and_the_service(generate: ModuleType) -> None:
    from svcnb.emulator.settings import Settings
    from svcnb.protocol import limits

    written = generate.limits()
    in_force = Settings.load({}).limits
    for name in limits.ActionLimits._fields:
        (row,) = [line for line in written.splitlines() if line.startswith(f"| `{name}` |")]
        _, _, value, what, _ = (cell.strip() for cell in row.split("|"))
        assert value == f"`{getattr(in_force, name)}`"
        assert what.endswith(".")
    # See docs/service/limits.md#limits-of-the-service.
    for row in ("`max_get_keys_count` | `10`", "`max_fetch_count` | `50`", "`MIN_PAYMENT_CENTS` | `500`"):
        assert row in written


def test_every_command_is_on_its_page(generate: ModuleType) -> None:
    written = generate.commands()
    assert [name for name in COMMANDS if f"## svcnb {name}\n" not in written] == []


def test_every_exit_code_and_its_meaning_are_on_their_page(generate: ModuleType) -> None:
    from svcnb.exit_codes import ExitCode

    rows = generate.exit_codes().splitlines()[6:]
    assert [int(row.split("|")[1]) for row in rows] == [code.value for code in ExitCode]
    assert "requested port" in next(row for row in rows if row.startswith("| 4 |"))


def test_every_error_says_what_happened(generate: ModuleType) -> None:
    rows = generate.errors().partition("## Error classes of the client")[2].partition("## Details")[0].split("\n")[4:-2]
    assert len(rows) > 20
    assert [row for row in rows if not row.split("|")[2].strip()] == []


def test_the_page_of_messages_contains_those_of_the_client_and_of_the_command_line(generate: ModuleType) -> None:
    rows = [row for row in generate.error_messages().splitlines() if row.startswith("| `")]
    assert len(rows) > 400
    for kind in ("InvalidArgument", "ConfigError", "ChainError", "UsageError"):
        assert any(f"| `{kind}` |" in row for row in rows), kind
    assert [row for row in rows if row.endswith("|  |")] == []


@pytest.mark.usefixtures("generate")
def test_every_error_message_has_a_fix() -> None:
    """Checks that each error has a hint, or that its message states the allowed values or the next step."""
    source = import_module("error_messages")
    found = source.messages()
    assert len(found) > 400
    assert [f"{each.place}: {each.text}" for each in found if not each.fix] == []


def headings(text: str) -> set[str]:
    return {line.lstrip("#").strip() for line in text.splitlines() if line.startswith("#")}


def test_every_public_name_has_a_heading(generate: ModuleType) -> None:
    reference = import_module("reference")
    for module in reference.MODULES:
        found = headings(generate.PAGES[f"api/{module}"]())
        missing = [name for name in reference.public(import_module(module)) if f"`{module}.{name}`" not in found]
        assert missing == [], module
    resources = headings(generate.PAGES["api/resources"]())
    assert {"`Groups`", "`Groups.create`", "`ClockControl.advance`"} <= resources
    assert "`Client.run`" in headings(generate.PAGES["api/svcnb"]())
    results = generate.PAGES["api/results"]()
    assert {"`Run`", "`Group`", "`UsageKey`", "`Batch`", "`Trace`", "`AuditEntry`", "`Run.cost_cents`"} <= headings(
        results
    )
    assert "- `response: Any`: The value that ``main`` returned" in results
    assert "model_" not in results


def test_every_public_module_is_in_the_reference(generate: ModuleType) -> None:
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


def test_the_calls_beside_those_of_the_javascript_client_exist() -> None:
    text = (ROOT / "docs" / "javascript-client.md").read_text(encoding="utf-8").partition("## Calls")[2]
    found = set(re.findall(r"`((?:svc|mine)(?:\.\w+)+)", text))
    assert len(found) > 50
    with svcnb.Client("http://127.0.0.1:9") as svc:
        writer = Writer(svc.chain_secured._chain, None)
        mine = ChainSecuredAccount(svc._session, Ownership(writer, 0, svc.chain_secured._records))
        for path in sorted(found):
            attrgetter(path)(SimpleNamespace(svc=svc, mine=mine))


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
    assert [row for row in rows if row.split("|")[3].strip() not in {"complete", "partial"}] == []


def test_every_route_shows_the_members_of_its_body_and_of_its_answer(generate: ModuleType) -> None:
    text = generate.routes()
    add_group = text.partition("### POST `/core/v1/add_group`")[2].partition("\n### ")[0]
    assert "| `group_name` | string | yes |" in add_group.partition("Response 200")[0]
    assert "| `group_id` | string | yes |" in add_group.partition("Response 200")[2]
    assert text.count("Response 2") == len(re.findall(r"^### (?:GET|POST|PATCH|DELETE) ", text, re.MULTILINE))


def test_every_link_between_pages_leads_somewhere(generate: ModuleType) -> None:
    known = {f"generated/{name}.md" for name in generate.PAGES}
    lessons = ROOT / "notebooks"
    known |= {f"generated/lessons/{path.relative_to(lessons).as_posix()}" for path in lessons.rglob("*.*")}
    for page in [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs/service").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            named = (page.parent / link).resolve()
            generated = named.is_relative_to(ROOT / "docs") and named.relative_to(ROOT / "docs").as_posix() in known
            assert generated or named.exists(), f"{page.name}: {link}"


def test_the_request_lifecycle_names_existing_files() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+/\w+\.py)`", page))
    folders = (ROOT, ROOT / "svcnb", ROOT / "svcnb" / "emulator")
    assert len(named) > 5
    assert [name for name in sorted(named) if not any((folder / name).is_file() for folder in folders)] == []


def test_every_route_is_described_on_the_pages_about_the_service(generate: ModuleType) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "service").glob("*.md"))
    paths = [path.replace("/core/v1", "").replace("{id}", "<id>") for path in generate.openapi()["paths"]]
    assert len(paths) > 40
    assert [path for path in paths if path not in pages and f"`{path.lstrip('/')}`" not in pages] == []


def test_the_page_lists_exactly_the_routes_that_need_no_credential(generate: ModuleType) -> None:
    page = (ROOT / "docs" / "service" / "http.md").read_text(encoding="utf-8")
    section = page.partition("These endpoints do not need a credential:")[2].partition("## ")[0]
    listed = {name.removeprefix("POST ") for name in re.findall(r"`([^`]+)`", section)}
    routes = {
        path.removeprefix("/core/v1/").replace("{id}", "<id>")
        for path, operations in generate.openapi()["paths"].items()
        if any(not operation.get("security") for operation in operations.values())
    }
    assert listed - {"openapi.json", "swagger-ui"} == routes  # these two pages are not in the description


def test_figures_of_a_benchmark_replace_those_of_its_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "benchmarks"))
    record = import_module("record")
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    names = [path.stem for path in (ROOT / "tests" / "benchmarks").glob("bench_*.py")]
    assert len(names) > 10
    written = record.update(page, {name: f"figures of {name}" for name in names} | {"peers": record.peers("1.0")})
    assert all(f"<!-- {name} -->\nfigures of {name}\n<!-- end -->" in written for name in names)
    assert "| workerd | 1.0 |" in written
    monkeypatch.setattr(record, "_version", lambda _: "")
    assert "| dbos | 7.7 |" in record.peers("1.0", "| dbos | 7.7 | durable workflows |")
    assert record.update(page, {"bench_new": "1 ms"}).endswith(
        "## bench_new\n\n<!-- bench_new -->\n1 ms\n<!-- end -->\n"
    )


def test_every_notebook_of_the_documentation_has_a_link_to_binder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    links = import_module("binder_links")
    (tmp_path / "cookbook").mkdir()
    for name in ("00-primer.ipynb", "cookbook/approvals.ipynb"):
        (tmp_path / name).write_text((ROOT / "notebooks" / name).read_text(encoding="utf-8"), encoding="utf-8")
    links.add(tmp_path, "https://github.com/owner/name")
    cells = json.loads((tmp_path / "cookbook/approvals.ipynb").read_text(encoding="utf-8"))["cells"]
    assert (
        "mybinder.org/v2/gh/owner/name/HEAD?urlpath=lab/tree/notebooks/cookbook/approvals.ipynb)"
        in cells[1]["source"][0]
    )
    assert links.link("notebooks/a.ipynb", "https://git.example/x").endswith(
        "/git/https%3A%2F%2Fgit.example%2Fx/HEAD?urlpath=lab/tree/notebooks/a.ipynb)"
    )
    assert links.link("notebooks/a.ipynb", "") == "[Run this on Binder](../../binder.md)"


CITATION = re.compile(r"docs/service/([\w-]+)\.md(?:#([\w-]+))?")
OLD_CITATION = re.compile(
    r"(?i)\b(?:specification|reference facts),?(?: section)? (?:\d{1,2}(?:\.\d+)*|[GAD]\d+|appendix)\b"
)


def sources() -> list[Path]:
    folders = [ROOT / "svcnb", ROOT / "tests", ROOT / "docs", ROOT / "widgets" / "src"]
    found = [path for folder in folders for ending in ("*.py", "*.md", "*.ts") for path in folder.rglob(ending)]
    return [path for path in found if "generated" not in path.parts and path != Path(__file__).resolve()]


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#{1,3} (.*)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_every_citation_names_a_heading_of_the_pages_about_the_service() -> None:
    known = {page.stem: anchors(page) for page in (ROOT / "docs" / "service").glob("*.md")}
    cited = {(path, *found) for path in sources() for found in CITATION.findall(path.read_text(encoding="utf-8"))}
    assert len(cited) > 200
    wrong = [
        f"{path.relative_to(ROOT)}: {page}#{anchor}"
        for path, page, anchor in cited
        if page not in known or (anchor and anchor not in known[page])
    ]
    assert wrong == []


def test_no_text_cites_a_document_outside_of_this_repository() -> None:
    assert [
        f"{path.relative_to(ROOT)}: {found}"
        for path in sources()
        for found in OLD_CITATION.findall(path.read_text(encoding="utf-8"))
    ] == []


def test_every_page_is_linked_from_the_first(generate: ModuleType) -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    pages |= {f"service/{path.stem}" for path in (ROOT / "docs" / "service").glob("*.md")}
    assert {name for name in pages if f"\n{name}\n" not in index} == set()
    assert {name for name in generate.PAGES if f"\ngenerated/{name}\n" not in index} == set()
