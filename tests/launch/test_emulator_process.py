"""An emulator process is ready after its ready line, ends with its owner, and reports errors clearly."""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import svcnb
from svcnb import launch
from svcnb.control import ControlRefused, EmulatorUnreachable

pytestmark = [pytest.mark.chain, pytest.mark.engine]

DEADLINE_S = 300


def chain_config(base_url: str) -> dict[str, object]:
    with urllib.request.urlopen(f"{base_url}/core/v1/get_node_chain_config", timeout=DEADLINE_S) as answer:  # noqa: S310
        found: dict[str, object] = json.load(answer)
        return found


def group_is_empty(group: int) -> bool:
    """Returns whether a process group is empty. Waits until it is, or until the deadline."""
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_it_is_ready_when_the_constructor_returns(emulator: launch.Emulator) -> None:
    config = chain_config(emulator.base_url)
    assert config["contract_address"] == emulator.contract_address
    assert emulator.base_url.startswith("http://127.0.0.1:")


def test_the_ready_line_names_every_address(emulator: launch.Emulator) -> None:
    for url in (emulator.base_url, emulator.triggers_url, emulator.rpc_url, emulator.control_url):
        assert url.startswith("http://127.0.0.1:")
    assert emulator.chain_id == 31337


def test_the_emulator_and_its_processes_stop_at_the_end_of_the_block() -> None:
    with svcnb.Emulator() as running:
        group = running.pid
    assert group_is_empty(group)
    assert not running.running
    running.stop()  # a second call has no effect


@pytest.mark.slow
def test_two_emulators_can_run_at_the_same_time(
    emulator: launch.Emulator, start_emulator: Callable[..., launch.Emulator]
) -> None:
    other = start_emulator()
    assert other.base_url != emulator.base_url
    account = other.client().accounts.create("only there")
    assert not emulator.client(api_key=account.api_key).accounts.exists()


@pytest.mark.slow
def test_it_ends_when_its_owner_is_killed() -> None:
    script = "import svcnb, sys, time; e = svcnb.Emulator(); print(e.pid, flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        group = int(owner.stdout.readline())
        owner.send_signal(signal.SIGKILL)
    assert group_is_empty(group)


