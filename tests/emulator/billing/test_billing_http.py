"""Credits and payments over raw HTTP.

Source: docs/service/endpoints.md#payments, docs/service/http.md#errors, docs/service/billing.md#prices.
"""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.chain, pytest.mark.engine]


@pytest.fixture
def key(api):
    return api.account()[0]


# --- reading ------------------------------------------------------------------------------------------------------


def test_the_publishable_key_needs_no_credential(api):
    answer = api.get("billing/processor_config")
    assert answer.status_code == 200
    assert answer.json()["publishable_key"].startswith("pk_")


def test_a_new_account_has_no_credits_and_reading_is_free(api, key):
    assert api.get("billing/balance", key).json() == {"balance_cents": 0, "balance_display": "No credits"}
    for path in ("list_groups", "list_wallets", "list_actions", "list_api_keys"):
        assert api.get(path, key, params={"page_number": 0, "page_size": 10}).status_code == 200


def test_a_billed_call_without_credit_returns_402_with_amounts_and_the_fix(api, key):
    answer = api.post("create_wallet", key=key)
    assert answer.status_code == 402
    body = answer.json()
    assert body["error"] == "payment_required"
    assert "$0.01" in body["message"]
    assert "$0.00" in body["message"]
    assert "$5.00" in body["fix"]
    assert "create_payment_intent" in body["fix"]
    assert set(body) == {"error", "message", "fix", "docs_url"}


def test_an_invalid_key_answers_401_and_never_402(api):
    for path in ("billing/balance", "create_wallet"):
        method = "GET" if path.startswith("billing") else "POST"
        for wrong in ("garbage", "0x" + "1" * 64):
            answer = api.call(method, path, wrong)
            assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")


@pytest.mark.parametrize("header", ["X-Api-Key", "Authorization"])
def test_both_headers_can_contain_the_key(api, key, header):
    value = f"Bearer {key}" if header == "Authorization" else key
    assert api.get("billing/balance", headers={header: value}).status_code == 200


# --- a payment ----------------------------------------------------------------------------------------------------


def test_a_card_payment_becomes_credit_and_credit_pays_a_call(api, key):
    intent, secret = api.intent(key, 500)
    assert intent.startswith("pi_")
    assert secret.startswith(f"{intent}_secret_")
    assert api.pay(intent, secret).json()["status"] == "succeeded"
    assert api.balance(key) == 0, "paid, and not yet confirmed"
    answer = api.post("billing/confirm_payment", {"payment_intent_id": intent}, key)
    assert (answer.status_code, answer.json()) == (200, {"success": True})
    assert api.get("billing/balance", key).json() == {"balance_cents": -500, "balance_display": "$5.00 credit"}
    assert api.post("create_wallet", key=key).status_code == 200
    assert api.get("billing/balance", key).json() == {"balance_cents": -499, "balance_display": "$4.99 credit"}


def test_a_crypto_payment_is_confirmed_after_its_minute(api, key, poor_emulator):
    intent, secret = api.intent(key, 1000)
    paying = api.pay(intent, secret, "crypto").json()
    assert (paying["status"], paying["method"]) == ("processing", "crypto")
    early = api.post("billing/confirm_payment", {"payment_intent_id": intent}, key)
    assert early.status_code == 400
    assert "still processing" in early.json()
    poor_emulator.clock.advance(60)
    assert api.post("billing/confirm_payment", {"payment_intent_id": intent}, key).status_code == 200
    assert api.balance(key) == -1000


def test_a_payment_credits_once_and_only_its_own_account(api, key):
    stranger, _ = api.account()
    intent, secret = api.intent(key)
    api.pay(intent, secret)
    foreign = api.post("billing/confirm_payment", {"payment_intent_id": intent}, stranger)
    assert foreign.status_code == 400
    assert foreign.json().startswith("this payment belongs to another account:")
    assert api.post("billing/confirm_payment", {"payment_intent_id": intent}, key).status_code == 200
    again = api.post("billing/confirm_payment", {"payment_intent_id": intent}, key)
    assert again.status_code == 400
    assert "already credited" in again.json()
    assert (api.balance(key), api.balance(stranger)) == (-500, 0)


def test_unpaid_failed_and_unknown_payments_have_different_errors(api, key):
    intent, secret = api.intent(key)
    unpaid = api.post("billing/confirm_payment", {"payment_intent_id": intent}, key)
    declined = api.pay(intent, secret, card_number="4000000000000002")
    failed = api.post("billing/confirm_payment", {"payment_intent_id": intent}, key)
    unknown = api.post("billing/confirm_payment", {"payment_intent_id": "pi_unknown"}, key)
    assert [answer.status_code for answer in (unpaid, declined, failed, unknown)] == [400, 402, 400, 404]
    assert "not been paid yet" in unpaid.json()
    assert declined.json()["error"]["code"] == "card_declined"
    assert "declined" in failed.json()
    assert "there is no payment" in unknown.json()
    assert api.balance(key) == 0


def test_all_keys_of_an_account_share_its_credits(api, poor_emulator):
    key, wallet = api.account()
    poor_emulator.credit(wallet, 10)
    usage = api.post("add_usage_api_key", {"name": "n", "description": "d"}, key).json()["usage_api_key"]
    assert api.balance(usage) == api.balance(key) == -9
    intent, secret = api.intent(usage)
    api.pay(intent, secret)
    assert api.post("billing/confirm_payment", {"payment_intent_id": intent}, key).status_code == 200
    assert api.balance(usage) == -509


