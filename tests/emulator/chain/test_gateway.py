"""The JSON-RPC gateway, as used by wallets and libraries: docs/service/contract.md#json-rpc."""

# ruff: noqa: FBT003 - contract functions take their flags by position

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from eth_utils.crypto import keccak

from svcnb.protocol.limits import MAX_FEE_HISTORY_PERCENTILES, MAX_RPC_BATCH, MAX_RPC_LOGS, MAX_RPC_RESPONSE_BYTES

if TYPE_CHECKING:
    from tests.emulator.chain.conftest import Actor, World

T0 = 1_750_000_000


def test_every_documented_method_responds(world: World, alice: Actor) -> None:
    receipt = alice.send("addGroup", world.hash_of(alice), "g", "", [], [])
    block, transaction = receipt["blockHash"].to_0x_hex(), receipt["transactionHash"].to_0x_hex()
    call = {"to": world.contract.address, "data": "0x8da5cb5b"}  # owner()
    for method, params in (
        ("eth_chainId", []),
        ("net_version", []),
        ("web3_clientVersion", []),
        ("eth_blockNumber", []),
        ("eth_getBlockByNumber", ["latest", False]),
        ("eth_getBlockByHash", [block, True]),
        ("eth_getBalance", [alice.address, "latest"]),
        ("eth_getCode", [world.contract.address, "latest"]),
        ("eth_getTransactionCount", [alice.address, "pending"]),
        ("eth_gasPrice", []),
        ("eth_maxPriorityFeePerGas", []),
        ("eth_feeHistory", ["0x1", "latest", []]),
        ("eth_estimateGas", [call]),
        ("eth_call", [call, "latest"]),
        ("eth_getTransactionByHash", [transaction]),
        ("eth_getTransactionReceipt", [transaction]),
        ("eth_getLogs", [{"fromBlock": "0x0", "address": world.contract.address}]),
    ):
        answer = world.request(method, *params)
        assert answer["result"], answer
    assert world.request("eth_chainId")["result"] == hex(31337)
    assert len(world.request("eth_getCode", world.contract.address, "latest")["result"]) > 2


@pytest.mark.parametrize(
    "method",
    [
        "anvil_setBalance",
        "anvil_impersonateAccount",
        "evm_mine",
        "evm_snapshot",
        "hardhat_setCode",
        "debug_traceTransaction",
        "personal_unlockAccount",
        "eth_sendTransaction",
        "eth_sign",
        "eth_subscribe",
        "eth_sendUnsignedTransaction",
        "nonsense",
    ],
)
def test_methods_that_bypass_the_journal_and_unknown_methods_are_rejected(world: World, method: str) -> None:
    error = world.request(method)["error"]
    assert error["code"] == -32601
    assert method in error["message"]


def test_an_unsigned_transaction_is_rejected_with_the_fix(world: World) -> None:
    assert "eth_sendRawTransaction" in world.request("eth_sendTransaction", {})["error"]["message"]


def test_a_revert_has_code_3_and_the_errors_bytes(world: World) -> None:
    call = {
        "to": world.contract.address,
        "data": world.contract.functions.listGroups(404, 0, 1)._encode_transaction_data(),
    }
    expected = "0x" + (keccak(text="AccountDoesNotExist(uint256)")[:4] + (404).to_bytes(32, "big")).hex()
    for method in ("eth_call", "eth_estimateGas"):
        error = world.request(method, call)["error"]
        assert (error["code"], error["data"]) == (3, expected)


# --- JSON-RPC format -------------------------------------------------------------------------------------------------


def test_the_responses_of_a_batch_are_in_order_with_its_ids(world: World) -> None:
    answers = world.rpc(
        [
            {"jsonrpc": "2.0", "id": "a", "method": "eth_chainId"},
            {"jsonrpc": "2.0", "id": 2, "method": "no_such"},
            {"jsonrpc": "2.0", "method": "eth_chainId"},
            17,
        ]
    )
    assert [answer["id"] for answer in answers] == ["a", 2, None]
    assert answers[0]["result"] == hex(31337)
    assert [answer["error"]["code"] for answer in answers[1:]] == [-32601, -32600]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ([], -32600),
        (17, -32600),
        ({}, -32600),
        ({"id": 1, "method": 3}, -32600),
        ({"id": 1, "method": "eth_chainId", "params": {"a": 1}}, -32602),
        ({"id": 1, "method": "eth_sendRawTransaction", "params": []}, -32602),
        ({"id": 1, "method": "eth_sendRawTransaction", "params": ["0xzz"]}, -32602),
        ({"id": 1, "method": "eth_sendRawTransaction", "params": ["0x02c0"]}, -32602),
        ([{"id": 1, "method": "eth_chainId"}] * (MAX_RPC_BATCH + 1), -32600),
    ],
)
def test_the_error_for_a_malformed_request_describes_the_problem(world: World, body: Any, code: int) -> None:
    assert world.rpc(body)["error"]["code"] == code


