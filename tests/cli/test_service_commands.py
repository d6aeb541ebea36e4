"""The command line against a running service."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from svcnb.exit_codes import ExitCode
from svcnb.launch import Emulator
from svcnb.protocol.hashes import key_hash
from tests.process_groups import run_shell

pytestmark = [pytest.mark.chain, pytest.mark.engine]

SOURCE = "async function main({ n }) { console.log('adding'); return { sum: n + 1 }; }"


@pytest.fixture
def master(svcnb, emulator: Emulator) -> Callable[..., object]:
    """Function that runs `svcnb` with the key of a new account."""
    made = json.loads(svcnb("account", "create", "cli", "--json", SVC_BASE_URL=emulator.base_url).stdout)
    return lambda *arguments, **environment: svcnb(
        *arguments, **{"SVC_BASE_URL": emulator.base_url, "SVC_API_KEY": made["api_key"]} | environment
    )


def test_the_main_task_works_on_the_command_line(master, tmp_path: Path) -> None:
    file = tmp_path / "add.js"
    file.write_text(SOURCE)
    wallet = master("wallets", "create").stdout.strip()
    group = master("groups", "create", "adders", "--wallet", wallet, "--action", str(file)).stdout.strip()
    key = json.loads(master("keys", "create", "runner", "--execute-in-group", group, "--json").stdout)
    done = master("run", str(file), "--params", '{"n": 41}', SVC_API_KEY=key["usage_api_key"])
    assert json.loads(done.stdout) == {"sum": 42}
    assert "adding" in done.stderr

    listed = json.loads(master("wallets", "list", "--group", group, "--json").stdout)
    assert [entry["wallet_address"] for entry in listed] == [wallet]
    inside = json.loads(master("groups", "show", group, "--json").stdout)
    assert len(inside["actions"]) == 1

    master("keys", "delete", key["api_key_hash"])
    refused = master("run", str(file), SVC_API_KEY=key["usage_api_key"])
    assert refused.returncode == ExitCode.FAILED
    assert "Traceback" not in refused.stderr


def test_a_derived_action_of_a_plan_runs_with_its_constant(master, tmp_path: Path) -> None:
    (tmp_path / "limit.js").write_text("const main = (params) => LIMIT.cents + (params?.n ?? 0);")
    one = '[actions.small]\nfile = "limit.js"\nconstant_name = "LIMIT"\nconstant = { cents = 5 }\n'
    file = tmp_path / "account.toml"
    file.write_text(one)
    assert master("run", str(file)).stdout == "5\n"
    file.write_text(one + one.replace("small", "large").replace("5", "50"))
    assert master("run", str(file), "--action", "large", "--params", '{"n": 1}').stdout == "51\n"
    for wrong in ([str(file)], [str(file), "--action", "huge"], [str(tmp_path / "limit.js"), "--action", "small"]):
        assert master("run", *wrong).returncode == ExitCode.USAGE
    assert "small, large" in master("run", str(file)).stderr


def test_a_key_file_can_have_the_format_of_apply(master, tmp_path: Path) -> None:
    (tmp_path / "account.toml").write_text(
        "[actions.one]\nsource = 'const main = () => 1'\n[groups.all]\nactions = ['one']\n"
        "[keys.caller]\nexecute_in_groups = ['all']\n"
    )
    plan, keys = str(tmp_path / "account.toml"), tmp_path / "keys.json"
    assert master("apply", plan, "--secrets", str(keys), "--yes").returncode == ExitCode.OK
    assert master("run", plan, "--key-file", str(keys)).stdout == "1\n"
    (secret,) = json.loads(keys.read_text()).values()
    for wrong in (keys.read_text().replace("}", ', "other": "x"}'), "{}", '{"caller": '):
        keys.write_text(wrong)
        refused = master("run", plan, "--key-file", str(keys))
        assert refused.returncode == ExitCode.USAGE
        assert "keys.json" in refused.stderr
        assert secret not in refused.stderr


def test_a_new_account_key_and_a_reminder_are_printed_separately(svcnb, emulator: Emulator) -> None:
    done = svcnb("account", "create", "mine", "--base-url", emulator.base_url)
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert set(lines) == {"api_key", "wallet_address"}
    assert "store the key now" in done.stderr


@pytest.mark.slow
def test_the_commands_of_the_readme_work_unchanged(emulator: Emulator, tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    block = next(text for text in readme.split("```sh\n")[1:] if text.startswith("svcnb emulator")).partition("```")[0]
    start, address, *lines = block.splitlines()
    assert start.partition("#")[0].rstrip().endswith("&")
    assert address.startswith("export SVC_BASE_URL=")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"SVC_BASE_URL": emulator.base_url, "PATH": path}
    done = run_shell("\n".join(lines), timeout=600, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert "42" in done.stdout.splitlines()


def test_a_new_key_is_saved_privately_and_never_overwritten(master, tmp_path: Path) -> None:
    file = tmp_path / "runner.key"
    made = master("keys", "create", "runner", "--save", str(file))
    assert made.returncode == ExitCode.OK
    secret = file.read_text(encoding="utf-8").strip()
    assert secret not in made.stdout + made.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    assert master("account", "exists", "--key-file", str(file), SVC_API_KEY="").stdout == "yes\n"

    before = master("keys", "list").stdout
    again = master("keys", "create", "runner", "--save", str(file))
    assert again.returncode == ExitCode.USAGE
    assert "does not overwrite files" in again.stderr
    assert file.read_text(encoding="utf-8").strip() == secret
    assert master("keys", "list").stdout == before, "a key was made that could not be kept"


def test_a_rejected_call_leaves_no_empty_key_file(svcnb, emulator: Emulator, tmp_path: Path) -> None:
    file = tmp_path / "runner.key"
    done = svcnb("keys", "create", "r", "--save", str(file), SVC_BASE_URL=emulator.base_url, SVC_API_KEY="c3RyYW5nZXI=")
    assert done.returncode == ExitCode.FAILED
    assert not file.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of a process are POSIX")
def test_no_key_is_created_that_cannot_be_saved(svcnb, emulator: Emulator, tmp_path: Path) -> None:
    made = json.loads(svcnb("account", "create", "cli", "--json", SVC_BASE_URL=emulator.base_url).stdout)
    service = {"SVC_BASE_URL": emulator.base_url, "SVC_API_KEY": made["api_key"], "SVC_HISTORY": "off"}
    file = tmp_path / "runner.key"
    create = [sys.executable, "-m", "svcnb", "keys", "create", "runner", "--save", str(file)]
    done = subprocess.run(
        ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *create],
        env=os.environ | service,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == ExitCode.FAILED
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert not file.exists()
    assert svcnb("keys", "list", "--json", **service).stdout == "[]\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is part of Linux")
@pytest.mark.parametrize("options", [(), ("--quiet",), ("--json",)])
@pytest.mark.parametrize("output", ["full disk", "closed pipe"])
def test_a_new_key_that_cannot_be_printed_is_saved(
    svcnb, emulator: Emulator, tmp_path: Path, output: str, options: tuple[str, ...]
) -> None:
    made = json.loads(svcnb("account", "create", "cli", "--json", SVC_BASE_URL=emulator.base_url).stdout)
    service = {"SVC_BASE_URL": emulator.base_url, "SVC_API_KEY": made["api_key"], "SVC_HISTORY": "off"}
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe, open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [sys.executable, "-m", "svcnb", "keys", "create", "runner", *options],
            env=os.environ | service | {"TMPDIR": str(tmp_path)},
            stdout=full if output == "full disk" else pipe,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == ExitCode.FAILED
    (file,) = tmp_path.glob("svcnb-*.key")
    assert str(file) in done.stderr
    assert "Traceback" not in done.stderr
    assert file.read_text().strip() not in done.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    (key,) = json.loads(svcnb("keys", "list", "--json", **service).stdout)
    assert f"0x{key_hash(file.read_text().strip()):064x}" == key["api_key_hash"]


def test_quiet_prints_wallets_in_a_form_that_other_commands_accept(master) -> None:
    created = master("wallets", "create", "--quiet").stdout.strip()
    listed = master("wallets", "list", "--quiet").stdout.split()
    assert listed[-1] == created
    assert master("groups", "create", "signers", "--wallet", listed[-1]).returncode == ExitCode.OK


def test_hints_contain_commands(svcnb, master, emulator: Emulator, tmp_path: Path) -> None:
    file = tmp_path / "add.js"
    file.write_text(SOURCE)
    without = svcnb("run", str(file), SVC_BASE_URL=emulator.base_url, SVC_API_KEY="").stderr
    assert "svcnb account create" in without
    key = json.loads(master("keys", "create", "useless", "--json").stdout)["usage_api_key"]
    refused = svcnb("run", str(file), SVC_BASE_URL=emulator.base_url, SVC_API_KEY=key).stderr
    assert "svcnb explain" in refused
    missing = master("groups", "show", "77").stderr
    assert "svcnb groups list" in missing
    assert re.search(r"\b(svc|error)\.", without + refused + missing) is None, "advice in Python"


@pytest.mark.parametrize(
    ("content", "told"), [(b"\xff\xfe", "not UTF-8 text"), (b"", "is empty")], ids=["other encoding", "empty"]
)
def test_a_file_without_source_is_an_error_before_any_request(svcnb, tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "odd.js"
    file.write_bytes(content)
    done = svcnb("run", str(file), SVC_BASE_URL="http://127.0.0.1:9")
    assert done.returncode == ExitCode.USAGE
    assert told in done.stderr


def test_a_list_has_aligned_columns_and_an_empty_list_has_a_message(master) -> None:
    nothing = master("groups", "list")
    assert (nothing.stdout, nothing.stderr) == ("", "No entries.\n")
    for name in ("a", "longer"):
        master("groups", "create", name, "--description", "see")
    header, *lines = master("groups", "list").stdout.splitlines()
    assert {line.index("see") for line in lines} == {header.index("DESCRIPTION")}
    first, second = master("groups", "list", "--quiet").stdout.split()
    assert master("groups", "show", first).returncode == master("groups", "show", second).returncode == ExitCode.OK
    assert master("groups", "list", "--output", "csv").stdout.splitlines()[0].startswith("id,name,description")


def test_an_update_of_a_usage_key_keeps_omitted_settings(master) -> None:
    group = master("groups", "create", "adders").stdout.strip()
    key = json.loads(master("keys", "create", "runner", "--can-create-groups", "--json").stdout)["api_key_hash"]
    done = master("keys", "update", key, "--execute-in-group", group, "--description", "new", "--json")
    assert done.returncode == ExitCode.OK, done.stderr
    (listed,) = [each for each in json.loads(master("keys", "list", "--json").stdout) if each["api_key_hash"] == key]
    assert [str(each) for each in listed["execute_in_groups"]] == [group]
    assert (listed["name"], listed["description"], listed["can_create_groups"]) == ("runner", "new", True)
    master("keys", "update", key, "--cannot-create-groups", "--name", "walker")
    (listed,) = [each for each in json.loads(master("keys", "list", "--json").stdout) if each["api_key_hash"] == key]
    assert (listed["name"], listed["can_create_groups"]) == ("walker", False)
    for command in ("keys update --name x zz", "keys delete zz", "explain Qm --key-hash zz"):
        unknown = master(*command.split())
        assert unknown.returncode == ExitCode.USAGE
        assert "expected 0x followed by 64 hex digits" in unknown.stderr
        assert "zz" not in unknown.stderr
    refused = master("keys", "update", key)
    assert refused.returncode == ExitCode.USAGE
    assert "nothing to change" in refused.stderr


def test_a_key_is_read_from_standard_input(svcnb, emulator: Emulator) -> None:
    made = json.loads(svcnb("account", "create", "piped", "--json", SVC_BASE_URL=emulator.base_url).stdout)
    done = svcnb("account", "exists", "--key-file", "-", "--base-url", emulator.base_url, stdin=made["api_key"] + "\n")
    assert done.stdout == "yes\n"
    unknown = svcnb("account", "exists", "--base-url", emulator.base_url, SVC_API_KEY="c3RyYW5nZXI=")
    assert (unknown.stdout, unknown.returncode) == ("no\n", ExitCode.FAILED)


def test_credit_is_bought_and_shown(master) -> None:
    before = json.loads(master("billing", "balance", "--json").stdout)["available_cents"]
    assert json.loads(master("billing", "top-up", "500", "--json").stdout)["status"] == "credited"
    assert json.loads(master("billing", "balance", "--json").stdout)["available_cents"] == before + 500


def test_an_amount_below_the_minimum_payment_is_an_error(master) -> None:
    done = master("billing", "top-up", "499")
    assert done.returncode in {ExitCode.FAILED, ExitCode.USAGE}
    assert "500" in done.stderr


def test_a_failed_action_exits_with_code_1_and_its_message(master, tmp_path: Path) -> None:
    file = tmp_path / "throws.js"
    file.write_text("async function main() { throw new Error('out of ideas'); }")
    done = master("run", str(file))
    assert done.returncode == ExitCode.FAILED
    assert "out of ideas (line 1)" in done.stderr
    assert "at main" in done.stderr, "where it threw"
    assert "Traceback" not in done.stderr


def test_params_that_are_not_json_are_an_error_before_any_request(master, tmp_path: Path) -> None:
    file = tmp_path / "add.js"
    file.write_text(SOURCE)
    done = master("run", str(file), "--params", "{n: 1}")
    assert done.returncode == ExitCode.USAGE
    assert "invalid JSON" in done.stderr


def test_an_action_is_registered_listed_and_deleted(master, svcnb, tmp_path: Path) -> None:
    file = tmp_path / "add.js"
    file.write_text(SOURCE)
    master("actions", "register", str(file), "--name", "adder")
    known = json.loads(svcnb("cid", str(file), "--json").stdout)
    listed = json.loads(master("actions", "list", "--json").stdout)
    assert [(entry["name"], entry["hashed_cid"]) for entry in listed] == [("adder", known["hashed_cid"])]
    master("actions", "delete", known["hashed_cid"])
    assert json.loads(master("actions", "list", "--json").stdout) == []


def test_doctor_lists_requests_that_the_live_service_would_reject(svcnb, start_emulator) -> None:
    with start_emulator(starter_credits=1_000) as own:
        account = own.client().accounts.create("sloppy")
        headers = {"X-Api-Key": account.api_key.reveal()}
        httpx.get(f"{own.base_url}/core/v1/list_groups", headers=headers, trust_env=False, timeout=60)
        done = svcnb("doctor", SVC_BASE_URL=own.base_url)
    assert "GET /core/v1/list_groups: a request without page_number, page_size, 1 time" in done.stdout
    assert "--preset strict" in done.stdout


def test_doctor_reaches_the_service(svcnb, emulator: Emulator) -> None:
    done = svcnb("doctor", SVC_BASE_URL=emulator.base_url)
    assert done.returncode == ExitCode.OK, done.stdout
    assert f"contract {emulator.contract_address}" in done.stdout


def test_an_unreachable_service_has_its_exit_code(svcnb) -> None:
    done = svcnb("account", "exists", SVC_BASE_URL="http://127.0.0.1:9", SVC_API_KEY="c3RyYW5nZXI=")
    assert done.returncode == ExitCode.UNREACHABLE
    assert "Traceback" not in done.stderr


def test_record_writes_responses_after_a_confirmation(svcnb, emulator: Emulator, tmp_path) -> None:
    folder = tmp_path / "made"
    assert svcnb("record", "--folder", str(folder), SVC_BASE_URL=emulator.base_url).returncode == ExitCode.USAGE
    assert not folder.exists()
    done = svcnb("record", "--live", "--folder", str(folder), SVC_BASE_URL=emulator.base_url)
    assert done.returncode == 0, done.stderr
    assert "skipped    account: a key is required" in done.stdout
    assert json.loads((folder / "open.json").read_text())["source"].startswith("recorded on 20")
