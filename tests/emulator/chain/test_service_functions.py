"""Payers, operators, node configuration, prices, and the diamond itself: docs/service/contract.md#service-functions."""

# ruff: noqa: FBT003 - contract functions take their flags by position

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from web3.exceptions import ContractCustomError

from svcnb.protocol import contract

if TYPE_CHECKING:
    from tests.emulator.chain.conftest import Actor, World

ZERO = "0x" + "0" * 40
SOME = "0x" + "1" * 40
KEY = 0xA11CE


def the_event(world: World, receipt: Any, name: str) -> dict[str, Any]:
    (event,) = world.contract.events[name]().process_receipt(receipt)
    return dict(event["args"])


def test_the_contract_has_the_documented_initial_state(world: World) -> None:
    owner = world.owner()
    assert owner.ask("owner") == owner.ask("configOperator") == owner.ask("pricingOperator") == owner.address
    assert owner.ask("getPricing", 1) == owner.ask("pricingAt", 1) == 1
    assert owner.ask("requestedApiPayerCount") == owner.ask("apiPayerCount") == 3
    assert tuple(address.lower() for address in owner.ask("api_payers")) == world.chain.payers
    assert owner.ask("adminApiPayerAccount") == world.admin_payer().address
    assert owner.ask("rebalanceAmount") == 0


# --- permissions -----------------------------------------------------------------------------------------------------

SERVER = ("payer", "owner", "admin_payer")
ROWS: list[tuple[str, tuple[Any, ...], tuple[str, ...], str, str | None, dict[str, Any]]] = [
    # function, arguments, permitted callers, error for other callers, event, and its fields
    (
        "setRequestedApiPayerCount",
        (5,),
        SERVER,
        "OnlyApiPayerOrOwner",
        "RequestedApiPayerCountUpdated",
        {"newCount": 5},
    ),
    (
        "setAdminApiPayerAccount",
        (SOME,),
        SERVER,
        "OnlyApiPayerOrOwner",
        "AdminApiPayerUpdated",
        {"newAdminApiPayerAccount": SOME},
    ),
    ("setRebalanceAmount", (9,), SERVER, "OnlyApiPayerOrOwner", "RebalanceAmountUpdated", {"newRebalanceAmount": 9}),
    ("setNodeConfiguration", ("k", "v"), SERVER, "OnlyApiPayerOrOwner", None, {}),
    (
        "setApiPayers",
        ([SOME],),
        ("owner", "admin_payer"),
        "OnlyApiPayerOrOwner",
        "ApiPayersUpdated",
        {"newApiPayers": [SOME]},
    ),
    (
        "setConfigOperator",
        (SOME,),
        ("owner",),
        "OnlyConfigOperatorOrOwner",
        "ConfigOperatorUpdated",
        {"newConfigOperator": SOME},
    ),
    (
        "setPricing",
        (2, 7),
        ("payer", "owner"),
        "OnlyApiPayerOrPricingOperator",
        "PricingUpdated",
        {"pricingItemId": 2, "price": 7},
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_only_permitted_senders_can_change_a_setting(
    world: World, row: tuple[str, tuple[Any, ...], tuple[str, ...], str, str | None, dict[str, Any]]
) -> None:
    function, arguments, who, refusal, event, fields = row
    stranger = world.wallet()
    assert stranger.refused(function, *arguments) == (refusal, stranger.address.lower())
    for name in set(SERVER) - set(who):
        actor = getattr(world, name)()
        assert actor.refused(function, *arguments) == (refusal, actor.address.lower())
    for name in who:
        getattr(world, name)().ask(function, *arguments)
    receipt = getattr(world, who[0])().send(function, *arguments)
    if event is None:
        assert not receipt["logs"]
    else:
        assert the_event(world, receipt, event) == fields


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("serverTrigger", (1,)),
        ("setPricingOperator", (SOME,)),
        ("transferOwnership", (SOME,)),
        ("diamondCut", ([], ZERO, b"")),
    ],
)
def test_only_the_owner_is_permitted(world: World, function: str, arguments: tuple[Any, ...]) -> None:
    owner = world.owner().address.lower()
    for actor in (world.wallet(), world.payer(), world.admin_payer()):
        assert actor.refused(function, *arguments) == ("NotContractOwner", actor.address.lower(), owner)


def test_settings_read_as_they_were_written(world: World) -> None:
    owner, operator = world.owner(), world.wallet()
    owner.send("setPricing", 2, 7)
    owner.send("setRebalanceAmount", 9)
    assert (owner.ask("getPricing", 2), owner.ask("pricingAt", 2), owner.ask("rebalanceAmount")) == (7, 7, 9)
    receipt = owner.send("setPricingOperator", operator.address)
    assert the_event(world, receipt, "PricingOperatorUpdated") == {"newPricingOperator": operator.address}
    operator.send("setPricing", 2, 8)
    owner.send("setConfigOperator", operator.address)
    operator.send("setConfigOperator", SOME)
    assert owner.ask("configOperator") == SOME
    receipt = owner.send("serverTrigger", 3)
    assert the_event(world, receipt, "ServerTriggered") == {"value": 3, "sender": owner.address}


def test_new_payers_replace_the_old_ones(world: World) -> None:
    owner, old, new = world.owner(), world.payer(), world.wallet()
    owner.send("setApiPayers", [new.address, new.address])
    assert owner.ask("api_payers") == [new.address]
    assert old.refused("newAccount", KEY, True, "", "", SOME)[0] == "InvalidRequest"
    new.send("newAccount", KEY, True, "", "", SOME)


