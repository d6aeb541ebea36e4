"""The ABI contains every function, event and error of docs/service/contract.md. Another library computes the hashes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from eth_utils.abi import event_signature_to_log_topic, function_signature_to_4byte_selector

from svcnb.emulator.chain import compile as compiler
from svcnb.emulator.platform import abi
from svcnb.protocol import contract

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "hashes.json").read_text("utf-8"))

# See docs/service/contract.md#writes, docs/service/contract.md#views: names with the types of their arguments.
FUNCTIONS: list[str] = """
newChainSecuredAccount(string,string)
newAccount(uint256,bool,string,string,address)
convertToChainSecuredAccount(uint256,address)
transferChainSecuredAccountOwnership(uint256,address)
setUsageApiKey(uint256,uint256,uint256,uint256,string,string,bool,bool,bool,uint256[],uint256[],uint256[],uint256[])
updateUsageApiKeyMetadata(uint256,uint256,string,string)
removeUsageApiKey(uint256,uint256)
addGroup(uint256,string,string,uint256[],address[])
updateGroup(uint256,uint256,string,string,uint256[],address[])
updateGroupMetadata(uint256,uint256,string,string)
removeGroup(uint256,uint256)
addPkpToGroup(uint256,uint256,address)
removePkpFromGroup(uint256,uint256,address)
addAction(uint256,string,string,uint256)
removeAction(uint256,uint256)
addActionToGroup(uint256,uint256,uint256)
removeActionFromGroup(uint256,uint256,uint256)
updateActionMetadata(uint256,uint256,uint256,string,string)
registerWalletDerivation(uint256,address,uint256,string,string)
removeWalletDerivation(uint256,address)
setNodeConfiguration(string,string)
setConfigOperator(address)
setRequestedApiPayerCount(uint256)
setAdminApiPayerAccount(address)
setRebalanceAmount(uint256)
setApiPayers(address[])
serverTrigger(uint256)
getPricing(uint256)
debitApiKey(uint256,uint256)
creditApiKey(uint256,uint256)
setPricing(uint256,uint256)
setPricingOperator(address)
diamondCut((address,uint8,bytes4[])[],address,bytes)
facets()
facetFunctionSelectors(address)
facetAddresses()
facetAddress(bytes4)
owner()
transferOwnership(address)
supportsInterface(bytes4)
accountExistsAndIsMutable(uint256)
getAccountWalletAddress(uint256)
getBillingWalletAddress(uint256)
getWalletDerivation(uint256,address)
getPkpOwnerMaster(address)
getPathOwnerMaster(uint256)
listApiKeys(uint256,uint256,uint256)
listGroups(uint256,uint256,uint256)
listActions(uint256,uint256,uint256)
listActionsInGroup(uint256,uint256,uint256,uint256)
listPkps(uint256,uint256,uint256)
listWalletsInGroup(uint256,uint256,uint256,uint256)
listGroupContents(uint256,uint256)
canExecuteAction(uint256,uint256)
canExecuteActionFast(uint256,uint256)
canUseWalletInAction(uint256,uint256,address)
canUseWalletInActionFast(uint256,uint256,address)
canExecuteActionAndUseWallet(uint256,uint256,address)
apiKeyCanExecuteForAnyGroup(uint256,uint256[])
groupIdsForAction(uint256,uint256)
groupIdsForActionAndWallet(uint256,uint256,address)
api_payers()
apiPayerCount()
requestedApiPayerCount()
adminApiPayerAccount()
rebalanceAmount()
pricingOperator()
configOperator()
pkpCount()
accountCount()
indexToAccountHashAt(uint256)
allPkpIdsAt(uint256)
pricingAt(uint256)
nodeConfigurationKeys()
nodeConfigurationValue(string)
nodeConfigurationValues()
""".split()  # noqa: SIM905 - in this form

# Additional functions that the emulator's server needs.
OWN_FUNCTIONS = {
    "resolveApiKeyHash(uint256)",
    "canUseWalletInActionStrict(uint256,uint256,address)",
    "checkPermission(uint256,uint256,address)",
}

# See docs/service/contract.md#events: * marks a topic.
EVENTS = """\
AccountCreated(*uint256 apiKeyHash,*address admin,bool managed)
AccountConvertedToChainSecured(*uint256 apiKeyHash,*address newAdminWalletAddress)
ChainSecuredAccountOwnershipTransferred(*uint256 masterApiKeyHash,*address previousAdminWalletAddress,\
*address newAdminWalletAddress)
UsageApiKeySet(*uint256 accountApiKeyHash,*uint256 usageApiKeyHash)
UsageApiKeyRemoved(*uint256 accountApiKeyHash,*uint256 usageApiKeyHash)
GroupAdded(*uint256 apiKeyHash,*uint256 groupId)
GroupRemoved(*uint256 apiKeyHash,*uint256 groupId)
GroupUpdated(*uint256 accountApiKeyHash,*uint256 groupId)
ActionAdded(*uint256 accountApiKeyHash,*uint256 actionHash)
ActionRemoved(*uint256 accountApiKeyHash,*uint256 actionHash)
ActionAddedToGroup(*uint256 apiKeyHash,*uint256 groupId,uint256 action)
ActionRemovedFromGroup(*uint256 apiKeyHash,*uint256 groupId,uint256 action)
PkpAddedToGroup(*uint256 apiKeyHash,*uint256 groupId,address pkpId)
PkpRemovedFromGroup(*uint256 apiKeyHash,*uint256 groupId,address pkpId)
WalletDerivationRegistered(*uint256 apiKeyHash,*address pkpId,uint256 derivationPath)
WalletDerivationRemoved(*uint256 apiKeyHash,*address pkpId)
ApiKeyDebited(*uint256 apiKeyHash,uint256 amount)
ApiKeyCredited(*uint256 apiKeyHash,uint256 amount)
PricingUpdated(*uint256 pricingItemId,uint256 price)
PricingOperatorUpdated(*address newPricingOperator)
ConfigOperatorUpdated(*address newConfigOperator)
ApiPayersUpdated(address[] newApiPayers)
AdminApiPayerUpdated(*address newAdminApiPayerAccount)
RebalanceAmountUpdated(uint256 newRebalanceAmount)
RequestedApiPayerCountUpdated(uint256 newCount)
ServerTriggered(uint256 value,*address sender)
""".strip().splitlines()


def test_every_documented_function_exists_and_three_others() -> None:
    declared = {contract.signature(entry) for entry in contract.abi() if entry["type"] == "function"}
    assert declared == set(FUNCTIONS) | OWN_FUNCTIONS


@pytest.mark.parametrize("signature", FUNCTIONS)
def test_a_function_has_the_selector_that_eth_utils_computes(signature: str) -> None:
    function = contract.function(signature.partition("(")[0])
    assert function.selector == function_signature_to_4byte_selector(signature)


@pytest.mark.parametrize("written", EVENTS)
def test_an_event_has_the_documented_fields(written: str) -> None:
    name, _, inside = written.rstrip(")").partition("(")
    fields = tuple(
        (field.split()[1], field.split()[0].removeprefix("*"), field.startswith("*")) for field in inside.split(",")
    )
    topic = event_signature_to_log_topic(f"{name}({','.join(kind for _, kind, _ in fields)})")
    assert contract.events()[topic].fields == fields
    assert contract.events()[topic].name == name


def test_the_only_other_events_are_those_of_the_diamond() -> None:
    others = {event.name for event in contract.events().values()} - {line.partition("(")[0] for line in EVENTS}
    assert others == {"DiamondCut", "OwnershipTransferred"}


def test_every_documented_error_decodes_with_its_arguments(errors: dict[bytes, tuple[str, list[str]]]) -> None:
    from eth_abi import abi as eth_abi

    sample: dict[str, Any] = {"uint256": 7, "address": "0x" + "ab" * 20, "string": "why", "bytes4": b"\x01\x02\x03\x04"}
    for selector, (name, types) in errors.items():
        values = tuple(sample[kind] for kind in types)
        revert = contract.decode_revert(abi, selector + eth_abi.encode(types, values))
        assert (revert.name, revert.args) == (name, values)
    declared = {entry["name"] for entry in contract.abi() if entry["type"] == "error"}
    assert declared == {name for name, _ in errors.values()}


def test_solidity_reverts_and_unknown_reverts_are_distinguished() -> None:
    from eth_abi import abi as eth_abi

    text = contract.decode_revert(abi, bytes.fromhex("08c379a0") + eth_abi.encode(["string"], ["no"]))
    assert (text.name, text.args) == ("Error", ("no",))
    panic = contract.decode_revert(abi, bytes.fromhex("4e487b71") + eth_abi.encode(["uint256"], [0x11]))
    assert (panic.name, panic.args) == ("Panic", (0x11,))
    assert contract.decode_revert(abi, b"\x12\x34\x56\x78rest").name == ""
    assert contract.decode_revert(abi, b"").args == ()


def test_an_unknown_function_is_refused_with_a_suggestion() -> None:
    with pytest.raises(KeyError, match="addGroup"):
        contract.function("addgroup")


def test_selectors_of_the_shared_vectors_agree() -> None:
    declared = {contract.signature(entry) for entry in contract.abi() if entry["type"] == "function"}
    ours = [vector for vector in VECTORS["function_selectors"] if vector["signature"] in declared]
    assert ours
    for vector in ours:
        function = contract.function(vector["signature"].partition("(")[0])
        assert function.selector.hex() == vector["selector"][2:]


@pytest.mark.slow
def test_the_committed_artifacts_equal_the_compiled_sources() -> None:
    from svcnb import tools

    if not tools.solc_fetched():
        pytest.skip("the Solidity compiler is not here: svcnb fetch --compiler")
    compiled = compiler.compile_contracts()
    assert compiler.as_text(compiled.artifact) == compiler.ARTIFACT.read_text("utf-8")
    assert compiler.as_text(compiled.interface) == contract.INTERFACE.read_text("utf-8")


def test_the_artifacts_match_the_sources() -> None:
    # This test needs no compiler, so a contract that changes without a new artifact fails on every machine.
    artifact = json.loads(compiler.ARTIFACT.read_text("utf-8"))
    interface = json.loads(contract.INTERFACE.read_text("utf-8"))
    assert artifact["sources_sha256"] == interface["sources_sha256"] == compiler.digest(compiler.sources())
