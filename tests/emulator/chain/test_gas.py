"""Gas of each write in a growing account. The gas stays constant, so the size of an account never prevents writes.

`SVC_GAS_SIZE=200 pytest tests/emulator/chain/test_gas.py -m slow -s` prints the table of `docs/contract.md`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.emulator.chain.conftest import Actor, World

SIZE = int(os.environ.get("SVC_GAS_SIZE", "24"))
FLAGS = (False, False, False)


def writes(own: int, number: int) -> dict[str, tuple[Any, ...]]:
    """Sends each write once. Numbers distinguish the new entries from the existing ones."""
    action, wallet = 0xAAAA_0000 + number, f"0x77{number:038d}"
    groups = [1] * 10
    return {
        "addGroup": (own, "group", "", [], []),
        "addAction": (own, "action", "", action),
        "addActionToGroup": (own, 1, action),
        "registerWalletDerivation": (own, wallet, 0xCCCC_0000 + number, "wallet", ""),
        "addPkpToGroup": (own, 1, wallet),
        "setUsageApiKey": (own, 0xDDDD_0000 + number, 0, 0, "key", "", *FLAGS, groups, groups, groups, groups),
        "updateGroup": (own, 1, "group", "", [], []),
        "removePkpFromGroup": (own, 2, wallet),
        "removeActionFromGroup": (own, 2, action),
        "removeAction": (own, action),
        "removeWalletDerivation": (own, wallet),
        "removeUsageApiKey": (own, 0xDDDD_0000 + number),
        "removeGroup": (own, 3 + number),
    }


def costs(alice: Actor, own: int, number: int) -> dict[str, int]:
    found = {}
    for function, arguments in writes(own, number).items():
        if function in {"removePkpFromGroup", "removeActionFromGroup"}:
            alice.send(function.replace("remove", "add", 1).replace("From", "To"), *arguments)
        found[function] = int(alice.send(function, *arguments)["gasUsed"])
    return found


@pytest.mark.slow
def test_a_write_costs_the_same_however_large_the_account_is(world: World, alice: Actor) -> None:
    own = world.hash_of(alice)
    for name in ("one", "two", "three"):
        alice.send("addGroup", own, name, "", [], [])
    small = costs(alice, own, 0)
    chain, held = world.chain, f"0x{1:040d}"
    for number in range(1, SIZE + 1):
        alice.send("addGroup", own, f"group {number}", "", [], [])
        alice.send("addAction", own, "action", "", number)
        alice.send("addActionToGroup", own, 2, number)
        alice.send("registerWalletDerivation", own, f"0x{number:040d}", number, "wallet", "")
        alice.send("addPkpToGroup", own, 2, f"0x{number:040d}")
        alice.send("setUsageApiKey", own, number, 0, 0, "key", "", *FLAGS, [], [], [], [0])
    large = costs(alice, own, 1)
    assert world.run(chain.view("canUseWalletInActionStrict", own, 1, held))
    for function, gas in small.items():
        print(f"| `{function}` | {gas:,} | {large[function]:,} |")  # noqa: T201 - the table
        # The first write to a slot costs 17,100 more gas than a later one (EIP-2200).
        assert abs(large[function] - gas) <= 2 * 17_100, f"{function} costs {gas} and later {large[function]}"
