"""Data that the record of runs contains, and data that it must not contain."""

from __future__ import annotations

import json
import sqlite3
import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from svcnb import Action, ActionError, AsyncClient, Client
from svcnb.client import recorder
from svcnb.client.recorder import Recorder, default_path, strip, strip_text
from svcnb.protocol.limits import MAX_RECORDED_CHARS

KEY = "bWFya2VkLXNlY3JldC1tYXJrZWQtc2VjcmV0LTEyMzQ="
PRIVATE = "0x" + "4c" * 32
PHRASE = "test test test test test test test test test test test junk"
ACTION = Action("const main = (p) => p", name="echo")


def echo(request: httpx.Request) -> httpx.Response:
    body = json.loads(request.content)
    return httpx.Response(
        200, json={"response": body["js_params"], "logs": f"key {KEY}\n"}, headers={"X-Request-Id": "r-1"}
    )


def numbered() -> Callable[[httpx.Request], httpx.Response]:
    """Returns a function that responds with the received parameters, and a new request id each time."""
    numbers = count()

    def handle(request: httpx.Request) -> httpx.Response:
        answer = echo(request)
        answer.headers["X-Request-Id"] = f"r-{next(numbers)}"
        return answer

    return handle


def rows(path) -> list[dict[str, Any]]:
    with sqlite3.connect(path) as connection:
        connection.row_factory = sqlite3.Row
        found = [dict(row) for row in connection.execute("SELECT * FROM runs ORDER BY id")]
    connection.close()
    return found


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"apiKey": "abc", "n": 1}, {"apiKey": "********", "n": 1}),
        ({"password": 1234}, {"password": "********"}),
        ({"deep": [{"client_secret": "x"}]}, {"deep": [{"client_secret": "********"}]}),
        ({"privateKey": "abc"}, {"privateKey": "********"}),
        ({"key": "abc"}, {"key": "********"}),
        (KEY, "********"),
        (PRIVATE, "********"),
        ([PRIVATE], ["********"]),
        ({"transactionHash": PRIVATE}, {"transactionHash": PRIVATE}),
        ({"topics": [PRIVATE]}, {"topics": [PRIVATE]}),
        ({"to": "0x" + "ab" * 20, "amount": 1.5, "ok": True, "none": None},) * 2,
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "********"),
        (f"my words: {PHRASE}", "my words: ********"),
        ("a plain sentence with a few words in it", "a plain sentence with a few words in it"),
        ({"pkpId": "0x" + "ab" * 20},) * 2,
    ],
)
def test_secrets_are_masked_by_name_and_by_format(value, kept) -> None:
    assert strip(value) == kept


def test_a_pem_key_is_masked_completely() -> None:
    text = "-----BEGIN EC PRIVATE KEY-----\nMHQCAQ\n-----END EC PRIVATE KEY-----"
    assert strip_text(f"see {text} there") == "see ******** there"


def test_runs_are_recorded_without_secrets_in_a_private_file(scripted, tmp_path) -> None:
    file = tmp_path / "deep" / "history.sqlite"
    svc = scripted(echo, api_key=KEY, on_run=Recorder(file))
    svc.run(ACTION, {"n": 1, "apiKey": KEY, "privateKey": PRIVATE})
    svc.close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    [row] = rows(file)
    assert (row["cid"], row["action"], row["status"], row["run_id"], row["cost_cents"]) == (
        ACTION.cid, "echo", "success", "r-1", 1,
    )  # fmt: skip
    assert json.loads(row["params"]) == {"n": 1, "apiKey": "********", "privateKey": "********"}
    everything = b"".join(path.read_bytes() for path in file.parent.iterdir())
    assert KEY.encode() not in everything
    assert PRIVATE.encode() not in everything


def test_failed_runs_are_recorded_with_their_error(scripted, tmp_path) -> None:
    file = tmp_path / "history.sqlite"
    svc = scripted(
        lambda _: httpx.Response(500, json=f"Internal server error: Uncaught Error: lost {KEY}"),
        on_run=Recorder(file),
    )
    with pytest.raises(ActionError):
        svc.run(ACTION)
    [row] = rows(file)
    assert (row["status"], row["error_type"], row["error"], row["cost_cents"]) == (
        "failed", "ActionError", "lost ********", 0,
    )  # fmt: skip


