"""Logs of a real chain start runs. Each log starts one run, for all chains, queue states and filters."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import threading
import urllib.request
from contextlib import suppress
from typing import Any

import pytest
from eth_abi.abi import encode

from svcnb import tools as outside
from svcnb.emulator.errors import ChainUnavailable
from svcnb.emulator.platform.json_rpc import over_http
from svcnb.emulator.triggers import queue, scanner
from svcnb.emulator.triggers.chain_events import ChainEvents, WatchedChain
from svcnb.emulator.triggers.store import find_trigger, from_json
from svcnb.emulator.triggers.timing import Timer
from svcnb.protocol.event_signature import Event

pytestmark = pytest.mark.chain

PING = Event.parse("Ping(address,uint256)")
ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20


def _logger() -> str:
    """Init code of a contract that emits the requested log.

    Word 0 is the number of topics, words 1 to 4 are topics, and the data follows.

    The code is assembled by hand, so that the test needs no compiler.
    """
    copy = bytes.fromhex("60a0360360a060003760")[:-1]
    blocks = [
        b"\x5b"
        + b"".join(bytes([0x60, 0x20 + 0x20 * place, 0x35]) for place in reversed(range(count)))
        + bytes.fromhex("60a036036000")
        + bytes([0xA0 + count, 0x00])
        for count in range(1, 5)
    ]
    jumps = len(copy) + 4 * 9 + 1
    targets = [jumps + sum(map(len, blocks[:place])) for place in range(4)]
    table = b"".join(
        bytes([0x60, 0x00, 0x35, 0x60, count, 0x14, 0x60, target, 0x57])
        for count, target in zip(range(1, 5), targets, strict=True)
    )
    code = copy + table + b"\x00" + b"".join(blocks)
    return "0x" + (bytes([0x60, len(code), 0x80, 0x60, 0x0B, 0x60, 0, 0x39, 0x60, 0, 0xF3]) + code).hex()


def word(kind: str, value: object) -> str:
    return "0x" + encode([kind], [value]).hex()


class Anvil:
    """Chain of one test, with a contract that emits the requested logs."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._ids = itertools.count(1)

    def call(self, method: str, *params: object) -> Any:
        body = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": list(params)}
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self.url, json.dumps(body).encode(), headers)  # noqa: S310 - loopback
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=300) as answer:
            reply = json.load(answer)
        assert "error" not in reply, reply
        return reply["result"]

    def prepare(self) -> None:
        self.sender = self.call("eth_accounts")[0]
        receipt = self.send({"data": _logger()})
        self.contract = receipt["contractAddress"]

    def transaction(self, fields: dict[str, Any]) -> dict[str, Any]:
        # With a fixed gas price, the same call is the same transaction, also after the reset of the chain.
        return {"from": self.sender, "gas": "0x100000", "gasPrice": hex(5 * 10**9)} | fields

    def send(self, fields: dict[str, Any]) -> Any:
        identifier = self.call("eth_sendTransaction", self.transaction(fields))
        receipt = None
        while receipt is None:
            receipt = self.call("eth_getTransactionReceipt", identifier)
        assert receipt["status"] == "0x1"
        return receipt

    def log(self, topics: list[str], data: str = "0x") -> Any:
        return self.send(self.log_call(topics, data))

    def log_call(self, topics: list[str], data: str = "0x") -> dict[str, Any]:
        filled = [*topics, *["0x" + "00" * 32] * (4 - len(topics))]
        payload = f"{len(topics):064x}" + "".join(topic[2:] for topic in filled) + data[2:]
        return {"to": self.contract, "data": "0x" + payload}

    def ping(self, who: str, number: int) -> Any:
        return self.send(self.ping_call(who, number))

    def ping_call(self, who: str, number: int) -> dict[str, Any]:
        return self.transaction(self.log_call([PING.topic0, word("address", who)], word("uint256", number)))

    def mine(self, count: int) -> None:
        self.call("anvil_mine", hex(count))


