"""`svcnb report` in a scheduler, which reads its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import svcnb
from svcnb.exit_codes import ExitCode
from svcnb.reports.kinds import catalogue
from svcnb.reports.notebooks import create_notebook
from svcnb.reports.pdf import chromium
from svcnb.reports.unattended import locked

pytestmark = [pytest.mark.chain, pytest.mark.engine, pytest.mark.slow]


ALWAYS = svcnb.Action("const main = () => { throw new Error('no') }", name="always")


@pytest.fixture
def report(place, tmp_path):
    """Function that runs `svcnb report` in an empty folder, with the settings of `place`."""

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


def test_the_exit_code_shows_problems(report, place, tmp_path) -> None:
    done = report("permission-audit", "--json", "--out", "audits", "--file", "today")
    assert done.returncode == ExitCode.ATTENTION, done.stderr
    told = json.loads(done.stdout)
    assert told["html"] == "audits/today.html"
    assert "the key can add actions to group 1 and run them there" in " ".join(told["attention"])
    html = (tmp_path / told["html"]).read_text(encoding="utf-8")
    assert "Permissions of each usage key in each group" in html
    assert html.count("data:image/svg+xml") == 2
    for secret in place.secrets:
        assert secret not in html + done.stdout + done.stderr + (tmp_path / told["notebook"]).read_text()


def test_a_report_without_problems_exits_with_0_and_prints_its_page(report, tmp_path) -> None:
    done = report("permission-audit", "-p", "attention=never")
    assert done.returncode == 0, done.stderr
    [page] = tmp_path.glob("permission-audit-*.html")
    assert done.stdout.strip() == page.name
    assert "No problems found." in done.stderr
    assert "WARNING" not in done.stderr


def test_a_report_takes_address_and_key_from_a_profile(report, place, tmp_path) -> None:
    settings = {name.removeprefix("SVC_").lower(): place.settings[name] for name in ("SVC_BASE_URL", "SVC_API_KEY")}
    config = tmp_path / "config.toml"
    config.write_text("[profiles.ops]\n" + "".join(f'{name} = "{value}"\n' for name, value in settings.items()))
    config.chmod(0o600)
    elsewhere = {"SVC_BASE_URL": "http://127.0.0.1:9", "SVC_API_KEY": "", "SVCNB_CONFIG": str(config)}
    done = report("permission-audit", "-p", "attention=never", "--profile", "ops", **elsewhere)
    assert done.returncode == 0, done.stderr


def test_the_error_for_a_failed_report_has_two_lines(report, tmp_path) -> None:
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
        (["spent"], "unknown report 'spent'"),
        (["spend", "-p", "budget=5"], "no parameter 'budget'"),
        (["spend", "-p", "budget_cents"], "does not have the format NAME=VALUE"),
        (["spend", "-p", "api_key=marked-secret"], "set secrets in the environment"),
    ],
)
def test_invalid_arguments_exit_with_2_before_the_run(report, tmp_path, arguments, said) -> None:
    done = report(*arguments)
    assert done.returncode == ExitCode.USAGE
    assert said in done.stderr
    assert "marked-secret" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_failing_action_exits_with_7_and_is_named(report, place, tmp_path) -> None:
    for _ in range(6):
        with pytest.raises(svcnb.ActionError):
            place.svc.run(ALWAYS)
    done = report("run-history", "--summary", "--pdf", "--file", "nightly", "--log-json")
    assert done.returncode == ExitCode.ATTENTION, done.stderr
    assert "- **failures of always: 6 of 6 runs failed (100.0 %; limit 20 %), since 20" in done.stdout
    assert "; newest error: no**" in done.stdout, "why it failed"
    assert f"Service: {place.settings['SVC_BASE_URL'].replace('_', chr(92) + '_')}" in done.stdout
    events = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert [events[0]["event"], events[-1]["event"], events[-1]["exit_code"]] == ["started", "finished", 7]
    assert len([each for each in events if each["event"] == "cell"]) == events[1]["cells"]
    assert (tmp_path / "nightly.pdf").exists() == (chromium() is not None)


@pytest.mark.parametrize("name", ["run-history", "spend", "permission-audit", "trigger-health"])
def test_missing_settings_exit_with_2_and_their_names(name, tmp_path) -> None:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "PYTHONPATH", "TMPDIR", "SYSTEMROOT"}}
    done = subprocess.run(
        [sys.executable, "-m", "svcnb", "report", name, "--out", "made"],
        cwd=tmp_path, env=kept | {"HOME": str(tmp_path)}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == ExitCode.USAGE
    assert ("SVC_TRIGGERS_TOKEN_FILE" if name == "trigger-health" else "SVC_BASE_URL") in done.stderr
    assert not (tmp_path / "made").exists()


def test_quiet_prints_only_problems(report, tmp_path) -> None:
    (tmp_path / "temporary").mkdir()
    service_user = {"HOME": "/nonexistent", "TMPDIR": str(tmp_path / "temporary")}
    calm = report("permission-audit", "-p", "attention=never", "--quiet", "--keep", "1", **service_user)
    assert (calm.returncode, calm.stdout, calm.stderr) == (0, "", "")
    assert list((tmp_path / "temporary").iterdir()) == []
    assert report("permission-audit", "-p", "attention=never", "--quiet", "--keep", "1").returncode == 0
    assert len(list(tmp_path.glob("permission-audit-*.html"))) == 1
    assert report("permission-audit", "--quiet", "--file", "bad").stdout.strip() == "bad.html"


def test_a_report_in_progress_in_another_process_exits_with_8(report, tmp_path) -> None:
    with locked(tmp_path / "out", "permission-audit"):
        done = report("permission-audit", "--out", "out")
    assert done.returncode == 8, done.stderr
    assert "another process is creating the report permission-audit" in done.stderr
    assert not list((tmp_path / "out").glob("*.html"))


def test_the_webhook_gets_the_result_and_the_reason_of_a_failure(report, hook) -> None:
    problem = report("permission-audit", "--file", "today", "--notify", f"{hook.url}/200")
    assert problem.returncode == ExitCode.ATTENTION, problem.stderr
    missing = report("permission-audit", "-p", "shown=none", "--notify", f"{hook.url}/200")
    assert missing.returncode == ExitCode.USAGE
    refused = report("permission-audit", "-p", "attention=never", "--quiet", "--notify", f"{hook.url}/500")
    assert refused.returncode == ExitCode.FAILED, "a calm report of which nobody was told"
    assert "responded to the notification with status 500" in refused.stderr
    assert [(each["status"], each["exit_code"]) for each in hook.got] == [("attention", 7), ("failed", 2), ("ok", 0)]
    assert hook.got[0]["html"] == "today.html"
    assert "the key can add actions to group 1" in hook.got[0]["text"]
    assert "invalid parameter shown = 'none'" in hook.got[1]["attention"][0]
    for done in (problem, missing, refused):
        assert "marked-secret" not in done.stdout + done.stderr


def test_a_notebook_of_the_user_can_be_a_report(report, tmp_path) -> None:
    assert report("new", "mine.ipynb").stdout.strip() == "mine.ipynb"
    assert "most_failed" in report("mine.ipynb", "--list").stdout
    done = report("mine.ipynb", "-p", "since=1d", "-p", "most_failed=4", "--out", "out", "--file", "mine")
    assert done.returncode == ExitCode.ATTENTION, done.stderr
    assert "at most 4 are allowed" in done.stderr
    html = (tmp_path / "out/mine.html").read_text(encoding="utf-8")
    assert "<title>My report · " in html
    assert "data:image/svg+xml" in html


def test_plain_papermill_runs_a_new_notebook(place, tmp_path) -> None:
    create_notebook(tmp_path / "mine.ipynb")
    command = [sys.executable, "-m", "papermill", "mine.ipynb", "plain.ipynb", "-p", "most_failed", "100"]
    environment = {**os.environ, **place.settings}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=300, capture_output=True)
    notebook = nbformat.read(tmp_path / "plain.ipynb", as_version=4)
    assert "No problems found." in notebook.cells[-1].outputs[0]["data"]["text/plain"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", catalogue, ids=lambda kind: kind.name)
def test_plain_papermill_runs_every_report(kind, place, tmp_path) -> None:
    command = [sys.executable, "-m", "papermill", str(kind.template), "plain.ipynb"]
    environment = {**os.environ, **place.settings}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=300, capture_output=True)
    notebook = nbformat.read(tmp_path / "plain.ipynb", as_version=4)
    assert notebook.cells[-1].outputs, "the summary"


def test_a_failed_cell_of_a_users_notebook_is_saved_without_secrets(report, place, tmp_path) -> None:
    cells = [
        new_markdown_cell("# Mine"),
        new_code_cell("import os, helper\nprint(os.environ['SVC_API_KEY'], os.environ['MY_PASSWORD'], 'A' * 43 + '=')"),
        new_markdown_cell("## The broken part"),
        new_code_cell("raise ValueError(os.environ['SVC_API_KEY'])"),
    ]
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/helper.py").touch()  # in the folder of the notebook, as in Jupyter
    nbformat.write(new_notebook(cells=cells), tmp_path / "notebooks/mine.ipynb")
    done = report("notebooks/mine.ipynb", "--file", "mine", MY_PASSWORD="marked-password")
    assert done.returncode == ExitCode.FAILED
    assert "the report mine failed in cell 2 (The broken part): ValueError: ********" in done.stderr
    told = done.stdout + done.stderr + (tmp_path / "mine.html").read_text() + (tmp_path / "mine.ipynb").read_text()
    assert "This report failed in" in told
    for secret in (*place.secrets, "marked-password", "A" * 43):
        assert secret not in told


def test_a_missing_setting_of_a_users_notebook_exits_with_2(tmp_path) -> None:
    report = [sys.executable, "-m", "svcnb", "report"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")} | {"HOME": str(tmp_path)}
    subprocess.run([*report, "new", "mine.ipynb"], cwd=tmp_path, env=kept, check=True, timeout=300, capture_output=True)
    done = subprocess.run(
        [*report, "mine.ipynb"], cwd=tmp_path, env=kept, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == ExitCode.USAGE
    assert "the service address is not set" in done.stderr
    assert "SVC_BASE_URL" in done.stderr


def test_the_list_shows_every_report_with_its_parameters(report) -> None:
    shown = report("--list").stdout
    for word in ("run-history", "spend", "permission-audit", "trigger-health", "budget_cents", "[not set]"):
        assert word in shown
    assert json.loads(report("--list", "--json").stdout)[0]["name"] == "run-history"
