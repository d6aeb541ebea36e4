"""The service rejects numbers that do not fit in a double (IEEE 754) in all JSON, and never responds with a 5xx."""

from __future__ import annotations

import pytest

CODE = "const main = params => params"
TOO_LARGE = ["1e999", "-1e999", "1.8e308", "1e+400", "9" * 400, "9" * 400 + ".5", "9" * 250 + "e99", "[[1E999]]"]
LARGE = ["1e308", "1.7976931348623157e308", "1e-999", "0.1e3", "123456789012345678901234567890", '"1e999"']
HEADERS = {"Content-Type": "application/json"}


def run(account, params: str):
    body = f'{{"code": "{CODE}", "js_params": {{"n": {params}}}}}'
    return account.wire.call("POST", "svc_action", account.key, content=body.encode(), headers=HEADERS)


@pytest.mark.parametrize("number", TOO_LARGE, ids=range(len(TOO_LARGE)))
def test_a_number_that_javascript_cannot_represent_is_refused(account, number) -> None:
    answer = run(account, number)
    assert answer.status_code == 400
    assert "outside of the range" in answer.json()["message"]


@pytest.mark.parametrize("number", LARGE)
def test_every_number_of_javascript_is_accepted(account, number) -> None:
    assert run(account, number).status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("new_account", '{"account_name": "a", "account_description": "b", "x": 1e999}'),
        ("billing/create_payment_intent", '{"amount_cents": 1e999}'),
        ("/_emulator/credit", '{"wallet_address": "0x%s", "cents": 1e999}' % ("12" * 20)),
        ("/api/triggers", '{"config": {"a": 1e999}}'),
    ],
)
def test_every_endpoint_rejects_such_a_number_in_its_body(account, path, body) -> None:
    answer = account.wire.call("POST", path, account.key, content=body.encode(), headers=HEADERS)
    assert answer.status_code in {400, 401}
