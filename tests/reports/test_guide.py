"""The guide to reports and its examples."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from svcnb import reports
from svcnb.exit_codes import ExitCode
from tests.process_groups import run_shell


def guide(heading: str) -> list[str]:
    """Returns the code blocks below a heading of the guide."""
    text = (Path(__file__).parents[2] / "docs/reports.md").read_text(encoding="utf-8")
    below = text.partition(f"### {heading}\n")[2].partition("\n### ")[0]
    return re.findall(r"^```\w*\n(.*?)^```$", below, re.DOTALL | re.MULTILINE)


def scheduled(scheduler: str) -> str:
    """Returns the guide's command for a scheduler."""
    blocks = guide(scheduler)
    if scheduler == "cron":
        return blocks[0].splitlines()[1].split(maxsplit=5)[5]
    if scheduler == "systemd":
        return re.search(r"^ExecStart=(.*)$", blocks[0], re.MULTILINE)[1].replace("%d", "/etc/svcnb")  # type: ignore[index]
    return next(line for line in blocks[0].splitlines() if "svcnb report" in line).partition("run: ")[2]


@pytest.mark.chain
@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["cron", "systemd", "GitHub Actions"])
def test_the_command_that_the_guide_gives_to_a_scheduler_works_in_a_small_environment(
    place, tmp_path, scheduler
) -> None:
    command = scheduled(scheduler).replace("/opt/svcnb/bin/", "").replace("svcnb", f"{sys.executable} -m svcnb", 1)
    for there, here in (("/etc/svcnb/key", "key"), ("/srv/reports", "out")):
        command = command.replace(there, str(tmp_path / here))
    (tmp_path / "key").write_text(place.settings["SVC_API_KEY"] + "\n")
    kept = {name: value for name, value in os.environ.items() if name in {"PYTHONPATH", "TMPDIR"}}
    environment = kept | {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "LOGNAME": "me"}
    if scheduler == "GitHub Actions":
        environment |= {"GITHUB_STEP_SUMMARY": "summary.md", "SVC_API_KEY": place.settings["SVC_API_KEY"]}
    address = {"SVC_BASE_URL": place.settings["SVC_BASE_URL"]}
    for settings, code in (({}, ExitCode.USAGE), (address, ExitCode.OK)):
        done = run_shell(command, timeout=300, cwd=tmp_path, env=environment | settings)
        assert done.returncode == code, done.stderr
        assert ("SVC_BASE_URL" in done.stderr) == (code != ExitCode.OK)
    assert list((tmp_path / "out").glob("spend-*.html"))
    if scheduler == "GitHub Actions":
        assert (tmp_path / "summary.md").read_text().startswith("## spend: no problems found")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_the_units_of_the_guide(tmp_path) -> None:
    for name, unit in zip(("svcnb-spend.service", "svcnb-spend.timer"), guide("systemd"), strict=True):
        (tmp_path / name).write_text(unit.replace("/opt/svcnb/bin/svcnb", sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, sorted(tmp_path.glob("svcnb-spend.*")))],
        env={**os.environ, "SYSTEMD_LOG_LEVEL": "warning"}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert not [line for line in done.stderr.splitlines() if "svcnb-spend" in line], done.stderr


def test_every_documented_report_exists_and_takes_the_documented_parameters() -> None:
    root = Path(__file__).parents[2]
    texts = [path.read_text(encoding="utf-8") for path in (*root.glob("docs/**/*.md"), *root.glob("docs/**/*.yml"))]
    found = [
        line for text in [*texts, (root / "README.md").read_text()] for line in re.findall("svcnb report (.*)", text)
    ]
    names = {kind.name: kind for kind in reports.catalogue}
    asked = [
        (words[0], line) for line in found if (words := line.split()) and re.fullmatch("[a-z]+(-[a-z]+)*", words[0])
    ]
    assert len(asked) > len(names)
    for name, line in asked:
        if name != "new":
            names[name].checked(dict(re.findall(r"-p (\w+)=([^\s`]+)", line)))
