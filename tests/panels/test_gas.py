"""Help of the panel for a wallet without gas, with a real service."""

from __future__ import annotations

import socket

import pytest

import svcnb
from svcnb.panels import AccountPanel
from svcnb.panels.wire import failure

pytestmark = [pytest.mark.chain]


@pytest.fixture
async def panel(emulator):
    with emulator.client() as client:
        made = AccountPanel(client, owner=svcnb.LocalSigner.random())
        yield made
        await made.service.close()


async def test_the_error_contains_a_wallet_without_gas_and_the_emulator_funds_it(panel):
    with pytest.raises(svcnb.ChainError) as caught:
        await panel.create_on_chain("treasury")
    told = failure(caught.value)
    address = panel.owner.address
    assert told["wallet"] == address
    assert "emu." not in told["hint"]  # a person who uses the mouse writes no Python
    assert "Send ETH" in told["hint"]
    assert panel.has_faucet() is True
    assert panel.fund(address) == "10 ETH"
    assert f"svcnb.Emulator.connect(svc.base_url).faucet({address!r})" in panel.as_code()


def test_a_service_without_a_control_plane_has_no_faucet():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # it does not listen, so it does not respond
        client = svcnb.Client(f"http://127.0.0.1:{silent.getsockname()[1]}", history=False)
        panel = AccountPanel(client)
        assert panel.has_faucet() is False
        panel.close()
        client.close()