@pytest.fixture
def anvil():
    command = [str(outside.anvil()), "--host", "127.0.0.1", "--port", "0", "--max-persisted-states", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        said = next(line for line in process.stdout if line.startswith("Listening on "))
        # The node writes a line for every block, and stops if no one reads its output.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        chain = Anvil(f"http://{said.split()[-1]}")
        chain.prepare()
        yield chain
        process.terminate()
        process.wait(300)


@pytest.fixture
def resting(monkeypatch) -> asyncio.Event:
    """Returns an event that is set when a scanner has polled and waits for its next poll."""
    event = asyncio.Event()

    class Told(Timer):
        async def until(self, moment: float, wake: asyncio.Event | None = None, *, since: float | None = None) -> bool:
            event.set()
            return await super().until(moment, wake, since=since)

    monkeypatch.setattr(scanner, "Timer", Told)
    return event


@pytest.fixture
def polled(resting, clock):
    """Advances the time by fifteen seconds and waits for a poll, this number of times."""

    async def again(times: int = 1) -> None:
        for _ in range(times):
            resting.clear()
            clock.advance(15)
            async with asyncio.timeout(300):
                await resting.wait()

    return again


@pytest.fixture
async def watch(parts, store, clock, anvil, resting):
    """Starts a scanner of the chain with this number of confirmations."""
    tasks, rpcs = [], []

    def start(confirmations: int = 0) -> ChainEvents:
        resting.clear()
        rpc = over_http(anvil.url)
        watcher = ChainEvents(WatchedChain("base", rpc, confirmations), store, clock, 15, wake=parts.queues.wake)
        tasks.append(asyncio.create_task(watcher.run()))
        rpcs.append(rpc)
        return watcher

    yield start
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    for rpc in rpcs:
        await rpc.close()


def config(anvil: Anvil, **more: Any) -> dict[str, Any]:
    return {"chain": "base", "contract_address": anvil.contract, "event_signature": "Ping(address,uint256)"} | more


async def pings(parts: Any, trigger: Any, count: int) -> list[int]:
    """Waits until the contract's logs have started this number of runs, and returns the logged numbers."""
    runs = await parts.until(trigger, lambda found: len(found) >= count)
    return [int(from_json(run.input)["event"]["decoded"]["arg1"]) for run in runs]


async def test_an_event_starts_a_run_with_its_arguments_and_the_raw_log(parts, anvil, watch):
    trigger = await parts.trigger("chain_event", config(anvil))
    receipt = anvil.ping(ALICE, 7)
    watch()
    await pings(parts, trigger, 1)
    (run,) = await parts.ended(trigger)
    given = from_json(run.input)
    event, log = given["event"], receipt["logs"][0]
    assert given["source"] == event["source"] == "chain_event"
    assert event["decoded"] == {"arg0": ALICE, "arg1": "7"}
    assert (event["chain_key"], event["chain_id"]) == ("base", 8453)
    assert event["contract_address"] == event["address"] == anvil.contract.lower()
    assert event["topic0"] == PING.topic0
    assert event["topics"] == event["raw_log"]["topics"] == log["topics"]
    assert event["data"] == event["raw_log"]["data"] == log["data"]
    assert event["transaction_hash"] == event["raw_log"]["transactionHash"] == receipt["transactionHash"]
    assert (event["block_number"], event["log_index"]) == (int(receipt["blockNumber"], 16), 0)
    assert event["event_signature"] == "Ping(address,uint256)"
    assert parts.execution.calls[0].params["event"] == event


async def test_every_log_has_one_run_in_order_over_many_polls(parts, anvil, watch, polled):
    trigger = await parts.trigger("chain_event", config(anvil), max_queued_runs=1000)
    watch()
    for number in range(20):
        anvil.ping(ALICE, number)
        if number % 3 == 0:
            await polled()
    await polled()
    assert await pings(parts, trigger, 20) == list(range(20))


async def test_equal_logs_of_one_contract_have_a_run_each(parts, anvil, watch):
    trigger = await parts.trigger("chain_event", config(anvil))
    for _ in range(3):
        anvil.ping(ALICE, 5)
    watch()
    assert await pings(parts, trigger, 3) == [5, 5, 5]


async def test_topic_filters_take_lists_and_wildcards(parts, anvil, watch):
    event = Event.parse("Moved(address,address,uint256)")
    for sender, receiver, number in ((ALICE, BOB, 1), (BOB, ALICE, 2), (BOB, BOB, 3)):
        anvil.log([event.topic0, word("address", sender), word("address", receiver)], word("uint256", number))
    shape = {"event_signature": "Moved(address indexed from,address indexed to,uint256 n)"}
    wanted = {
        "only alice to bob": ([word("address", ALICE), word("address", BOB)], ["1"]),
        "anybody to bob": ([None, word("address", BOB)], ["1", "3"]),
        "either to alice": ([[word("address", ALICE), word("address", BOB)], word("address", ALICE)], ["2"]),
        "everything": ([], ["1", "2", "3"]),
    }
    triggers = {
        name: await parts.trigger("chain_event", config(anvil, topic_filters=filters, **shape))
        for name, (filters, _) in wanted.items()
    }
    watch()
    for name, (_, numbers) in wanted.items():
        runs = await parts.until(triggers[name], lambda found, all_=numbers: len(found) >= len(all_))
        assert [from_json(run.input)["event"]["decoded"]["n"] for run in runs] == numbers, name


@pytest.fixture
async def door(make_door, anvil):
    """Emulator that watches the chain as `base`, with an HTTP client."""
    return await make_door(rpc_base=anvil.url, chain_confirmations=0, chain_event_scan_s=0.1)


async def watched(door: Any, anvil: Anvil, **more: Any) -> dict[str, Any]:
    """Creates a trigger over HTTP."""
    code = "async function main({ event }) { return event; }"
    return dict(await door.trigger(await door.account(), code, "chain_event", config=config(anvil, **more)))


async def test_more_topic_filters_than_an_event_has_topics_match_nothing_as_on_geth(door, anvil):
    """go-ethereum ignores a log with fewer topics than the filter, even if filters are null."""
    anvil.ping(ALICE, 1)
    long = await watched(door, anvil, topic_filters=[None, None])
    fitting = await watched(door, anvil, topic_filters=[None])
    (run,) = await door.ended(fitting)
    assert run["input"]["event"]["decoded"]["arg1"] == "1"
    anvil.ping(ALICE, 2)
    await door.ended(fitting, 2)
    assert await door.runs(long) == []


async def test_a_run_says_which_arguments_were_read_as_indexed(door, anvil):
    """An event signature (Solidity ABI) does not contain which arguments are indexed. Here it is the second one."""
    signature = "Paid(address,uint256,uint256)"
    topics = [Event.parse(signature).topic0, word("uint256", 7)]
    anvil.log(topics, "0x" + encode(["address", "uint256"], [ALICE, 9]).hex())
    guessed = await watched(door, anvil, event_signature=signature)
    marked = await watched(door, anvil, event_signature=signature, indexed=[1])
    (guess,), (run,) = await door.ended(guessed), await door.ended(marked)
    assert guess["input"]["event"]["decoded_as"] == {"indexed": ["arg0"], "marked": False, "ambiguous": True}
    assert run["input"]["event"]["decoded_as"] == {"indexed": ["arg1"], "marked": True, "ambiguous": False}
    assert run["input"]["event"]["decoded"] == {"arg0": ALICE, "arg1": "7", "arg2": "9"}


@pytest.mark.parametrize("indexed", ["0", [3], [-1], [True], [0, 1, 2, 0, 9], {"0": True}])
async def test_indexed_marks_that_do_not_match_the_event_are_refused(door, anvil, indexed):
    answer = await door.ask(
        "POST",
        "/api/triggers",
        {
            "name": "t",
            "kind": "chain_event",
            "action_code": "async function main() {}",
            "usage_api_key": "key",
            "config": config(anvil, indexed=indexed),
        },
    )
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_chain_event_config")
    assert "indexed" in answer.json()["message"]


async def test_an_unknown_member_of_config_is_refused(door, anvil):
    """The service must not ignore a misspelt filter, because every event then starts a run."""
    given = {
        "name": "t",
        "kind": "chain_event",
        "action_code": "async function main() {}",
        "usage_api_key": "key",
        "config": {**config(anvil), "topics": [None]},
    }
    answer = await door.ask("POST", "/api/triggers", given)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_chain_event_config")
    assert "'topics'" in answer.json()["message"]
    assert "topic_filters" in answer.json()["message"]


async def test_without_a_start_block_the_last_hundred_blocks_count(parts, anvil, watch, polled):
    anvil.ping(ALICE, 1)
    anvil.mine(150)
    anvil.ping(ALICE, 2)
    trigger = await parts.trigger("chain_event", config(anvil))
    watch()
    await polled(2)
    assert await pings(parts, trigger, 1) == [2]


@pytest.mark.slow
@pytest.mark.parametrize("form", [lambda number: number, str, hex])
async def test_a_start_block_reads_history_five_hundred_blocks_a_poll(parts, anvil, watch, clock, form):
    first = int(anvil.ping(ALICE, 1)["blockNumber"], 16)
    anvil.mine(700)
    anvil.ping(ALICE, 2)
    trigger = await parts.trigger("chain_event", config(anvil, start_block=form(first)))
    watch()
    assert await pings(parts, trigger, 1) == [1]
    await asyncio.sleep(0.15)
    assert len(await parts.runs(trigger)) == 1, "the second poll is fifteen seconds away"
    clock.advance(15)
    assert await pings(parts, trigger, 2) == [1, 2]


async def test_a_log_waits_for_its_confirmations(parts, anvil, watch, polled):
    trigger = await parts.trigger("chain_event", config(anvil))
    watch(confirmations=12)
    anvil.ping(ALICE, 1)
    anvil.mine(11)
    await polled(2)
    assert await parts.runs(trigger) == []
    anvil.mine(1)
    await polled()
    assert await pings(parts, trigger, 1) == [1]


async def test_a_full_queue_leaves_logs_for_later_and_loses_none(parts, anvil, watch, polled):
    trigger = await parts.trigger("chain_event", config(anvil), max_queued_runs=2)
    gate = parts.execution.gates[trigger.action_code] = asyncio.Event()
    for number in range(5):
        anvil.ping(ALICE, number)
    watch()
    assert await pings(parts, trigger, 2) == [0, 1]
    await polled()
    assert len(await parts.runs(trigger)) == 2
    gate.set()
    for _ in range(3):
        await parts.ended(trigger)
        await polled()
    assert await pings(parts, trigger, 5) == [0, 1, 2, 3, 4]


async def test_a_log_of_a_half_read_block_runs_once_if_its_run_was_deleted(parts, anvil, watch, polled, monkeypatch):
    monkeypatch.setattr(queue, "_TRIM_EVERY", 1)
    monkeypatch.setattr(parts.queues, "_kept_runs", 1)
    trigger = await parts.trigger("chain_event", config(anvil), max_queued_runs=2)
    anvil.call("evm_setAutomine", False)  # noqa: FBT003 - an argument of the JSON-RPC method
    for number in range(16):
        anvil.call("eth_sendTransaction", anvil.ping_call(ALICE, number))
    anvil.mine(1)
    watch()
    for _ in range(12):
        await parts.ended(trigger)
        await polled()
    given = [call.params["event"]["decoded"]["arg1"] for call in parts.execution.calls]
    assert given == [str(number) for number in range(16)]
    anvil.call("evm_setAutomine", True)  # noqa: FBT003 - an argument of the JSON-RPC method
    anvil.ping(ALICE, 16)
    await polled(2)
    await parts.ended(trigger)
    assert len(await parts.runs(trigger)) < 16, "complete blocks do not delay the deletion"


async def test_after_a_reorganisation_only_new_logs_start_runs(parts, anvil, watch, polled):
    trigger = await parts.trigger("chain_event", config(anvil))
    watch()
    anvil.ping(ALICE, 1)
    before = anvil.call("evm_snapshot")
    gone = anvil.ping(ALICE, 2)
    anvil.mine(3)
    await polled()
    assert await pings(parts, trigger, 2) == [1, 2]

    anvil.call("evm_revert", before)
    anvil.mine(2)  # other blocks than before, so the transaction is in a different block
    back = anvil.ping(ALICE, 2)
    assert (back["transactionHash"], back["blockHash"] == gone["blockHash"]) == (gone["transactionHash"], False)
    anvil.ping(BOB, 3)
    anvil.mine(5)
    await polled(2)
    assert await pings(parts, trigger, 3) == [1, 2, 3]


async def test_a_chain_that_became_shorter_is_read_again(parts, anvil, watch, polled):
    trigger = await parts.trigger("chain_event", config(anvil))
    start = anvil.call("evm_snapshot")
    anvil.mine(40)
    anvil.ping(ALICE, 1)
    watch()
    await pings(parts, trigger, 1)
    anvil.call("evm_revert", start)
    anvil.ping(ALICE, 2)
    await polled(2)
    assert await pings(parts, trigger, 2) == [1, 2]


async def test_the_position_survives_a_restart(parts, anvil, store, clock):
    trigger = await parts.trigger("chain_event", config(anvil))
    for round_ in range(2):
        anvil.ping(ALICE, round_)
        rpc = over_http(anvil.url)
        task = asyncio.create_task(
            ChainEvents(WatchedChain("base", rpc, 0), store, clock, 15, wake=parts.queues.wake).run()
        )
        await pings(parts, trigger, round_ + 1)
        task.cancel()
        await rpc.close()
    current = await store.run(lambda connection: find_trigger(connection, trigger.id))
    assert current.next_block == int(anvil.call("eth_blockNumber"), 16) + 1
    assert await pings(parts, trigger, 2) == [0, 1]


async def test_a_log_that_does_not_fit_the_signature_still_has_its_run(parts, anvil, watch):
    trigger = await parts.trigger("chain_event", config(anvil))
    anvil.log([PING.topic0], "0x1234")
    watch()
    (run,) = await parts.until(trigger, lambda found: len(found) == 1)
    event = from_json(run.input)["event"]
    assert (event["decoded"], event["data"]) == ({}, "0x1234")
    assert "does not match" in event["decode_error"]


async def test_an_unreachable_chain_is_polled_again(parts, store, clock, resting, polled):
    trigger = await parts.trigger("chain_event", {
        "chain": "base", "contract_address": ALICE, "event_signature": "Ping(address,uint256)",
    })  # fmt: skip
    asked = []

    async def away(request: dict[str, Any]) -> Any:
        asked.append(request["method"])
        raise OSError("https://node.example/v2/secret-key cannot be reached")

    from svcnb.emulator.platform.json_rpc import Rpc

    with pytest.raises(ChainUnavailable) as caught:
        await Rpc(away).request("eth_blockNumber")
    assert "secret-key" not in str(caught.value)
    task = asyncio.create_task(
        ChainEvents(WatchedChain("base", Rpc(away), 0), store, clock, 15, wake=parts.queues.wake).run()
    )
    await resting.wait()
    await polled(2)
    task.cancel()
    assert len(asked) == 4
    assert await parts.runs(trigger) == []


async def test_a_provider_with_a_range_limit_receives_smaller_ranges(parts, anvil, store, clock, polled):
    trigger = await parts.trigger("chain_event", config(anvil, start_block=0))
    anvil.mine(50)
    anvil.ping(ALICE, 1)
    rpc = over_http(anvil.url)
    ranges = []

    async def capped(request: dict[str, Any]) -> Any:
        if request["method"] == "eth_getLogs":
            question = request["params"][0]
            size = int(question["toBlock"], 16) - int(question["fromBlock"], 16) + 1
            ranges.append(size)
            if size > 10:
                return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32005, "message": "too many blocks"}}
        return {"result": await rpc.request(request["method"], *request["params"])}

    from svcnb.emulator.platform.json_rpc import Rpc

    task = asyncio.create_task(
        ChainEvents(WatchedChain("base", Rpc(capped), 0), store, clock, 15, wake=parts.queues.wake).run()
    )
    await polled(9)
    assert await pings(parts, trigger, 1) == [1]
    task.cancel()
    await rpc.close()
    assert max(ranges) > 10 >= min(ranges)
