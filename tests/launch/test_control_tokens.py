"""How the control token of an emulator reaches the user's other programs, and nobody else's."""

from __future__ import annotations

import json
import os
import socket
import stat
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
    """``localhost`` means ::1 first on most systems, where another user may listen."""
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
def test_a_damaged_file_is_no_token(folder: Path, content: bytes) -> None:
    folder.mkdir(parents=True)
    (folder / "8123.json").write_bytes(content)
    (folder / "8123.json").chmod(0o600)
    assert control_tokens.find("http://127.0.0.1:8123") is None


def test_a_file_that_others_may_read_is_not_trusted() -> None:
    file = control_tokens.save("http://127.0.0.1:8123", "a token")
    assert file is not None
    file.chmod(0o644)
    assert control_tokens.find("http://127.0.0.1:8123") is None


def test_what_a_killed_emulator_left_is_ignored_and_deleted_by_the_next(folder: Path) -> None:
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    folder.mkdir(parents=True)
    (folder / "8123.json").touch(0o600)
    (folder / "8123.json").write_text(json.dumps({"pid": pid, "control_token": "old", "base_url": "http://a"}))
    assert control_tokens.find("http://127.0.0.1:8123") is None
    assert control_tokens.running() == []
    control_tokens.save("http://127.0.0.1:8124", "new")
    assert [file.name for file in folder.iterdir()] == ["8124.json"]


def test_a_folder_that_cannot_be_written_stops_no_emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "file"))
    assert control_tokens.save("http://127.0.0.1:8123", "a token") is None
    control_tokens.delete(None)


def test_other_programs_of_the_user_control_an_emulator_without_a_token_in_sight(
    start_emulator: Any, folder: Path
) -> None:
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
def test_a_chosen_token_is_kept_nowhere_and_passed_on_by_its_owner(start_emulator: Any, folder: Path) -> None:
    emulator: Emulator = start_emulator(control_token="chosen", action_spares=1)
    assert not folder.exists() or not list(folder.iterdir())
    with pytest.raises(ControlRefused, match="needs its token"):
        Emulator.connect(emulator.base_url)
    assert Emulator.connect(emulator.base_url, control_token="chosen").chain_id == emulator.chain_id
    emulator.clock.advance(1)
