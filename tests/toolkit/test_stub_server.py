"""A local server sends its predefined responses to actions and to other clients."""

from __future__ import annotations

import threading

import httpx
import pytest

from svcnb import testing
from svcnb.toolkit.stub_server import Request, Response, StubServer


def test_a_response_can_be_text_json_or_a_function() -> None:
    with StubServer(
        {"/text": "hello", "/json": {"n": [1]}, "/double": lambda request: request.json["n"] * 2}
    ) as server:
        assert httpx.get(server.url + "/text").text == "hello"
        assert httpx.get(server.url + "/json?page=2").json() == {"n": [1]}
        assert httpx.post(server.url + "/double", json={"n": 21}).json() == 42
        assert [(each.method, each.path) for each in server.requests] == [
            ("GET", "/text"), ("GET", "/json?page=2"), ("POST", "/double"),
        ]  # fmt: skip
        assert server.requests[-1].headers["content-type"] == "application/json"


def test_a_missing_path_is_404_and_a_response_has_its_own_status() -> None:
    with StubServer({"/busy": Response({"error": "busy"}, 503)}) as server:
        assert httpx.get(server.url + "/none").status_code == 404
        busy = httpx.get(server.url + "/busy")
        assert (busy.status_code, busy.json()) == (503, {"error": "busy"})
        server.answers["/moved"] = Response(status=302, headers={"location": "/busy"})
        assert httpx.get(server.url + "/moved").headers["location"] == "/busy"


def test_responses_can_change_and_the_server_stops_completely() -> None:
    before = threading.active_count()
    server = StubServer()
    server.answers["/"] = "one"
    assert httpx.get(server.url + "/").text == "one"
    server.answers["/"] = "two"
    assert httpx.get(server.url + "/").text == "two"
    server.close()
    assert threading.active_count() == before
    with pytest.raises(httpx.ConnectError):
        httpx.get(server.url + "/")


def test_a_large_body_is_rejected() -> None:
    with StubServer({"/": "ok"}) as server:
        assert httpx.post(server.url + "/", content=b"", headers={"content-length": "0"}).text == "ok"
        assert httpx.post(server.url + "/", content=bytes(2 << 20)).status_code == 413


def test_a_response_that_is_not_json_is_an_error() -> None:
    from svcnb.protocol.errors import MalformedValue

    with (
        StubServer({"/": {1, 2}}) as server,
        pytest.raises(MalformedValue, match="response for / cannot be sent as JSON"),
    ):
        server.respond(Request("GET", "/", {}, b""))


def test_the_old_name_of_the_server_is_deprecated() -> None:
    with pytest.warns(
        DeprecationWarning, match=r"svcnb\.testing\.StandIn is deprecated.*use svcnb\.testing\.StubServer"
    ):
        assert testing.StandIn is StubServer  # type: ignore[attr-defined]