def test_notifications_have_no_response(world: World) -> None:
    assert world.rpc({"jsonrpc": "2.0", "method": "eth_chainId"}) is None
    assert world.rpc([{"jsonrpc": "2.0", "method": "eth_chainId"}]) is None


def test_a_batch_may_read_what_it_wrote(world: World) -> None:
    wallet = world.wallet()
    raw = wallet.account.sign_transaction(wallet.fill({"to": wallet.address})).raw_transaction.to_0x_hex()
    answers = world.rpc(
        [
            {"id": 1, "method": "eth_sendRawTransaction", "params": [raw]},
            {"id": 2, "method": "eth_getTransactionCount", "params": [wallet.address, "latest"]},
        ]
    )
    assert answers[1]["result"] == "0x1"


# --- transactions ---------------------------------------------------------------------------------------------------


def refusal(wallet: Actor, **fields: Any) -> dict[str, Any]:
    raw = wallet.account.sign_transaction(wallet.fill({"to": wallet.address} | fields)).raw_transaction.to_0x_hex()
    error: dict[str, Any] = wallet.world.request("eth_sendRawTransaction", raw)["error"]
    return error


def test_an_invalid_transaction_is_rejected_without_effect(world: World) -> None:
    wallet = world.wallet(ether=1)
    height = world.w3.eth.block_number
    assert "nonce too high" in refusal(wallet, nonce=1)["message"]
    assert "insufficient funds" in refusal(wallet, value=10**18)["message"]
    assert "chain id" in refusal(wallet, chainId=1)["message"]
    assert "gas limit" in refusal(wallet, gas=31_000_000)["message"]
    assert refusal(wallet, gas=20_000)["code"] in {-32000, -32003}  # below the cost of any transaction
    assert refusal(wallet, maxFeePerGas=1)["code"] == -32003  # below the base fee of the block
    assert world.w3.eth.block_number == height
    assert world.w3.eth.get_transaction_count(wallet.account.address) == 0
    assert wallet.send_raw(wallet.fill({"to": wallet.address}))["status"] == 1
    assert "nonce too low" in refusal(wallet, nonce=0)["message"]


@pytest.mark.parametrize("kind", ["legacy", "EIP-2930", "EIP-1559"])
def test_all_three_types_of_transactions_are_accepted(world: World, kind: str) -> None:
    wallet = world.wallet()
    fields: dict[str, Any] = {"to": wallet.address, "nonce": 0, "gas": 30_000, "chainId": 31337, "value": 0}
    if kind == "EIP-1559":
        fields |= {"maxFeePerGas": 10**10, "maxPriorityFeePerGas": 1}
    else:
        fields |= {"gasPrice": 10**10} | ({"type": 1, "accessList": []} if kind == "EIP-2930" else {})
    assert wallet.send_raw(fields)["status"] == 1


def test_blocks_follow_the_clock_and_never_go_back(world: World) -> None:
    wallet = world.wallet()

    def stamp() -> int:
        return int(
            world.w3.eth.get_block(wallet.send_raw(wallet.fill({"to": wallet.address}))["blockNumber"])["timestamp"]
        )

    assert [stamp(), stamp()] == [T0, T0]
    world.clock.advance(100.9)
    assert stamp() == T0 + 100
    world.clock.freeze(T0)
    assert stamp() == T0 + 100


def test_estimates_use_the_clocks_time(world: World, alice: Actor) -> None:
    own = world.hash_of(alice)
    alice.send("setUsageApiKey", own, 77, T0 + 5, 0, "", "", True, False, False, [], [], [], [])
    call = alice.transaction("addGroup", 77, "", "", [], [])
    sent = {"from": alice.address, "to": call["to"], "data": call["data"]}
    assert "result" in world.request("eth_estimateGas", sent)
    world.clock.freeze(T0 + 5)
    for method in ("eth_estimateGas", "eth_call"):
        data = world.request(method, sent)["error"]["data"]
        assert alice.world_error(data) == ("UsageApiKeyExpired", 77)


