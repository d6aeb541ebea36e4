"""``svcnb emulator`` as a process that scripts can rely on."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from svcnb.cli._errors import explain
from svcnb.emulator.settings import Settings
from svcnb.exit_codes import ExitCode
from tests.process_groups import running

MEMBERS = {"base_url", "triggers_url", "rpc_url", "control_url", "control_token", "contract_address", "chain_id", "pid"}


def has_processes(group: int) -> bool:
    """Returns whether a process of the group is running."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.chain
@pytest.mark.engine
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_prints_one_line_of_json_and_stops_cleanly_on_a_signal(number: signal.Signals) -> None:
    with running(
        [sys.executable, "-m", "svcnb", "emulator"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert set(ready) >= MEMBERS
        assert ready["pid"] == process.pid
        process.send_signal(number)
        rest, errors = process.communicate(timeout=300)
        assert rest == ""
        assert process.returncode == ExitCode.OK, errors
        assert "Traceback" not in errors
        until = time.monotonic() + 300
        while has_processes(process.pid):  # the last child process can end a moment later
            assert time.monotonic() < until, "a process of the emulator is still running"
            time.sleep(0.02)


@pytest.mark.engine
def test_the_chain_engine_ethereumjs_does_not_need_anvil() -> None:
    with running(
        [sys.executable, "-m", "svcnb", "emulator", "--chain-engine", "ethereumjs"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"SVC_ANVIL": os.devnull + "/missing"},
    ) as process:
        assert process.stdout is not None
        ready = process.stdout.readline()
        process.terminate()
        _, errors = process.communicate(timeout=300)
    assert ready, errors
    assert set(json.loads(ready)) >= MEMBERS


@pytest.mark.chain
@pytest.mark.engine
def test_a_taken_port_ends_with_its_exit_code(svcnb) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        done = svcnb("emulator", "--port", str(taken.getsockname()[1]))
    assert done.returncode == ExitCode.PORT_IN_USE
    assert "Next step: Use another --port" in done.stderr
    assert done.stdout == ""


def test_the_error_for_an_invalid_setting_contains_its_value(svcnb) -> None:
    done = svcnb("emulator", "--starter-credits", "many")
    assert done.returncode == ExitCode.USAGE
    assert "starter_credits" in done.stderr
    assert "'many'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("host", ["", "nowhere.invalid", "a..b", "192.0.2.1"])
def test_a_host_that_is_not_an_address_of_this_machine_is_an_error(svcnb, host: str) -> None:
    done = svcnb("emulator", "--host", host)
    assert done.returncode == ExitCode.USAGE
    assert f"cannot listen on host {host!r}" in done.stderr
    assert "Next step: Use 127.0.0.1" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("token", ["s3crèt", " s3cret", "s3\ncret"])
def test_a_control_token_that_no_header_can_contain_is_an_error_without_the_token(token: str) -> None:
    with pytest.raises(ValueError, match="control_token contains characters") as caught:
        Settings.load({}, control_token=token)
    shown = explain(caught.value)
    assert shown is not None
    assert token not in shown.message


@pytest.mark.chain
@pytest.mark.engine
@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of a process are POSIX")
@pytest.mark.parametrize("blocks", [0, 100, 400, 600])
def test_a_state_that_cannot_be_written_ends_with_its_exit_code(tmp_path, blocks: int) -> None:
    arguments = [sys.executable, "-m", "svcnb", "emulator", "--state", str(tmp_path / "state")]
    done = subprocess.run(
        ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == ExitCode.STATE_UNUSABLE, done.stderr
    assert "Traceback" not in done.stderr
    assert "different --state folder or --database" in done.stderr


def test_the_environment_is_read_and_checked_like_an_option(svcnb) -> None:
    done = svcnb("emulator", SVC_CLOCK="sometimes")
    assert done.returncode == ExitCode.USAGE
    assert "clock 'sometimes' is not valid" in done.stderr


def test_every_setting_is_an_option(svcnb) -> None:
    told = svcnb("emulator", "--help").stdout
    assert [name for name in Settings.model_fields if f"--{name.replace('_', '-')} " not in told] == []