def test_node_configuration_keeps_order_and_the_last_value(world: World) -> None:
    owner = world.owner()
    for key, value in (("A", "1"), ("B", "2"), ("A", "3")):
        owner.send("setNodeConfiguration", key, value)
    assert owner.ask("nodeConfigurationKeys") == ["A", "B"]
    assert owner.ask("nodeConfigurationValues") == [("A", "3"), ("B", "2")]
    assert (owner.ask("nodeConfigurationValue", "A"), owner.ask("nodeConfigurationValue", "C")) == ("3", "")


# --- balances -------------------------------------------------------------------------------------------------------


def test_a_payer_credits_and_debits_a_managed_account(world: World) -> None:
    payer = world.payer()
    payer.send("newAccount", KEY, True, "", "", SOME)
    receipt = payer.send("creditApiKey", KEY, 10)
    assert the_event(world, receipt, "ApiKeyCredited") == {"apiKeyHash": KEY, "amount": 10}
    receipt = payer.send("debitApiKey", KEY, 4)
    assert the_event(world, receipt, "ApiKeyDebited") == {"apiKeyHash": KEY, "amount": 4}
    assert payer.refused("debitApiKey", KEY, 7) == ("InsufficientBalance", KEY, 7)


def test_a_charge_checks_the_role_then_the_access_then_the_master(world: World, alice: Actor) -> None:
    payer, operator, own = world.payer(), world.owner(), world.hash_of(alice)
    payer.send("newAccount", KEY, True, "", "", SOME)
    payer.send("setUsageApiKey", KEY, 77, 0, 0, "", "", False, False, False, [], [], [], [])
    for function in ("creditApiKey", "debitApiKey"):
        assert alice.refused(function, own, 1) == ("OnlyApiPayerOrPricingOperator", alice.address.lower())
        assert operator.refused(function, own, 1) == ("NoAccountAccess", own, operator.address.lower())
        assert payer.refused(function, 77, 1) == ("NotMasterAccount", 77)


# --- the diamond ----------------------------------------------------------------------------------------------------


def test_the_loupe_shows_every_function_once(world: World) -> None:
    owner = world.owner()
    facets = owner.ask("facets")
    shown = [selector for _, selectors in facets for selector in selectors]
    assert sorted(shown) == sorted(function.selector for function in contract.functions().values())
    assert owner.ask("facetAddresses") == [address for address, _ in facets]
    for address, selectors in facets:
        assert owner.ask("facetFunctionSelectors", address) == selectors
        assert owner.ask("facetAddress", selectors[0]) == address
        assert 0 < len(world.w3.eth.get_code(address)) <= 24_576  # EIP-170
    assert owner.ask("facetAddress", b"\x00\x00\x00\x00") == ZERO


@pytest.mark.parametrize("interface", ["01ffc9a7", "1f931c1c", "48e2b093", "7f5828d0"])
def test_the_standard_interfaces_are_announced(world: World, interface: str) -> None:
    assert world.owner().ask("supportsInterface", bytes.fromhex(interface)) is True
    assert world.owner().ask("supportsInterface", b"\xff\xff\xff\xff") is False


def test_ownership_moves_with_an_event(world: World) -> None:
    owner, heir = world.owner(), world.wallet()
    receipt = owner.send("transferOwnership", heir.address)
    moved = {"previousOwner": owner.address, "newOwner": heir.address}
    assert the_event(world, receipt, "OwnershipTransferred") == moved
    assert owner.refused("serverTrigger", 1)[0] == "NotContractOwner"
    heir.send("serverTrigger", 1)


def test_ether_transfers_are_rejected(world: World) -> None:
    wallet = world.wallet()
    for data in ("0x", "0x12345678"):
        call = {"from": wallet.address, "to": world.contract.address, "value": 1, "data": data}
        with pytest.raises(ContractCustomError) as seen:
            world.w3.eth.call(call)  # type: ignore[arg-type]
        assert wallet.world_error(seen.value.data) == ("DirectETHTransferNotAllowed",)


def test_the_error_for_an_unknown_function_contains_its_selector(world: World) -> None:
    wallet = world.wallet()
    with pytest.raises(ContractCustomError) as seen:
        world.w3.eth.call({"from": wallet.address, "to": world.contract.address, "data": "0x12345678"})  # type: ignore[typeddict-item]
    assert wallet.world_error(seen.value.data) == ("FunctionNotFound", b"\x12\x34\x56\x78")


def test_the_owner_adds_replaces_and_removes_functions(world: World) -> None:
    owner = world.owner()
    (first, selectors), (second, _) = owner.ask("facets")[:2]
    victim = contract.function("pkpCount").selector
    home = owner.ask("facetAddress", victim)
    receipt = owner.send("diamondCut", [(ZERO, 2, [victim])], ZERO, b"")
    assert the_event(world, receipt, "DiamondCut")["_diamondCut"][0]["functionSelectors"] == [victim]
    with pytest.raises(ContractCustomError):
        owner.ask("pkpCount")
    assert owner.refused("diamondCut", [(ZERO, 2, [victim])], ZERO, b"") == ("FunctionNotFound", victim)
    assert owner.refused("diamondCut", [(home, 1, [victim])], ZERO, b"") == ("FunctionNotFound", victim)
    assert owner.refused("diamondCut", [(first, 0, [selectors[0]])], ZERO, b"")[0] == "InvalidRequest"
    assert owner.refused("diamondCut", [(SOME, 0, [victim])], ZERO, b"")[0] == "InvalidRequest"
    assert owner.refused("diamondCut", [(home, 2, [victim])], ZERO, b"")[0] == "InvalidRequest"
    owner.send("diamondCut", [(second, 0, [victim])], ZERO, b"")
    owner.send("diamondCut", [(home, 1, [victim])], ZERO, b"")
    assert owner.ask("pkpCount") == 0
    assert len({selector for _, found in owner.ask("facets") for selector in found}) == len(contract.functions())
