"""Session that all panels of a client share, with a real service."""

from __future__ import annotations

import asyncio
import queue
from typing import Any

import pytest

import svcnb
from svcnb.panels import AccountPanel, TriggersPanel
from svcnb.panels.loop import BACKGROUND
from svcnb.panels.session import Session

pytestmark = [pytest.mark.chain, pytest.mark.engine]


@pytest.fixture
async def svc(emulator):
    with emulator.client() as client:
        yield client


async def test_the_credit_is_read_with_a_usage_key_instead_of_a_browser_wallet(svc, emulator):
    owner = svcnb.LocalSigner.random()
    emulator.faucet(owner.address)
    service = svc.to_async()
    mine = await service.chain_secured.create(owner, "treasury")
    await mine.billing.top_up(500)
    add = svcnb.Action("const main = () => 1", name="add")
    group = await mine.groups.create("adders", actions=[add])
    key = await mine.usage_keys.create("runner", execute_in_groups=[group])
    session = Session.of(svc)
    shown: queue.Queue[str] = queue.Queue()
    session.watch(lambda what: shown.put(session.state["balance"]) if "balance" in what else None)
    session.owner = svcnb.BrowserSigner()  # signs only after a confirmation of the user
    session.opened_on_chain(mine, address=owner.address)
    session.add_key(key)
    svc.with_key(key).run(add, until_effective=15)
    while (balance := await asyncio.to_thread(shown.get, timeout=60)) in {"", "$5.00 credit"}:
        pass
    assert balance.startswith("$4.9")
    BACKGROUND.submit(session.service.close()).result(300)
    await service.close()


async def test_a_session_without_panels_opens_no_connection_to_read_the_credit(svc):
    session = Session.of(svc)
    session.opened(svc.accounts.create("reader"))
    shown = queue.Queue[object]()
    session.watch(shown.put)
    reading = BACKGROUND.submit(session._read_balance())
    session.unwatch(shown.put)
    await asyncio.wrap_future(reading)
    assert session._service is None


async def test_a_closed_account_panel_leaves_the_wallet_to_the_other_panels(svc):
    owner = svcnb.LocalSigner.random()
    panel, other = AccountPanel(svc, owner=owner), AccountPanel(svc)
    panel.close()
    assert other.owner is owner
    other.forget_owner()
    assert Session.of(svc).owner is None
    other.close()


async def test_a_browser_wallet_is_removed_with_the_panel_that_it_needs(svc):
    panel, other = AccountPanel(svc), AccountPanel(svc)
    Session.of(svc).owner = svcnb.BrowserSigner(panel)
    other.close()
    assert panel.owner is not None
    other = AccountPanel(svc)
    panel.close()
    assert other.owner is None
    assert other.owner_address == ""
    other.close()


async def test_an_account_opens_while_billing_is_unavailable(svc, emulator):
    account = svc.accounts.create("reader")
    emulator.faults.next("billing", status=500)
    panel = AccountPanel(svc)
    await panel.open_with_key(account.api_key.reveal())
    assert (panel.session.state["mode"], panel.session.state["balance"]) == ("api", "")
    with pytest.raises(svcnb.Unauthorized):
        await panel.open_with_key(svcnb.LocalSigner.random().address)
    BACKGROUND.submit(panel.service.close()).result(300)


async def test_a_trigger_gets_a_usage_key_while_billing_is_unavailable(svc, emulator):
    mine = svc.with_key(svc.accounts.create("watcher"))
    key = mine.usage_keys.create("runner")
    panel = TriggersPanel(mine, emulator.triggers())
    new: dict[str, Any] = {
        "name": "hook",
        "kind": "webhook",
        "source": "const main = () => 1",
        "params": "",
        "config": {},
    }
    emulator.faults.until_cleared("billing", status=500)
    try:
        assert (await panel.create(**new, usage_key=key.usage_api_key.reveal()))["name"] == "hook"
        with pytest.raises(svcnb.Unauthorized):
            await panel.create(**new, usage_key="c3RyYW5nZXI=")
    finally:
        emulator.faults.clear()
    BACKGROUND.submit(panel.service.close()).result(300)
