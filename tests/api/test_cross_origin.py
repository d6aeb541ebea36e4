"""Pages of other origins (docs/service/http.md#overload-and-transport)."""

from __future__ import annotations

import json

import pytest

from svcnb.emulator.settings import Settings

PAGE = "https://notebook.example"


@pytest.fixture(scope="module")
def open_to_page(start_local):
    """Emulator whose settings allow requests from the origin of the page."""
    return start_local(allow_origin=[PAGE])


PREFLIGHT = {
    "Origin": PAGE,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "x-api-key, content-type",
}
PATHS = ["/core/v1/add_group", "/api/triggers", "/rpc", "/processor/v1/payment_intents/pi_1/confirm"]


@pytest.mark.parametrize("path", PATHS)
def test_a_preflight_of_an_allowed_page_permits_every_method_the_service_has(open_to_page, path):
    answer = open_to_page.call("OPTIONS", path, headers=PREFLIGHT)
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


@pytest.mark.parametrize("path", [*PATHS, "/_emulator/clock", "/agent/authorize", "/processor/pay/pi_1"])
def test_other_pages_are_rejected_and_the_error_names_the_option(wire, open_to_page, path):
    other = "http://localhost:3000"
    for emulator, origin in ((wire, PAGE), (wire, other), (wire, "null"), (open_to_page, other)):
        for method in ("OPTIONS", "POST"):
            answer = emulator.call(method, path, json={}, headers=PREFLIGHT | {"Origin": origin})
            assert answer.status_code == 403
            assert f"--allow-origin {origin}" in answer.json()["fix"]
            assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_the_wildcard_allows_every_page_like_the_live_service(start_local):
    answer = start_local(allow_origin="*").call("OPTIONS", "add_group", headers=PREFLIGHT)
    assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (204, PAGE)


@pytest.mark.parametrize("text", ["https://a.example/path", "a.example", "null", "https://", "https://u@a.example"])
def test_an_invalid_origin_is_rejected_with_examples(text):
    with pytest.raises(ValueError, match=r"expected scheme, host and optionally port, for example"):
        Settings.load({}, allow_origin=[text])
    good = Settings.load({"SVC_ALLOW_ORIGIN": "https://a.example:443/, http://localhost:3000"})
    assert good.allow_origin == ("https://a.example", "http://localhost:3000")


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "get_node_chain_config", 200), ("POST", "add_group", 401)]
)
def test_answers_and_errors_can_be_read_by_an_allowed_page(open_to_page, method, path, status):
    answer = open_to_page.call(method, path, headers={"Origin": PAGE})
    assert answer.status_code == status
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE
    assert "X-Request-Id" in answer.headers["Access-Control-Expose-Headers"]


@pytest.mark.parametrize("path", ["/core/v1/new_account", "/api/triggers", "/rpc", "/_emulator/clock", "/agent/login"])
def test_a_rebound_name_has_no_access(wire, path):
    """With DNS rebinding, origin and host agree, and the address is the emulator's."""
    rebound = {"Origin": "http://evil.example", "Host": "evil.example"}
    assert wire.call("POST", path, json={}, headers=rebound).status_code == 403
    assert wire.call("GET", "list_groups", "a key", headers={"Host": "evil.example"}).status_code == 403


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:80", "0.0.0.0:80", "[::1]:80", "[::ffff:127.0.0.1]:80"])
def test_the_names_and_addresses_of_this_machine_are_accepted(wire, host):
    """A numeric address cannot change its target, unlike a host name. Actions use any of the addresses."""
    assert wire.call("POST", "/rpc", json=ASKED, headers={"Host": host}).json()["result"] == hex(31337)


def test_webhooks_stay_public(wire):
    answer = wire.call("POST", "/webhook/3f0c8a52-0000-4000-8000-000000000000", json={}, headers={"Origin": PAGE})
    assert answer.status_code == 404
    assert answer.headers["Access-Control-Allow-Origin"] == PAGE


def test_without_an_origin_no_such_header_is_sent(wire):
    assert "Access-Control-Allow-Origin" not in wire.get("get_node_chain_config").headers


def test_the_control_plane_rejects_pages(wire, open_to_page):
    """A page that a user visits must not change time or money. This also applies to a page that can use the API."""
    asked = wire.call("POST", "/_emulator/clock", json={"advance": 1}, headers={"Origin": PAGE})
    assert asked.status_code == 403
    assert "Access-Control-Allow-Origin" not in asked.headers
    allowed = open_to_page.call("POST", "/_emulator/clock", json={"advance": 1}, headers={"Origin": PAGE})
    assert (allowed.status_code, "control plane" in allowed.json()["message"]) == (403, True)
    preflight = wire.call(
        "OPTIONS", "/_emulator/clock", headers={"Origin": PAGE, "Access-Control-Request-Method": "POST"}
    )
    assert preflight.status_code == 403
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
def test_the_chain_rejects_other_sites_and_rebound_names(wire, headers):
    """No credential protects the endpoint, and anyone can compute the keys of a seeded emulator."""
    answer = wire.call("POST", "/rpc", content=json.dumps(ASKED), headers=headers)
    assert answer.status_code == 403
    if "Host" not in headers:
        assert "Access-Control-Allow-Origin" not in answer.headers
        preflight = wire.call("OPTIONS", "/rpc", headers=headers | {"Access-Control-Request-Method": "POST"})
        assert "Access-Control-Allow-Origin" not in preflight.headers


@pytest.mark.parametrize("origin", ["chrome-extension://abc", "moz-extension://abc"])
def test_the_chain_responds_to_wallets(wire, origin):
    answer = wire.call("POST", "/rpc", json=ASKED, headers={"Origin": origin})
    assert answer.json()["result"] == hex(31337)
    assert answer.headers["Access-Control-Allow-Origin"] == origin
    preflight = wire.call("OPTIONS", "/rpc", headers={"Origin": origin, "Access-Control-Request-Method": "POST"})
    assert preflight.status_code == 204


@pytest.mark.parametrize("path", ["/core/v1/new_account", "/api/triggers", "/_emulator/clock", "/agent/login"])
def test_other_browser_extensions_have_no_access(wire, path):
    assert wire.call("POST", path, json={}, headers={"Origin": "chrome-extension://abc"}).status_code == 403


@pytest.mark.parametrize("path", ["/rpc", "/_emulator/state", "/core/v1/version", "/"])
def test_no_path_becomes_a_web_socket(wire, path):
    """A browser allows every page to open a WebSocket to any server."""
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"}
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Origin": PAGE} | key
    answer = wire.call("GET", path, headers=upgrade)
    assert answer.status_code != 101
