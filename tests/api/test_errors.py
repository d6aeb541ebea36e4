"""The two error formats, and every status (docs/service/http.md#errors)."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from svcnb.protocol.error_codes import GENERIC_CODE
from svcnb.protocol.limits import MAX_JSON_DEPTH, MAX_JSON_VALUES

UNKNOWN_PATHS = [
    "/",
    "/core",
    "/core/v1",
    "/core/v1/nothing",
    "/core/v1/list_groups/",
    "/core/v2/list_groups",
    "/x.html",
]


@pytest.mark.parametrize("path", UNKNOWN_PATHS[1:])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_an_unknown_path_is_a_structured_404(wire, method, path):
    answer = wire.call(method, path)
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json()["error"] == "not_found"


@pytest.mark.parametrize(("method", "path", "allowed"), [("GET", "add_group", "POST"), ("POST", "list_groups", "GET")])
def test_the_error_for_a_wrong_method_names_the_allowed_one(wire, method, path, allowed):
    answer = wire.call(method, path)
    assert answer.status_code == 405
    assert answer.headers["Allow"] == allowed
    assert answer.json().keys() == {"error", "message", "fix", "docs_url"}
    assert answer.json()["error"] == GENERIC_CODE  # the service has no specific code for this status
    assert answer.json()["fix"] == f"Use the method {allowed}."


def test_the_deprecated_get_is_not_reached_by_head(account):
    """A HEAD request must not change anything."""
    before = account.listed("list_wallets")
    assert account.wire.call("HEAD", "create_wallet", account.key).status_code == 405
    assert account.listed("list_wallets") == before
    assert account.wire.call("HEAD", "get_node_chain_config").status_code == 200


def test_an_oversize_body_is_413_after_the_guards(poor):
    """Checks that a body that is too large causes a 413, but only with a valid key.

    The server checks the key before the size.

    Source: docs/service/http.md#order-of-checks, docs/service/http.md#errors.
    """
    large = b'{"code": "' + b" " * (10 * 1024 * 1024) + b'"}'
    assert poor.call("POST", "svc_action", content=large).status_code == 401
    account = poor.account(credit=5)
    answer = poor.call("POST", "svc_action", account.key, content=large)
    assert answer.status_code == 413
    assert answer.json()["error"] == "payload_too_large"
    assert account.credit() == 5
    chunked = poor.call(
        "POST", "svc_action", account.key, content=(large[i : i + 65536] for i in range(0, len(large), 65536))
    )
    assert chunked.status_code == 413


def test_numbers_and_text_are_not_converted_into_each_other(account):
    """The server does not convert one JSON type into another (422)."""
    for path, body in (
        ("add_group", {"group_name": 1, "group_description": ""}),
        ("add_group", {"group_name": "n", "group_description": "", "cid_hashes_permitted": "0x0"}),
        ("add_group", {"group_name": "n", "group_description": "", "cid_hashes_permitted": [7]}),
        ("add_group", {"group_name": "n", "group_description": "", "pkp_ids_permitted": [0]}),
        ("add_usage_api_key", {"name": "n", "description": "", "can_create_groups": 1}),
        ("add_usage_api_key", {"name": "n", "description": "", "can_create_groups": "true"}),
        ("add_usage_api_key", {"name": "n", "description": "", "execute_in_groups": [-1]}),
        ("add_usage_api_key", {"name": "n", "description": "", "execute_in_groups": [1.5]}),
        ("add_usage_api_key", {"name": "n", "description": "", "execute_in_groups": [True]}),
        ("add_usage_api_key", {"name": "n", "description": "", "execute_in_groups": [2**64]}),
        ("svc_action", {"code": 5}),
        ("billing/create_payment_intent", {"amount_cents": "500"}),
        ("billing/create_payment_intent", {"amount_cents": 500.5}),
        ("billing/create_payment_intent", {}),
    ):
        answer = account.post(path, body)
        assert answer.status_code == 422, (path, body, answer.text)
        assert answer.json()["error"] == "unprocessable_entity"


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("add_group", [], "body: expected an object"),
        ("add_group", {"group_name": None}, "group_name: expected a string"),
        ("update_group", {"group_id": 1}, "name: is missing; description: is missing"),
        ("add_group", {"group_name": "n", "pkp_ids_permitted": {}}, "pkp_ids_permitted: expected a list"),
        ("add_usage_api_key", {"name": "n", "can_create_pkps": 1}, "can_create_pkps: expected true or false"),
        ("billing/create_payment_intent", {"amount_cents": 500.5}, "amount_cents: expected an integer"),
        (
            "create_wallet_with_signature",
            {"typed_data": [], "signature": "0x"},
            "typed_data: expected an object, or its JSON as a string",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_a_mismatch_is_described_in_json_terms(account, path, body, said):
    """The reader can be a JavaScript developer, so the message contains no Python terms such as dict or union."""
    answer = account.post(path, body)
    assert answer.status_code == 422
    assert answer.json()["message"] == f"the body does not match the schema: {said}"


def test_unknown_members_are_ignored(account):
    """Checks that the service ignores unknown members of a request.

    Source: docs/service/http.md#order-of-checks.
    """
    body = {"group_name": "n", "group_description": "", "colour": "blue"}
    assert account.post("add_group", body).status_code == 200


def test_a_body_with_an_invalid_json_number_is_400(account):
    """NaN is not valid JSON, although many parsers accept it."""
    answer = account.wire.call("POST", "svc_action", account.key, content=b'{"code": "x", "js_params": NaN}')
    assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")


@pytest.mark.parametrize(
    ("params", "said", "fix"),
    [
        (
            f"[{'1,' * MAX_JSON_VALUES}1]",
            f"the body contains more than {MAX_JSON_VALUES:,} values, the maximum",
            "fewer values",
        ),
        ("[" * 300 + "]" * 300, f"the body has more than {MAX_JSON_DEPTH} levels of nesting, the maximum", "flatter"),
        ("1e999", "a number is outside of the range", "within the range"),
    ],
    ids=["values", "depth", "number"],
)
def test_the_error_for_a_large_json_body_names_the_limit(account, params, said, fix):
    body = f'{{"code": "x", "js_params": {params}}}'.encode()
    answer = account.wire.call("POST", "svc_action", account.key, content=body)
    error = answer.json()
    assert (answer.status_code, error["error"]) == (400, "bad_request")
    assert error["message"].startswith(f"the JSON body exceeds a limit: {said}")
    assert fix in error["fix"]


def test_json_is_parsed_regardless_of_the_content_type(account):
    """Checks that the service parses JSON regardless of the content type.

    Another test checks the strict setting.

    Source: docs/service/http.md#order-of-checks.
    """
    content = json.dumps({"group_name": "n", "group_description": ""})
    answer = account.wire.call(
        "POST", "add_group", account.key, content=content, headers={"Content-Type": "text/plain"}
    )
    assert answer.status_code == 200


def test_small_payments_are_refused_with_a_json_string(account):
    """Checks that the service rejects payments below the minimum, with a JSON string as the body.

    Source: docs/service/limits.md#limits-of-the-service, docs/service/endpoints.md#payments.
    """
    for amount in (499, 0, -500):
        answer = account.post("billing/create_payment_intent", {"amount_cents": amount})
        assert answer.status_code == 400
        assert isinstance(answer.json(), str)
        assert "500" in answer.json()


def test_no_response_is_html_and_no_malformed_request_causes_a_crash(wire):
    """Checks the responses to raw bytes that no client library sends."""
    address = urlsplit(wire.base_url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=300)
    try:
        connection.putrequest("POST", "/core/v1/add_group", skip_accept_encoding=True)
        connection.putheader("Content-Length", "2")
        connection.putheader("X-Api-Key", "\xff\xfe")
        connection.endheaders(b"{}")
        answer = connection.getresponse()
        assert answer.status == 401
        assert json.loads(answer.read())["error"] == "unauthorized"
    finally:
        connection.close()
    assert wire.get("get_node_chain_config").status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"NOT HTTP AT ALL\r\n\r\n",
        b"BREW /core/v1/list_groups HTTP/1.1\r\nHost: here\r\n\r\n",
        b"GET /core/v1/version?" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: here\r\n\r\n",
        b"POST /core/v1/new_account HTTP/1.1\r\nHost: here\r\nContent-Length: -1\r\n\r\n",
        b"POST /core/v1/new_account HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
        b"POST /core/v1/new_account HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["garbage", "unknown method", "long address", "negative length", "two lengths", "bad chunk"],
)
def test_bytes_that_are_not_a_request_also_receive_json(wire, sent):
    """Error bodies are always JSON. Every response has a request id (docs/service/http.md#response-headers).

    Source: docs/service/http.md#errors.
    """
    address = urlsplit(wire.base_url)
    with socket.create_connection((address.hostname, address.port), timeout=300) as connection:
        connection.sendall(sent)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        body = json.loads(answer.read())
    assert answer.status == 400
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Connection"] == "close"
    assert len(answer.headers["X-Request-Id"]) == 36
    assert body.keys() == {"error", "message", "fix", "docs_url"}
    assert body["error"] == "bad_request"


def test_a_compressed_body_is_rejected_with_its_content_encoding(account):
    """An error about invalid JSON does not help a user whose library compressed the body."""
    content = gzip.compress(b'{"group_name": "n"}')
    answer = account.wire.call("POST", "add_group", account.key, content=content, headers={"Content-Encoding": "gzip"})
    assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")
    assert "gzip" in answer.json()["message"]
    plain = account.wire.call(
        "POST", "add_group", account.key, content=b'{"group_name": "n"}', headers={"Content-Encoding": "identity"}
    )
    assert plain.status_code == 200


@pytest.mark.parametrize("length", [40_000, 100_000, 1_000_000])
def test_a_name_too_long_for_a_transaction_is_400_with_the_fix(account, length):
    """The status is not 503, because another attempt also fails."""
    before = account.credit()
    answer = account.post("add_group", {"group_name": "n" * length})
    assert answer.status_code == 400
    assert f"have {length} bytes" in answer.json()
    assert "at most 25600 bytes" in answer.json()
    assert account.credit() == before
    assert account.listed("list_groups") == []


def test_texts_and_lists_of_the_maximum_size_fit_into_one_write(account):
    groups = [account.group() for _ in range(2)]
    lists: dict[str, Any] = dict.fromkeys(
        ("manage_ipfs_ids_in_groups", "add_pkp_to_groups", "remove_pkp_from_groups", "execute_in_groups"),
        groups * 25,
    )
    body = {"name": "n" * 25_000, "description": "é" * 300, **lists}
    body |= dict.fromkeys(("can_create_groups", "can_delete_groups", "can_create_pkps"), True)
    assert account.post("add_usage_api_key", body).status_code == 200
    assert account.post("add_usage_api_key", body | {"name": "n" * 25_001}).status_code == 400


def test_the_docs_url_of_an_error_responds(wire):
    """docs_url works without internet access."""
    for answer in (wire.get("nothing"), wire.post("add_group")):
        address = answer.json()["docs_url"]
        assert address.startswith(wire.base_url)
        assert wire.call("GET", address.removeprefix(wire.base_url).partition("#")[0]).status_code == 200