def test_events_are_delivered_before_the_sender_receives_a_response(world: World) -> None:
    wallet = world.wallet()
    raw = wallet.account.sign_transaction(
        wallet.transaction("newChainSecuredAccount", "", "")
    ).raw_transaction.to_0x_hex()
    world.events.clear()
    sent = world.request("eth_sendRawTransaction", raw)["result"]
    (event,) = world.events
    assert (event.name, event.transaction_hash) == ("AccountCreated", sent)
    assert dict(event.args) == {
        "apiKeyHash": world.hash_of(wallet),
        "admin": wallet.address.lower(),
        "managed": False,
    }


def test_events_of_other_contracts_are_ignored(world: World, alice: Actor) -> None:
    # Contract that logs the topic of AccountCreated: PUSH32 topic, PUSH0, PUSH0, LOG1.
    runtime = "7f" + keccak(text="AccountCreated(uint256,address,bool)").hex() + "5f5fa1"
    size = len(runtime) // 2
    creation = f"60{size:02x}600a5f3960{size:02x}5ff3" + runtime
    receipt = alice.send_raw(alice.fill({"data": "0x" + creation}))
    world.events.clear()
    receipt = alice.send_raw(alice.fill({"to": receipt["contractAddress"]}))
    assert len(receipt["logs"]) == 1
    assert world.events == []


@pytest.mark.parametrize("method", ["eth_accounts", "eth_call"])
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_numbers_that_json_cannot_represent_are_rejected(world: World, method: str, value: float) -> None:
    error = world.request(method, {"": [value]})["error"]
    assert (error["code"], error["message"]) == (
        -32602,
        f"'params' contains the number {value}, which is not finite: send a finite number",
    )


def test_params_nested_too_deeply_for_the_node_are_rejected(world: World) -> None:
    def nested(depth: int) -> list[Any]:
        return [nested(depth - 1)] if depth else []

    assert "nested" not in str(world.request("eth_chainId", nested(40)))  # the node's own response
    for depth in (64, 127, 200):
        error = world.request("eth_chainId", nested(depth))["error"]
        assert (error["code"], error["message"]) == (
            -32602,
            "'params' has more than 64 levels of nesting: send fewer levels",
        )


@pytest.mark.parametrize("count", ["0x" + "f" * 64, "0x401", 2**70, 1025])
def test_a_fee_history_of_too_many_blocks_is_rejected(world: World, count: Any) -> None:
    node = world.chain.node_pid
    assert world.request("eth_feeHistory", count, "latest", [])["error"]["code"] == -32602
    assert "result" in world.request("eth_feeHistory", "0x400", "latest", [])
    assert world.chain.node_pid == node


# Creation code with an endless loop: JUMPDEST PUSH1 0 JUMP.
ENDLESS = "0x5b600056"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["eth_call", "eth_estimateGas", "eth_createAccessList"])
@pytest.mark.parametrize(
    ("gas", "more"),
    [("0x7fffffffffffffff", []), (10**18, []), (None, ["latest", {}, {"gasLimit": "0x7fffffffffffffff"}])],
    ids=["text", "number", "a block with more"],
)
def test_an_endless_call_ends_at_the_gas_limit_of_public_nodes(
    world: World, method: str, gas: Any, more: list[Any]
) -> None:
    call = {"data": ENDLESS} | ({} if gas is None else {"gas": gas})
    error = world.request(method, call, *more)["error"]
    # or the method accepts no such parameters
    assert "gas" in error["message"].lower() or error["code"] == -32602, error
    assert idle(world.chain.node_pid)


def test_a_call_can_specify_more_gas_than_available(world: World) -> None:
    call = {"to": world.contract.address, "data": "0x8da5cb5b"}  # owner()
    assert world.request("eth_call", call | {"gas": "0x7fffffffffffffff"}) == world.request("eth_call", call)


@pytest.mark.parametrize("gas", ["1_000_000_000_000", "0b1", "10", "0x", 1e18, "0x" + "f" * 65, [], "much"])
def test_gas_in_another_format_is_rejected(world: World, gas: Any) -> None:
    assert world.request("eth_call", {"data": ENDLESS, "gas": gas}, "latest")["error"]["code"] == -32602


