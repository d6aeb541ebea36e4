"""Every expected behaviour of management calls, over raw HTTP.

Source: docs/service/conformance.md#management, docs/service/conformance.md#accounts-runs-and-payments.
"""

from __future__ import annotations

import base64
import re
from concurrent.futures import ThreadPoolExecutor

HELLO = 'async function main() { return "Hello World!"; }'
CID_OF_HELLO = "Qm"
ADDRESS = re.compile(r"0x[0-9a-f]{40}\Z")
HASH = re.compile(r"0x[0-9a-f]{64}\Z")
# The service hashes any text in the field for a CID without changes. This text is the CID of the empty UnixFS file.
SOME_CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
HASH_OF_SOME_CID = "0x46d1c74d168a4d3e6e61ae1937aeed3c103095e05af39f9f4aa38f96d651b5a1"


def test_chain_config_has_a_numeric_chain_id_and_needs_no_credential(wire):
    """Checks that the chain configuration contains a numeric chain id, and needs no credential.

    Source: docs/service/conformance.md#management, item 1.
    """
    answer = wire.get("get_node_chain_config")
    assert answer.status_code == 200
    config = answer.json()
    assert type(config["chain_id"]) is int
    assert re.fullmatch(r"0x[0-9a-fA-F]{40}", config["contract_address"])
    assert {"chain_name", "is_evm", "testnet", "token"} <= config.keys()


def test_a_hello_world_action_runs_with_a_wildcard_usage_key(account):
    """Checks that a simple action runs with a usage key for all groups.

    Source: docs/service/conformance.md#management, item 2.
    """
    key = account.usage_key(execute_in_groups=[0])
    answer = account.run(HELLO, key=key)
    assert answer.status_code == 200
    assert answer.json() == {"response": "Hello World!", "logs": "", "has_error": False}


def test_the_cid_of_a_source_is_a_json_string_for_a_json_string(wire):
    """Checks that the CID endpoint accepts a source as a JSON string, and returns a JSON string.

    Source: docs/service/conformance.md#management, item 3, docs/service/endpoints.md#actions.
    """
    answer = wire.post("get_svc_action_ipfs_id", body="async function main() {}")
    assert answer.status_code == 200
    assert re.fullmatch(r"Qm[1-9A-HJ-NP-Za-km-z]{44}", answer.json())


def test_an_account_exists_once_it_was_made(account):
    """Checks that account_exists returns true for a new account.

    Source: docs/service/conformance.md#management, item 4.
    """
    answer = account.get("account_exists")
    assert (answer.status_code, answer.json()) == (200, True)


def test_an_unknown_key_has_no_account(wire):
    """Checks that an unknown key has no account.

    Source: docs/service/endpoints.md#account-and-keys.
    """
    answer = wire.get("account_exists", "no-such-key")
    assert (answer.status_code, answer.json()) == (200, False)


def test_create_wallet_returns_an_address(account):
    """Checks that create_wallet returns an address.

    Source: docs/service/conformance.md#management, item 5.
    """
    assert ADDRESS.match(account.ok("create_wallet")["wallet_address"])


def test_every_list_is_an_array(account):
    """Checks that every list endpoint returns a JSON array.

    Source: docs/service/conformance.md#management, item 6.
    """
    group = account.group()
    for path, query in (
        ("list_wallets", {}),
        ("list_groups", {}),
        ("list_actions", {}),
        ("list_actions", {"group_id": group}),
        ("list_wallets_in_group", {"group_id": group}),
        ("list_api_keys", {}),
    ):
        assert isinstance(account.listed(path, **query), list), path


