"""Creation, conversion and transfer of accounts.

Source: docs/service/resources.md#states, docs/service/signatures.md#transfer, docs/service/contract.md#writes,
    docs/service/contract.md#access-and-aliases.
"""

# ruff: noqa: FBT003 - contract functions take their flags by position

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from web3.exceptions import ContractCustomError

if TYPE_CHECKING:
    from tests.emulator.chain.conftest import Actor, World

ZERO = "0x" + "0" * 40
KEY = 0xA11CE
YEARS_10 = 10 * 365 * 24 * 3600


def lower(addresses: Any) -> Any:
    return addresses.lower()


@pytest.fixture
def managed(world: World) -> tuple[Actor, int]:
    """Managed account: its payer and its master hash. Its admin wallet is 0x1111..."""
    payer = world.payer()
    payer.send("newAccount", KEY, True, "managed", "", "0x" + "11" * 20)
    return payer, KEY


def topics(receipt: Any) -> list[str]:
    (log,) = receipt["logs"]
    return [topic.to_0x_hex() for topic in log["topics"]]


def word(value: int | str) -> str:
    return f"0x{int(value, 16) if isinstance(value, str) else value:064x}"


# --- creation --------------------------------------------------------------------------------------------------------


def test_anyone_can_create_an_account_that_their_wallet_owns(world: World) -> None:
    wallet = world.wallet()
    receipt = wallet.send("newChainSecuredAccount", "name", "text")
    hashed = world.hash_of(wallet)
    (event,) = world.contract.events.AccountCreated().process_receipt(receipt)
    assert dict(event["args"]) == {"apiKeyHash": hashed, "admin": wallet.address, "managed": False}
    assert topics(receipt)[1:] == [word(hashed), word(wallet.address)]
    assert wallet.ask("getAccountWalletAddress", hashed) == wallet.address
    assert wallet.ask("accountCount") == 1
    assert wallet.ask("indexToAccountHashAt", 1) == hashed
    assert wallet.ask("indexToAccountHashAt", 0) == wallet.ask("indexToAccountHashAt", 2) == 0


VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "hashes.json").read_text("utf-8"))


@pytest.mark.parametrize(
    "vector",
    # The zero address cannot own anything on chain.
    [vector for vector in VECTORS["wallet_lookup_key"] if int(vector["address"], 16)],
    ids=lambda vector: str(vector["address"]),
)
def test_the_contract_computes_a_wallets_hash_as_the_shared_vectors_do(world: World, vector: dict[str, str]) -> None:
    wallet, hashed = world.w3.to_checksum_address(vector["address"]), int(vector["decimal"])
    call = world.contract.functions.newAccount
    call(hashed, False, "", "", wallet).call({"from": wallet, "gas": 1_000_000})
    with pytest.raises(ContractCustomError):
        call(hashed + 1, False, "", "", wallet).call({"from": wallet, "gas": 1_000_000})


def test_a_second_account_of_the_same_wallet_is_refused(world: World, alice: Actor) -> None:
    assert alice.refused("newChainSecuredAccount", "again", "") == ("AccountAlreadyExists", world.hash_of(alice))


def test_a_stranger_can_create_only_their_own_account(world: World) -> None:
    wallet, other = world.wallet(), world.wallet()
    own = world.hash_of(wallet)
    assert wallet.refused("newAccount", own, True, "", "", wallet.address)[0] == "InvalidRequest"
    assert wallet.refused("newAccount", own + 1, False, "", "", wallet.address)[0] == "InvalidRequest"
    assert wallet.refused("newAccount", own, False, "", "", other.address)[0] == "InvalidRequest"
    wallet.send("newAccount", own, False, "", "", wallet.address)
    assert wallet.ask("getAccountWalletAddress", own) == wallet.address


@pytest.mark.parametrize("who", ["payer", "owner", "admin_payer"])
def test_the_service_creates_managed_accounts_for_any_wallet(world: World, who: str) -> None:
    sender = getattr(world, who)()
    sender.send("newAccount", KEY, True, "n", "d", "0x" + "11" * 20)
    assert sender.refused("newAccount", KEY, True, "n", "d", "0x" + "22" * 20) == ("AccountAlreadyExists", KEY)