@pytest.mark.slow
def test_it_ends_with_an_interpreter_that_did_not_stop_it() -> None:
    script = "import svcnb; e = svcnb.Emulator(); print(e.pid, flush=True)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=DEADLINE_S, check=True
    )
    assert group_is_empty(int(done.stdout))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_does_not_stop_the_emulator() -> None:
    script = """
import os, svcnb
with svcnb.Emulator() as emulator:
    child = os.fork()
    if child == 0:
        emulator.stop()
        os._exit(0)
    os.waitpid(child, 0)
    print(emulator.running, emulator.clock.now() > 0)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert done.stdout == "True True\n", done.stderr


def test_a_port_in_use_is_reported() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        with pytest.raises(launch.PortInUse, match="is already in use by another program") as caught:
            svcnb.Emulator(port=taken.getsockname()[1])
    assert "port" in caught.value.hint


def test_an_unknown_setting_is_refused_by_name() -> None:
    with pytest.raises(launch.SettingRefused, match="use 'starter_credits'") as caught:
        svcnb.Emulator(starter_credit=5)  # type: ignore[call-arg]  # on purpose
    assert str(caught.value).count("Next step: ") == 1


def test_the_next_step_fits_the_cause(tmp_path: Path) -> None:
    with pytest.raises(launch.SettingRefused, match="cannot listen on host") as caught:
        svcnb.Emulator(host="host.invalid")
    assert caught.value.hint.startswith("Use 127.0.0.1")
    with pytest.raises(launch.SettingRefused, match=r"none\.json does not exist: record the responses first"):
        svcnb.Emulator(network_policy="replay", network_file=tmp_path / "none.json")


@pytest.mark.parametrize("cents", [-1, 10**9 + 1, 10**24])
def test_a_setting_out_of_range_is_rejected_with_its_value(cents: int) -> None:
    with pytest.raises(launch.SettingRefused, match=str(cents)):
        svcnb.Emulator(starter_credits=cents)


@pytest.mark.parametrize(
    ("setting", "wrong"),
    [
        ({"seed": "\ud800"}, "an unpaired surrogate"),
        ({"state": "a\0b"}, "null character"),
        ({"state": b"state"}, "expected str, got bytes"),
        ({"allow_address": ["a\0b"]}, "null character"),
    ],
)
def test_a_setting_that_is_not_text_is_refused_before_a_process_starts(
    setting: dict[str, Any], wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    with pytest.raises(launch.SettingRefused, match=wrong):
        svcnb.Emulator(**setting)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_time_limit_for_the_start_must_be_positive(seconds: float) -> None:
    with pytest.raises(svcnb.InvalidArgument, match="expected a number of seconds above 0"):
        svcnb.Emulator(start_timeout=seconds)


def test_a_seeded_emulator_refuses_to_listen_beyond_loopback() -> None:
    with pytest.raises(launch.SettingRefused, match="not a loopback address"):
        svcnb.Emulator(host="0.0.0.0", seed="demo")  # noqa: S104 - refused, which is the point


def test_a_missing_tool_is_reported_with_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_DENO", str(tmp_path / "no-deno"))
    with pytest.raises(launch.EmulatorToolMissing, match="deno is missing"):
        svcnb.Emulator()


@pytest.mark.slow
def test_a_folder_without_a_valid_state_is_rejected_and_unchanged(tmp_path: Path) -> None:
    first = svcnb.Emulator(state=tmp_path)
    first.stop()
    database = next(path for path in tmp_path.iterdir() if path.suffix in {".db", ".sqlite", ".sqlite3"})
    garbage = b"this is no database" * 100
    database.write_bytes(garbage)
    with pytest.raises(launch.StateFolderUnusable):
        svcnb.Emulator(state=tmp_path)
    assert database.read_bytes() == garbage


def test_a_start_that_takes_too_long_is_stopped_and_reported() -> None:
    with pytest.raises(launch.EmulatorNotStarted, match=r"not ready within 0\.01 s"):
        svcnb.Emulator(start_timeout=0.01)


def test_its_output_is_stored(start_emulator: Callable[..., launch.Emulator]) -> None:
    assert "Anyone who has the seed can compute the keys" in start_emulator(seed="demo").log


def test_settings_are_not_visible_in_the_command_line(
    start_emulator: Callable[..., launch.Emulator],
) -> None:
    running = start_emulator(control_token="a-marked-token")
    if sys.platform == "linux":
        process = Path(f"/proc/{running.pid}")
        assert b"a-marked-token" not in (process / "cmdline").read_bytes()
        assert b"a-marked-token" not in (process / "environ").read_bytes()
    assert "a-marked-token" not in repr(running)
    running.state()
    with pytest.raises(ControlRefused) as caught:
        svcnb.Emulator.connect(running.base_url)
    assert caught.value.status in {401, 403}


def test_it_shows_no_port_so_that_outputs_can_be_compared(emulator: launch.Emulator) -> None:
    assert repr(emulator) == "Emulator(starter_credits=1000)"


@pytest.mark.slow
def test_custom_names_reach_the_client(start_emulator: Callable[..., launch.Emulator]) -> None:
    running = start_emulator(service_name="acme", processor_name="payco", starter_credits=100)
    svc = running.client()
    assert svc.vocabulary.run_path == "/acme_action"
    account = svc.accounts.create("words")
    source = "async function main() { return typeof Acme.Actions.getAcmeActionPrivateKey; }"
    assert svc.with_key(account.api_key).run(source).response == "function"


def test_an_address_without_an_emulator_is_reported() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(EmulatorUnreachable, match="the request to the emulator at"):
        svcnb.Emulator.connect(f"http://127.0.0.1:{port}")


@pytest.mark.parametrize(
    "error",
    [launch.PortInUse("taken", hint="another", log="line"), ControlRefused(404, "no snapshot of that name")],
)
def test_errors_survive_pickling(error: svcnb.SvcnbError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
