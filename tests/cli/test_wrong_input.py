"""Errors of commands for values out of range, ports in use, wrong wallet keys and missing servers."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from svcnb.client.signing import LocalSigner
from svcnb.exit_codes import ExitCode
from svcnb.launch import Emulator

pytestmark = [pytest.mark.chain, pytest.mark.engine]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Current folder with a wallet key and a source file, without settings of the current user."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("SVC_BASE_URL", "SVC_API_KEY", "SVC_TRIGGERS_URL"):
        monkeypatch.delenv(name, raising=False)
    Path("owner.key").write_text(LocalSigner.random().reveal())
    Path("action.js").write_text("const main = () => 1;")
    Path("token").write_text("t" * 40)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("lab --port 99999", "99999 is not in the range 0<=x<=65535"),
        ("lab --port -1", "-1 is not in the range 0<=x<=65535"),
        ("workshop start ada --port 99999", "99999 is not in the range 0<=x<=65535"),
        ("workshop start ada --host nosuch.invalid", "cannot listen on host 'nosuch.invalid'"),
        ("workshop start ada --credit -1", "-1 is not in the range"),
        ("workshop start ada --url nonsense", "invalid --url 'nonsense'"),
        ("workshop start ada --idle-minutes nan", "'nan' is not a finite number"),
        ("workshop rehearse --pause inf", "'inf' is not a finite number"),
        ("workshop fault chain --times 0", "0 is not in the range x>=1"),
        ("run action.js --until-effective nan --base-url http://127.0.0.1:9", "'nan' is not a finite number"),
        ("run action.js --params @ --base-url http://127.0.0.1:9", "'' cannot be read"),
        ("sign create-wallet --wallet-key-file owner.key --chain-id -1 --issued-at 1", "-1 is not in the range"),
        ("sign create-wallet --wallet-key-file owner.key --chain-id 1 --issued-at -1", "-1 is not in the range"),
        ("triggers authorize new.token --timeout -1", "-1.0 is not in the range x>=0"),
        ("triggers list --token-file token --triggers-url nonsense", "invalid triggers_url 'nonsense'"),
        ("triggers list --token-file token", "Pass --triggers-url URL, or set SVC_TRIGGERS_URL"),
        ("emulator stop --url http://127.0.0.1:80x", "invalid --url 'http://127.0.0.1:80x'"),
        ("emulator fault chain --status 42", "42 is not in the range 400<=x<=599"),
        ("emulator fault --times 2", "PART is missing"),
        ("emulator fault chain --times 2 --until-cleared", "mutually exclusive"),
        ("emulator snapshot list other", "omit 'other'"),
    ],
)
def test_a_value_out_of_range_is_a_usage_error(svcnb, emulator: Emulator, line: str, told: str) -> None:
    connected = () if "--url" in line or not line.startswith("emulator") else ("--url", emulator.base_url)
    done = svcnb(*shlex.split(line), *connected)
    assert (done.returncode, told in done.stderr) == (ExitCode.USAGE, True), done.stderr


@pytest.mark.parametrize("command", ["lab --no-browser --folder lessons", "workshop start ada"])
def test_a_port_in_use_is_reported_before_the_start(svcnb, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = svcnb(*shlex.split(command), "--port", str(port))
    assert done.returncode == ExitCode.PORT_IN_USE, done.stderr
    assert f"port {port} on 127.0.0.1 is already in use" in done.stderr


@pytest.mark.parametrize("stopped", [True, False])
def test_without_a_running_workshop_the_error_contains_the_folder(svcnb, tmp_path: Path, *, stopped: bool) -> None:
    if stopped:
        (tmp_path / "server.json").write_text('{"url": "http://127.0.0.1:9", "token": "t"}')
    done = svcnb("workshop", "board", "--folder", str(tmp_path))
    assert done.returncode == ExitCode.UNREACHABLE
    assert f"no workshop is running in the folder {tmp_path}\nNext step: Start one: `svcnb workshop" in done.stderr


def test_a_damaged_file_of_a_workshop_is_named(svcnb, tmp_path: Path) -> None:
    (tmp_path / "server.json").write_text("{")
    done = svcnb("workshop", "board", "--folder", str(tmp_path))
    assert done.returncode == ExitCode.FAILED
    assert f"{tmp_path / 'server.json'} is not valid JSON" in done.stderr


def test_triggers_need_only_the_address_of_the_triggers_service(svcnb, emulator: Emulator) -> None:
    with emulator.triggers("alone") as client:
        Path("approved").write_text(client.token.reveal())
    done = svcnb("triggers", "list", "--token-file", "approved", SVC_TRIGGERS_URL=emulator.triggers_url)
    assert done.returncode == ExitCode.OK, done.stderr


def test_the_confirmation_of_a_conversion_contains_no_python(svcnb, emulator: Emulator) -> None:
    environment = {"SVC_BASE_URL": emulator.base_url}
    svcnb("account", "create", "mine", "--save", "mine.key", **environment)
    done = svcnb("account", "convert", "--key-file", "mine.key", "--wallet-key-file", "owner.key", **environment)
    assert done.returncode == ExitCode.USAGE
    assert re.match(r"This command transfers the account to 0x\w{40} irreversibly:\n", done.stderr)
    assert "confirm=True" not in done.stderr


def test_an_encrypted_key_file_can_come_from_standard_input(svcnb, emulator: Emulator, monkeypatch) -> None:
    # One round of the key derivation is fast. The file `-` contains the key, so the password comes from the terminal.
    from eth_account import Account

    owner = LocalSigner.random()
    encrypted = json.dumps(Account.encrypt(bytes.fromhex(owner.reveal()[2:]), "pass", kdf="pbkdf2", iterations=1))
    monkeypatch.setattr("click.termui.hidden_prompt_func", lambda _text: "pass")
    emulator.faucet(owner.address)
    arguments = ("chain-secured", "create", "treasury", "--wallet-key-file", "-", "--base-url", emulator.base_url)
    done = svcnb(*arguments, stdin=encrypted)
    assert done.returncode == ExitCode.OK, done.stderr
    assert owner.address in done.stdout


def test_a_hidden_prompt_without_a_terminal_shows_no_warning_of_python() -> None:
    command = [sys.executable, "-m", "svcnb", "login", "--base-url", "http://127.0.0.1:9"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, start_new_session=True
    )
    assert done.returncode == ExitCode.USAGE
    assert "GetPassWarning" not in done.stderr
    assert "pass the answers as options" in done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["cid", "-"], ["emulator"]])
def test_a_closed_pipe_causes_no_traceback(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "svcnb", *arguments]
    with open(writer, "wb") as pipe:  # noqa: PTH123 - a file descriptor
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=120, check=False
        )
    assert (done.returncode, done.stderr) == (ExitCode.FAILED, "")