def test_hash_zero_and_admin_zero_are_rejected(world: World) -> None:
    assert world.payer().refused("newAccount", 0, True, "", "", "0x" + "11" * 20)[0] == "InvalidRequest"
    assert world.payer().refused("newAccount", KEY, True, "", "", ZERO)[0] == "InvalidRequest"


def test_resolving_a_master_hash_returns_the_whole_account(managed: tuple[Actor, int]) -> None:
    payer, key = managed
    wallet = "0x" + "11" * 20
    assert payer.ask("resolveApiKeyHash", key) == [key, wallet, wallet, True, True, False, 0]
    assert payer.ask("resolveApiKeyHash", key + 1) == [0, ZERO, ZERO, False, False, False, 0]


def test_the_permission_to_write_depends_on_the_sender(world: World, managed: tuple[Actor, int]) -> None:
    payer, key = managed
    stranger = world.wallet()
    assert payer.ask("accountExistsAndIsMutable", key) is True
    assert stranger.ask("accountExistsAndIsMutable", key) is False
    assert payer.ask("accountExistsAndIsMutable", key + 1) is False
    stranger.send("newChainSecuredAccount", "", "")
    own = world.hash_of(stranger)
    assert stranger.ask("accountExistsAndIsMutable", own) is True
    assert payer.ask("accountExistsAndIsMutable", own) is False


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("getAccountWalletAddress", ()),
        ("getBillingWalletAddress", ()),
        ("getWalletDerivation", ("0x" + "11" * 20,)),
        ("listApiKeys", (0, 10)),
        ("listGroups", (0, 10)),
        ("listActions", (0, 10)),
        ("listPkps", (0, 10)),
        ("listActionsInGroup", (1, 0, 10)),
        ("listWalletsInGroup", (1, 0, 10)),
        ("listGroupContents", (1,)),
        ("canExecuteAction", (1,)),
        ("canExecuteActionFast", (1,)),
        ("canUseWalletInAction", (1, "0x" + "11" * 20)),
        ("canUseWalletInActionFast", (1, "0x" + "11" * 20)),
        ("canExecuteActionAndUseWallet", (1, "0x" + "11" * 20)),
        ("apiKeyCanExecuteForAnyGroup", ([1],)),
        ("groupIdsForAction", (1,)),
        ("groupIdsForActionAndWallet", (1, "0x" + "11" * 20)),
    ],
)
def test_views_that_need_an_account_refuse_an_unmapped_hash(
    world: World, function: str, arguments: tuple[Any, ...]
) -> None:
    assert world.wallet(ether=1).refused(function, 404, *arguments) == ("AccountDoesNotExist", 404)


def test_a_write_through_an_unmapped_hash_has_no_access(world: World) -> None:
    wallet = world.wallet()
    assert wallet.refused("addGroup", 404, "", "", [], []) == ("NoAccountAccess", 404, lower(wallet.address))


def test_the_admin_can_write_and_payers_only_while_the_account_is_managed(
    world: World, managed: tuple[Actor, int], alice: Actor
) -> None:
    payer, key = managed
    stranger, own = world.wallet(), world.hash_of(alice)
    payer.send("addGroup", key, "g", "", [], [])
    assert stranger.refused("addGroup", key, "g", "", [], []) == ("NoAccountAccess", key, lower(stranger.address))
    assert payer.refused("addGroup", own, "g", "", [], []) == ("NoAccountAccess", own, lower(payer.address))
    assert world.owner().refused("addGroup", key, "g", "", [], [])[0] == "NoAccountAccess"
    assert world.admin_payer().refused("addGroup", key, "g", "", [], [])[0] == "NoAccountAccess"


# --- conversion ------------------------------------------------------------------------------------------------------


