"""The client simulates, previews and sends every write. Every rejection has a name and a hint, and costs nothing."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from svcnb import ChainError, Client, ContractWallet, LocalSigner, SigningError
from svcnb.client.chain.reverts import ADVICE, refused
from svcnb.client.models.chain import Preview
from svcnb.client.session import SyncSession
from svcnb.protocol.contract import abi, function
from svcnb.toolkit.stub_server import Request, StubServer

pytestmark = pytest.mark.chain


def test_a_preview_shows_the_decoded_write_before_the_signature(mine, witness) -> None:
    shown: list[Preview] = []
    mine.on_preview = shown.append
    wallet = mine.wallets.create("ops")
    group = mine.groups.create("signers", wallets=[wallet])
    first, second = shown
    assert (first.function, second.function) == ("registerWalletDerivation", "addGroup")
    assert second.what == f"create group 'signers', which permits wallet 'ops' {wallet.address[:10]}…"
    assert second.arguments["pkpIds"] == [wallet.address]
    assert second.arguments["apiKeyHash"] == mine.api_key_hash
    receipt = mine.receipts[-1]
    assert receipt.what == second.what
    mined = witness.web3.eth.get_transaction_receipt(receipt.transaction_hash)
    assert (mined["status"], mined["gasUsed"], mined["blockNumber"]) == (1, receipt.gas_used, receipt.block)
    assert receipt.cost_wei == mined["gasUsed"] * mined["effectiveGasPrice"] <= second.max_cost_wei
    assert second.gas == pytest.approx(receipt.gas_used, rel=0.2)
    assert group.id == 1


def test_the_preview_function_can_cancel_a_write(mine, witness) -> None:
    before = witness.nonce(mine.owner.address)
    mine.on_preview = lambda preview: "create group" not in preview.what
    with pytest.raises(
        SigningError, match="the call was stopped before signing, because on_preview returned False: create group"
    ):
        mine.groups.create("never")
    assert witness.nonce(mine.owner.address) == before
    assert list(mine.groups.list()) == []


def test_the_simulation_finds_a_rejection_and_costs_nothing(mine, fund, svc, witness) -> None:
    stranger = fund()
    svc.chain_secured.create(stranger, "other")
    theirs = svc.chain_secured.look(mine.api_key_hash)
    theirs._account.writer.owner = stranger
    balance, nonce = witness.web3.eth.get_balance(stranger.address), witness.nonce(stranger.address)
    with pytest.raises(ChainError) as caught:
        theirs.groups.create("break in")
    error = caught.value
    assert error.name == "NoAccountAccess"
    assert error.arguments == (mine.api_key_hash, stranger.address.lower())
    assert "no change was made" in error.message
    assert error.hint
    assert (witness.web3.eth.get_balance(stranger.address), witness.nonce(stranger.address)) == (balance, nonce)


def test_a_second_account_of_a_wallet_is_rejected_with_the_contracts_error(mine, svc) -> None:
    with pytest.raises(ChainError) as caught:
        svc.chain_secured.create(mine.owner, "again")
    assert caught.value.name == "AccountAlreadyExists"
    assert caught.value.arguments == (mine.api_key_hash,)


def test_a_wallet_without_gas_causes_an_error_before_the_transaction(svc) -> None:
    poor = LocalSigner.random()
    with pytest.raises(ChainError, match="has 0 ETH to pay for gas") as caught:
        svc.chain_secured.create(poor, "broke")
    assert caught.value.name == "InsufficientFunds"
    assert "faucet" in caught.value.hint


@pytest.mark.parametrize("silent", [{"eth_getBalance"}, {"eth_estimateGas", "eth_getBalance"}])
def test_an_unavailable_node_is_not_reported_as_an_empty_wallet(emulator, fund, silent: set[str]) -> None:
    """A node that cannot reach its own servers responds to some requests in the message with an error."""

    def answer(request: Request) -> object:
        answers = httpx.post(emulator.rpc_url, content=request.body).json()
        if not isinstance(request.json, list):
            return answers
        asked = {each["id"]: each["method"] for each in request.json}
        away = {"code": -32603, "message": "the chain is unavailable"}
        return [
            {"jsonrpc": "2.0", "id": each["id"], "error": away} if asked[each["id"]] in silent else each
            for each in answers
        ]

    with StubServer({"/": answer}) as node:
        svc = emulator.client(rpc_url=node.url)
        with pytest.raises(ChainError, match="could not execute eth_getBalance: the chain is unavailable") as caught:
            svc.chain_secured.create(fund(), "treasury")
    assert caught.value.hint.startswith("Try again in a few seconds")


def test_an_account_opened_with_look_is_read_only(svc, mine) -> None:
    seen = svc.chain_secured.look(mine.api_key_hash)
    assert seen.describe().admin == mine.owner.address
    with pytest.raises(SigningError, match="open for reading only"):
        seen.groups.create("no")
    with pytest.raises(SigningError, match="open for reading only"):
        seen.wallets.create()


def test_a_contract_wallet_acts_through_its_owner(emulator, svc, fund, witness) -> None:
    keeper = fund()
    vault = ContractWallet(emulator.contract_wallet(keeper.address), keeper)
    shown: list[Preview] = []
    ours = svc.chain_secured.create(vault, "vault", on_preview=shown.append)
    assert (shown[0].sender, shown[0].through) == (vault.address, keeper.address)
    assert ours.wallets.create("inside").name == "inside"
    assert witness.read("getAccountWalletAddress", int(ours.api_key_hash, 16)) == vault.address
    wrong = ContractWallet(vault.address, fund())
    with pytest.raises(ChainError, match="does not execute calls for"):
        svc.chain_secured.open(wrong).groups.create("no")


def test_every_error_of_the_contract_has_a_hint() -> None:
    errors = {entry["name"] for entry in abi() if entry["type"] == "error"}
    ours = {name for name in errors if name in ADVICE}
    # All other errors come from administration functions, which accounts never call.
    assert {name for name in errors - ours if "Cut" not in name and "Facet" not in name} <= {
        "NoCode",
        "InitializationFailed",
        "FunctionExists",
        "FunctionIsImmutable",
        "NothingToCut",
    }
    assert all(text and not text.endswith(" ") for text in ADVICE.values())


def test_reverts_of_solidity_and_unknown_reverts_are_also_reported() -> None:
    text = bytes.fromhex("08c379a0") + (32).to_bytes(32, "big") + (2).to_bytes(32, "big") + b"no".ljust(32, b"\0")
    assert "Error(reason=no)" in refused("f", text).message
    assert refused("f", text).name == "Error"
    assert "no reason given" in refused("f", b"").message
    assert "0xdeadbeef" in refused("f", bytes.fromhex("deadbeef")).message


def test_the_deployed_contract_has_every_function(svc) -> None:
    assert svc.chain_secured.drift() == ()


# --- behaviour that a real chain cannot produce -----------------------------------------------------------------------


class Node:
    """Simulated service and chain node. Requests without a scripted response receive a normal one."""

    def __init__(self, **told: object) -> None:
        self.told: dict[str, object] = {
            "eth_chainId": "0x7a69",
            "eth_getCode": "0x00",
            "eth_call": "0x",
            "eth_estimateGas": "0x5208",
            "eth_getTransactionCount": "0x0",
            "eth_getBlockByNumber": {"baseFeePerGas": "0x1"},
            "eth_maxPriorityFeePerGas": "0x1",
            "eth_gasPrice": "0x2",
            "eth_getBalance": hex(10**18),
            "eth_sendRawTransaction": "0x" + "11" * 32,
            "eth_getTransactionReceipt": None,
        } | told
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        import json

        if request.url.path.endswith("/get_node_chain_config"):
            return httpx.Response(200, json={"chain_id": 31337, "contract_address": "0x" + "c0" * 20, "rpc_url": None})
        body = json.loads(request.content)
        answers = [self.one(item) for item in (body if isinstance(body, list) else [body])]
        return httpx.Response(200, json=answers if isinstance(body, list) else answers[0])

    def one(self, item: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(item["method"])
        result = self.told[item["method"]]
        if isinstance(result, Exception):
            raise result
        told = {"error": result["error"]} if isinstance(result, dict) and "error" in result else {"result": result}
        return {"jsonrpc": "2.0", "id": item["id"], **told}


@pytest.fixture
def beside():
    """Returns a function that creates clients of a simulated node, whose address contains a secret."""
    from svcnb.client._http import SyncTransport
    from svcnb.client.config import Retries

    made: list[Client] = []

    def make(node: Node, **options: Any) -> Client:
        usual: dict[str, Any] = {"rpc_url": "http://node.test/v3/s3cr3t"}
        client = Client("http://service.test", **(usual | {"retries": Retries(attempts=2, first_delay=0)} | options))
        client.close()
        transport = SyncTransport("http://service.test", httpx.MockTransport(node))
        client._start(SyncSession(transport, client.config, []), owner=True)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


OWNER = LocalSigner.from_key("0x" + "11" * 32)


def test_a_node_of_another_chain_is_rejected_before_any_signature(beside) -> None:
    node = Node(eth_chainId="0x1")
    with pytest.raises(ChainError, match="the node is on chain 1, but the service uses chain 31337"):
        beside(node).chain_secured.create(OWNER, "x")
    assert "eth_sendRawTransaction" not in node.asked


def test_an_address_without_a_contract_is_rejected(beside) -> None:
    with pytest.raises(ChainError, match="there is no contract at"):
        beside(Node(eth_getCode="0x")).chain_secured.create(OWNER, "x")


def test_no_error_contains_the_nodes_address(beside) -> None:
    for trouble in (httpx.ConnectError("refused"), httpx.ReadTimeout("late")):
        with pytest.raises(ChainError) as caught:
            beside(Node(eth_chainId=trouble)).chain_secured.create(OWNER, "x")
        assert "s3cr3t" not in str(caught.value)
        assert caught.value.__suppress_context__
        assert "node.test" in str(caught.value)


def test_a_function_missing_from_the_contract_is_rejected_by_name(beside) -> None:
    from svcnb.client.chain.abi import encode

    listed = [function(name).selector for name in ("facets", "addGroup")]
    answer = encode(["(address,bytes4[])[]"], [[("0x" + "f0" * 20, listed)]])
    svc = beside(Node(eth_call="0x" + answer.hex()))
    with pytest.raises(ChainError) as caught:
        svc.chain_secured.create(OWNER, "x")
    assert (caught.value.name, "newChainSecuredAccount" in caught.value.message) == ("FunctionNotFound", True)
    assert "newChainSecuredAccount" in svc.chain_secured.drift()
    assert "addGroup" not in svc.chain_secured.drift()


def test_the_error_names_a_transaction_with_unknown_outcome(beside, monkeypatch) -> None:
    monkeypatch.setattr("svcnb.client.chain.writes.RECEIPT_TIMEOUT_S", 0.0)
    node = Node()
    with pytest.raises(ChainError, match="the outcome of the transaction is unknown") as caught:
        beside(node).chain_secured.create(OWNER, "x")
    assert caught.value.name == "Pending"
    assert str(caught.value.arguments[0]) in caught.value.hint
    assert node.asked.count("eth_sendRawTransaction") == 1


class Forgetful(httpx.HTTPTransport):
    """Transport that sends all requests, and loses the first responses to transactions.

    Args:
        losses: Number of lost responses.
    """

    def __init__(self, losses: int) -> None:
        super().__init__()
        self.losses = losses
        self.sent = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = super().handle_request(request)
        if b"eth_sendRawTransaction" in request.content:
            self.sent += 1
            if self.sent <= self.losses:
                answer.read()
                answer.close()
                raise httpx.ReadTimeout("late", request=request)
        return answer


@pytest.mark.parametrize("losses", [1, 2])
def test_a_write_whose_response_was_lost_is_executed_and_reported_once(emulator, svc, fund, witness, losses) -> None:
    from svcnb.client._http import SyncTransport
    from svcnb.client.config import Retries

    owner, carrier = fund(), Forgetful(losses)
    client = Client(emulator.base_url, rpc_url=emulator.rpc_url, retries=Retries(attempts=2, first_delay=0))
    client.close()
    client._start(SyncSession(SyncTransport(emulator.base_url, carrier), client.config, []), owner=True)
    with client:
        mine = client.chain_secured.create(owner, "treasury")
        assert carrier.sent == 2
        assert mine.groups.create("first").id == 1
    assert witness.nonce(owner.address) == 2
    assert [group.name for group in svc.chain_secured.look(mine.api_key_hash).groups.list()] == ["first"]


LATE, LOW = httpx.ReadTimeout("late"), {"error": {"code": -32003, "message": "nonce too low: next 2, tx 1"}}
TROUBLE = {"error": {"code": -32603, "message": "the database is away"}}


@pytest.mark.parametrize("answer", [LATE, LOW, TROUBLE])
def test_a_transaction_known_to_the_node_counts_as_sent_after_any_error(beside, answer) -> None:
    mined = {"status": "0x1", "transactionHash": "0x" + "11" * 32, "blockNumber": "0x1", "gasUsed": "0x5208"}
    known: dict[str, object] = {"eth_getTransactionByHash": {"blockNumber": None}, "eth_getTransactionReceipt": mined}
    node = Node(eth_sendRawTransaction=answer, **known)
    assert beside(node).chain_secured.create(OWNER, "x").receipts[0].gas_used == 21_000


@pytest.mark.parametrize(
    ("answer", "known"), [(LATE, None), (LATE, LATE), (LOW, LATE), (LOW, TROUBLE), (TROUBLE, None)]
)
def test_a_transaction_that_may_be_included_is_not_reported_as_rejected(beside, answer, known) -> None:
    node = Node(eth_sendRawTransaction=answer, eth_getTransactionByHash=known)
    with pytest.raises(ChainError, match="the outcome of the transaction is unknown") as caught:
        beside(node).chain_secured.create(OWNER, "x")
    assert caught.value.name == "Pending"
    assert str(caught.value.arguments[0]).startswith("0x")
    assert "s3cr3t" not in str(caught.value)


def test_a_transaction_that_the_node_rejects_and_does_not_have_is_an_error(beside) -> None:
    with pytest.raises(ChainError, match="rejected eth_sendRawTransaction: nonce too low") as caught:
        beside(Node(eth_sendRawTransaction=LOW, eth_getTransactionByHash=None)).chain_secured.create(OWNER, "x")
    assert caught.value.name != "Pending"


def test_a_transaction_that_reverts_after_the_simulation_is_an_error(beside) -> None:
    mined = {"status": "0x0", "transactionHash": "0x" + "11" * 32, "blockNumber": "0x1", "gasUsed": "0x1"}
    with pytest.raises(ChainError, match="was mined and reverted"):
        beside(Node(eth_getTransactionReceipt=mined)).chain_secured.create(OWNER, "x")


def test_a_chain_without_base_fees_gets_a_transaction_of_the_old_kind(beside) -> None:
    mined = {"status": "0x1", "transactionHash": "0x" + "11" * 32, "blockNumber": "0x1", "gasUsed": "0x5208"}
    node = Node(eth_getBlockByNumber={}, eth_getTransactionReceipt=mined)
    mine = beside(node).chain_secured.create(OWNER, "x")
    assert mine.receipts[0].gas_used == 21_000


def test_without_the_address_of_a_node_the_error_contains_the_next_step(beside) -> None:
    from svcnb import ConfigError

    with pytest.raises(ConfigError, match="no") as caught:
        beside(Node(), rpc_url=None).chain_secured.open(OWNER)
    assert "SVC_RPC_URL" in caught.value.hint
