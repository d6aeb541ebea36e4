"""Pages of other origins (reference facts 8, Appendix A D39)."""

from __future__ import annotations

import json

import pytest

PAGE = "https://notebook.example"


def test_a_preflight_permits_every_method_the_service_has(wire):
    answer = wire.call(
        "OPTIONS",
        "add_group",
        headers={
            "Origin": PAGE,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "x-api-key, content-type",
        },
    )
    assert answer.status_code == 204
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE
    assert answer.headers["Access-Control-Allow-Credentials"] == "true"
    assert set(answer.headers["Access-Control-Allow-Methods"].split(", ")) == {
        "GET",
        "POST",
        "PATCH",
        "DELETE",
        "OPTIONS",
    }
    assert answer.headers["Access-Control-Allow-Headers"] == "x-api-key, content-type"
    assert "Origin" in answer.headers["Vary"]
    assert answer.headers["X-Request-Id"]


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "get_node_chain_config", 200), ("POST", "add_group", 401)]
)
def test_answers_and_errors_can_be_read_by_the_page(wire, method, path, status):
    answer = wire.call(method, path, headers={"Origin": PAGE})
    assert answer.status_code == status
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE
    assert "X-Request-Id" in answer.headers["Access-Control-Expose-Headers"]


def test_without_an_origin_no_such_header_is_sent(wire):
    assert "Access-Control-Allow-Origin" not in wire.get("get_node_chain_config").headers


def test_the_control_plane_takes_nothing_from_a_page(wire):
    """A page that a person happens to read must not change time or money."""
    asked = wire.call("POST", "/_emulator/clock", json={"advance": 1}, headers={"Origin": PAGE})
    assert asked.status_code == 403
    assert "Access-Control-Allow-Origin" not in asked.headers
    preflight = wire.call(
        "OPTIONS", "/_emulator/clock", headers={"Origin": PAGE, "Access-Control-Request-Method": "POST"}
    )
    assert preflight.status_code == 405
    form = wire.call("POST", "/_emulator/clock", content="advance=1", headers={"Content-Type": "text/plain"})
    assert form.status_code == 415
    own = wire.call("GET", "/_emulator/state", headers={"Origin": wire.base_url})
    assert own.status_code == 200


ASKED = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": PAGE},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example:8888"},
        {"Origin": "http://[::1"},
        {"Origin": "https://evil.example", "Content-Type": "text/plain"},
        {"Origin": "http://evil.example", "Host": "evil.example"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
    ],
)
def test_the_chain_takes_nothing_from_other_sites_nor_under_their_names(wire, headers):
    """No credential protects it, and a seeded emulator's keys can be computed (cross-site requests, DNS rebinding)."""
    answer = wire.call("POST", "/rpc", content=json.dumps(ASKED), headers=headers)
    assert answer.status_code == 403
    if "Host" not in headers:
        assert "Access-Control-Allow-Origin" not in answer.headers
        preflight = wire.call("OPTIONS", "/rpc", headers=headers | {"Access-Control-Request-Method": "POST"})
        assert "Access-Control-Allow-Origin" not in preflight.headers


@pytest.mark.parametrize(
    "origin", ["http://localhost:8888", "http://127.0.0.1:8000", "chrome-extension://abc", "moz-extension://abc"]
)
def test_the_chain_answers_notebooks_of_this_machine_and_wallets(wire, origin):
    answer = wire.call("POST", "/rpc", json=ASKED, headers={"Origin": origin})
    assert answer.json()["result"] == hex(31337)
    assert answer.headers["Access-Control-Allow-Origin"] == origin
    preflight = wire.call("OPTIONS", "/rpc", headers={"Origin": origin, "Access-Control-Request-Method": "POST"})
    assert preflight.status_code == 204


@pytest.mark.parametrize("path", ["/rpc", "/_emulator/state", "/core/v1/version", "/"])
def test_no_path_becomes_a_web_socket(wire, path):
    """A browser lets any page open one to anywhere."""
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"}
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Origin": PAGE} | key
    answer = wire.call("GET", path, headers=upgrade)
    assert answer.status_code != 101
