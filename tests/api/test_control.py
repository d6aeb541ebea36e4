"""Control plane of the emulator, under ``/_emulator``."""

from __future__ import annotations

import time

import pytest

from svcnb import control_tokens
from svcnb.emulator.areas import other_endpoints
from svcnb.emulator.http.body import ToleratedRequests

CODE = "function main() { return 1 }"


@pytest.fixture(scope="module")
def whole(start_local):
    """Emulator of this file only, because these tests change time and state for all accounts."""
    return start_local(starter_credits=500)


@pytest.fixture
def own(whole):
    yield whole
    whole.control("/reset")


def test_the_state_contains_all_addresses_and_no_secret(local):
    wire = local(seed="a seed nobody should see", starter_credits=7)
    state = wire.control("/state", method="GET")
    config = wire.get("get_node_chain_config").json()
    assert state["base_url"] == wire.base_url
    assert state["rpc_url"] == config["rpc_url"] == f"{wire.base_url}/rpc"
    assert state["contract_address"] == config["contract_address"]
    assert state["settings"]["starter_credits"] == 7
    assert state["seeded"] is True
    assert "a seed nobody should see" not in str(state)


def test_a_reset_restores_the_initial_state(own):
    account = own.account()
    own.control("/clock", {"freeze": 2_000_000_000})
    own.control("/faults", {"part": "chain"})
    own.control("/reset")
    assert own.get("account_exists", account.key).json() is False
    assert own.control("/state", method="GET")["clock"]["frozen"] is False
    assert own.control("/runs", method="GET") == {"runs": []}
    fresh = own.account("after")
    assert [group["name"] for group in fresh.listed("list_groups")] == []
    assert fresh.run(CODE).status_code == 200


def test_a_snapshot_restores_the_database_and_the_chain_together(own):
    account = own.account()
    account.group("before")
    own.control("/snapshots/lesson%201")
    credit = account.credit()
    account.group("after")
    gone = own.account("gone")
    assert [entry["name"] for entry in own.control("/snapshots", method="GET")] == ["lesson 1"]
    own.control("/snapshots/lesson%201/restore")
    assert [group["name"] for group in account.listed("list_groups")] == ["before"]
    assert account.credit() == credit
    assert own.get("account_exists", gone.key).json() is False
    account.group("again")
    own.control("/snapshots/lesson%201/restore")
    assert [group["name"] for group in account.listed("list_groups")] == ["before"]
    assert account.run(CODE).status_code == 200
    own.control("/snapshots/lesson%201", method="DELETE")
    assert own.post("/_emulator/snapshots/lesson%201/restore").status_code == 404


def test_a_seeded_emulator_repeats_its_random_bytes_after_a_restore(local):
    wire = local(seed="random numbers are part of a snapshot")
    wire.control("/snapshots/start")
    first = wire.account().wallet
    assert wire.account().wallet != first
    wire.control("/snapshots/start/restore")
    assert wire.account().wallet == first


def test_time_can_be_frozen_advanced_and_real_again(own):
    own.control("/clock", {"freeze": 2_000_000_000})
    assert own.control("/clock", {"advance": 10.5}) == {"now": 2_000_000_010.5, "frozen": True}
    account = own.account()
    key = account.usage_key()
    assert key
    (entry,) = account.listed("list_api_keys")
    # Ten years of 365 days after the frozen time (docs/service/endpoints.md#account-and-keys).
    assert int(entry["expiration"]) == 2_000_000_010 + 10 * 365 * 24 * 3600
    real = own.control("/clock", {"real": True})
    assert real["frozen"] is False
    assert abs(real["now"] - time.time()) < 600
    for wrong in (
        {},
        {"freeze": 1.0, "advance": 1.0},
        {"advance": -1},
        {"advance": "1"},
        {"real": False},
        {"retreat": 1},
    ):
        assert own.post("/_emulator/clock", body=wrong).status_code == 422


def test_faults_occur_the_requested_number_of_times(own):
    account = own.account()
    own.control("/faults", {"part": "runtime", "times": 2})
    own.control("/faults", {"part": "chain", "status": 500, "times": 1})
    answers = [account.run(CODE).status_code for _ in range(4)]
    assert answers == [500, 503, 503, 200]
    own.control("/faults", {"part": "billing"})
    assert [account.run(CODE).status_code for _ in range(2)] == [503, 503]
    assert [fault["part"] for fault in own.control("/faults", method="GET")] == ["billing"]
    own.control("/faults", method="DELETE")
    assert account.run(CODE).status_code == 200
    started = time.monotonic()
    own.control("/faults", {"part": "runtime", "delay_ms": 300, "times": 1})
    assert account.run(CODE).status_code == 200
    assert time.monotonic() - started >= 0.3
    assert own.post("/_emulator/faults", body={"part": "moon"}).status_code == 422


