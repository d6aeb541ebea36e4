"""`svcnb login` stores an address and a key, which only the user can read, and `--profile` uses them."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from svcnb.client.signing import LocalSigner
from svcnb.exit_codes import ExitCode
from svcnb.launch import Emulator

pytestmark = [pytest.mark.chain, pytest.mark.engine]


@pytest.fixture
def home(svcnb, tmp_path: Path):
    """Function that runs `svcnb` with a separate configuration file, and without address and key in the environment."""
    config = tmp_path / "config.toml"

    def run(*arguments: str, **options: str):
        return svcnb(*arguments, **({"SVCNB_CONFIG": str(config), "SVC_BASE_URL": "", "SVC_API_KEY": ""} | options))

    return run, config


def key_of(svcnb, emulator: Emulator) -> str:
    made = svcnb("account", "create", "mine", "--json", SVC_BASE_URL=emulator.base_url)
    assert made.returncode == ExitCode.OK, made.stderr
    return str(json.loads(made.stdout)["api_key"])


def test_commands_use_a_stored_key_that_only_the_user_can_read(home, svcnb, emulator: Emulator) -> None:
    run, config = home
    key = key_of(svcnb, emulator)
    done = run("login", "--base-url", emulator.base_url, "--key-file", "-", stdin=key)
    assert done.returncode == ExitCode.OK, done.stderr
    assert key not in done.stdout + done.stderr
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert run("account", "exists").stdout == "yes\n"


def test_a_new_profile_keeps_the_others_and_options_or_variables_choose_one(home, svcnb, emulator: Emulator) -> None:
    run, config = home
    key = key_of(svcnb, emulator)
    config.write_text('base_url = "http://127.0.0.1:9"\nhistory = "off"\n')
    assert (
        run("login", "--base-url", emulator.base_url, "--profile", "test", "--key-file", "-", stdin=key).returncode == 0
    )
    assert 'history = "off"' in config.read_text()
    assert run("account", "exists").returncode == ExitCode.UNREACHABLE
    assert run("account", "exists", "--profile", "test").stdout == "yes\n"
    assert run("account", "exists", SVC_PROFILE="test").stdout == "yes\n"
    chosen = run("account", "exists", "--profile", "test", SVC_BASE_URL="http://127.0.0.1:9", SVC_API_KEY="b3RoZXI=")
    assert chosen.stdout == "yes\n", "a profile that was chosen comes before the environment"
    unknown = run("account", "exists", "--profile", "tset")
    assert unknown.returncode == ExitCode.USAGE
    assert "available profiles: test" in unknown.stderr


def test_a_profile_also_has_the_address_of_the_triggers_service(
    home, svcnb, emulator: Emulator, tmp_path: Path
) -> None:
    run, config = home
    key = key_of(svcnb, emulator)
    saved = tmp_path / "keys.json"
    saved.write_text(json.dumps({"runner": key}))  # the format of `svcnb apply`
    assert run("login", "--base-url", emulator.base_url, "--profile", "test", "--key-file", str(saved)).returncode == 0
    config.write_text(config.read_text() + f'triggers_url = "{emulator.triggers_url}"\n')
    action, token = tmp_path / "action.js", tmp_path / "token"
    action.write_text("const main = () => 1")
    with emulator.triggers("profile") as client:
        token.write_text(client.token.reveal())
        chosen = ("--profile", "test", "--token-file", str(token))
        made = run("triggers", "create", "mine", str(action), *chosen, "--quiet", SVC_TRIGGERS_URL="http://127.0.0.1:9")
        assert made.returncode == ExitCode.OK, made.stderr
        assert made.stdout.strip() in [trigger.id for trigger in client.list()]
    assert made.stdout in run("triggers", "list", *chosen, "--quiet").stdout
    refused = run("report", "spend", "--profile", "test", "--base-url", "http://127.0.0.1:9")
    assert refused.returncode == ExitCode.USAGE
    assert "omit the other options" in refused.stderr


def test_a_command_restores_the_environment_of_the_process(home, svcnb, emulator: Emulator) -> None:
    run, _ = home
    key = key_of(svcnb, emulator)
    before = dict(os.environ)
    assert (
        run("login", "--base-url", emulator.base_url, "--profile", "test", "--key-file", "-", stdin=key).returncode == 0
    )
    assert run("account", "exists", "--profile", "test").returncode == 0
    assert run("account", "exists", "--profile", "tset").returncode == ExitCode.USAGE
    assert dict(os.environ) == before


def test_login_stores_an_unknown_key_only_with_an_option(home, emulator: Emulator) -> None:
    run, config = home
    refused = run("login", "--base-url", emulator.base_url, "--key-file", "-", stdin="c3RyYW5nZXI=")
    assert refused.returncode == ExitCode.FAILED
    assert not config.exists()
    assert (
        run("login", "--base-url", emulator.base_url, "--key-file", "-", "--no-check", stdin="c3RyYW5nZXI=").returncode
        == 0
    )


def test_login_accepts_a_usage_key_of_a_chain_secured_account(home, emulator: Emulator, tmp_path: Path, monkeypatch):
    run, config = home
    monkeypatch.setenv("SVCNB_PENDING", str(tmp_path / "pending"))
    owner = LocalSigner.random()
    emulator.faucet(owner.address)
    key = emulator.client().chain_secured.create(owner, "treasury").usage_keys.create("reader").usage_api_key
    assert key is not None
    done = run("login", "--base-url", emulator.base_url, "--key-file", "-", stdin=key.reveal())
    assert done.returncode == ExitCode.OK, done.stderr
    assert key.reveal() in config.read_text()


def test_clients_send_a_stored_key_only_to_its_address(home, svcnb, emulator: Emulator) -> None:
    run, config = home
    key = key_of(svcnb, emulator)
    config.touch(0o600)
    config.write_text(f'base_url = "http://127.0.0.1:9"\napi_key = "{key}"\n')
    for options in ({"SVC_BASE_URL": emulator.base_url}, {}):
        arguments = () if options else ("--base-url", emulator.base_url)
        done = run("groups", "list", *arguments, **options)
        assert done.returncode == ExitCode.FAILED
        assert "--key-file" in done.stderr, done.stderr


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff", b"{", b'{"runner": 5}', b'{"runner": ["s3cret"]}'])
def test_a_file_without_a_key_is_an_error_before_any_request(home, tmp_path: Path, content: bytes) -> None:
    run, config = home
    (tmp_path / "bad.key").write_bytes(content)
    done = run("login", "--base-url", "http://127.0.0.1:9", "--no-check", "--key-file", str(tmp_path / "bad.key"))
    assert done.returncode == ExitCode.USAGE
    assert "bad.key" in done.stderr
    assert "s3cret" not in done.stderr
    assert not config.exists()


def test_a_prompt_without_an_input_is_an_error_and_not_an_interruption(home) -> None:
    run, _ = home
    done = run("login")
    assert done.returncode == ExitCode.USAGE
    assert "standard input ended before the command received an answer" in done.stderr