def test_a_conversion_changes_the_owner_and_keeps_the_billing_wallet(world: World, managed: tuple[Actor, int]) -> None:
    payer, key = managed
    payer.send("addGroup", key, "kept", "", [], [])
    wallet = world.wallet()
    receipt = payer.send("convertToChainSecuredAccount", key, wallet.address)
    assert topics(receipt)[1:] == [word(key), word(wallet.address)]
    first = "0x" + "11" * 20
    assert payer.ask("resolveApiKeyHash", key) == [key, wallet.address, first, False, True, False, 0]
    assert payer.ask("resolveApiKeyHash", world.hash_of(wallet)) == [key, wallet.address, first, False, False, True, 0]
    assert payer.ask("getBillingWalletAddress", key) == first
    assert [group[1] for group in wallet.ask("listGroups", world.hash_of(wallet), 0, 10)] == ["kept"]
    assert payer.refused("addGroup", key, "no", "", [], []) == ("NoAccountAccess", key, lower(payer.address))
    wallet.send("addGroup", key, "yes", "", [], [])


def test_converting_is_refused_in_the_order_of_the_specification(
    world: World, managed: tuple[Actor, int], alice: Actor
) -> None:
    payer, key = managed
    stranger, fresh = world.wallet(), world.wallet()
    function = "convertToChainSecuredAccount"
    assert stranger.refused(function, 404, ZERO) == ("OnlyApiPayerOrOwner", lower(stranger.address))
    assert payer.refused(function, 404, ZERO)[0] == "InvalidRequest"
    assert payer.refused(function, 404, alice.address) == ("AccountAlreadyExists", world.hash_of(alice))
    assert payer.refused(function, 404, fresh.address) == ("AccountDoesNotExist", 404)
    payer.send("setUsageApiKey", key, 77, 0, 0, "", "", False, False, False, [], [], [], [])
    assert payer.refused(function, 77, fresh.address) == ("AccountDoesNotExist", 77)
    assert payer.refused(function, world.hash_of(alice), fresh.address)[0] == "InvalidRequest"
    payer.send(function, key, fresh.address)
    assert payer.refused(function, key, stranger.address)[0] == "InvalidRequest"
    assert payer.refused(function, key, fresh.address) == ("AccountAlreadyExists", world.hash_of(fresh))


def test_besides_a_payer_only_the_owner_of_the_contract_can_convert(world: World, managed: tuple[Actor, int]) -> None:
    _, key = managed
    admin_payer, wallet = world.admin_payer(), world.wallet().address
    refusal = admin_payer.refused("convertToChainSecuredAccount", key, wallet)
    assert refusal == ("OnlyApiPayerOrOwner", lower(admin_payer.address))
    world.owner().send("convertToChainSecuredAccount", key, wallet)


def test_an_account_can_be_converted_to_its_own_wallet_only(world: World) -> None:
    payer, wallet = world.payer(), world.wallet()
    payer.send("newAccount", KEY, True, "", "", wallet.address)
    payer.send("newAccount", KEY + 1, True, "", "", "0x" + "22" * 20)
    refusal = payer.refused("convertToChainSecuredAccount", KEY + 1, wallet.address)
    assert refusal == ("AccountAlreadyExists", world.hash_of(wallet))
    payer.send("convertToChainSecuredAccount", KEY, wallet.address)
    wallet.send("addGroup", world.hash_of(wallet), "", "", [], [])


# --- transfer --------------------------------------------------------------------------------------------------------


def test_a_transfer_replaces_only_the_admin(world: World, alice: Actor) -> None:
    bob, own = world.wallet(), world.hash_of(alice)
    alice.send("addGroup", own, "kept", "", [], [])
    receipt = alice.send("transferChainSecuredAccountOwnership", own, bob.address)
    assert topics(receipt)[1:] == [word(own), word(alice.address), word(bob.address)]
    assert bob.ask("resolveApiKeyHash", own) == [own, bob.address, alice.address, False, True, False, 0]
    assert bob.ask("resolveApiKeyHash", world.hash_of(bob)) == [own, bob.address, alice.address, False, False, True, 0]
    assert alice.refused("addGroup", own, "", "", [], []) == ("NoAccountAccess", own, lower(alice.address))
    bob.send("addGroup", world.hash_of(bob), "through the alias", "", [], [])
    assert [group[1] for group in bob.ask("listGroups", own, 0, 10)] == ["kept", "through the alias"]


