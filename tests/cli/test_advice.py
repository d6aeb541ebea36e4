"""Tests that the hints of the command line contain commands instead of Python code."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
from pathlib import Path

import pytest

from svcnb.cli._advice import advice, in_commands, repair_commands
from svcnb.client.errors import EXPIRED_HINT, Forbidden
from svcnb.launch import Emulator

pytestmark = [pytest.mark.chain, pytest.mark.engine]

PYTHON = re.compile(
    r"\b(?:svc|svcnb|emu|mine|error|triggers|batch)\.[a-zA-Z]\w*[.(]|\w\(\.\.\.|\w=\.\.\.|\w=[\"']"
    r"|\berror\.line|\ba Group\b"
)
ADDRESS = "0x" + "12" * 20
HASH = "0x" + "ab" * 32

MISTAKES = f"""
account create ""
account create treasury --chain-secured --wallet-key-file owner.key
account convert --wallet-key-file owner.key --yes
account convert --wallet-key-file owner.key --yes --key-file usage.key
account transfer zz --wallet-key-file owner.key --yes
account audit zz
account audit {HASH}
actions register action.js --name "" --key-file master.key
actions register action.js --name a --key-file usage.key
actions delete zz --key-file master.key
actions delete action.js --key-file master.key
actions list --group x --key-file master.key
actions delete bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi --key-file master.key
billing top-up 5 --key-file master.key
billing confirm x --key-file master.key
chain-secured create "" --wallet-key-file owner.key
chain-secured open --wallet-key-file owner.key
chain-secured resume zz --wallet-key-file owner.key
cid action.js --expect zz
explain action.js
explain action.js --wallet zz --key-file master.key
explain action.js --wallet {ADDRESS} --key-file master.key
explain action.js --key-hash {HASH} --key-file master.key
explain action.js --key-file usage.key
groups create ""  --key-file master.key
groups create g --wallet zz --key-file master.key
groups delete 0 --key-file master.key
groups show 99 --key-file master.key
keys create "" --key-file master.key
keys update {HASH} --name x --key-file master.key
keys delete {HASH} --key-file master.key
run action.js --key-file usage.key
run action.js --key-file wrong.key
run broken.js --key-file master.key
run action.js --base-url http://127.0.0.1:1 --key-file master.key
emulator status --url http://127.0.0.1:1
emulator snapshot restore none
plan triggers.toml --key-file master.key
plan triggers.toml --triggers-token-file wrong.key --key-file master.key
plan key.toml --state triggers.toml --key-file master.key
apply key.toml --yes --key-file master.key
record --live --base-url http://127.0.0.1:1
templates release templates.json tip other.js --version 1
triggers create "" action.js --token-file wrong.key --key-file master.key
triggers list --token-file wrong.key
triggers show x --token-file approved.token
triggers show "" --token-file approved.token
triggers list --token-file usage.key --triggers-url http://127.0.0.1:1
triggers authorize new.token --no-browser --timeout 0.1
triggers delete x --token-file approved.token
triggers create x action.js --kind schedule --cron zz --token-file approved.token --key-file master.key
triggers create x action.js --kind schedule --token-file approved.token --key-file master.key
triggers create x action.js --kind chain_event --token-file approved.token --key-file master.key
triggers create x action.js --wallet zz --token-file approved.token --key-file master.key
triggers create x action.js --token-file approved.token --key-file usage.key
triggers create x action.js --token-file approved.token
""".strip().splitlines()


@pytest.fixture
def folder(svcnb, emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Current folder with the files that the commands read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SVC_BASE_URL", emulator.base_url)
    monkeypatch.setenv("SVC_TRIGGERS_URL", emulator.triggers_url)
    monkeypatch.setenv("SVC_RPC_URL", emulator.rpc_url)
    monkeypatch.delenv("SVC_API_KEY", raising=False)
    svcnb("account", "create", "mistakes", "--save", "master.key")
    made = svcnb("keys", "create", "useless", "--json", "--key-file", "master.key").stdout
    Path("usage.key").write_text(json.loads(made)["usage_api_key"])
    Path("wrong.key").write_text("A" * 43 + "=")
    with emulator.triggers("mistakes") as client:
        Path("approved.token").write_text(client.token.reveal())
    Path("owner.key").write_text(secrets.token_hex(32))
    Path("action.js").write_text("const main = () => 1;")
    Path("broken.js").write_text("const main = ( => 1;")
    Path("other.js").write_text("const main = () => 2;")
    svcnb("templates", "release", "templates.json", "tip", "action.js", "--version", "1")
    key = '[keys.runner]\nexecute_in_groups = ["*"]\n'
    Path("key.toml").write_text(key)
    trigger = '[actions.one]\nfile = "action.js"\n[triggers.t]\naction = "one"\nkey = "runner"\nkind = "webhook"\n'
    Path("triggers.toml").write_text(key + trigger)


@pytest.mark.usefixtures("folder")
def test_hints_for_mistakes_contain_no_python(svcnb) -> None:
    ended = [svcnb(*shlex.split(mistake)) for mistake in MISTAKES]
    assert [done.args for done in ended if done.returncode == 0] == []
    shown = {" ".join(done.args): done.stdout + done.stderr for done in ended}
    assert {command: text for command, text in shown.items() if PYTHON.search(text)} == {}
    assert {command: text for command, text in shown.items() if text.count("Next step:") > 1} == {}


@pytest.mark.usefixtures("folder")
def test_an_address_without_the_service_is_the_reason_for_a_missing_endpoint(svcnb) -> None:
    missing = svcnb(
        "run", "action.js", "--key-file", "master.key", SVC_BASE_URL=f"{os.environ['SVC_BASE_URL']}/elsewhere"
    )
    assert "SVC_BASE_URL to the part of the address before /core/v1" in missing.stderr


@pytest.mark.usefixtures("folder")
def test_the_hint_for_an_unknown_payment_is_about_payments(svcnb) -> None:
    missing = svcnb("billing", "confirm", "pi_unknown", "--key-file", "master.key")
    assert "`svcnb billing top-up` prints" in missing.stderr


@pytest.mark.usefixtures("folder")
def test_explain_prints_commands_that_fix_the_problem(svcnb) -> None:
    refused = svcnb("explain", "action.js", "--key-file", "usage.key").stdout
    create, update = re.findall(r"    svcnb (.*)", refused)[:2]
    group = svcnb(*shlex.split(create), "--key-file", "master.key").stdout.strip()
    svcnb(*shlex.split(update.replace("GROUP", group)), "--key-file", "master.key")
    assert svcnb("explain", "action.js", "--key-file", "usage.key").returncode == 0


def test_code_without_a_command_stays_python() -> None:
    line = 'svc.groups.update(1, actions=["0xab"])'
    assert repair_commands(line) == line
    assert repair_commands("wallet = svc.wallets.create()\nsvc.groups.add_wallet(3, wallet)") == (
        "svcnb wallets create\nsvcnb groups add-wallet 3 WALLET"
    )


def test_a_hint_with_a_call_becomes_a_hint_with_a_command() -> None:
    assert in_commands("To list the groups, call svc.groups.list().") == "To list the groups, run `svcnb groups list`."
    assert in_commands("Check the path.") == "Check the path."
    assert in_commands("Set rpc_url (SVC_RPC_URL) to the address.") == "Set SVC_RPC_URL to the address."
    assert in_commands("Resume on it: svcnb.Client('http://h').") == "Resume on it with --base-url http://h."


def test_the_advice_for_an_expired_key_contains_the_command_that_renews_it():
    step = advice(Forbidden("the API key has expired", status=403, hint=EXPIRED_HINT))
    assert "`svcnb keys update HASH --execute-in-group GROUP`" in step
    assert not PYTHON.search(step)


def test_the_advice_for_a_rejected_change_names_all_causes():
    step = advice(Forbidden("Permission denied", status=403))
    assert "has expired" in step
    assert "ChainSecured" in step
    assert not PYTHON.search(step)
