"""The workshop's server: permissions of each token, and rejected requests."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

import svcnb
from svcnb.control import EmulatorUnreachable
from svcnb.protocol.limits import MAX_LEARNER_REQUESTS
from svcnb.workshop import Workshop, WorkshopServer
from svcnb.workshop.connection import LimitedConnection


def ask(url: str, token: str = "", body: object = None) -> tuple[int, str]:
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data)  # noqa: S310 - the server's own address
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=300) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.fixture
def server(room: Workshop) -> WorkshopServer:
    assert room.server is not None
    return room.server


def test_the_boards_address_permits_only_the_board(room: Workshop, server: WorkshopServer, ada: str) -> None:
    token = server.board_url.rpartition("token=")[2]
    assert token != server.instructor_token
    assert ask(server.board_url)[0] == ask(f"{server.url}/board.json?token={token}")[0] == 200
    for path in (f"/learners/{ada}/add", f"/learners/{ada}/reset", "/faults", "/lessons/quickstart"):
        assert ask(f"{server.url}{path}?token={token}", token, {})[0] == 401
        # The server also reads the instructor's token only from the header, because other people can see addresses.
        assert ask(f"{server.url}{path}?token={server.instructor_token}", "", {})[0] == 401
    for path in ("/progress", "/solutions/01-quickstart.ipynb"):
        assert ask(f"{server.url}{path}?token={token}", token)[0] == 401
    assert ask(f"{server.url}/solutions", token, {})[0] == 401
    assert ask(f"{server.url}/board?token={room.learner(ada).token}")[0] == 401


def test_a_learners_token_does_not_permit_commands_of_the_instructor(
    room: Workshop, server: WorkshopServer, ada: str
) -> None:
    token = room.learner(ada).token
    for path in (f"/learners/{ada}/reset", "/learners/someone/add", "/faults", "/solutions"):
        assert ask(f"{server.url}{path}", token, {})[0] == 401
    assert ask(f"{server.url}/board.json", token)[0] == ask(f"{server.url}/progress", token)[0] == 401
    assert ask(f"{server.url}/solutions/17-workshop.ipynb", token)[0] == 403
    assert ask(f"{server.url}/solutions/..%2Froster.json", token)[0] in {403, 404}


def test_the_board_receives_results_but_no_answers(room: Workshop, at_desk: str) -> None:
    svcnb.exercises.check("cids.changes", ...)  # the learner has not tried the exercise
    svcnb.exercises.check("cids.changes", {"different js_params"})
    assert room.board().as_dict()[at_desk] == {"cids.changes": {"right": False, "tries": 1}}
    right = {"a space after the last brace", "a comment with other words", "Windows line endings instead of Unix ones"}
    svcnb.exercises.check("cids.changes", right)
    assert room.board().as_dict()[at_desk] == {"cids.changes": {"right": True, "tries": 2}}


def test_an_unreachable_server_does_not_prevent_exercises(
    room: Workshop, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_WORKSHOP_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SVC_WORKSHOP_TOKEN", room.learner(ada).token)
    assert svcnb.exercises.check("cids.changes", set()).right is False
    with pytest.raises(EmulatorUnreachable, match="server at http://127\\.0\\.0\\.1:9 does not respond"):
        svcnb.lesson("quickstart")


def test_the_board_shows_everyone(server: WorkshopServer, ada: str) -> None:
    status, page = ask(server.board_url)
    assert status == 200
    assert ada in page
    assert ask(f"{server.url}/board")[0] == 401
    status, text = ask(f"{server.url}/board.json", server.instructor_token)
    assert ada in json.loads(text)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/verdicts", {"exercise": "no.such", "right": True}, 422),
        ("/verdicts", {"exercise": "cids.derive"}, 422),
        ("/verdicts", b"not json", 422),
        ("/verdicts", {"exercise": "x" * 100_000, "right": True}, 413),
        ("/lessons/quickstart", {"settings": {"seed": []}}, 422),
        ("/lessons/quickstart", {"notebook": "x" * 5_000}, 422),
        ("/lessons/quickstart", b"[", 422),
        ("/lessons/quickstart", b" " * 100_000, 413),
        ("/lessons/QUICK%20START", {}, 422),
    ],
)
def test_an_invalid_request_of_a_learner_is_refused(
    room: Workshop, ada: str, path: str, body: object, status: int
) -> None:
    assert room.server is not None
    assert ask(f"{room.server.url}{path}", room.learner(ada).token, body)[0] == status
    assert ask(f"{room.server.url}{path}", "a guess", body)[0] == 401


@pytest.mark.parametrize(("body", "status"), [(b"{", 422), ({"label": "x" * 201}, 422), ({"label": "never"}, 404)])
def test_an_invalid_command_of_the_instructor_is_refused(
    server: WorkshopServer, ada: str, body: object, status: int
) -> None:
    assert ask(f"{server.url}/learners/{ada}/restore", server.instructor_token, body)[0] == status
    assert ask(f"{server.url}/learners/{ada}/praise", server.instructor_token, {})[0] == 404
    assert ask(f"{server.url}/learners/no-one/reset", server.instructor_token, {})[0] == 404
    assert ask(f"{server.url}/faults", server.instructor_token, b"{")[0] == 422
    assert ask(f"{server.url}/solutions", server.instructor_token, {"lessons": [99]})[0] == 422
    assert ask(f"{server.url}/solutions", server.instructor_token, {"lessons": "all"})[0] == 422
    assert ask(f"{server.url}/learners/{'x' * 201}/add", server.instructor_token, {})[0] == 404


def test_requests_of_one_learner_do_not_delay_other_learners(
    room: Workshop, server: WorkshopServer, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, go_on, begun = room.learner(ada).token, threading.Event(), threading.Semaphore(0)

    def slowly(*_: object, **__: object) -> None:
        begun.release()
        go_on.wait(60)
        raise svcnb.InvalidArgument("not today")

    monkeypatch.setattr(room, "start_lesson", slowly)
    with ThreadPoolExecutor(60) as pool:
        first = pool.submit(ask, f"{server.url}/lessons/quickstart", token, {})
        assert begun.acquire(timeout=60)
        many = [pool.submit(ask, f"{server.url}/lessons/quickstart", token, {}) for _ in range(50)]
        while sum(each.done() for each in many) < 50 - (MAX_LEARNER_REQUESTS - 1):
            time.sleep(0.01)
        assert not begun.acquire(timeout=0.2), "one at a time"
        grace = room.learner(room.add(f"grace-{ada}").name).token
        assert ask(f"{server.url}/verdicts", grace, {"exercise": "cids.changes", "right": True})[0] == 200
        assert ask(server.board_url)[0] == 200
        go_on.set()
        statuses = Counter(each.result()[0] for each in [first, *many])
    assert statuses == {422: MAX_LEARNER_REQUESTS, 429: 51 - MAX_LEARNER_REQUESTS}
    assert ask(f"{server.url}/verdicts", token, {"exercise": "cids.changes", "right": True})[0] == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /verdicts HTTP/1.1\r\nHost: a",
        b"POST /verdicts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Length: 9\r\n\r\n{",
        b"GET /health HTTP/1.1\r\nHost: a\r\n\r\nGET /he",
    ],
)
def test_a_request_that_does_not_arrive_ends_its_connection(
    room: Workshop, server: WorkshopServer, ada: str, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(LimitedConnection, "arrival_s", 0.3)
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(sent.replace(b"%s", room.learner(ada).token.encode()))
        try:
            while connection.recv(65_536):
                pass
        except ConnectionResetError:
            pass


def test_an_invalid_request_prints_nothing_in_the_terminal(
    room: Workshop, server: WorkshopServer, ada: str, caplog: pytest.LogCaptureFixture
) -> None:
    head = f"POST /verdicts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {room.learner(ada).token}\r\n"
    for sent in (f"{head}Content-Length: 9\r\n\r\n{{".encode(), b"\x00\xff\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(sent)
            time.sleep(0.2)  # the server waits for the remaining bytes
    assert ask(f"{server.url}/health")[0] == 200
    time.sleep(0.2)
    assert not caplog.records


def test_a_head_that_does_not_end_ends_its_connection(server: WorkshopServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n" + b"X: %b\r\n" % (b"a" * 1_000) * 60)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            connection.sendall(b"X: %b\r\n" % (b"a" * 1_000) * 50_000)
    assert ask(f"{server.url}/health")[0] == 200


def test_an_excess_connection_receives_503_without_effect_on_others(
    server: WorkshopServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LimitedConnection, "limit", 3)
    with ExitStack() as open_ones:
        for _ in range(3):
            open_ones.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as late:
            late.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
            answer = b""
            while chunk := late.recv(65_536):
                answer += chunk
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1" in answer
    assert b"at most 500 connections" in answer
    while ask(f"{server.url}/health")[0] != 200:
        time.sleep(0.05)


def test_a_failure_of_the_server_is_reported_as_json(
    room: Workshop, server: WorkshopServer, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(room, "start_lesson", fails)
    status, text = ask(f"{server.url}/lessons/quickstart", room.learner(ada).token, {})
    assert (status, json.loads(text)["error"]) == (500, "failed")


def test_no_secret_is_shown(room: Workshop, server: WorkshopServer, ada: str) -> None:
    learner = room.learner(ada)
    shown = repr(room) + repr(server) + repr(learner) + repr(room.board()) + room.board()._repr_html_()
    assert learner.token not in shown
    assert server.instructor_token not in shown