def test_a_group_is_created_changed_and_removed(account):
    """Checks the creation, the change and the deletion of a group.

    Source: docs/service/conformance.md#management, items 7 to 10 and 13.
    """
    made = account.ok("add_group", {"group_name": "g", "group_description": "d"})
    assert made["success"] is True
    group = int(made["group_id"])
    wallet = account.wallet_made()
    done = {"success": True}
    assert account.ok("update_group", {"group_id": group, "name": "g2", "description": "d2"}) == done
    assert account.ok("add_action", {"action_ipfs_cid": SOME_CID, "name": "act", "description": "x"}) == done
    assert account.ok("add_action_to_group", {"group_id": group, "action_ipfs_cid": SOME_CID}) == done
    assert account.ok("add_pkp_to_group", {"group_id": group, "pkp_id": wallet}) == done
    for query in ({}, {"group_id": group}):
        (action,) = account.listed("list_actions", **query)
        assert action == {
            "id": HASH_OF_SOME_CID,
            "hashed_cid": HASH_OF_SOME_CID,
            "name": "act",
            "description": "x",
        }
    hashed = action["id"]
    (entry,) = account.listed("list_wallets_in_group", group_id=group)
    assert entry["wallet_address"] == wallet
    assert account.ok("update_action_metadata", {"hashed_cid": hashed, "name": "n", "description": "y"}) == done
    assert account.ok("remove_pkp_from_group", {"group_id": group, "pkp_id": wallet}) == done
    assert account.ok("remove_action_from_group", {"group_id": group, "hashed_cid": hashed}) == done
    assert account.ok("delete_action", {"hashed_cid": hashed}) == done
    assert account.ok("remove_group", {"group_id": str(group)}) == done
    assert account.listed("list_groups") == []
    assert account.listed("list_actions") == []


def test_a_usage_key_runs_an_action_at_once_and_can_be_changed_and_removed(account, key_body):
    """Checks that a new usage key runs an action immediately, and that the key can be changed and deleted.

    Source: docs/service/conformance.md#management, items 11 and 12.
    """
    made = account.ok("add_usage_api_key", key_body(execute_in_groups=[0]))
    assert made["success"] is True
    key = made["usage_api_key"]
    assert account.run(HELLO, key=key).status_code == 200
    done = {"success": True}
    assert account.ok("update_usage_api_key", key_body("renamed") | {"usage_api_key": key}) == done
    metadata = {"usage_api_key": key, "name": "again", "description": "d"}
    assert account.ok("update_usage_api_key_metadata", metadata) == done
    assert account.ok("remove_usage_api_key", {"usage_api_key": key}) == done


def test_concurrently_created_accounts_are_all_complete(wire):
    """Checks that accounts that callers create at the same time are all complete.

    Source: docs/service/conformance.md#accounts-runs-and-payments, item 14.
    """
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda n: wire.ok("new_account", body={"account_name": f"at once {n}"}), range(4)))
    assert len({account["api_key"] for account in made}) == 4
    for account in made:
        assert ADDRESS.match(account["wallet_address"])
        assert wire.listed("list_wallets", account["api_key"])[0]["wallet_address"] == account["wallet_address"]


def test_an_account_needs_no_email(wire):
    """Checks that an account can be created without an e-mail address.

    Source: docs/service/conformance.md#accounts-runs-and-payments, item 15.
    """
    made = wire.ok("new_account", body={"account_name": "n", "account_description": "d"})
    assert len(base64.b64decode(made["api_key"], validate=True)) == 32


def test_optional_members_can_be_null(wire):
    """Checks that the optional fields account_description and email can be null.

    Source: docs/service/resources.md#account.
    """
    made = wire.ok("new_account", body={"account_name": "n", "account_description": None, "email": None})
    assert made["api_key"]


def test_the_account_key_is_the_secret_of_the_master_wallet(wire):
    """The key is the base64 of the private key of wallet_address. Another library computes the address.

    Source: docs/service/keys.md#derivation-of-keys.
    """
    from eth_account import Account

    made = wire.ok("new_account", body={"account_name": "n", "email": "someone@example.org"})
    secret = base64.b64decode(made["api_key"], validate=True)
    assert Account.from_key(secret).address.lower() == made["wallet_address"]
    assert wire.listed("list_wallets", made["api_key"]) == [
        {
            "id": "0",
            "name": "AMW",
            "description": "Account Master Wallet",
            "wallet_address": made["wallet_address"],
        }
    ]


def test_an_account_starts_at_zero_and_must_be_funded_before_the_first_billed_call(broke):
    """Checks that a new account has no credit, and needs credit for its first billed call.

    Source: docs/service/conformance.md#accounts-runs-and-payments, item 18, docs/service/billing.md#balance.
    """
    assert broke.listed("billing/balance") == {"balance_cents": 0, "balance_display": "No credits"}
    assert broke.post("create_wallet").status_code == 402
    assert broke.get("account_exists").json() is True
    intent = broke.ok("billing/create_payment_intent", {"amount_cents": 500})
    broke.wire.control(f"/processor/{intent['payment_intent_id']}", {"outcome": "succeeded"})
    confirmed = broke.ok("billing/confirm_payment", {"payment_intent_id": intent["payment_intent_id"]})
    assert confirmed == {"success": True}
    assert broke.listed("billing/balance") == {"balance_cents": -500, "balance_display": "$5.00 credit"}
    assert broke.post("create_wallet").status_code == 200
    assert broke.listed("billing/balance")["balance_cents"] == -499