def test_the_faucet_gives_eth(own):
    address = "0x" + "12" * 20
    own.control("/faucet", {"address": address, "wei": "1000000000000000000"})
    asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_getBalance", "params": [address, "latest"]}
    assert int(own.post("/rpc", body=asked).json()["result"], 16) == 10**18


def test_the_gateway_supports_json_rpc(own):
    chain_id = own.get("get_node_chain_config").json()["chain_id"]
    asked = {"jsonrpc": "2.0", "id": "a", "method": "eth_chainId", "params": []}
    assert own.post("/rpc", body=asked).json() == {"jsonrpc": "2.0", "id": "a", "result": hex(chain_id)}
    batch = own.post("/rpc", body=[asked, asked | {"id": 2, "method": "eth_noSuchThing"}]).json()
    assert batch[0]["result"] == hex(chain_id)
    assert batch[1]["error"]["code"] == -32601
    broken = own.call("POST", "/rpc", content=b"{")
    assert broken.json()["error"]["code"] == -32700


@pytest.mark.parametrize(
    ("path", "member"), [("faucet", "address"), ("credit", "wallet_address"), ("contract-wallets", "owner")]
)
def test_an_invalid_address_is_rejected(own, path, member):
    body = {member: "x"} | ({"cents": 1} if path == "credit" else {})
    refused = own.post(f"/_emulator/{path}", body=body)
    assert refused.status_code == 400
    assert "invalid wallet address 'x': send 0x followed by 40 hex digits" in refused.text


def test_credit_is_added_to_the_billing_wallet(own):
    account = own.account()
    before = account.credit()
    assert own.control("/credit", {"wallet_address": account.wallet, "cents": 250}) == {"credit_cents": before + 250}
    assert account.credit() == before + 250


def test_a_payment_has_the_requested_result(own):
    account = own.account()

    def intent() -> str:
        return str(account.ok("billing/create_payment_intent", {"amount_cents": 500})["payment_intent_id"])

    failed = intent()
    own.control(f"/processor/{failed}", {"outcome": "failed"})
    assert account.post("billing/confirm_payment", {"payment_intent_id": failed}).status_code == 400
    slow = intent()
    own.control(f"/processor/{slow}", {"outcome": "processing"})
    assert account.post("billing/confirm_payment", {"payment_intent_id": slow}).status_code == 400
    own.control(f"/processor/{slow}", {"outcome": "succeeded"})
    before = account.credit()
    account.ok("billing/confirm_payment", {"payment_intent_id": slow})
    assert account.credit() == before + 500
    assert account.post("billing/confirm_payment", {"payment_intent_id": slow}).status_code == 400
    assert account.credit() == before + 500
    assert own.post("/_emulator/processor/pi_unknown", body={"outcome": "succeeded"}).status_code == 404


def test_outbound_requests_can_be_refused(own):
    account = own.account()
    assert own.control("/network", {"policy": "deny"})["policy"] == "deny"
    answer = account.run("async function main() { await fetch('http://127.0.0.1:9/'); }")
    assert answer.status_code == 500
    assert own.post("/_emulator/network", body={"policy": "record"}).status_code == 400


def test_the_control_plane_requires_the_configured_token(local):
    wire = local(control_token="correct horse")
    for wrong in ("", "Bearer wrong", "Basic correct horse", "correct horse", "Bearer"):
        assert wire.call("GET", "/_emulator/state", headers={"Authorization": wrong}).status_code == 401
    allowed = wire.call("GET", "/_emulator/state", headers={"Authorization": "Bearer correct horse"})
    assert allowed.status_code == 200
    assert "correct horse" not in allowed.text


def test_each_start_generates_a_token_that_every_endpoint_requires(wire, session_emulator, start_emulator, own):
    rows = [
        row for row in other_endpoints(own.local.service, [], ToleratedRequests()) if row.path.startswith("/_emulator")
    ]
    assert len(rows) > 15
    for row in rows:
        path = row.path.replace("{", "").replace("}", "")
        assert wire.http.request(row.method, path, json={}).status_code == 401, path
    twins = [start_emulator(seed="the same", action_spares=1) for _ in range(2)]
    found = [control_tokens.find(each.base_url) for each in (session_emulator, *twins)]
    tokens = {each.reveal() for each in found if each is not None}
    assert len(tokens) == 3
    for other in tokens - {wire.control_token}:
        assert wire.call("GET", "/_emulator/state", headers={"Authorization": f"Bearer {other}"}).status_code == 401
    assert session_emulator.state()["chain_id"] == 31337


def test_an_unknown_path_of_the_control_plane_is_a_structured_404(own):
    for method, path in (("GET", "/runs/none"), ("DELETE", "/snapshots/none"), ("POST", "/snapshots/none/restore")):
        answer = own.call(method, f"/_emulator{path}", **({"json": {}} if method == "POST" else {}))
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
