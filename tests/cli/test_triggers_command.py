"""``svcnb triggers`` against a running service."""

from __future__ import annotations

import json
import shlex
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from svcnb.exit_codes import ExitCode
from svcnb.launch import Emulator

pytestmark = [pytest.mark.chain, pytest.mark.engine]

SOURCE = "async function main({ event, suffix }) { return event + suffix; }"


@pytest.fixture
def told(svcnb, emulator: Emulator, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Function that runs `svcnb` with an account key and the file of an approved token."""
    account = emulator.client().accounts.create("cli")
    with emulator.triggers("cli") as client:
        token_file = tmp_path / "token"
        token_file.write_text(client.token.reveal())
        yield lambda *arguments, **environment: svcnb(
            *arguments,
            **{
                "SVC_BASE_URL": emulator.base_url,
                "SVC_API_KEY": account.api_key.reveal(),
                "SVC_TRIGGERS_URL": emulator.triggers_url,
                "SVC_TRIGGERS_TOKEN_FILE": str(token_file),
            }
            | environment,
        )


def test_a_webhook_is_created_and_its_runs_are_listed(told, emulator: Emulator, tmp_path: Path) -> None:
    file = tmp_path / "action.js"
    file.write_text(SOURCE)
    made = told("triggers", "create", "shout", str(file), "--params", '{"suffix": "!"}', "--json")
    trigger = json.loads(made.stdout)
    assert "usage_api_key" not in trigger
    with emulator.triggers() as client:
        client.fire(trigger["id"], "hello")
        client.wait_for_run(trigger["id"])
    assert trigger["id"] in told("triggers", "list").stdout
    (run,) = json.loads(told("triggers", "runs", trigger["id"], "--json").stdout)
    assert (run["status"], run["response"]["response"]) == ("success", "hello!")
    assert told("triggers", "disable", trigger["id"]).returncode == ExitCode.OK
    assert json.loads(told("triggers", "show", trigger["id"], "--json").stdout)["enabled"] is False
    assert told("triggers", "enable", trigger["id"]).returncode == ExitCode.OK
    assert told("triggers", "delete", trigger["id"]).returncode == ExitCode.OK
    assert trigger["id"] not in told("triggers", "list").stdout


def test_the_error_of_a_failed_creation_names_the_objects_that_were_paid_for(told, tmp_path: Path) -> None:
    file = tmp_path / "action.js"
    file.write_text(SOURCE)
    config = '{"chain": "moon", "contract_address": "0x%s", "event_signature": "A()"}' % ("12" * 20)
    refused = told("triggers", "create", "late", str(file), "--kind", "chain_event", "--config", config).stderr
    assert "already created and paid for group 1 ('trigger late') and usage key 'trigger late'." in refused
    assert "Nothing was charged" not in refused


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--kind schedule", "--cron '0 9 * * *'"),
        ("--kind schedule --config {}", "--cron '0 9 * * *'"),
        ("--kind schedule --cron zz", "'zz'"),
        ("--kind schedule --cron '* * * * * *'", "within 1 s"),
        ("--kind chain_event", "--config"),
        ('--kind chain_event --config \'{"chain": "base"}\'', "contract_address"),
        ("--cron '0 9 * * *'", "--kind schedule"),
        ("--kind schedule --cron '0 9 * * *' --config {}", "--config"),
    ],
)
def test_wrong_settings_are_an_error_before_anything_is_created(
    told, tmp_path: Path, options: str, reason: str
) -> None:
    file = tmp_path / "action.js"
    file.write_text(SOURCE)
    refused = told("triggers", "create", "late", str(file), *shlex.split(options))
    assert refused.returncode == ExitCode.USAGE
    assert reason in refused.stderr
    assert "paid for" not in refused.stderr
    assert told("groups", "list", "--quiet").stdout + told("keys", "list", "--quiet").stdout == ""


def test_the_error_for_an_invalid_schedule_explains_it(told, tmp_path: Path) -> None:
    file = tmp_path / "action.js"
    file.write_text(SOURCE)
    refused = told("triggers", "create", "often", str(file), "--kind", "schedule", "--cron", "* * * * * *")
    assert refused.returncode == ExitCode.USAGE
    assert "within 1 s" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_authorize_stores_the_token_in_a_private_file(svcnb, emulator: Emulator, tmp_path: Path) -> None:
    file = tmp_path / "token"
    waited = svcnb(
        "triggers", "authorize", str(file), "--triggers-url", emulator.triggers_url, "--timeout", "0.1", "--no-browser"
    )
    assert waited.returncode not in {ExitCode.OK, ExitCode.USAGE}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    token = file.read_text().strip()
    assert token not in waited.stdout + waited.stderr
    challenge = waited.stderr.partition("challenge=")[2].split()[0]
    emulator.approve_agent(challenge)
    done = svcnb("triggers", "authorize", str(file), "--triggers-url", emulator.triggers_url)
    assert done.stdout.strip() == "Approved by owner@localhost."
    assert file.read_text().strip() == token


def test_cron_and_event_send_no_request(svcnb) -> None:
    lines = svcnb("triggers", "cron", "0 9 * * MON", "--count", "3").stdout.splitlines()
    assert lines[0] == "At 09:00 on Monday (UTC)"
    assert [line[11:] for line in lines[1:]] == ["09:00:00"] * 3
    event = json.loads(svcnb("triggers", "event", "Transfer(address,address,uint)", "--json").stdout)
    assert event["topic0"] == "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
