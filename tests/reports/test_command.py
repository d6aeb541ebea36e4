"""`svcnb report`, as a scheduler runs it: by exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from svcnb.exit_codes import ExitCode

pytestmark = [pytest.mark.chain, pytest.mark.engine, pytest.mark.slow]


@pytest.fixture
def report(place, tmp_path):
    """`svcnb report` in an empty folder, with the settings of `place`."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "svcnb", "report", *arguments],
            cwd=tmp_path,
            env={**os.environ, **place.settings, **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def test_what_wants_attention_is_told_by_the_exit_code(report, place, tmp_path) -> None:
    done = report("permission-audit", "--json", "--out", "audits", "--file", "today")
    assert done.returncode == ExitCode.ATTENTION, done.stderr
    told = json.loads(done.stdout)
    assert told["html"] == "audits/today.html"
    assert "it may add actions to group 1 and run them there" in " ".join(told["attention"])
    html = (tmp_path / told["html"]).read_text(encoding="utf-8")
    assert "What each usage key may do in each group" in html
    assert html.count("data:image/svg+xml") == 1
    for secret in place.secrets:
        assert secret not in html + done.stdout + done.stderr + (tmp_path / told["notebook"]).read_text()


def test_a_calm_report_ends_with_zero_and_names_its_page(report, tmp_path) -> None:
    done = report("permission-audit", "-p", "attention=never")
    assert done.returncode == 0, done.stderr
    [page] = tmp_path.glob("permission-audit-*.html")
    assert done.stdout.strip() == page.name
    assert "No problems found." in done.stderr
    assert "WARNING" not in done.stderr


def test_a_failed_report_is_told_in_two_lines(report, tmp_path) -> None:
    key = tmp_path / "key"
    key.write_text("bm9ib2R5IGtub3dzIHRoaXMga2V5IG9mIDMyIGJ5dGVzIQ==\n")
    done = report("permission-audit", "--key-file", "key", "--file", "failed")
    assert done.returncode == ExitCode.FAILED
    assert done.stderr.count("\n") == 2, done.stderr
    first, second = done.stderr.splitlines()
    assert first.startswith("Error: the report permission-audit failed in cell 3 ")
    assert second.startswith("Next step: ")
    assert second.endswith("failed.html")
    assert (tmp_path / "failed.ipynb").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["spent"], "no report 'spent'"),
        (["spend", "-p", "budget=5"], "no parameter 'budget'"),
        (["spend", "-p", "budget_cents"], "has no value: write NAME=VALUE"),
        (["spend", "-p", "api_key=marked-secret"], "secrets come from the environment"),
    ],
)
def test_what_cannot_be_used_ends_with_two_before_anything_runs(report, tmp_path, arguments, said) -> None:
    done = report(*arguments)
    assert done.returncode == ExitCode.USAGE
    assert said in done.stderr
    assert "marked-secret" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_list_shows_every_report_with_its_parameters(report) -> None:
    shown = report("--list").stdout
    for word in ("run-history", "spend", "permission-audit", "trigger-health", "budget_cents", "[not set]"):
        assert word in shown
    assert json.loads(report("--list", "--json").stdout)[0]["name"] == "run-history"
