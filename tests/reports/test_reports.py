"""Every report runs with the emulator, shows correct data, and contains no secrets."""

from __future__ import annotations

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from typing import Any

import nbformat
import papermill
import pytest

import svcnb
from svcnb import ConfigError, InvalidType, reports
from svcnb.reports import ReportFailed
from svcnb.reports.conclusion import MIME
from svcnb.toolkit.history import History

pytestmark = [pytest.mark.chain, pytest.mark.engine, pytest.mark.slow]

KINDS = {kind.name: kind for kind in reports.catalogue}
# Settings with which each report finds a problem in the account of `place`, and the expected text of its page.
CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "run-history": (
        {"max_failed_percent": "49"},
        ["odd&lt;script&gt;: 5 of 10 runs failed (50.0 %; limit 49 %)", "odd &lt;b&gt;1", "Runs per", "account key"],
    ),
    "spend": (
        {"budget_cents": 4, "min_days_left": 2},
        [
            "the spend within 30d is {spent}, but the budget is $0.04",
            "{credit}",
            "records cover less than a day",
            "add_usage_api_key",
        ],
    ),
    "permission-audit": (
        {"since": "1d"},
        [
            "the key can add actions to group 1 and run them there",
            "in API mode, admin 0x",
            "which can execute in group 1",
            "Changes of an account per",
        ],
    ),
    "trigger-health": ({}, ["hook is failing", "Error: thrown", "nightly"]),
}


