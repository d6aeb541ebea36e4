"""The emulator as a process: start, stop, private files and restart."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time

import pytest

from svcnb.emulator.service import Service
from svcnb.emulator.settings import Settings
from svcnb.exit_codes import ExitCode

CODE = "function main() { return 'ran'; }"
# Long timeout, because a busy machine is slow. Successful operations usually end much earlier.
PATIENCE_S = 300


def processes() -> list[tuple[int, int, str]]:
    """Returns the id, parent and state of every process of this machine."""
    listed = subprocess.run(["ps", "-axo", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    return [(int(pid), int(parent), state) for pid, parent, state in map(str.split, listed.splitlines())]


def gone(children: set[int]) -> bool:
    """Returns whether processes have ended. A zombie process has ended."""
    deadline = time.monotonic() + PATIENCE_S
    while children & {pid for pid, _, state in processes() if not state.startswith("Z")}:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class Process:
    """Process of ``svcnb emulator``, with the content of its ready line."""

    def __init__(self, *options: str) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "svcnb", "emulator", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.popen.stdout is not None
        line = self.popen.stdout.readline()
        self.ready = json.loads(line) if line else None

    def children(self) -> set[int]:
        """Returns the ids of all descendants of the process."""
        parents = {child: parent for child, parent, _ in processes()}
        found: set[int] = set()
        known = {self.popen.pid}
        while known:
            known = {child for child, parent in parents.items() if parent in known} - found
            found |= known
        return found

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Sends a signal. Returns the exit code and standard error."""
        self.popen.send_signal(number)
        _, err = self.popen.communicate(timeout=PATIENCE_S)
        return self.popen.returncode, err


@pytest.fixture
def start():
    running: list[Process] = []

    def begin(*options: str) -> Process:
        process = Process(*options)
        running.append(process)
        return process

    yield begin
    for process in running:
        if process.popen.poll() is None:
            process.end(signal.SIGKILL)
        for stream in (process.popen.stdout, process.popen.stderr):
            if stream is not None:
                stream.close()


def refused(process: Process) -> str:
    """Returns standard error of a start that must fail."""
    assert process.ready is None
    _, err = process.popen.communicate(timeout=PATIENCE_S)
    return str(err)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_emulator_and_all_its_processes(start, connect, number):
    process = start("--starter-credits", "100")
    account = connect(process.ready["base_url"]).account(credit=100)
    assert account.run(CODE).status_code == 200
    children = process.children()
    assert len(children) >= 2
    code, err = process.end(number)
    assert code in {0, int(ExitCode.INTERRUPTED)}
    assert err == ""
    assert gone(children)


def test_the_ready_line_contains_a_generated_token_but_no_configured_one(start, connect):
    """Container services store the output of a program, so it must not contain a configured secret."""
    process = start("--control-token", "correct horse")
    assert "correct horse" not in json.dumps(process.ready)
    chosen = {"Authorization": "Bearer correct horse"}
    assert connect(process.ready["base_url"]).call("GET", "/_emulator/state", headers=chosen).status_code == 200
    assert len(start().ready["control_token"]) > 30


def test_the_ready_line_contains_every_address_and_appears_quickly(start, connect):
    """A benchmark compares the time with another emulator. This limit only detects a very slow start."""
    started = time.perf_counter()
    process = start()
    ready = process.ready
    assert {"base_url", "triggers_url", "rpc_url", "control_url", "contract_address", "chain_id", "pid"} <= ready.keys()
    wire = connect(ready["base_url"])
    config = wire.get("get_node_chain_config").json()
    assert time.perf_counter() - started < PATIENCE_S
    assert (config["contract_address"], config["chain_id"]) == (ready["contract_address"], ready["chain_id"])
    assert ready["pid"] == process.popen.pid
    assert wire.call("GET", ready["control_url"].removeprefix(ready["base_url"]) + "/state").status_code == 200


@pytest.mark.slow
def test_a_second_emulator_can_run_at_the_same_time(start, connect, wire, account):
    there = connect(start().ready["base_url"])
    assert there.get("account_exists", account.key).json() is False
    assert wire.get("account_exists", account.key).json() is True
    assert there.account().run(CODE).status_code == 200
    assert account.run(CODE).status_code == 200


def test_the_error_for_a_port_in_use_names_the_port(start):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start("--port", str(port))
        assert str(port) in refused(process)
        assert process.popen.returncode == ExitCode.PORT_IN_USE


def test_a_restart_keeps_the_state_and_repeats_no_key(start, connect, tmp_path):
    options = ("--state", str(tmp_path / "state"), "--seed", "lesson")
    first = start(*options)
    wire = connect(first.ready["base_url"])
    account = wire.account(credit=500)
    group = account.group("kept", cids=["0x0"])
    key = account.usage_key("kept", execute_in_groups=[group])
    wallet = account.wallet_made()
    ran = account.run(CODE, key=key)
    credit, wallets = account.credit(), account.listed("list_wallets")
    assert first.end()[0] == 0

    second = start(*options)
    wire = connect(second.ready["base_url"])
    assert second.ready["contract_address"] == first.ready["contract_address"]
    assert wire.listed("list_wallets", account.key, page_size=100) == wallets
    assert -wire.listed("billing/balance", account.key)["balance_cents"] == credit
    assert wire.post("svc_action", key, {"code": CODE}).json()["response"] == "ran"
    kept = wire.control(f"/runs/{ran.headers['X-Request-Id']}", method="GET")
    assert kept["status"] == "success"
    fresh = wire.ok("create_wallet", account.key)["wallet_address"]
    assert fresh not in {entry["wallet_address"] for entry in wallets}
    assert wallet in {entry["wallet_address"] for entry in wallets}
    assert wire.account("another", credit=0).wallet not in {entry["wallet_address"] for entry in wallets}


