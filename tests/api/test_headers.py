"""Request ids and correlation ids (docs/service/conformance.md#request-ids, docs/service/http.md#response-headers)."""

from __future__ import annotations

import uuid

import pytest

ROUTES = ("config", "execution", "missing", "refused")


@pytest.fixture(params=ROUTES)
def ask(request, wire, account):
    """Sends requests to several kinds of endpoints, because the rules apply to successful and failed calls.

    Source: docs/service/conformance.md#request-ids, item 25.
    """

    def send(**headers: str):
        if request.param == "config":
            return wire.call("GET", "get_node_chain_config", headers=headers)
        if request.param == "execution":
            return wire.call("POST", "svc_action", account.key, json={"code": "function main() {}"}, headers=headers)
        if request.param == "missing":
            return wire.call("GET", "no_such_endpoint", headers=headers)
        return wire.call("POST", "add_group", headers=headers)

    return send


def version_4(text: str) -> bool:
    return uuid.UUID(text).version == 4 and str(uuid.UUID(text)) == text


def test_every_response_has_a_request_id(ask):
    """Checks that every response has a request id.

    Source: docs/service/conformance.md#request-ids, item 20.
    """
    assert version_4(ask().headers["X-Request-Id"])


def test_two_requests_have_different_ids(ask):
    """Checks that two requests have different ids.

    Source: docs/service/conformance.md#request-ids, item 21.
    """
    assert ask().headers["X-Request-Id"] != ask().headers["X-Request-Id"]


def test_a_request_id_of_the_caller_is_ignored(ask):
    """Checks that the service ignores a request id that the caller sent.

    Source: docs/service/conformance.md#request-ids, item 22.
    """
    mine = str(uuid.uuid4())
    answered = ask(**{"X-Request-Id": mine}).headers["X-Request-Id"]
    assert answered != mine
    assert version_4(answered)


def test_a_correlation_id_is_returned_with_the_request_id(ask):
    """Checks that a response contains the correlation id of the request, and a request id.

    Source: docs/service/conformance.md#request-ids, item 23.
    """
    answer = ask(**{"X-Correlation-Id": "order 66"})
    assert answer.headers["X-Correlation-Id"] == "order 66"
    assert version_4(answer.headers["X-Request-Id"])


@pytest.mark.parametrize("headers", [{}, {"X-Correlation-Id": ""}], ids=["not sent", "sent empty"])
def test_no_correlation_id_is_returned_without_one_in_the_request(ask, headers):
    """Checks that a response contains no correlation id if the request contains none.

    Source: docs/service/conformance.md#request-ids, item 24.
    """
    assert "X-Correlation-Id" not in ask(**headers).headers


def test_privacy_mode_marks_the_request_id(wire):
    """Checks that privacy mode marks the request id.

    Source: docs/service/http.md#response-headers.
    """
    answer = wire.call("GET", "get_node_chain_config", headers={"X-Svc-Privacy-Mode": "1"})
    request_id, mark = answer.headers["X-Request-Id"][:36], answer.headers["X-Request-Id"][36:]
    assert version_4(request_id)
    assert mark == "_svc_privacy_mode"


def test_an_action_sees_both_ids(wire, account):
    """Checks that an action can read the request id and the correlation id of its request.

    Source: docs/service/http.md#response-headers.
    """
    code = "function main() { return [SvcHeaders.get('x-request-id'), SvcHeaders.get('x-correlation-id')]; }"
    answer = wire.call(
        "POST", "svc_action", account.key, json={"code": code}, headers={"X-Correlation-Id": "seen inside"}
    )
    assert answer.json()["response"] == [answer.headers["X-Request-Id"], "seen inside"]
