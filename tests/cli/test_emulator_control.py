"""Commands that control an emulator in another terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from svcnb.exit_codes import ExitCode
from tests.process_groups import running

pytestmark = [pytest.mark.chain, pytest.mark.engine]


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder for control tokens that contains no tokens of other emulators."""
    return tmp_path_factory.mktemp("runtime")


@pytest.fixture(scope="module")
def ready(runtime: Path) -> Iterator[dict[str, object]]:
    with started(runtime) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())


@contextmanager
def started(runtime: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Starts an emulator in a process. Stops the process at the end of the block, even if the test fails."""
    with running(
        [sys.executable, "-m", "svcnb", "emulator", "--starter-credits", "500", "--action-spares", "1", *arguments],
        env=os.environ | {"XDG_RUNTIME_DIR": str(runtime)},
        stdout=subprocess.PIPE,
    ) as process:
        yield process


@pytest.fixture
def control(svcnb, runtime: Path, ready):
    assert ready["base_url"]
    return lambda *arguments, **given: svcnb("emulator", *arguments, XDG_RUNTIME_DIR=str(runtime), **given)


def test_status_finds_the_emulator_and_shows_no_token(control, ready) -> None:
    header, row = (line.split() for line in control("status").stdout.splitlines())
    shown = dict(zip(header, row, strict=True))
    assert shown["ADDRESS"] == ready["base_url"]
    assert shown["ENGINE"] == "auto"
    assert shown["FAULTS"] == shown["SNAPSHOTS"] == "0"
    full = control("status", "--json")
    assert json.loads(full.stdout)[0]["pid"] == ready["pid"]
    assert str(ready["control_token"]) not in full.stdout
    assert control("status", "--quiet").stdout == f"{ready['base_url']}\n"


def test_the_clock_moves_and_stops(control) -> None:
    before = float(control("clock", "--freeze").stdout)
    assert float(control("clock").stdout) == before
    assert float(control("clock", "--advance", "10m").stdout) == before + 600
    assert control("clock", "--at", "2027-01-01T00:00").stdout == "1798761600.000\n"
    control("clock", "--real")
    assert "invalid time '²'" in control("clock", "--at", "²").stderr
    refused = control("clock", "--freeze", "--real")
    assert refused.returncode == ExitCode.USAGE


def test_a_fault_is_set_and_cleared(control, svcnb, ready) -> None:
    address = {"SVC_BASE_URL": str(ready["base_url"])}
    assert control("fault", "chain", "--until-cleared", "--status", "503").returncode == 0
    state = json.loads(control("status", "--json").stdout)[0]["state"]
    assert "chain" in json.dumps(state["faults"])
    assert [fault["part"] for fault in json.loads(control("fault", "--json").stdout)] == ["chain"]
    assert control("fault").stdout.startswith("PART")
    assert control("fault", "--clear").returncode == 0
    assert svcnb("account", "create", "after", "--json", **address).returncode == 0
    assert json.loads(control("fault", "--json").stdout) == []
    assert control("fault", "chain", "--clear").returncode == ExitCode.USAGE


def test_the_faucet_adds_ether(control) -> None:
    assert control("faucet", "0x00000000000000000000000000000000000A11cE", "--wei", "5").stdout == "5\n"
    assert control("faucet", "0x00000000000000000000000000000000000A11cE").stdout == f"{10 * 10**18}\n"
    added = control("faucet", "0x00000000000000000000000000000000000A11cE", "--wei", "7", "--json")
    assert json.loads(added.stdout) == {"wei": "7"}
    assert control("faucet", "ada.eth").returncode == ExitCode.FAILED
    assert control("faucet", "0x00000000000000000000000000000000000A11cE", "--wei", "0").returncode == ExitCode.USAGE


def test_credit_is_added_and_a_snapshot_restores_the_old_credit(control, svcnb, ready) -> None:
    made = json.loads(svcnb("account", "create", "paid", "--json", SVC_BASE_URL=str(ready["base_url"])).stdout)
    assert control("snapshot", "save", "before").returncode == 0
    assert "before" in control("snapshot", "list").stdout
    assert control("credit", made["wallet_address"], "250").stdout == "750\n"
    assert control("snapshot", "restore", "before").returncode == 0
    assert control("credit", made["wallet_address"], "1").stdout == "501\n"
    assert control("snapshot", "delete", "before").returncode == 0
    assert "before" not in control("snapshot", "list").stdout


def test_a_profile_chooses_the_emulator(control, ready, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        f'base_url = "http://127.0.0.1:9"\n[profiles.local]\nbase_url = "{ready["base_url"]}"\n'
        '[profiles.away]\nbase_url = "http://127.0.0.1:9"\n'
    )
    settings = {"SVCNB_CONFIG": str(config), "SVC_BASE_URL": "http://127.0.0.1:9"}
    assert control("status", "--profile", "local", "--quiet", **settings).stdout == f"{ready['base_url']}\n"
    assert control("clock", "--profile", "local", **settings).returncode == ExitCode.OK
    assert control("clock", "--profile", "away", **settings).returncode == ExitCode.UNREACHABLE
    assert control("clock", "--profile", "away", "--url", str(ready["base_url"]), **settings).returncode == ExitCode.OK
    without = settings | {"SVC_BASE_URL": ""}
    assert control("clock", **without).returncode == ExitCode.OK, "a live service of the file was taken for an emulator"


@pytest.mark.slow
def test_with_two_emulators_an_address_is_required_and_stop_ends_one(control, runtime: Path, ready) -> None:
    with started(runtime) as second:
        assert second.stdout is not None
        address = json.loads(second.stdout.readline())["base_url"]
        ambiguous = control("clock")
        assert ambiguous.returncode == ExitCode.USAGE
        assert address in ambiguous.stderr
        chosen = {"SVC_BASE_URL": f"{address}/"}
        assert control("status", "--quiet", **chosen).stdout == f"{address}\n"
        assert len(control("status", "--quiet", "--all", **chosen).stdout.splitlines()) == 2
        frozen = control("clock", "--at", "2027-01-01T00:00", **chosen)
        assert frozen.stdout == "1798761600.000\n", frozen.stderr
        assert control("clock", "--url", str(ready["base_url"]), **chosen).stdout != frozen.stdout
        done = control("stop", **chosen)
        assert done.stdout == f"Stopped {address}.\n", done.stderr
        assert second.wait(300) == ExitCode.OK
    assert control("status", "--quiet").stdout == f"{ready['base_url']}\n"


@pytest.mark.slow
def test_an_emulator_with_a_chosen_token_needs_its_address_and_token(control, runtime: Path, ready) -> None:
    with started(runtime, "--control-token", "chosen") as second:
        assert second.stdout is not None
        address = json.loads(second.stdout.readline())["base_url"]
        assert control("status", "--quiet").stdout == f"{ready['base_url']}\n"
        assert control("clock", "--url", address).returncode == ExitCode.FAILED
        assert control("clock", "--url", address, SVC_CONTROL_TOKEN="chosen").returncode == 0
        refused = control("stop", "--url", address, SVC_CONTROL_TOKEN="chosen")
        assert refused.returncode == ExitCode.FAILED
        assert "press Ctrl-C in its terminal" in refused.stderr
        second.terminate()
        second.wait(300)


def test_without_an_emulator_the_error_explains_how_to_start_one(svcnb, tmp_path: Path) -> None:
    done = svcnb("emulator", "clock", XDG_RUNTIME_DIR=str(tmp_path))
    assert done.returncode == ExitCode.UNREACHABLE
    assert "Next step: To start an emulator, run `svcnb emulator`." in done.stderr


@pytest.mark.parametrize("url", ["http://[::1", "http://127.0.0.1:99999", "127.0.0.1:8080"])
def test_an_address_that_is_not_valid_is_an_error(svcnb, url: str) -> None:
    done = svcnb("emulator", "status", "--url", url)
    assert done.returncode == ExitCode.USAGE
    assert "expected an http or https address" in done.stderr
