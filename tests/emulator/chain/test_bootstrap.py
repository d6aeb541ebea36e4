"""The chain node starts before the database is available, but only if the first block cannot be wrong."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from svcnb.emulator.bootstrap import Bootstrap
from svcnb.emulator.chain.bootstrap import EarlyNode, first_balances
from svcnb.emulator.chain.genesis import Genesis
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.service import Service
from svcnb.emulator.settings import Settings


def settings(**given: object) -> Settings:
    return Settings.load({}, action_spares=1, **given)


async def test_the_chain_runs_on_the_node_that_booted_early() -> None:
    bootstrap = Bootstrap(settings())
    bootstrap.boot_node()
    assert bootstrap.node is not None
    genesis = bootstrap.node.genesis
    service = Service(settings(), bootstrap=bootstrap)
    await service.start()
    try:
        assert service.chain._chain._replica.genesis == genesis  # type: ignore[union-attr]
        with pytest.raises(LookupError, match="already called"):
            await bootstrap.node.take()
    finally:
        await service.stop()


async def test_booted_early_or_not_a_seed_gives_the_same_contract_at_the_same_address() -> None:
    codes = []
    for early in (True, False):
        chosen = settings(seed="a lesson", clock="frozen@1750000000")
        bootstrap = Bootstrap(chosen)
        if early:
            bootstrap.boot_node()
        service = Service(chosen, bootstrap=bootstrap)
        await service.start()
        try:
            ask = {"jsonrpc": "2.0", "id": 1, "method": "eth_getBlockByNumber", "params": ["latest", False]}
            block = (await service.chain.rpc(ask))["result"]
            codes.append((service.chain.contract_address, block["hash"], block["stateRoot"]))
        finally:
            await service.stop()
    assert codes[0] == codes[1]


@pytest.mark.parametrize("kept", ["state", "database"])
def test_with_a_stored_state_no_node_starts_early(tmp_path: Path, kept: str) -> None:
    given = {"state": tmp_path / "kept"} if kept == "state" else {"database": f"sqlite:///{tmp_path / 'other.db'}"}
    bootstrap = Bootstrap(settings(**given))
    bootstrap.boot_node()
    assert bootstrap.node is None
    bootstrap.release()


async def test_an_unused_early_node_is_stopped() -> None:
    custody = Custody(bytes(31) + b"\1", settings().vocabulary, Randomness())
    early = EarlyNode(Genesis(31337, 1_750_000_000, first_balances(custody, 3)), memory_mb=512)
    assert early._task is not None
    node = await asyncio.shield(early._task)
    await early.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(node.pid, 0)
    with pytest.raises(LookupError, match="already called"):
        await early.take()
    await early.stop()


async def test_an_early_node_can_stop_immediately() -> None:
    bootstrap = Bootstrap(settings())
    bootstrap.boot_node()
    await bootstrap.stop()
    await bootstrap.stop()