def test_the_event_contains_the_master_hash_for_an_alias(world: World, alice: Actor) -> None:
    bob, carol, own = world.wallet(), world.wallet(), world.hash_of(alice)
    alice.send("transferChainSecuredAccountOwnership", own, bob.address)
    receipt = bob.send("transferChainSecuredAccountOwnership", world.hash_of(bob), carol.address)
    assert topics(receipt)[1:] == [word(own), word(bob.address), word(carol.address)]
    # The former lookup entries remain, and refer to the account that the new admin owns.
    for wallet in (alice, bob, carol):
        assert carol.ask("getAccountWalletAddress", world.hash_of(wallet)) == carol.address


def test_transferring_is_refused_in_the_order_of_the_specification(
    world: World, managed: tuple[Actor, int], alice: Actor
) -> None:
    _payer, key = managed
    stranger, bob, own = world.wallet(), world.wallet(), world.hash_of(alice)
    function = "transferChainSecuredAccountOwnership"
    assert alice.refused(function, 404, ZERO)[0] == "InvalidRequest"
    assert alice.refused(function, 404, alice.address) == ("AccountDoesNotExist", 404)
    assert alice.refused(function, key, alice.address)[0] == "InvalidRequest"
    assert stranger.refused(function, own, alice.address) == ("NoAccountAccess", own, lower(stranger.address))
    assert alice.refused(function, own, alice.address)[0] == "InvalidRequest"
    bob.send("newChainSecuredAccount", "", "")
    assert alice.refused(function, own, bob.address) == ("AccountAlreadyExists", world.hash_of(bob))


def test_a_payer_cannot_transfer(world: World, alice: Actor) -> None:
    payer, own = world.payer(), world.hash_of(alice)
    refusal = payer.refused("transferChainSecuredAccountOwnership", own, world.wallet().address)
    assert refusal == ("NoAccountAccess", own, lower(payer.address))


def test_a_former_admin_cannot_become_admin_again(world: World, managed: tuple[Actor, int], alice: Actor) -> None:
    payer, key = managed
    bob, own = world.wallet(), world.hash_of(alice)
    alice.send("transferChainSecuredAccountOwnership", own, bob.address)
    refusal = bob.refused("transferChainSecuredAccountOwnership", own, alice.address)
    assert refusal == ("AccountAlreadyExists", own)
    # The wallet of a managed account is also its admin, and remains its admin after a conversion.
    first = "0x" + "11" * 20
    hashed = int.from_bytes(world.w3.keccak(bytes.fromhex(first[2:])), "big")
    assert bob.refused("transferChainSecuredAccountOwnership", own, first) == ("AccountAlreadyExists", hashed)
    payer.send("convertToChainSecuredAccount", key, world.wallet().address)
    assert bob.refused("transferChainSecuredAccountOwnership", own, first) == ("AccountAlreadyExists", hashed)


def test_a_contract_can_own_and_transfer_an_account(world: World, alice: Actor) -> None:
    own, signer, heir = world.hash_of(alice), world.wallet(), world.wallet()
    address = world.run(world.chain.deploy_contract_wallet(signer.address))
    alice.send("transferChainSecuredAccountOwnership", own, world.w3.to_checksum_address(address))
    inner = world.contract.functions.transferChainSecuredAccountOwnership(own, heir.address)._encode_transaction_data()
    execute = world.w3.keccak(text="execute(address,uint256,bytes)")[:4] + world.w3.codec.encode(
        ["address", "uint256", "bytes"], [world.contract.address, 0, bytes.fromhex(inner[2:])]
    )
    receipt = signer.send_raw(signer.fill({"to": world.w3.to_checksum_address(address), "data": execute}))
    assert receipt["status"] == 1
    assert heir.ask("getAccountWalletAddress", own) == heir.address
