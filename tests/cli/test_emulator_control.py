"""Commands that control an emulator of another terminal."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from svcnb import parts
from svcnb.exit_codes import ExitCode

pytestmark = [pytest.mark.chain, pytest.mark.engine]

TOKEN = "a-token-of-this-test"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with the downloaded programs and without run files of this user."""
    folder = tmp_path_factory.mktemp("cache")
    for part in parts.cache_folder().iterdir():
        if part.name != "run":
            (folder / part.name).symlink_to(part)
    return folder


@pytest.fixture(scope="module")
def ready(cache: Path) -> Iterator[dict[str, object]]:
    with started(cache) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
        process.terminate()
        process.wait(300)


def started(cache: Path) -> subprocess.Popen[str]:
    import os

    return subprocess.Popen(
        [sys.executable, "-m", "svcnb", "emulator", "--starter-credits", "500", "--control-token", TOKEN],
        env=os.environ | {"SVC_CACHE": str(cache)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.fixture
def control(svcnb, cache: Path, ready):
    assert ready["base_url"]
    return lambda *arguments: svcnb("emulator", *arguments, SVC_CACHE=str(cache))


def test_the_run_file_belongs_to_its_user_alone(cache: Path, ready) -> None:
    (file,) = (cache / "run").glob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())["base_url"] == ready["base_url"]


def test_status_finds_it_and_shows_no_token(control, ready) -> None:
    assert ready["base_url"] in control("status").stdout
    full = control("status", "--json")
    assert json.loads(full.stdout)[0]["pid"] == ready["pid"]
    assert TOKEN not in full.stdout
    assert control("status", "--quiet").stdout == f"{ready['base_url']}\n"


def test_the_clock_moves_and_stops(control) -> None:
    before = float(control("clock", "--freeze").stdout)
    assert float(control("clock").stdout) == before
    assert float(control("clock", "--advance", "10m").stdout) == before + 600
    assert control("clock", "--at", "2027-01-01T00:00").stdout == "1798761600.000\n"
    control("clock", "--real")
    refused = control("clock", "--freeze", "--real")
    assert refused.returncode == ExitCode.USAGE


def test_a_fault_is_set_and_cleared(control, svcnb, ready) -> None:
    address = {"SVC_BASE_URL": str(ready["base_url"])}
    assert control("fault", "chain", "--until-cleared", "--status", "503").returncode == 0
    state = json.loads(control("status", "--json").stdout)[0]["state"]
    assert "chain" in json.dumps(state["faults"])
    assert control("fault", "--clear").returncode == 0
    assert svcnb("account", "create", "after", "--json", **address).returncode == 0
    assert control("fault").returncode == ExitCode.USAGE


def test_credit_is_given_and_a_snapshot_restores(control, svcnb, ready) -> None:
    made = json.loads(svcnb("account", "create", "paid", "--json", SVC_BASE_URL=str(ready["base_url"])).stdout)
    assert control("snapshot", "save", "before").returncode == 0
    assert "before" in control("snapshot", "list").stdout
    assert control("credit", made["wallet_address"], "250").stdout == "750\n"
    assert control("snapshot", "restore", "before").returncode == 0
    assert control("credit", made["wallet_address"], "1").stdout == "501\n"
    assert control("snapshot", "delete", "before").returncode == 0
    assert "before" not in control("snapshot", "list").stdout


def test_two_need_an_address_and_stop_ends_one_and_deletes_its_file(control, cache: Path, ready) -> None:
    with started(cache) as second:
        assert second.stdout is not None
        address = json.loads(second.stdout.readline())["base_url"]
        ambiguous = control("clock")
        assert ambiguous.returncode == ExitCode.FAILED
        assert address in ambiguous.stderr
        done = control("stop", "--url", address)
        assert done.stdout == f"Stopped {address}.\n", done.stderr
        assert second.wait(300) == ExitCode.OK
    assert [json.loads(file.read_text())["pid"] for file in (cache / "run").glob("*.json")] == [ready["pid"]]


def test_without_an_emulator_the_error_says_how_to_start_one(svcnb, tmp_path: Path) -> None:
    done = svcnb("emulator", "clock", SVC_CACHE=str(tmp_path))
    assert done.returncode == ExitCode.FAILED
    assert "svcnb emulator" in done.stderr


def test_a_file_of_a_process_that_was_killed_is_deleted(svcnb, tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(60)
    (tmp_path / "run").mkdir()
    file = tmp_path / "run" / f"emulator-{ended.pid}.json"
    file.write_text(json.dumps({"pid": ended.pid, "base_url": "http://127.0.0.1:9"}))
    assert svcnb("emulator", "status", SVC_CACHE=str(tmp_path)).stdout == ""
    assert not file.exists()