def test_the_control_plane_decides_a_payment(api, key):
    intent, _ = api.intent(key)
    decided = api.post(f"/_emulator/processor/{intent}", {"outcome": "succeeded"})
    assert (decided.status_code, decided.json()["status"]) == (200, "succeeded")
    assert api.post("billing/confirm_payment", {"payment_intent_id": intent}, key).status_code == 200
    assert api.post("/_emulator/processor/pi_unknown", {"outcome": "succeeded"}).status_code == 404


# --- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cents", [499, 0, -500, 100_000_000])
def test_an_amount_out_of_bounds_answers_400_as_a_json_string(api, key, cents):
    answer = api.post("billing/create_payment_intent", {"amount_cents": cents}, key)
    assert answer.status_code == 400
    assert isinstance(answer.json(), str)
    assert str(cents) in answer.json()


@pytest.mark.parametrize("body", [{}, {"amount_cents": "500"}, {"amount_cents": 500.5}, {"amount_cents": True}, [], 5])
def test_an_amount_that_is_not_an_integer_returns_422(api, key, body):
    answer = api.post("billing/create_payment_intent", body, key)
    assert (answer.status_code, answer.json()["error"]) == (422, "unprocessable_entity")


def test_malformed_json_returns_400_after_the_check_of_the_key(api, key):
    for path in ("billing/create_payment_intent", "billing/confirm_payment"):
        answer = api.call("POST", path, key, content=b"{nope")
        assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")
        answer = api.call("POST", path, content=b"{nope")
        assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")


# --- charging -----------------------------------------------------------------------------------------------------


def test_only_success_is_charged(api, poor_emulator):
    key, wallet = api.account()
    poor_emulator.credit(wallet, 3)
    assert api.post("remove_group", {"group_id": "77"}, key).status_code == 404
    assert api.call("POST", "add_group", key, content=b"{").status_code == 400
    assert api.post("add_group", {}, key).status_code == 422
    assert api.balance(key) == -3
    group = {"group_name": "g", "group_description": "", "pkp_ids_permitted": [], "cid_hashes_permitted": []}
    assert api.post("add_group", group, key).status_code == 200
    assert api.balance(key) == -2


def test_an_execution_costs_a_cent_and_a_failed_one_nothing(api, poor_emulator):
    key, wallet = api.account()
    poor_emulator.credit(wallet, 5)
    run = {"code": "async function main() { return 1 }", "js_params": None}
    assert api.post("svc_action", run, key).status_code == 200
    assert api.balance(key) == -4
    failing = {"code": "async function main() { throw new Error('no') }", "js_params": None}
    assert api.post("svc_action", failing, key).status_code == 500
    assert api.balance(key) == -4


def test_concurrent_calls_spend_the_last_cent_once(api, poor_emulator):
    import concurrent.futures

    key, wallet = api.account()
    poor_emulator.credit(wallet, 2)
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: api.post("create_wallet", key=key).status_code, range(6)))
    assert sorted(answers) == [200, 200, 402, 402, 402, 402]
    assert api.balance(key) == 0


# --- outages and settings -----------------------------------------------------------------------------------------


def test_a_billing_outage_answers_503_and_never_402(api, key, poor_emulator):
    poor_emulator.faults.until_cleared("billing")
    try:
        seen = [
            api.get("billing/balance", key),
            api.get("billing/processor_config"),
            api.post("billing/create_payment_intent", {"amount_cents": 500}, key),
            api.post("create_wallet", key=key),
        ]
    finally:
        poor_emulator.faults.clear()
    assert [(answer.status_code, answer.json()["error"]) for answer in seen] == [(503, "service_unavailable")] * 4
    assert all("nothing was charged" in answer.json()["message"] for answer in seen)


@pytest.mark.slow
def test_without_billing_calls_are_free_and_the_routes_return_503(start_emulator, api_of):
    api = api_of(start_emulator(billing_enabled=False))
    key, _ = api.account()
    assert api.post("create_wallet", key=key).status_code == 200
    for answer in (api.get("billing/balance", key), api.get("billing/processor_config")):
        assert (answer.status_code, answer.json()["error"]) == (503, "service_unavailable")
    assert api.get("billing/balance").status_code == 401


@pytest.mark.slow
def test_starter_credits_and_the_processors_name_are_settings(start_emulator, api_of):
    api = api_of(start_emulator(starter_credits=250, processor_name="payco"))
    key, _ = api.account()
    assert api.get("billing/balance", key).json() == {"balance_cents": -250, "balance_display": "$2.50 credit"}
    assert api.get("billing/payco_config").json()["publishable_key"].startswith("pk_")
    assert api.get("billing/processor_config").status_code == 404


@pytest.mark.slow
def test_credits_and_payments_survive_a_restart(start_emulator, api_of, tmp_path):
    first = start_emulator(state=tmp_path / "state", starter_credits=100)
    api = api_of(first)
    key, _ = api.account()
    intent, secret = api.intent(key)
    published = api.publishable_key
    api.pay(intent, secret)
    first.stop()
    api = api_of(start_emulator(state=tmp_path / "state"))
    assert api.publishable_key == published
    assert api.post("billing/confirm_payment", {"payment_intent_id": intent}, key).status_code == 200
    assert api.balance(key) == -600
