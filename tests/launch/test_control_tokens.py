"""Access to the control token of an emulator, which other programs of the same user have, but other users do not."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import svcnb
from svcnb import control_tokens
from svcnb.control import ControlRefused, EmulatorControl
from svcnb.launch import Emulator


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "svcnb" / "emulators"


def test_a_token_is_found_by_any_loopback_address_of_the_emulator(folder: Path) -> None:
    file = control_tokens.save("http://127.0.0.1:8123", "a token")
    assert file is not None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for url in ("http://127.0.0.1:8123/core/v1", "http://localhost:8123", "http://[::1]:8123/"):
        found = control_tokens.find(url)
        assert found is not None
        assert found.reveal() == "a token"
        assert "a token" not in repr(found)
    for url in ("http://127.0.0.1:8124", "http://example.org:8123", "http://127.0.0.1", "http://127.0.0.1:x", ""):
        assert control_tokens.find(url) is None
    assert control_tokens.running() == [("http://127.0.0.1:8123", os.getpid())]
    control_tokens.delete(file)
    assert control_tokens.find("http://127.0.0.1:8123") is None
    assert control_tokens.running() == []


@pytest.mark.engine
@pytest.mark.chain
def test_a_token_is_sent_to_the_emulator_alone_and_not_to_another_listener_on_its_port(
    start_emulator: Callable[..., Emulator],
) -> None:
    """On most systems, ``localhost`` resolves to ::1 first, where another user can listen."""
    emulator = start_emulator(starter_credits=100)
    port = urlsplit(emulator.base_url).port or 0
    heard: list[bytes] = []
    # Another loopback address, because ::1 is missing on some machines.
    with socket.create_server(("127.0.0.2", port)) as trap:

        def listen() -> None:
            with suppress(OSError):
                connection, _ = trap.accept()
                heard.append(connection.recv(65_536))
                connection.close()

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        elsewhere = f"http://127.0.0.2:{port}"
        assert EmulatorControl(elsewhere).state()["base_url"] == emulator.base_url
        client = emulator.client()
        done = client.with_key(client.accounts.create("a").api_key).run("const main = () => 1")
        with svcnb.Client(elsewhere, api_key="any") as mistaken:
            assert mistaken.trace(done.request_id)
        trap.shutdown(socket.SHUT_RDWR)
        listener.join()
    assert not any(b"Bearer" in request for request in heard)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"pid": "1", "control_token": "x"}', b"{" * 5_000])
def test_a_damaged_token_file_is_ignored(folder: Path, content: bytes) -> None:
    folder.mkdir(parents=True)
    (folder / "8123-1.json").write_bytes(content)
    (folder / "8123-1.json").chmod(0o600)
    assert control_tokens.find("http://127.0.0.1:8123") is None


def test_a_file_that_others_may_read_is_not_trusted() -> None:
    file = control_tokens.save("http://127.0.0.1:8123", "a token")
    assert file is not None
    file.chmod(0o644)
    assert control_tokens.find("http://127.0.0.1:8123") is None


def token(url: str) -> str | None:
    found = control_tokens.find(url)
    return None if found is None else found.reveal()


def in_a_child(code: str) -> int:
    """Runs code in another process until the process ends. Returns the process id."""
    with subprocess.Popen([sys.executable, "-c", f"from svcnb.control_tokens import delete, save\n{code}"]) as process:
        pass
    assert process.returncode == 0
    return process.pid


def test_the_file_of_a_killed_emulator_is_ignored_and_deleted(folder: Path) -> None:
    in_a_child("save('http://127.0.0.1:8123', 'old')")
    assert len(list(folder.iterdir())) == 1
    assert control_tokens.find("http://127.0.0.1:8123") is None
    assert control_tokens.running() == []
    file = control_tokens.save("http://127.0.0.1:8124", "new")
    assert list(folder.iterdir()) == [file]


def test_emulators_that_start_at_the_same_time_keep_their_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second emulator deletes files of killed emulators while the first one writes its file."""
    write = json.dump

    def another_starts_first(entry: dict[str, object], opened: Any) -> None:
        if entry["control_token"] == "first":
            in_a_child("save('http://127.0.0.1:8124', 'second')")
        write(entry, opened)

    monkeypatch.setattr("svcnb.control_tokens.json.dump", another_starts_first)
    control_tokens.save("http://127.0.0.1:8123", "first")
    assert token("http://127.0.0.1:8123") == "first"


def test_a_reused_port_keeps_the_new_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """An emulator reads the file of a killed emulator; before it deletes the file, a new emulator uses the port."""
    killed = in_a_child("save('http://127.0.0.1:8123', 'old')")
    exists = os.kill

    def a_new_one_starts(pid: int, signal: int) -> None:
        if pid == killed:
            monkeypatch.setattr("svcnb.control_tokens.os.kill", exists)
            control_tokens.save("http://127.0.0.1:8123", "new")
        exists(pid, signal)

    monkeypatch.setattr("svcnb.control_tokens.os.kill", a_new_one_starts)
    control_tokens.save("http://127.0.0.1:8124", "other")
    assert token("http://127.0.0.1:8123") == "new"


def test_an_emulator_at_another_address_with_the_same_port_changes_nothing() -> None:
    control_tokens.save("http://127.0.0.1:8123", "own")
    in_a_child("delete(save('http://[::1]:8123', 'other'))")
    assert token("http://127.0.0.1:8123") == "own"


def test_of_two_emulators_with_the_same_port_the_address_chooses() -> None:
    control_tokens.save("http://127.0.0.1:8123", "own")
    code = "from svcnb import control_tokens as c; c.save('http://127.0.0.2:8123', 'other'); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert [token(f"http://127.0.0.{last}:8123") for last in (1, 2)] == ["own", "other"]
        assert len(control_tokens.running()) == 2
        other.communicate("\n")


def test_an_unwritable_folder_does_not_prevent_the_start_of_an_emulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "file"))
    assert control_tokens.save("http://127.0.0.1:8123", "a token") is None
    control_tokens.delete(None)


def test_other_programs_of_the_user_find_the_token_of_an_emulator(start_emulator: Any, folder: Path) -> None:
    emulator: Emulator = start_emulator(starter_credits=100, action_spares=1)
    elsewhere = Emulator.connect(emulator.base_url)
    elsewhere.clock.advance(60)
    with svcnb.Client(emulator.base_url) as client:
        account = client.accounts.create("elsewhere")
    with svcnb.Client(emulator.base_url, api_key=account.api_key) as client:
        run = client.run("async function main() { return 1; }")
        assert client.trace(run).events
    (file,) = folder.iterdir()
    token = json.loads(file.read_text())["control_token"]
    assert token not in f"{emulator!r} {emulator.log} {vars(elsewhere)} {emulator.state()}"
    emulator.stop()
    assert not file.exists()


@pytest.mark.slow
def test_a_configured_token_is_not_stored(start_emulator: Any, folder: Path) -> None:
    emulator: Emulator = start_emulator(control_token="chosen", action_spares=1)
    assert not folder.exists() or not list(folder.iterdir())
    with pytest.raises(ControlRefused, match="control token is missing"):
        Emulator.connect(emulator.base_url)
    assert Emulator.connect(emulator.base_url, control_token="chosen").chain_id == emulator.chain_id
    emulator.clock.advance(1)
