"""Execution over HTTP. Other tests check the runtime itself.

Source: docs/service/index.md#what-the-service-does, docs/service/endpoints.md#account-and-keys,
    docs/service/endpoints.md#running-an-action, docs/service/conformance.md#accounts-runs-and-payments.
"""

from __future__ import annotations

from eth_account import Account as EthAccount
from eth_account.messages import encode_defunct

from svcnb.protocol.cid import source_cid
from svcnb.protocol.hashes import hashed_cid

SIGN_WITH_OWN_KEY = """
async function main({ text }) {
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  return {
    address: wallet.address,
    signature: await wallet.signMessage(text),
    publicKey: ethers.utils.computePublicKey(wallet.publicKey, true),
  };
}
"""
ENCRYPT = "async function main({ pkpId, message }) { return Svc.Actions.Encrypt({ pkpId, message }); }"
DECRYPT = "async function main({ pkpId, ciphertext }) { return Svc.Actions.Decrypt({ pkpId, ciphertext }); }"
PRIVATE_KEY = "async function main({ pkpId }) { return Svc.Actions.getPrivateKey({ pkpId }); }"


def test_an_action_signs_with_its_own_key(account):
    """Checks that an action signs with its own key.

    Another library verifies the signature.

    Source: docs/service/conformance.md#accounts-runs-and-payments, item 16.
    """
    answer = account.run(SIGN_WITH_OWN_KEY, {"text": "hello"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["has_error"] is False
    signed = answer.json()["response"]
    assert EthAccount.recover_message(encode_defunct(text="hello"), signature=signed["signature"]) == signed["address"]
    read = account.run(
        "async function main({ ipfsId }) { return [await Svc.Actions.getSvcActionPublicKey({ ipfsId }), "
        "await Svc.Actions.getSvcActionWalletAddress({ ipfsId })]; }",
        {"ipfsId": source_cid(SIGN_WITH_OWN_KEY)},
    )
    assert read.json()["response"] == [signed["publicKey"], signed["address"].lower()]


def test_one_action_decrypts_a_text_that_another_encrypted(account):
    """Checks that one action decrypts a text that another action encrypted.

    The test uses a wildcard key, the master wallet, and no group.

    Source: docs/service/conformance.md#accounts-runs-and-payments, item 17.
    """
    key = account.usage_key(execute_in_groups=[0])
    sealed = account.run(ENCRYPT, {"pkpId": account.wallet, "message": "a secret, 私"}, key=key).json()["response"]
    assert isinstance(sealed, str)
    assert sealed
    opened = account.run(DECRYPT, {"pkpId": account.wallet, "ciphertext": sealed}, key=key)
    assert opened.json()["response"] == "a secret, 私"


def test_a_wallet_needs_one_group_that_contains_the_action(account):
    """Checks that an action can use a wallet only if the same group permits the action and the wallet.

    Source: docs/service/permissions.md#using-a-wallet.
    """
    wallet = account.wallet_made()
    hashed = hashed_cid(source_cid(PRIVATE_KEY))
    with_action = account.group("action", cids=[hashed])
    with_wallet = account.group("wallet", cids=["0x" + "ab" * 32], pkps=[wallet])
    key = account.usage_key(execute_in_groups=[with_action, with_wallet])
    refused = account.run(PRIVATE_KEY, {"pkpId": wallet}, key=key)
    assert refused.status_code == 500
    assert "not authorized to use wallet" in refused.json()
    account.ok("add_pkp_to_group", {"group_id": with_action, "pkp_id": wallet})
    revealed = account.run(PRIVATE_KEY, {"pkpId": wallet}, key=key)
    assert EthAccount.from_key(revealed.json()["response"]).address.lower() == wallet


def test_the_wallet_wildcard_of_a_group_permits_every_registered_wallet(account):
    wallet = account.wallet_made()
    group = account.group("any", cids=["0x0"], pkps=["0x" + "00" * 20])
    key = account.usage_key(execute_in_groups=[group])
    assert account.run(PRIVATE_KEY, {"pkpId": wallet}, key=key).status_code == 200
    foreign = account.wire.account("other").wallet_made()
    refused = account.run(PRIVATE_KEY, {"pkpId": foreign}, key=key)
    assert refused.status_code == 500
    assert foreign in refused.json()


def test_the_stricter_wallet_rule_is_a_setting(local):
    """Checks that a setting enables the stricter rule for wallets.

    Source: docs/service/permissions.md#using-a-wallet, wildcard_wallet_requires_group.
    """
    account = local(wildcard_wallet_requires_group=True).account()
    key = account.usage_key(execute_in_groups=[0])
    assert account.run("function main() {}", key=key).status_code == 200
    assert account.run(PRIVATE_KEY, {"pkpId": account.wallet}, key=key).status_code == 500
    account.group("both", cids=["0x0"], pkps=[account.wallet])
    assert account.run(PRIVATE_KEY, {"pkpId": account.wallet}, key=key).status_code == 200


def test_code_that_ran_before_runs_by_its_cid(account):
    """Checks that code that ran before can run by its CID.

    ``code`` takes precedence over ``ipfs_id``. An unknown id causes a 400.

    Source: docs/service/endpoints.md#running-an-action.
    """
    code = f"function main() {{ return '{account.wallet}'; }}"
    cid = source_cid(code)
    run = account.wire.post
    missed = run("svc_action", account.key, {"ipfs_id": cid})
    assert (missed.status_code, isinstance(missed.json(), str)) == (400, True)
    assert account.run(code).status_code == 200
    assert run("svc_action", account.key, {"ipfs_id": cid}).json()["response"] == account.wallet
    both = {"ipfs_id": cid, "code": "function main() { return 'code'; }"}
    assert run("svc_action", account.key, both).json()["response"] == "code"


def test_nothing_to_run_is_400_and_blank_code_does_nothing(account):
    """Checks that a request without code causes a 400, and that code of only whitespace does nothing.

    Source: docs/service/endpoints.md#running-an-action, docs/service/runtime.md#calling-main.
    """
    for body in ({}, {"code": ""}, {"code": None}, {"ipfs_id": ""}):
        answer = account.post("svc_action", body)
        assert (answer.status_code, isinstance(answer.json(), str)) == (400, True)
    assert account.run(" \n\t").json() == {"response": "", "logs": "", "has_error": False}


def test_params_arrive_as_the_one_argument_of_main(account):
    """Checks that main receives js_params as its only argument.

    The value can be any JSON value.

    Source: docs/service/runtime.md#calling-main.
    """
    code = "function main(...given) { return { given, global: typeof globalThis.a }; }"
    for params in ({"a": 1}, [1, "x", None], "text", 7, None, True):
        answer = account.run(code, params).json()["response"]
        assert answer == {"given": [params], "global": "undefined"}


def test_console_output_is_part_of_the_response(account):
    answer = account.run("function main() { console.log('one', 2); console.error({ a: [1] }); return 'done'; }")
    assert answer.json() == {"response": "done", "logs": "one 2\n{ a: [ 1 ] }\n", "has_error": False}


def test_a_thrown_error_is_a_500_string_with_the_stack(account):
    """Checks that a thrown error causes a 500 with a JSON string that contains the stack.

    Source: docs/service/runtime.md#errors-of-a-run, docs/service/conformance.md#runtime, item 47.
    """
    answer = account.run("function main() {\n  throw new TypeError('broken');\n}")
    assert answer.status_code == 500
    text = answer.json()
    assert text.startswith("Internal server error")
    assert "Uncaught (in promise) TypeError: broken" in text
    assert "<user_provided_script>:2:" in text


def test_half_a_surrogate_pair_is_kept_in_a_response_and_has_no_cid(account):
    answer = account.run("function main() { console.log('\\ud800'); return ['\\ud83d']; }")
    assert answer.status_code == 200
    assert b"\\ud83d" in answer.content
    body = account.wire.call("POST", "svc_action", account.key, content=b'{"code": "\\ud800"}')
    assert body.status_code == 400


def test_executions_are_recorded_with_logs_trace_and_cost(account):
    """Checks that GET /_emulator/runs returns the logs, the timeline and the cost of each execution."""
    good = account.run("function main() { console.log('kept'); }")
    bad = account.run("function main() { console.log('kept too'); throw new Error('x'); }")
    key = account.usage_key()
    refused = account.run("function main() {}", key=key)
    record = account.wire.control(f"/runs/{good.headers['X-Request-Id']}", method="GET")
    assert (record["status"], record["http_status"], record["cost_cents"]) == ("success", 200, account.price(good))
    assert record["logs"] == "kept\n"
    assert record["cid"] == source_cid("function main() { console.log('kept'); }")
    assert record["trace"]["engine"]
    failed = account.wire.control(f"/runs/{bad.headers['X-Request-Id']}", method="GET")
    assert (failed["status"], failed["logs"], failed["cost_cents"]) == ("failed", "kept too\n", 0)
    newest = account.wire.control("/runs?limit=1", method="GET")["runs"]
    assert newest[0]["request_id"] == refused.headers["X-Request-Id"]
    assert (newest[0]["status"], newest[0]["http_status"]) == ("refused", 403)
    assert account.key not in str(account.wire.control("/runs", method="GET"))


def test_an_expired_usage_key_cannot_run_and_still_reads(local):
    """After the expiration, the service rejects runs and writes. Reads still work. The account key never expires.

    Source: docs/service/permissions.md#expiration.
    """
    wire = local(starter_credits=500)
    account = wire.account()
    key = account.usage_key(execute_in_groups=[0], can_create_groups=True)
    (entry,) = account.listed("list_api_keys")
    wire.control("/clock", {"freeze": int(entry["expiration"]) - 1})
    assert account.run("function main() {}", key=key).status_code == 200
    wire.control("/clock", {"advance": 1})
    refused = account.run("function main() {}", key=key)
    assert refused.status_code == 403
    assert "expired" in refused.json()
    assert wire.post("add_group", key, {"group_name": "n", "group_description": ""}).status_code == 403
    assert wire.listed("list_groups", key) == []
    assert account.run("function main() {}").status_code == 200


def test_an_expired_usage_key_works_if_expiry_is_not_enforced(local):
    """With enforce_expiration=false, an expired key still works (docs/service/permissions.md#expiration)."""
    wire = local(starter_credits=500, enforce_expiration=False)
    account = wire.account()
    key = account.usage_key(execute_in_groups=[0])
    (entry,) = account.listed("list_api_keys")
    wire.control("/clock", {"freeze": int(entry["expiration"]) + 1})
    assert account.run("function main() {}", key=key).status_code == 200
    reads = "async function main({ pkpId }) { return (await Svc.Actions.getPrivateKey({ pkpId })).length; }"
    assert account.run(reads, {"pkpId": account.wallet}, key=key).json()["response"] == 66
    refused = account.run("function main() {}", key=account.usage_key())
    assert refused.status_code == 403
    assert str(int(hashed_cid(source_cid("function main() {}")), 16)) in refused.text


WITHOUT_ITS_KEY = """
async function main({ url, master, key, pkpId }) {
  const removed = await fetch(`${url}/core/v1/remove_usage_api_key`, {
    method: "POST",
    headers: { "X-Api-Key": master, "Content-Type": "application/json" },
    body: JSON.stringify({ usage_api_key: key }),
  });
  if (!removed.ok) throw new Error(await removed.text());
  try {
    return (await Svc.Actions.getPrivateKey({ pkpId })).length;
  } catch (error) {
    return error.message;
  }
}
"""


def test_a_key_removed_during_its_run_can_no_longer_use_wallets(account):
    """Checks that a key removed during its run can no longer use wallets.

    The action receives an error that it can catch, and can then succeed.

    Source: docs/service/http.md#authentication.
    """
    key = account.usage_key(execute_in_groups=[0])
    params = {"url": account.wire.base_url, "master": account.key, "key": key, "pkpId": account.wallet}
    answer = account.run(WITHOUT_ITS_KEY, params, key=key)
    assert answer.status_code == 200, answer.text
    assert "not authorized" in answer.json()["response"]
    assert account.run("function main() {}", key=key).status_code == 401


def test_a_wallet_of_another_account_is_rejected_with_a_reason(account):
    """Checks that the service rejects a wallet of another account, with a reason.

    A wallet belongs to the first account that registered the wallet.

    Source: docs/service/keys.md#owners-of-wallets.
    """
    other = account.wire.account("other")
    tells = """async function main({ pkpId }) {
      try { return await Svc.Actions.getPrivateKey({ pkpId }); } catch (error) { return error.message; }
    }"""
    for key in (account.key, account.usage_key(execute_in_groups=[0])):
        answer = account.run(tells, {"pkpId": other.wallet}, key=key)
        assert answer.status_code == 200, answer.text
        assert other.wallet in answer.json()["response"]
        assert "not authorized" in answer.json()["response"] or "not registered" in answer.json()["response"]
