"""The check finds every route and field in which a live service differs from this package."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from svcnb.protocol.vocabulary import Vocabulary
from svcnb.protocol.wire.routes import routes
from svcnb.toolkit import permission_audit
from svcnb.toolkit.drift import Drift, clock_drift, compare, live_drift

pytestmark = [pytest.mark.chain, pytest.mark.engine]

API = "/core/v1"


@pytest.fixture(scope="module")
def description(session_emulator) -> dict[str, Any]:
    found: dict[str, Any] = session_emulator.client().node.openapi()
    return found


def said(description: dict[str, Any], *severities: str) -> list[str]:
    return [str(each) for each in compare(description) if not severities or each.severity in severities]


def schema(description: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = description["components"]["schemas"][name]
    return found


def test_the_emulator_has_not_drifted(session_emulator) -> None:
    found = live_drift(session_emulator.client())
    assert [str(each) for each in found if each.severity != "news"] == []
    assert {each.route for each in found} == {"GET /get_chain_config_keys", "GET /health"}


def test_every_route_of_the_specification_is_compared(description) -> None:
    live = {
        (method.upper(), path.removeprefix(API))
        for path, ops in description["paths"].items()
        if not path.startswith(("/api/", "/webhook/"))
        for method in ops
    }
    ours = {(route.method, route.path) for route in routes(Vocabulary())}
    assert ours <= live
    assert live - ours == {("GET", "/create_wallet"), ("GET", "/get_chain_config_keys"), ("GET", "/health")}


def no_route(it: dict[str, Any]) -> None:
    del it["paths"][f"{API}/add_group"]


def other_method(it: dict[str, Any]) -> None:
    it["paths"][f"{API}/list_groups"] = {"post": it["paths"][f"{API}/list_groups"]["get"]}


def new_route(it: dict[str, Any]) -> None:
    it["paths"][f"{API}/delete_wallet"] = {"post": {"responses": {"200": {}}}}


def more_required(it: dict[str, Any]) -> None:
    schema(it, "NewAccountRequest")["properties"]["country"] = {"type": "string"}
    schema(it, "NewAccountRequest")["required"].append("country")


def more_taken(it: dict[str, Any]) -> None:
    schema(it, "NewAccountRequest")["properties"]["referrer"] = {"type": "string"}


def no_longer_taken(it: dict[str, Any]) -> None:
    del schema(it, "AddGroupRequest")["properties"]["group_name"]


def other_request_type(it: dict[str, Any]) -> None:
    schema(it, "CreatePaymentIntentRequest")["properties"]["amount_cents"] = {"type": "string"}


def answer_lost(it: dict[str, Any]) -> None:
    del schema(it, "NewAccountResponse")["properties"]["wallet_address"]


def answer_renamed_in_a_list(it: dict[str, Any]) -> None:
    properties = schema(it, "ApiKeyItem")["properties"]
    properties["key_hash"] = properties.pop("api_key_hash")


def answer_of_another_type(it: dict[str, Any]) -> None:
    schema(it, "BalanceResponse")["properties"]["balance_cents"] = {"type": "string"}


def query_required(it: dict[str, Any]) -> None:
    it["paths"][f"{API}/list_groups"]["get"]["parameters"].append(
        {"name": "cursor", "in": "query", "required": True, "schema": {"type": "string"}}
    )


def body_wanted(it: dict[str, Any]) -> None:
    it["paths"][f"{API}/create_wallet"]["post"]["requestBody"] = {
        "required": True,
        "content": {"application/json": {"schema": {"type": "object"}}},
    }


CHANGES: dict[Callable[[dict[str, Any]], None], list[str]] = {
    no_route: ["breaks: POST /add_group: the service does not have this endpoint"],
    other_method: ["breaks: GET /list_groups: the service supports this path only with POST"],
    new_route: [],
    more_required: [
        (
            "breaks: POST /new_account request.country: the service requires this field, "
            "but this package does not send it"
        )
    ],
    more_taken: [],
    no_longer_taken: [
        (
            "breaks: POST /add_group request.group_name: this package sends this field, but "
            "the service does not accept it"
        )
    ],
    other_request_type: [
        (
            "suspect: POST /billing/create_payment_intent request.amount_cents: the type is number in "
            "this package, but string in the service"
        )
    ],
    answer_lost: [
        (
            "breaks: POST /new_account response.wallet_address: this package reads this field, "
            "but the service does not return it"
        )
    ],
    answer_renamed_in_a_list: [
        (
            "breaks: GET /list_api_keys response[].api_key_hash: this package reads this field, "
            "but the service does not return it"
        )
    ],
    answer_of_another_type: [
        (
            "suspect: GET /billing/balance response.balance_cents: the type is number in this "
            "package, but string in the service"
        )
    ],
    query_required: [
        ("breaks: GET /list_groups query.cursor: the service requires this field, but this package does not send it")
    ],
    body_wanted: ["breaks: POST /create_wallet request: the service requires a body, but this package sends none"],
}
NEWS = {
    new_route: "news: POST /delete_wallet: this package does not use this endpoint",
    more_taken: (
        "news: POST /new_account request.referrer: the service accepts this field, but this package does not send it"
    ),
    answer_renamed_in_a_list: (
        "news: GET /list_api_keys response[].key_hash: the service returns this field, "
        "but this package does not read it"
    ),
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_every_change_of_a_service_is_found(description, change) -> None:
    changed = copy.deepcopy(description)
    change(changed)
    assert said(changed, "breaks", "suspect") == CHANGES[change]
    if change in NEWS:
        assert NEWS[change] in said(changed, "news")


def test_a_description_in_an_older_format_is_supported(description) -> None:
    changed = copy.deepcopy(description)
    changed["openapi"] = "3.0.0"
    changed["paths"] = {path.removeprefix(API): operations for path, operations in changed["paths"].items()}
    schema(changed, "NewAccountRequest")["properties"]["email"] = {"type": "string", "nullable": True}
    schema(changed, "AddGroupResponse")["properties"]["group_id"] = {"allOf": [{"type": "string"}]}
    assert said(changed, "breaks", "suspect") == []


@pytest.mark.slow
def test_a_service_with_other_names_is_compared_with_these_names(start_emulator) -> None:
    emulator = start_emulator(service_name="acme", processor_name="payco")
    assert [each for each in live_drift(emulator.client()) if each.severity != "news"] == []


def test_a_large_difference_between_clocks_is_found(emulator) -> None:
    svc = emulator.client()
    assert clock_drift(svc) is None


@pytest.mark.parametrize(
    ("date", "ahead"), [("Fri, 01 Jan 2100 00:00:00 GMT", "ahead of"), ("Sat, 01 Jan 2000 00:00:00 GMT", "behind")]
)
def test_a_wrong_clock_is_found(date, ahead) -> None:
    from svcnb.client import Client
    from svcnb.client._http import SyncTransport
    from svcnb.client.session import SyncSession

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"name": "svc"}, headers={"Date": date})

    with Client("http://service.test") as svc:
        transport = SyncTransport("http://service.test", httpx.MockTransport(answer))
        svc._start(SyncSession(transport, svc.config, []), owner=True)
        found = clock_drift(svc)
    assert found is not None
    assert ahead in found.says


@pytest.mark.parametrize(
    "finding",
    [
        Drift(severity="suspect", route="GET /version", says="types differ"),
        permission_audit.Finding(severity="note", code="expired", subject="key runner", text="the key expired"),
    ],
)
def test_the_former_name_of_the_severity_still_works_and_warns_at_the_line_of_the_caller(
    finding: Drift | permission_audit.Finding,
) -> None:
    with pytest.warns(DeprecationWarning, match=r"weight is deprecated.*use \w+\.severity") as caught:
        former = finding.weight
    assert former == finding.severity
    assert caught[0].filename == __file__
    assert "weight" not in finding.model_dump()