class Page(HTMLParser):
    """Parser that collects the resources that a page loads, and counts the images."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        wanted = {"src", "data", "action"} | ({"href"} if tag in {"link", "base"} else set())
        self.loaded += [str(value) for name, value in attrs if name in wanted]


@pytest.mark.parametrize("name", CASES)
def test_a_report_runs_and_shows_problems(name, place) -> None:
    given, said = CASES[name]
    made = reports.run(name, given, out=place.out / "made", file=name, settings=place.settings)
    assert made.attention
    assert (made.html.name, made.notebook.name) == (f"{name}.html", f"{name}.ipynb")
    html = made.html.read_text(encoding="utf-8")
    history = History(place.settings["SVC_HISTORY"])
    fees = sum(each.cents for each in history.ledger(service=place.settings["SVC_BASE_URL"]) if each.kind == "fee")
    money = {
        "spent": reports.dollars(history.total_cents(service=place.settings["SVC_BASE_URL"]) + fees),
        "credit": reports.dollars(place.svc.billing.balance().available_cents),
    }
    for text in said:
        assert text.format(**money) in html
    page = Page(html)
    assert page.loaded
    assert all(each.startswith("data:image/svg+xml;base64,") for each in page.loaded), "pictures, and nothing else"
    assert "script" not in page.tags
    for fact in ("<dt>Account</dt>", "<dt>Service</dt>", "<dt>Period</dt>", "<dt>Time zone</dt>", svcnb.__version__):
        assert html.index(fact) < html.index("<h2"), "the header stands on top"
    assert re.search(rf"<title>{KINDS[name].title} · \S+ · http\S+ · \d{{4}}-.* to ", html)
    assert html.index("svcnb-attention") < html.index("<h2"), "what it comes to stands on top"
    stored = made.notebook.read_text(encoding="utf-8")
    nbformat.validate(json.loads(stored))
    for secret in place.secrets:
        assert secret not in html + stored
    assert not re.search(r"/(?:tmp|home|root|usr)/", stored), "nothing says where it ran"


# --- failures -------------------------------------------------------------------------------------------------------


def test_a_failed_report_is_saved_and_points_at_its_cell(place) -> None:
    settings = {**place.settings, "SVC_API_KEY": "bm9ib2R5IGtub3dzIHRoaXMga2V5IG9mIDMyIGJ5dGVzIQ=="}
    with pytest.raises(ReportFailed, match=r"permission-audit failed in cell 3 .*Unauthorized") as caught:
        reports.run("permission-audit", out=place.out, file="failed", settings=settings)
    failed = caught.value
    assert (failed.cell, failed.error) == (3, "Unauthorized")
    assert str(failed.html) in failed.hint
    html = failed.html.read_text(encoding="utf-8")
    assert 'This report failed in <a href="#failed-cell">cell 3</a>' in html
    assert html.index('id="failed-cell"') < html.index("read_permissions(account)")
    assert settings["SVC_API_KEY"] not in html + failed.notebook.read_text(encoding="utf-8")


def test_an_endless_cell_is_stopped_and_reported(place, template) -> None:
    template("import time\ntime.sleep(600)")
    with pytest.raises(ReportFailed, match="in cell 3") as caught:
        reports.run("permission-audit", out=place.out, file="slow", settings=place.settings, cell_timeout=20)
    assert caught.value.error == "CellTimeoutError"
    assert caught.value.notebook.exists()


def test_a_crashed_kernel_is_reported_with_its_output_but_no_secret(place, template) -> None:
    template(
        "import os, sys\n"
        "print('libc: no memory for', os.environ['SVC_API_KEY'], file=sys.__stderr__, flush=True)\n"
        "os._exit(1)"
    )
    with pytest.raises(ReportFailed, match=r"failed in cell 3 \(.*last output: libc: no memory for \*{8}") as caught:
        reports.run("permission-audit", out=place.out, file="died", settings=place.settings)
    assert caught.value.error == "DeadKernelError"
    assert "memory runs out" in caught.value.hint
    assert place.secrets[0] not in f"{caught.value}{caught.value.html.read_text()}{caught.value.notebook.read_text()}"


def test_a_kernel_that_does_not_start_is_reported_with_its_output(place, tmp_path) -> None:
    (tmp_path / "ipykernel_launcher.py").write_text("raise SystemExit('libzmq.so.5 is missing')")
    settings = {**place.settings, "PYTHONPATH": str(tmp_path)}
    with pytest.raises(ReportFailed, match=r"failed before its first cell: .*libzmq\.so\.5 is missing") as caught:
        reports.run("permission-audit", out=place.out, file="unborn", settings=settings)
    assert (caught.value.cell, caught.value.error) == (0, "KernelDidNotStart")
    assert "This report failed before its first cell and is incomplete." in caught.value.html.read_text()


def test_a_secret_that_a_cell_prints_never_reaches_a_file(place, template) -> None:
    template("import os\nprint(os.environ['SVC_API_KEY'])\nraise ValueError(os.environ['SVC_API_KEY'])")
    with pytest.raises(ReportFailed) as caught:
        reports.run("permission-audit", out=place.out, file="leak", settings=place.settings)
    told = f"{caught.value}{caught.value.html.read_text()}{caught.value.notebook.read_text()}"
    assert place.secrets[0] not in told
    assert "********" in told


def test_a_secret_in_a_parameter_never_reaches_a_file(place, tmp_path) -> None:
    mine = tmp_path / "mine.ipynb"
    cell = {"cell_type": "code", "source": "text = ''", "metadata": {"tags": ["parameters"]}, "outputs": []}
    mine.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    made = reports.run(str(mine), {"text": place.secrets[0]}, out=place.out, settings=place.settings)
    assert place.secrets[0] not in made.notebook.read_text()
    assert "********" in made.notebook.read_text()


def test_a_token_file_that_is_not_text_is_a_clear_error(place, tmp_path) -> None:
    file = tmp_path / "token"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        reports.run("trigger-health", settings={**place.settings, "SVC_TRIGGERS_TOKEN_FILE": str(file)})


def test_an_executor_runs_many_reports_with_separate_settings(place, template) -> None:
    settings = {**place.settings, "SVC_MARK": "here"}
    template("import os\nfrom svcnb import reports\nreports.conclude([], [os.environ['SVC_MARK']])")
    with ThreadPoolExecutor(2) as pool:
        asked: list[str | tuple[str, dict[str, str]]] = [
            ("permission-audit", {"attention": "never"}),
            "permission-audit",
        ]
        made = reports.run_many(asked, executor=pool, out=place.out / "many", settings=settings)
        with pytest.raises(reports.UnknownReport):
            reports.run_many(["permission-audit", "spent"], executor=pool)
        wrong: list[Any] = [3, ("spend",), ("spend", 3), (3, {}), ("spend", {}, {})]
        for each in wrong:
            with pytest.raises(InvalidType, match="invalid report"):
                reports.run_many([each], executor=pool)
    assert [each.conclusion.also for each in made if isinstance(each, reports.Report)] == [("here",), ("here",)]
    assert "SVC_MARK" not in os.environ
    assert len({each.html for each in made}) == 2


@pytest.fixture
def template(monkeypatch, tmp_path):
    """Replaces a report with a notebook that has one given cell."""

    def make(source: str) -> None:
        notebook = nbformat.read(KINDS["permission-audit"].template, as_version=4)
        notebook.cells = [*notebook.cells[:2], nbformat.v4.new_code_cell(source)]
        nbformat.write(notebook, tmp_path / "permission-audit.ipynb")
        monkeypatch.setattr("svcnb.reports.kinds.TEMPLATES", tmp_path)

    return make


# --- templates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", reports.catalogue, ids=lambda kind: kind.name)
def test_the_parameter_cell_contains_the_checked_names_and_defaults(kind) -> None:
    cell = papermill.inspect_notebook(kind.template)
    fields = kind.parameters.model_fields
    assert {name: eval(told["default"]) for name, told in cell.items()} == {  # noqa: S307 - our own literals
        name: field.default for name, field in fields.items()
    }
    assert all(field.description for field in fields.values())


@pytest.mark.parametrize("kind", reports.catalogue, ids=lambda kind: kind.name)
def test_a_template_is_stored_without_outputs_and_concludes_in_its_last_cell(kind) -> None:
    notebook = nbformat.read(kind.template, as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].source.startswith(f"# {kind.title}\n")
    assert not [cell for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")]
    assert "reports.conclude(" in notebook.cells[-1].source


def test_a_conclusion_escapes_what_it_repeats() -> None:
    shown = reports.conclude(["<img src=x>"], ["a & b"])._repr_mimebundle_()
    assert "<img" not in shown["text/html"]
    assert shown[MIME] == {"attention": ["<img src=x>"], "also": ["a & b"]}
