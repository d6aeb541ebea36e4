"""Pages of other origins (reference facts 8, Appendix A D39)."""

from __future__ import annotations

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
    rebound = wire.call("POST", "/_emulator/clock", json={"advance": 1}, headers={"Host": "evil.example"})
    assert rebound.status_code == 403
    own = wire.call("GET", "/_emulator/state", headers={"Origin": wire.base_url})
    assert own.status_code == 200
