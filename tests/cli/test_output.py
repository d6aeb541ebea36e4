"""Output formats: tables with headers, JSON, CSV and identifiers, and colours only on a terminal."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from svcnb.cli._output import output_options, show
from svcnb.launch import Emulator

ENTRIES = [
    {"id": "1", "name": "short", "groups": [1, 2], "on": True},
    {"id": "22", "name": "=a longer name", "groups": [], "on": False},
]


@pytest.fixture
def run():
    @click.command
    @output_options
    def command(*, as_json: bool) -> None:
        show(ENTRIES, as_json=as_json)

    return lambda *arguments, **options: CliRunner().invoke(command, arguments, **options)


def test_a_table_has_a_header_and_aligned_columns(run) -> None:
    header, *lines = run().stdout.splitlines()
    assert header.split() == ["ID", "NAME", "GROUPS", "ON"]
    assert {line.index("[") for line in lines} == {header.index("GROUPS")}


def test_both_options_for_json_print_one_document(run) -> None:
    assert json.loads(run("--json").stdout) == json.loads(run("--output", "json").stdout) == ENTRIES


def test_csv_has_the_members_of_the_json_and_no_formulas(run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("--output", "csv").stdout)))
    assert rows == [
        {"id": "1", "name": "short", "groups": "[1, 2]", "on": "true"},
        {"id": "22", "name": "'=a longer name", "groups": "[]", "on": "false"},
    ]


def test_the_csv_of_an_empty_list_has_the_header(svcnb, emulator: Emulator, tmp_path: Path) -> None:
    environment = {"SVC_BASE_URL": emulator.base_url, "SVC_HISTORY": str(tmp_path / "history.sqlite")}
    environment["SVC_API_KEY"] = emulator.client().accounts.create("empty").api_key.reveal()
    for command in ("groups list", "keys list", "actions list", "history list", "history spend"):
        done = svcnb(*command.split(), "--output", "csv", **environment)
        assert done.returncode == 0, done.stderr
        [header] = done.stdout.splitlines()
        assert header.count(",") > 1


def test_quiet_prints_only_identifiers_and_excludes_other_formats(run) -> None:
    assert run("--quiet").stdout == "1\n22\n"
    refused = run("--quiet", "--json")
    assert refused.exit_code == 2
    assert "--quiet and --output json are mutually exclusive" in refused.stderr


def test_colours_appear_only_on_a_terminal_without_no_color(run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in run(color=True).stdout
    monkeypatch.setattr("svcnb.cli._output._is_terminal", lambda: True)
    assert "\x1b[1m" in run(color=True).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run(color=True).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_of_each_shell_calls_this_program(svcnb, shell: str) -> None:
    done = svcnb("completion", shell)
    assert done.returncode == 0, done.stderr
    assert f"_SVCNB_COMPLETE={shell}_complete" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_new_shell_loads_the_script_without_an_error(svcnb, shell: str, tmp_path: Path) -> None:
    if (program := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(svcnb("completion", shell).stdout)
    # Options that ignore the configuration of the machine and of the user.
    options = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [program, *options, "-i", "-c", f". '{script}'"],
        env=os.environ | {"HOME": str(tmp_path), "ZDOTDIR": str(tmp_path), "TERM": "dumb"},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "svcnb" not in done.stderr
    assert "not found" not in done.stderr


def test_completion_offers_commands_and_choices(svcnb_process) -> None:
    offered = svcnb_process(_SVCNB_COMPLETE="bash_complete", COMP_WORDS="svcnb gro", COMP_CWORD="1").stdout
    assert offered == "plain,groups\n"
    offered = svcnb_process(
        _SVCNB_COMPLETE="bash_complete", COMP_WORDS="svcnb groups list --output ", COMP_CWORD="4"
    ).stdout.split()
    assert offered == ["plain,table", "plain,json", "plain,csv"]