def test_recording_is_on_by_default(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("SVC_HISTORY")

    def files(client: Client | AsyncClient) -> list[Path]:
        return [listener.path for listener in client.on_run if isinstance(listener, Recorder)]

    usual = tmp_path / "svcnb" / "history.sqlite"
    assert default_path() == usual
    for kind in (Client, AsyncClient):
        assert files(kind("http://a.test")) == [usual]
        assert kind("http://a.test", history=False).on_run == []
        assert files(kind("http://a.test", history=tmp_path / "x")) == [tmp_path / "x"]
    monkeypatch.setenv("SVC_HISTORY", "off")
    assert Client("http://a.test").on_run == []
    assert files(Client("http://a.test", history=True)) == [usual]
    monkeypatch.setenv("SVC_HISTORY", str(tmp_path / "y"))
    assert files(Client("http://a.test")) == [tmp_path / "y"]


def test_a_run_succeeds_even_if_the_record_cannot_be_written(scripted, tmp_path, caplog) -> None:
    (tmp_path / "file").write_text("in the way")
    svc = scripted(echo, on_run=Recorder(tmp_path / "file" / "history.sqlite"))
    assert svc.run(ACTION, 1).response == 1
    svc.run(ACTION)
    # The warning is a single line for any number of runs, and ends with the next step.
    (told,) = caplog.messages
    assert told.startswith(f"runs are not recorded, because {tmp_path / 'file' / 'history.sqlite'} cannot be written: ")
    assert told.endswith("To stop this warning, set SVC_HISTORY to off or to the path of another file.")
    assert "Traceback" not in caplog.text


def test_texts_with_lone_surrogates_are_recorded_with_replacements(scripted, tmp_path) -> None:
    def half(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=rb'{"response": "a\ud800b", "logs": "\ud800\n"}')

    file = tmp_path / "history.sqlite"
    scripted(half, on_run=Recorder(file)).run(ACTION)
    [row] = rows(file)
    assert (row["response"], row["logs"]) == ('"a?b"', "?\n")


def test_very_long_values_are_truncated(scripted, tmp_path) -> None:
    file = tmp_path / "history.sqlite"
    scripted(echo, on_run=Recorder(file)).run(ACTION, {"text": "x " * MAX_RECORDED_CHARS})
    [row] = rows(file)
    assert len(row["params"]) < MAX_RECORDED_CHARS
    assert json.loads(row["params"])["characters"] > MAX_RECORDED_CHARS


def test_threads_and_processes_can_write_the_same_file(tmp_path, scripted) -> None:
    file = tmp_path / "history.sqlite"
    handle = numbered()
    clients = [scripted(handle, on_run=Recorder(file)) for _ in range(2)]
    threads = [
        threading.Thread(target=lambda svc=svc: [svc.run(ACTION) for _ in range(25)])
        for svc in clients
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(rows(file)) == 100


@pytest.mark.slow
def test_many_processes_can_create_a_new_record_at_the_same_time(tmp_path) -> None:
    for attempt in range(25):
        file, together = tmp_path / str(attempt) / "history.sqlite", threading.Barrier(6)

        def write(file: Path = file, together: threading.Barrier = together) -> None:
            together.wait()
            with closing(recorder.connect(file)) as connection:
                connection.execute("SELECT count(*) FROM runs").fetchone()

        with ThreadPoolExecutor(6) as threads:
            for done in [threads.submit(write) for _ in range(6)]:
                done.result()


def test_a_locked_record_is_retried_and_then_raises_an_error(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(recorder, "_TIMEOUT_S", 0.05)
    file = tmp_path / "history.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            recorder.connect(file)
        other.execute("ROLLBACK")
    recorder.connect(file).close()


def test_runs_succeed_even_if_a_newer_program_wrote_the_record(scripted, tmp_path, caplog) -> None:
    file = tmp_path / "history.sqlite"
    with closing(recorder.connect(file)) as connection:
        connection.execute("PRAGMA user_version = 9")
    assert scripted(echo, on_run=Recorder(file)).run(ACTION, 1).response == 1
    assert "has version 9" in caplog.text
    assert rows(file) == []


def test_runs_are_written_later_if_the_record_is_locked(scripted, tmp_path, monkeypatch, caplog) -> None:
    monkeypatch.setattr(recorder, "_TIMEOUT_S", 0.05)
    monkeypatch.setattr(recorder, "_TIMEOUT_WHEN_BEHIND_S", 0.0)
    file = tmp_path / "history.sqlite"
    kept = Recorder(file)
    svc = scripted(numbered(), on_run=kept)
    svc.run(ACTION, 1)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        svc.run(ACTION, 2)
        svc.run(ACTION, 3)
        assert len(rows(file)) == 1
        other.execute("ROLLBACK")
        svc.run(ACTION, 4)
        assert [row["params"] for row in rows(file)] == ["1", "2", "3", "4"]
        other.execute("BEGIN IMMEDIATE")
        svc.run(ACTION, 5)
        other.execute("ROLLBACK")
    kept.close()
    assert len(rows(file)) == 5
    (told,) = caplog.messages
    assert "database is locked" in told


def test_unwritten_runs_use_bounded_memory_and_cause_a_warning_at_exit(scripted, tmp_path, monkeypatch, caplog) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(recorder, "MAX_WAITING", 3)
    kept = Recorder(tmp_path / "file" / "history.sqlite")
    svc = scripted(numbered(), on_run=kept)
    for number in range(5):
        svc.run(ACTION, number)
    kept.close()
    kept.close()
    assert caplog.messages[1:] == [f"3 rows of the run history were not stored in {kept.path}"]


def test_the_oldest_runs_are_deleted_even_if_each_process_records_only_one(tmp_path, scripted, monkeypatch) -> None:
    monkeypatch.setattr(recorder, "KEPT_RECORDED_RUNS", 5)
    monkeypatch.setattr(recorder, "_PRUNE_EVERY", 4)
    file = tmp_path / "history.sqlite"
    handle = numbered()
    for _ in range(12):
        once = Recorder(file)
        scripted(handle, on_run=once).run(ACTION)
        once.close()
    assert [row["run_id"] for row in rows(file)] == [f"r-{each}" for each in range(7, 12)]
