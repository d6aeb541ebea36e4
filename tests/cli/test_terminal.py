"""Names, logs and responses from other users cannot control the terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from svcnb.launch import Emulator

pytestmark = [pytest.mark.chain, pytest.mark.engine]

HOSTILE = "a\x1b]0;owned\x07b\rc\x9b31m\u202ed\u2066e\x7f\u2028f"
UNSAFE = set(HOSTILE) - set("abcdef]0;owned31m")


@pytest.fixture
def command(svcnb, emulator: Emulator):
    made = json.loads(svcnb("account", "create", "cli", "--json", SVC_BASE_URL=emulator.base_url).stdout)
    environment = {"SVC_BASE_URL": emulator.base_url, "SVC_API_KEY": made["api_key"]}
    return lambda *arguments: svcnb(*arguments, **environment)


def test_names_in_lists_are_shown_without_control_characters(command) -> None:
    assert command("groups", "create", HOSTILE).returncode == 0
    shown = command("groups", "list")
    assert "]0;owned" in shown.stdout
    assert not UNSAFE & set(shown.stdout + shown.stderr)


def test_json_keeps_the_name_and_escapes_it(command) -> None:
    command("groups", "create", HOSTILE)
    shown = command("groups", "list", "--json")
    assert json.loads(shown.stdout)[0]["name"] == HOSTILE
    assert not UNSAFE & set(shown.stdout)


def test_logs_responses_and_errors_are_shown_without_control_characters(command, tmp_path) -> None:
    text = json.dumps(HOSTILE)
    file = tmp_path / "action.js"
    for source in (
        f"const main = () => {{ console.log({text}); return {text} }}",
        f"const main = () => ({{ [{text}]: [{text}] }})",
        f"const main = () => {{ throw new Error({text}) }}",
    ):
        file.write_text(source)
        shown = command("run", str(file))
        assert "owned" in shown.stdout + shown.stderr
        assert not UNSAFE & set(shown.stdout + shown.stderr)


def test_a_name_with_line_breaks_adds_no_lines_to_a_table(command) -> None:
    command("groups", "create", "one\n2  admins")
    assert len(command("groups", "list").stdout.splitlines()) == 2  # header and group


@pytest.mark.parametrize("arguments", [["no-such\x1b[2J"], ["cid", "no-such\x1b[2J.js"], ["run", "--par\u202e"]])
def test_errors_about_arguments_are_shown_without_control_characters(svcnb, arguments) -> None:
    shown = svcnb(*arguments)
    assert shown.returncode != 0
    assert not {"\x1b", "\u202e"} & set(shown.stdout + shown.stderr)


def test_a_traceback_is_shown_without_control_characters() -> None:
    code = (
        "import svcnb.cli._root as root\n"
        "def fail(given): raise RuntimeError('\\x1b[2J')\n"
        "root.run = fail\n"
        "from svcnb.cli import main\nmain(['doctor'])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "RuntimeError: \ufffd[2J" in shown.stderr
    assert "\x1b" not in shown.stderr


@pytest.mark.skipif(os.name != "posix", reason="the test uses a POSIX shell")
@pytest.mark.parametrize(
    ("closed", "code", "told"), [(">&-", 2, "standard output is closed"), ("2>&-", 0, ""), ("<&-", 0, "")]
)
def test_a_closed_stream_causes_no_traceback(closed: str, code: int, told: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m svcnb cid - {closed}', sys.executable],
        input="const main = () => 1",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert told in done.stderr
