"""Gas price and gas estimates, which are the same with each engine of the chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svcnb.emulator.chain.genesis import BASE_FEE
from svcnb.emulator.chain.replica import next_base_fee

if TYPE_CHECKING:
    from tests.emulator.chain.conftest import Actor, World

STORES_TEN_TIMES = "".join(f"600160{slot:02x}55" for slot in range(10))


def creation(runtime: str) -> str:
    """Returns the code that creates a contract with the given code."""
    return f"0x60{len(runtime) // 2:02x}80600b6000396000f3{runtime}"


def passes_on(to: str) -> str:
    """Returns code that calls a contract with all its gas, and reverts if that call fails."""
    return f"{'6000' * 5}73{to[2:].lower()}5af115602657005b60006000fd"


def created(actor: Actor, runtime: str) -> str:
    receipt = actor.send_raw(actor.fill({"to": b"", "data": creation(runtime)}))
    assert receipt["status"] == 1
    return str(receipt["contractAddress"])


def test_the_price_of_gas_follows_from_the_block_before_except_after_the_first(world: World) -> None:
    whole = False
    blocks = [world.request("eth_getBlockByNumber", hex(number), whole)["result"] for number in range(8)]
    prices = [int(block["baseFeePerGas"], 16) for block in blocks]
    assert prices == [BASE_FEE, BASE_FEE, *(next_base_fee(block) for block in blocks[1:-1])]
    assert prices[-1] < BASE_FEE


def test_an_estimate_is_the_least_gas_that_suffices_for_calls_inside_calls(world: World) -> None:
    wallet = world.wallet()
    at = created(wallet, STORES_TEN_TIMES)
    for _ in range(6):
        at = created(wallet, passes_on(at))
    call = {"from": wallet.address, "to": at}
    gas = int(world.request("eth_estimateGas", call)["result"], 16)
    assert gas > 220_000
    assert "result" in world.request("eth_call", call | {"gas": hex(gas)}, "latest")
    assert "error" in world.request("eth_call", call | {"gas": hex(gas - 1)}, "latest")