@pytest.mark.parametrize("percentiles", [[1e30], [50, 2**70], [-1.0], [1.0] * (MAX_FEE_HISTORY_PERCENTILES + 1)])
def test_invalid_percentiles_are_rejected(world: World, percentiles: list[float]) -> None:
    assert world.request("eth_feeHistory", "0x1", "latest", percentiles)["error"]["code"] == -32602
    assert "result" in world.request("eth_feeHistory", "0x1", "latest", [0, 12.5, 100])
    assert idle(world.chain.node_pid)


def idle(pid: int) -> bool:
    """Returns whether a process becomes idle: a fifth of a second without processor time."""
    if sys.platform != "linux":
        return True
    give_up = time.monotonic() + 300
    before = -1
    while (used := ticks(pid)) != before:
        if time.monotonic() > give_up:
            return False
        before = used
        time.sleep(0.2)
    return True


def ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


# --- size limits -----------------------------------------------------------------------------------------------------


def test_a_too_long_transaction_is_rejected_before_parsing(world: World) -> None:
    raw = "0x02fa3d0900" + "c0" * 4_000_000  # without a limit, parsing 4,000,000 empty lists takes three seconds
    before = time.process_time()
    error = world.request("eth_sendRawTransaction", raw)["error"]
    assert error["code"] == -32003
    assert "oversized data" in error["message"]
    assert time.process_time() - before < 1


def test_the_responses_of_a_batch_have_a_total_size_limit(world: World) -> None:
    reverts_with_a_megabyte = {"data": "0x63000f42406000fd"}
    call = {"method": "eth_call", "params": [reverts_with_a_megabyte, "latest"]}
    answers = world.rpc([{"id": number, **call} for number in range(30)])
    assert [answer["id"] for answer in answers] == list(range(30))
    codes = [answer["error"]["code"] for answer in answers]
    assert codes[0] == 3
    assert codes[-1] == -32003
    assert codes.index(-32003) <= MAX_RPC_RESPONSE_BYTES // 2_000_000 + 1, "those that fit are answered"


def test_the_name_of_a_rejected_method_is_shortened(world: World) -> None:
    assert len(world.request("x" * 1_000_000)["error"]["message"]) < 300


# Emits as many logs as the first argument states, each with as many zero bytes as the second argument states.
_EMITTER = "60188060" + "0b" + "6000396000f3" + "6000355b801560165760203560" + "00a06001900360" + "03565b00"


def emitter(alice: Actor) -> str:
    receipt = alice.send_raw(alice.fill({"to": None, "data": "0x" + _EMITTER}))
    assert receipt["status"] == 1
    return str(receipt["contractAddress"])


def emit(alice: Actor, to: str, count: int, size: int) -> Any:
    receipt = alice.send_raw(alice.fill({"to": to, "gas": 29_000_000, "data": f"0x{count:064x}{size:064x}"}))
    assert receipt["status"] == 1
    return receipt["blockNumber"]


@pytest.mark.slow
def test_a_query_for_too_many_logs_is_rejected_like_by_providers(world: World, alice: Actor) -> None:
    to = emitter(alice)
    first, second = emit(alice, to, 9_000, 0), emit(alice, to, 1_001, 0)
    query = {"address": to, "fromBlock": hex(first), "toBlock": hex(second)}
    error = world.request("eth_getLogs", query)["error"]
    assert (error["code"], error["message"]) == (
        -32005,
        f"query returned more than {MAX_RPC_LOGS} results: request fewer blocks",
    )
    assert len(world.request("eth_getLogs", query | {"toBlock": hex(first)})["result"]) == 9_000
    third = emit(alice, to, MAX_RPC_LOGS + 1, 0)
    alone = world.request("eth_getLogs", query | {"fromBlock": hex(third), "toBlock": hex(third)})
    assert len(alone["result"]) == MAX_RPC_LOGS + 1, "the logs of one block cannot be asked for in parts"


@pytest.mark.slow
def test_a_too_large_response_is_rejected_and_the_connection_continues(world: World, alice: Actor) -> None:
    to = emitter(alice)
    blocks = [emit(alice, to, 110, 24_000) for _ in range(5)]  # 13.2 MB of data, and twice as much in hex
    query = {"address": to, "fromBlock": hex(blocks[0]), "toBlock": hex(blocks[-1])}
    error = world.request("eth_getLogs", query)["error"]
    assert error["code"] == -32003
    assert "the response is larger than 25000000 bytes" in error["message"]
    assert int(world.request("eth_blockNumber")["result"], 16) == blocks[-1]
    assert len(world.request("eth_getLogs", query | {"fromBlock": hex(blocks[1])})["result"]) == 440