@pytest.mark.slow
def test_killed_without_warning_its_children_end_and_acknowledged_writes_survive(start, connect, tmp_path):
    options = ("--state", str(tmp_path / "state"), "--starter-credits", "500")
    first = start(*options)
    account = connect(first.ready["base_url"]).account()
    children = first.children()
    assert children
    account.group("acknowledged")
    first.popen.kill()
    first.popen.wait(PATIENCE_S)
    assert gone(children)
    wire = connect(start(*options).ready["base_url"])
    assert [group["name"] for group in wire.listed("list_groups", account.key)] == ["acknowledged"]


def test_the_state_is_private_and_contains_no_key(start, connect, tmp_path):
    folder = tmp_path / "state"
    process = start("--state", str(folder), "--starter-credits", "500")
    account = connect(process.ready["base_url"]).account()
    key = account.usage_key("secret one", execute_in_groups=[0])
    assert account.run(CODE, key=key).status_code == 200
    assert process.end()[0] == 0
    if os.name == "posix":
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in folder.rglob("*"):
        if file.is_file():
            assert os.name != "posix" or stat.S_IMODE(file.stat().st_mode) == 0o600, file
            content = file.read_bytes()
            assert account.key.encode() not in content, file
            assert key.encode() not in content, file


@pytest.mark.slow
def test_a_second_emulator_on_the_same_state_is_refused(start, tmp_path):
    first = start("--state", str(tmp_path))
    second = start("--state", str(tmp_path))
    text = refused(second)
    assert second.popen.returncode == ExitCode.STATE_UNUSABLE
    assert "in use by another emulator" in text
    assert str(first.popen.pid) in text


@pytest.fixture
def kept(tmp_path):
    """State folder of a stopped emulator."""
    service = Service(Settings.load({}, state=tmp_path / "kept"))
    asyncio.run(service.stop())
    return tmp_path / "kept"


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["svcnb.db", "root_secret"])
def test_a_damaged_state_is_rejected_and_unchanged(start, kept, damage):
    file = kept / damage
    assert file.exists()
    file.write_bytes(b"this is no state" * 100)
    file.chmod(0o600)
    process = start("--state", str(kept))
    text = refused(process)
    assert process.popen.returncode == ExitCode.STATE_UNUSABLE
    assert "Traceback" not in text
    assert file.read_bytes() == b"this is no state" * 100


@pytest.mark.slow
def test_a_state_of_another_root_secret_is_refused(start, kept):
    """With another root secret, every wallet in the database has a different key."""
    (kept / "root_secret").unlink()
    process = start("--state", str(kept))
    assert "root" in refused(process)
    assert process.popen.returncode == ExitCode.STATE_UNUSABLE


@pytest.mark.slow
def test_the_error_for_an_unreachable_chain_has_two_lines(start):
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    process = start("--chain-rpc", f"http://127.0.0.1:{port}")
    text = refused(process)
    assert "chain" in text
    assert "Traceback" not in text


def test_a_seeded_emulator_listens_only_on_loopback(start):
    process = start("--seed", "x", "--host", "0.0.0.0", "--control-token", "t")  # noqa: S104  refused
    assert "loopback" in refused(process)
    assert process.popen.returncode == ExitCode.USAGE


def test_the_same_seed_produces_the_same_keys(local):
    worlds = []
    for _ in range(2):
        wire = local(seed="twins", clock="frozen@1767225600", starter_credits=100)
        made = wire.post("new_account", body={"account_name": "n"})
        key = made.json()["api_key"]
        worlds.append(
            (
                wire.get("get_node_chain_config").json()["contract_address"],
                made.json(),
                made.headers["X-Request-Id"],
                wire.ok("create_wallet", key),
                wire.get("get_api_payers").json(),
            )
        )
    assert worlds[0] == worlds[1]


@pytest.mark.slow
def test_an_empty_database_with_a_root_secret_is_rejected(start, kept):
    for left in ("an empty file", "no file"):
        (kept / "svcnb.db").unlink()
        if left == "an empty file":
            (kept / "svcnb.db").touch(mode=0o600)
        process = start("--state", str(kept))
        text = refused(process)
        assert process.popen.returncode == ExitCode.STATE_UNUSABLE
        assert "the database is empty" in text
        assert "delete the file root_secret" in text
    (kept / "root_secret").unlink()
    assert start("--state", str(kept)).ready is not None


def test_a_start_after_a_killed_first_start_works(kept, tmp_path):
    from svcnb.emulator.bootstrap import Bootstrap

    bootstrap = Bootstrap(Settings.load({}, state=tmp_path / "new"))
    bootstrap.release()  # the kill happens when the root secret exists and the database is empty
    service = Service(Settings.load({}, state=tmp_path / "new"))
    assert service.custody is not None
    asyncio.run(service.stop())
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == sorted(file.name for file in kept.iterdir())
