"""Commands of the toolkit."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from svcnb.exit_codes import ExitCode
from svcnb.launch import Emulator

SOURCE = "async function main({ n }) { return n + 1; }"
DESCRIPTION = """
[actions.add]
file = "add.js"
[groups.sums]
actions = ["add"]
[keys.runner]
execute_in_groups = ["sums"]
"""


@pytest.fixture
def master(svcnb, emulator: Emulator) -> Callable[..., object]:
    """Function that runs `svcnb` with the key of a new account."""
    made = json.loads(svcnb("account", "create", "cli", "--json", SVC_BASE_URL=emulator.base_url).stdout)
    return lambda *arguments, **environment: svcnb(
        *arguments, **{"SVC_BASE_URL": emulator.base_url, "SVC_API_KEY": made["api_key"]} | environment
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "add.js").write_text(SOURCE)
    (tmp_path / "account.toml").write_text(DESCRIPTION)
    return tmp_path


@pytest.mark.chain
@pytest.mark.engine
def test_plan_and_apply_create_a_usable_account(master, folder: Path) -> None:
    file, secrets = str(folder / "account.toml"), folder / "keys.json"
    assert master("plan", file, "--check").returncode == ExitCode.FAILED
    assert json.loads(master("plan", file, "--json").stdout)["cents"] == 3
    unwilling = master("apply", file, "--secrets", str(secrets), stdin="n\n")
    assert unwilling.returncode == ExitCode.INTERRUPTED
    assert not secrets.exists()
    nowhere = master("apply", file, "--yes")
    assert nowhere.returncode == ExitCode.USAGE
    assert "each secret only once" in nowhere.stderr
    done = master("apply", file, "--yes", "--secrets", str(secrets))
    assert done.stdout.endswith("Completed steps: 3.\n")
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    again = master("plan", file, "--check")
    assert (again.returncode, again.stdout) == (0, "no changes needed: the account matches the description\n")
    key = json.loads(secrets.read_text())["runner"]
    ran = master("run", str(folder / "add.js"), "--params", '{"n": 41}', SVC_API_KEY=key)
    assert ran.stdout == "42\n"


@pytest.mark.chain
@pytest.mark.engine
def test_explain_shows_the_missing_link_and_exits_with_code_1(master, folder: Path) -> None:
    made = json.loads(master("keys", "create", "runner", "--json").stdout)
    refused = master("explain", str(folder / "add.js"), "--key-hash", made["api_key_hash"])
    assert refused.returncode == ExitCode.FAILED
    assert refused.stdout.startswith("refused: the key cannot execute in any group\n")
    assert json.loads(master("explain", SOURCE, "--json").stdout)["allowed"] is True


@pytest.mark.chain
@pytest.mark.engine
def test_history_lists_runs_and_adds_up_their_cost(master, folder: Path) -> None:
    kept = str(folder / "history.sqlite")
    for number in range(2):
        master("run", str(folder / "add.js"), "--params", f'{{"n": {number}}}', SVC_HISTORY=kept)
    listed = json.loads(master("history", "list", "--json", SVC_HISTORY=kept).stdout)
    assert [run["params"] for run in listed] == [{"n": 1}, {"n": 0}]
    spent = json.loads(master("history", "spend", "--by", "day", "--json", SVC_HISTORY=kept).stdout)
    assert [(row["runs"], row["cost_cents"]) for row in spent] == [(2, 2)]
    assert master("history", "clear", "--yes", SVC_HISTORY=kept).stdout == "Deleted runs: 2.\n"
    assert master("history", "path", SVC_HISTORY=kept).stdout == f"{kept}\n"
    assert "the run history is disabled" in master("history", "list", SVC_HISTORY="off").stderr


@pytest.mark.slow
@pytest.mark.chain
def test_doctor_compares_a_live_service(svcnb, emulator: Emulator) -> None:
    done = svcnb("doctor", "--live", emulator.base_url)
    assert done.returncode == 0
    assert re.search(r"^Differences that break calls: 0\. Other differences: \d\.$", done.stdout, re.MULTILINE)
    assert svcnb("doctor", "--live", "http://127.0.0.1:1").returncode == ExitCode.UNREACHABLE


def test_lint_shows_the_position_and_exits_with_code_1_for_an_error(svcnb, folder: Path) -> None:
    good, bad = folder / "add.js", folder / "bad.js"
    bad.write_text("const run = () => 1;\n")
    assert (svcnb("lint", str(good)).returncode, svcnb("lint", str(good)).stdout) == (0, "")
    done = svcnb("lint", str(good), str(bad))
    assert done.returncode == ExitCode.FAILED
    assert done.stdout.startswith(f"{bad}:1:1: error main_missing")
    found = json.loads(svcnb("lint", str(bad), "--json").stdout)
    assert found[0]["findings"][0]["code"] == "main_missing"


def test_types_can_be_written_repeatedly(svcnb, folder: Path) -> None:
    svcnb("types", str(folder))
    assert "getPrivateKey(" in (folder / "action.d.ts").read_text()
    (folder / "jsconfig.json").write_text("{}")
    svcnb("types", str(folder), "--service-name", "acme")
    assert "getAcmeActionPrivateKey(" in (folder / "action.d.ts").read_text()
    assert (folder / "jsconfig.json").read_text() == "{}"
    assert svcnb("types").stdout.startswith("// Declarations")


def test_templates_are_released_listed_and_checked(svcnb, folder: Path) -> None:
    registry = str(folder / "templates.json")
    cid = svcnb("templates", "release", registry, "add", "add.js").stdout.strip()
    assert cid == svcnb("cid", str(folder / "add.js")).stdout.strip()
    assert svcnb("templates", "check", registry).stdout == (
        "All templates (1) and derived actions (0) are unchanged since their release.\n"
    )
    assert json.loads(svcnb("templates", "list", registry, "--json").stdout) == []
    (folder / "add.js").write_text(SOURCE + "\n")
    changed = svcnb("templates", "check", registry)
    assert changed.returncode == ExitCode.FAILED
    assert "was released with the CID" in changed.stdout
