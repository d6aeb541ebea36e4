"""Order of the checks, and no charge for a rejected call (docs/service/billing.md#prices).

Source: docs/service/http.md#order-of-checks.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

KEY_HASH = "0x" + "ab" * 32

# Every endpoint that requires a body and a key, with a body that its schema accepts.
BILLED: dict[str, dict[str, Any]] = {
    "add_usage_api_key": {"name": "n", "description": ""},
    "update_usage_api_key": {"usage_api_key": KEY_HASH, "name": "n", "description": ""},
    "update_usage_api_key_metadata": {"usage_api_key": KEY_HASH, "name": "n", "description": ""},
    "remove_usage_api_key": {"usage_api_key": KEY_HASH},
    "add_group": {"group_name": "n", "group_description": ""},
    "update_group": {"group_id": 7, "name": "n", "description": ""},
    "remove_group": {"group_id": "7"},
    "add_action": {"action_ipfs_cid": "QmX", "name": "n", "description": ""},
    "delete_action": {"hashed_cid": KEY_HASH},
    "update_action_metadata": {"hashed_cid": KEY_HASH, "name": "n", "description": ""},
    "add_action_to_group": {"group_id": 7, "action_ipfs_cid": "QmX"},
    "remove_action_from_group": {"group_id": 7, "hashed_cid": KEY_HASH},
    "add_pkp_to_group": {"group_id": 7, "pkp_id": "0x" + "ab" * 20},
    "remove_pkp_from_group": {"group_id": 7, "pkp_id": "0x" + "ab" * 20},
}
METERED = {**BILLED, "svc_action": {"code": "function main() {}"}}
BROKEN = b'{"group_name": '


def sent(wire, path: str, key: str | None, content: bytes):
    return wire.call("POST", path, key, content=content, headers={"Content-Type": "application/json"})


def structured(answer, status: int, code: str) -> None:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body.keys() == {"error", "message", "fix", "docs_url"}
    assert body["error"] == code
    assert all(body.values())


@pytest.mark.parametrize("path", METERED)
def test_a_missing_key_is_reported_before_an_invalid_body(wire, path):
    structured(sent(wire, path, None, BROKEN), 401, "unauthorized")


@pytest.mark.parametrize("path", METERED)
def test_an_unknown_key_is_reported_before_an_invalid_body(wire, path):
    """Checks that the service reports an unknown key before an invalid body.

    Source: docs/service/http.md#errors.
    """
    structured(sent(wire, path, "unknown", BROKEN), 401, "unauthorized")


@pytest.mark.parametrize("path", [*METERED, "create_wallet"])
def test_missing_credit_is_reported_before_an_invalid_body(broke, path):
    answer = sent(broke.wire, path, broke.key, BROKEN)
    structured(answer, 402, "payment_required")
    assert "$0.01" in answer.json()["message"]
    assert "$5.00" in answer.json()["fix"]


@pytest.mark.parametrize("path", METERED)
def test_a_broken_body_is_400_and_a_body_of_another_shape_422(account, path):
    before = account.credit()
    structured(sent(account.wire, path, account.key, BROKEN), 400, "bad_request")
    structured(sent(account.wire, path, account.key, b""), 400, "bad_request")
    structured(sent(account.wire, path, account.key, b'{"a": "\xff"}'), 400, "bad_request")
    structured(sent(account.wire, path, account.key, b"[1, 2]"), 422, "unprocessable_entity")
    structured(sent(account.wire, path, account.key, b'"text"'), 422, "unprocessable_entity")
    if path != "svc_action":
        structured(sent(account.wire, path, account.key, b"{}"), 422, "unprocessable_entity")
    assert account.credit() == before


@pytest.mark.parametrize("path", BILLED)
def test_a_usage_key_without_permissions_receives_403_for_any_object(account, path):
    """The service checks the permission before the existence of an object. The body is a JSON string.

    Source: docs/service/permissions.md#permission-of-each-endpoint.
    """
    before = account.credit()
    key = account.usage_key()
    answer = account.wire.post(path, key, BILLED[path])
    assert (answer.status_code, answer.json()) == (403, "Permission denied")
    assert account.credit() == before - 1


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("update_usage_api_key", "UsageApiKeyDoesNotExist"),
        ("update_usage_api_key_metadata", "UsageApiKeyDoesNotExist"),
        ("remove_usage_api_key", "UsageApiKeyDoesNotExist"),
        ("update_group", "GroupDoesNotExist"),
        ("remove_group", "GroupDoesNotExist"),
        ("delete_action", "ActionDoesNotExist"),
        ("update_action_metadata", "ActionDoesNotExist"),
        ("add_action_to_group", "GroupDoesNotExist"),
        ("remove_action_from_group", "GroupDoesNotExist"),
        ("add_pkp_to_group", "GroupDoesNotExist"),
        ("remove_pkp_from_group", "GroupDoesNotExist"),
    ],
)
def test_a_missing_object_is_404_with_the_contracts_error_and_free(account, path, error):
    """Checks that a missing object causes a 404 with the contract's error, and that the call is free.

    Source: docs/service/contract.md#errors-over-http.
    """
    before = account.credit()
    answer = account.post(path, BILLED[path])
    assert answer.status_code == 404
    assert isinstance(answer.json(), str)
    assert answer.json().startswith(f"{error}(")
    assert account.credit() == before


def test_a_group_that_permits_every_action_does_not_make_a_missing_action_deletable(account):
    """Checks that a missing action is not deletable, even if a group permits every action.

    An action that a group lists is deletable without registration.

    Source: docs/service/contract.md#errors-over-http.
    """
    account.group(cids=["0"])
    before = account.credit()
    answer = account.post("delete_action", {"hashed_cid": KEY_HASH})
    assert answer.status_code == 404
    assert answer.json().startswith("ActionDoesNotExist(")
    assert account.credit() == before
    account.group(cids=[KEY_HASH])
    account.ok("delete_action", {"hashed_cid": KEY_HASH})
    assert account.post("delete_action", {"hashed_cid": KEY_HASH}).status_code == 404


@pytest.mark.parametrize("path", ["remove_action_from_group", "remove_pkp_from_group"])
def test_a_member_that_is_not_in_the_group_is_404(account, path):
    answer = account.post(path, BILLED[path] | {"group_id": account.group()})
    assert answer.status_code == 404
    assert answer.json().startswith(("ActionDoesNotExist(", "PkpDoesNotExist("))


@pytest.mark.parametrize("path", ["list_groups", "list_wallets", "list_actions", "list_api_keys"])
def test_a_list_reads_its_query_between_key_and_account(wire, path):
    """Checks that a list endpoint checks its query after the presence of a key, and before the account.

    Source: docs/service/http.md#order-of-checks.
    """
    wrong = {"page_number": "x", "page_size": 1}
    structured(wire.get(path, None, **wrong), 401, "unauthorized")
    structured(wire.get(path, "unknown", **wrong), 422, "unprocessable_entity")
    structured(wire.get(path, "unknown", page_number=0, page_size=1), 401, "unauthorized")


def test_overload_rejects_only_executions_and_before_other_checks(poor):
    """Status 429 (docs/service/http.md#order-of-checks, docs/service/http.md#overload-and-transport)."""
    poor.control("/faults", {"part": "cpu", "times": 1})
    answer = poor.post("svc_action")
    structured(answer, 429, "too_many_requests")
    assert answer.headers["Retry-After"] == "1"
    poor.control("/faults", {"part": "cpu", "times": 1})
    structured(poor.post("add_group"), 401, "unauthorized")
    poor.control("/faults", method="DELETE")


@pytest.mark.parametrize("part", ["chain", "billing"])
def test_an_outage_is_503_and_never_402(broke, part):
    """Checks that an outage of billing causes a 503, and never a 402.

    This account has no credit, but the service reports the outage.

    Source: docs/service/billing.md#outages.
    """
    broke.wire.control("/faults", {"part": part, "times": 1})
    answer = broke.post("add_group", BILLED["add_group"])
    structured(answer, 503, "service_unavailable")
    assert "nothing was charged" in answer.json()["message"]
    assert answer.headers["Retry-After"]


def test_a_stopped_runtime_is_503_and_free(local):
    wire = local()
    account = wire.account(credit=5)
    service = wire.local.service
    asyncio.run_coroutine_threadsafe(service.engine.stop(), wire.local.loop).result(300)
    answer = account.run("function main() {}")
    structured(answer, 503, "service_unavailable")
    assert answer.headers["Retry-After"]
    assert account.credit() == 5
    assert wire.control("/runs", method="GET")["runs"][0]["error_kind"] == "unavailable"


def test_a_runtime_outage_is_503_and_costs_nothing(poor):
    account = poor.account(credit=5)
    poor.control("/faults", {"part": "runtime", "times": 1})
    structured(account.run("function main() {}"), 503, "service_unavailable")
    assert account.credit() == 5
    ran = account.run("function main() {}")
    assert ran.status_code == 200
    assert account.credit() == 5 - account.price(ran)
