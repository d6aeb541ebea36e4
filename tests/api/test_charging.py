"""Price of each call, and the time of the charge (docs/service/billing.md#prices)."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"


def test_every_billed_call_costs_one_cent_and_reading_is_free(account, key_body):
    """Checks that every billed call costs one cent, and that reads are free.

    Source: docs/service/billing.md#prices, the lists of billed and free endpoints.
    """
    before = account.credit()
    for path in ("list_groups", "list_wallets", "list_actions", "list_api_keys", "account_exists", "billing/balance"):
        assert account.get(path).status_code == 200
    account.ok("get_svc_action_ipfs_id", "function main() {}")
    assert account.credit() == before

    group = account.group()
    key = account.usage_key()
    wallet = account.wallet_made()
    account.ok("update_group", {"group_id": group, "name": "n", "description": ""})
    account.ok("add_action", {"action_ipfs_cid": CID, "name": "n", "description": ""})
    hashed = account.listed("list_actions")[0]["hashed_cid"]
    account.ok("update_action_metadata", {"hashed_cid": hashed, "name": "n", "description": ""})
    account.ok("add_action_to_group", {"group_id": group, "action_ipfs_cid": CID})
    account.ok("remove_action_from_group", {"group_id": group, "hashed_cid": hashed})
    account.ok("delete_action", {"hashed_cid": hashed})
    account.ok("add_pkp_to_group", {"group_id": group, "pkp_id": wallet})
    account.ok("remove_pkp_from_group", {"group_id": group, "pkp_id": wallet})
    account.ok("update_usage_api_key", key_body() | {"usage_api_key": key})
    account.ok("update_usage_api_key_metadata", {"usage_api_key": key, "name": "n", "description": ""})
    account.ok("remove_usage_api_key", {"usage_api_key": key})
    account.ok("remove_group", {"group_id": str(group)})
    assert before - account.credit() == 15


def test_both_verbs_of_create_wallet_cost_the_same(account):
    before = account.credit()
    assert account.get("create_wallet").status_code == 200
    account.ok("create_wallet")
    assert before - account.credit() == 2


def test_a_short_execution_costs_one_cent_and_a_failed_one_nothing(account):
    """Checks that a short execution costs one cent, and that a failed execution costs nothing.

    Source: docs/service/billing.md#prices.
    """
    before = account.credit()
    ran = account.run("function main() { return 1 }")
    assert ran.status_code == 200
    assert before - account.credit() == account.price(ran)
    for code in ("function main() { throw new Error('no') }", "function (", "let x = 1;"):
        assert account.run(code).status_code == 500
    assert account.run("").status_code == 400
    assert before - account.credit() == account.price(ran)


@pytest.mark.slow
def test_an_execution_costs_a_cent_a_whole_second(account):
    """Checks that an execution costs one cent for each whole second.

    Source: docs/service/billing.md#prices.
    """
    before = account.credit()
    code = "async function main() { await new Promise((done) => setTimeout(done, 2100)); }"
    ran = account.run(code)
    assert ran.status_code == 200
    assert before - account.credit() == account.price(ran) >= 2


def test_a_usage_key_spends_the_accounts_credit(account):
    key = account.usage_key(execute_in_groups=[0], can_create_groups=True)
    before = account.credit()
    ran = account.run("function main() {}", key=key)
    account.wire.ok("add_group", key, {"group_name": "n", "group_description": ""})
    assert before - account.credit() == account.price(ran) + 1


def test_the_last_cent_is_spent_once(poor):
    """Concurrent calls cannot spend the same cent."""
    account = poor.account(credit=2)
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: account.post("create_wallet").status_code, range(6)))
    assert sorted(answers) == [200, 200, 402, 402, 402, 402]
    assert account.credit() == 0
    assert len(account.listed("list_wallets")) == 3


def test_402_contains_the_needed_and_the_available_credit(broke):
    """Checks that a response with status 402 contains the needed and the available credit.

    Source: docs/service/billing.md#prices, 402.
    """
    body = broke.post("create_wallet").json()
    assert body["error"] == "payment_required"
    assert "$0.01" in body["message"]
    assert "credit" in body["message"]


def test_failed_executions_can_be_charged_by_a_setting(local):
    """Checks that a setting makes the service charge failed executions.

    Source: docs/service/billing.md#prices, charge_failed_runs.
    """
    account = local(charge_failed_runs=True, starter_credits=5).account(credit=5)
    ran = account.run("function main() { throw 1 }")
    assert ran.status_code == 500
    assert account.credit() == 5 - account.price(ran)


FOREVER = "async function main() { console.log('begun'); await new Promise(() => setInterval(() => {}, 60_000)); }"


def test_a_lost_process_is_free_even_if_failed_runs_are_charged(local):
    """A failure of the service is never charged.

    Source: docs/service/billing.md#prices, charge_failed_runs.
    """
    wire = local(charge_failed_runs=True, action_engine="v8")
    account = wire.account(credit=5)
    engine = wire.local.service.engine
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(account.run, FOREVER)
        while engine.state().running == 0:
            assert not running.done(), running.result()
            time.sleep(0.02)
        (session,) = engine._sessions
        os.kill(session.isolate.pid, signal.SIGKILL)
        answer = running.result(300)
    assert answer.status_code == 500
    assert "Nothing was charged" in answer.json()
    record = wire.control(f"/runs/{answer.headers['X-Request-Id']}", method="GET")
    assert (record["error_kind"], record["cost_cents"]) == ("host", 0)
    assert account.credit() == 5


@pytest.mark.slow
def test_a_run_without_credit_is_stopped_and_free(local):
    """The service checks the credit every 5 s. This test uses a shorter interval.

    Source: docs/service/runtime.md#errors-of-a-run, docs/service/billing.md#credit-during-a-run.
    """
    wire = local(funds_check_ms=400)
    account = wire.account(credit=2)
    started = time.monotonic()
    answer = account.run(FOREVER)
    took = time.monotonic() - started
    assert answer.status_code == 500
    assert answer.json() == "Internal server error: Your function ran out of funds and was terminated."
    # Two cents pay for less than three seconds, and the account has no third cent.
    assert took >= 3
    assert account.credit() == 2
    record = wire.control(f"/runs/{answer.headers['X-Request-Id']}", method="GET")
    assert (record["status"], record["error_kind"], record["cost_cents"]) == ("failed", "funds", 0)
    assert record["logs"] == "begun\n"
    assert record["trace"]["events"][-1]["error_kind"] == "funds"
    assert account.run("function main() { return 1 }").status_code == 200


@pytest.mark.slow
def test_a_run_without_credit_costs_the_rest_if_failed_runs_are_charged(local):
    """Checks that a run without sufficient credit costs the remaining credit if the service charges failed runs.

    Source: docs/service/billing.md#prices, charge_failed_runs.
    """
    account = local(charge_failed_runs=True, funds_check_ms=300).account(credit=1)
    assert account.run(FOREVER).status_code == 500
    assert account.credit() == 0


def test_without_billing_calls_are_free_and_billing_returns_503(local):
    """Checks that calls are free without billing, and that billing endpoints then return 503.

    Source: docs/service/billing.md#outages, billing_enabled.
    """
    wire = local(billing_enabled=False)
    made = wire.ok("new_account", body={"account_name": "n"})
    key = made["api_key"]
    wire.ok("create_wallet", key)
    assert wire.post("svc_action", key, {"code": "function main() { return 2 }"}).json()["response"] == 2
    for answer in (wire.get("billing/balance", key), wire.get("billing/processor_config")):
        assert answer.status_code == 503
        assert answer.json()["error"] == "service_unavailable"
        assert "--billing-enabled true" in answer.json()["fix"]  # another attempt would also fail


def test_a_new_account_gets_its_starter_credit_once(local):
    """Checks that a new account gets its starter credit once.

    Source: docs/service/billing.md#prices.
    """
    wire = local(starter_credits=300)
    made = wire.ok("new_account", body={"account_name": "n"})
    assert wire.listed("billing/balance", made["api_key"])["balance_cents"] == -300


@pytest.mark.parametrize("burst", [2])
def test_new_accounts_can_be_limited_for_each_address(local, burst):
    """Checks that a setting limits the number of new accounts for each network address.

    Source: docs/service/http.md#overload-and-transport.
    """
    wire = local(new_account_burst=burst)
    answers = [wire.post("new_account", body={"account_name": "n"}) for _ in range(burst + 1)]
    assert [answer.status_code for answer in answers] == [200] * burst + [429]
    refusal = answers[-1]
    # After a minute, the first call is outside the window.
    assert 30 <= int(refusal.headers["Retry-After"]) <= 60
    assert refusal.json()["fix"].startswith("Wait for the number of seconds in Retry-After")