def test_the_processor_configuration_contains_a_publishable_key(wire):
    """Checks that the processor configuration contains a publishable key.

    Source: docs/service/conformance.md#accounts-runs-and-payments, item 19.
    """
    answer = wire.get("billing/processor_config")
    assert answer.status_code == 200
    assert answer.json()["publishable_key"].startswith("pk_")


def test_the_other_free_reads_need_no_credential(wire):
    """Checks that the other free endpoints need no credential.

    Source: docs/service/http.md#health-and-configuration.
    """
    payers = wire.get("get_api_payers").json()
    assert payers
    assert all(ADDRESS.match(payer) for payer in payers)
    assert ADDRESS.match(wire.get("get_admin_api_payer").json())
    keys = wire.get("get_chain_config_keys").json()["keys"]
    assert "SVC_ACTION_DEFAULT_MAX_GET_KEYS_COUNT" in keys
    limits = wire.get("get_svc_action_client_config").json()
    assert limits["max_get_keys_count"] == 10
    assert limits["max_fetch_count"] == 50
    assert limits["timeout_ms"] == 900_000
    assert wire.get("version").json().keys() >= {"name", "version", "commit_version", "submodule_versions"}
    health = wire.get("/health")
    assert health.status_code == 200
    assert health.json()["svc_actions_reachable"] is True


def test_nothing_can_be_attested_without_a_trusted_execution_environment(wire):
    """Checks that the attestation endpoints fail without a trusted execution environment.

    Source: docs/service/http.md#health-and-configuration.
    """
    for path in ("/attestation", "/info"):
        answer = wire.get(path)
        assert answer.status_code == 503
        assert answer.json()["error"] == "service_unavailable"


def test_the_lists_contain_the_created_objects_with_the_documented_members(account):
    """Checks that lists contain the created objects with the documented members.

    Source: docs/service/http.md#lists.
    """
    key = account.usage_key("shown", execute_in_groups=[0], manage_ipfs_ids_in_groups=[3, 4])
    (entry,) = account.listed("list_api_keys")
    assert HASH.match(entry["api_key_hash"])
    assert entry["id"] == entry["api_key_hash"]
    assert (entry["name"], entry["description"]) == ("shown", "")
    assert entry["can_execute_in_groups"] == [0]
    assert entry["can_manage_ipfs_ids_in_groups"] == [3, 4]
    assert entry["can_add_pkp_to_groups"] == entry["can_remove_pkp_from_groups"] == []
    assert entry["can_create_groups"] is entry["can_delete_groups"] is entry["can_create_pkps"] is False
    assert entry["expiration"].isdigit()
    assert type(entry["balance"]) is int
    assert key not in str(entry)
    group = account.group("named")
    assert account.listed("list_groups") == [{"id": f"0x{group:064x}", "name": "named", "description": ""}]
    wallets = account.listed("list_wallets")
    assert [wallet["id"] for wallet in wallets] == ["0", "1"]
    assert wallets[1]["name"] == "API Key Wallet"
    assert wallets[1]["description"] == "Usage API Key Wallet"


def test_wildcards_are_shown_as_any(account):
    """Checks that lists show the wildcard action with the name ``Any``, and the wildcard wallet as zeros.

    Source: docs/service/http.md#lists.
    """
    group = account.group(cids=["0x0"], pkps=["0x" + "00" * 20])
    (action,) = account.listed("list_actions", group_id=group)
    assert (action["hashed_cid"], action["name"]) == ("0x" + "00" * 32, "Any")
    (wallet,) = account.listed("list_wallets_in_group", group_id=group)
    assert wallet["wallet_address"] == "0x" + "00" * 20


def test_an_unregistered_member_of_a_group_has_an_empty_name(account):
    """Checks that an unregistered member of a group has an empty name.

    Source: docs/service/http.md#lists.
    """
    stranger = "0x" + "ab" * 20
    group = account.group(cids=[HASH_OF_SOME_CID], pkps=[stranger])
    (action,) = account.listed("list_actions", group_id=group)
    assert (action["hashed_cid"], action["name"], action["description"]) == (HASH_OF_SOME_CID, "", "")
    (wallet,) = account.listed("list_wallets_in_group", group_id=group)
    assert (wallet["wallet_address"], wallet["name"]) == (stranger, "")
