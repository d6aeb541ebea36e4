"""A browser wallet as a signer. The test simulates the browser."""

from __future__ import annotations

import asyncio
import queue
from typing import Any

import pytest

import svcnb
from svcnb.client.errors import SigningError
from svcnb.client.signing import sign_flow_async
from svcnb.panels import SigningPanel

OWNER = svcnb.LocalSigner.from_key("0x" + "11" * 32)


@pytest.fixture
def panel():
    return SigningPanel()


@pytest.fixture
def heard(panel):
    messages: queue.Queue[dict[str, Any]] = queue.Queue()
    panel.channel._send = messages.put
    return messages


async def reply(panel: SigningPanel, heard: queue.Queue[dict[str, Any]], value: object) -> dict[str, Any]:
    while (ask := await asyncio.to_thread(heard.get, timeout=300))["type"] != "ask":
        pass
    panel.channel.receive({"type": "shown", "id": ask["id"]})
    panel.channel.receive({"type": "reply", "id": ask["id"], "ok": True, "value": value})
    return ask


async def test_the_signer_has_an_address_after_the_connection(panel, heard):
    signer = svcnb.BrowserSigner(panel)
    connecting = asyncio.create_task(signer.connect())
    ask = await reply(panel, heard, {"address": OWNER.address.lower(), "name": "Fox"})
    assert ask["name"] == "connect"
    assert await connecting is signer
    assert signer.address == OWNER.address
    assert repr(signer) == f"BrowserSigner({OWNER.address})"
    assert panel.wallet["name"] == "Fox"


async def test_the_signer_signs_in_an_awaited_call(panel, heard):
    panel.connected(OWNER.address, "Fox")
    signing = asyncio.create_task(sign_flow_async(svcnb.BrowserSigner(panel), "CreateWallet", 31337, 1_767_225_600))
    ask = await reply(panel, heard, "0x" + "12" * 65)
    assert ask["args"]["typed_data"]["message"] == {"address": OWNER.address, "issuedAt": "1767225600"}
    signed = await signing
    assert signed.signature == "0x" + "12" * 65


async def test_the_signer_sends_a_transaction_and_shows_it_decoded(panel, heard):
    panel.connected(OWNER.address, "Fox")
    fields = {"from": OWNER.address, "to": OWNER.address, "data": "0x", "gas": "0x1"}
    sending = asyncio.create_task(svcnb.BrowserSigner(panel).send_transaction_async(fields))
    ask = await reply(panel, heard, "0xhash")
    assert ask["args"]["fields"] == fields
    assert ask["args"]["decoded"]["known"] is False
    assert await sending == "0xhash"


def test_the_signer_rejects_calls_that_are_not_awaited(panel):
    signer = svcnb.BrowserSigner(panel)
    with pytest.raises(SigningError, match="a synchronous client cannot sign") as caught:
        signer.sign_typed_data({})
    assert "to_async" in caught.value.hint


def test_without_a_wallet_the_error_explains_how_to_connect_one(panel):
    signer = svcnb.BrowserSigner(panel)
    assert repr(signer) == "BrowserSigner(not connected)"
    with pytest.raises(SigningError, match="no wallet is connected") as caught:
        _ = signer.address
    assert "connect()" in caught.value.hint


def test_an_invalid_address_is_rejected(panel):
    panel.connected("0x12", "Fox")
    with pytest.raises(SigningError, match="the browser wallet has an unusable address"):
        _ = svcnb.BrowserSigner(panel).address


def test_an_unknown_flow_is_rejected(panel):
    with pytest.raises(svcnb.InvalidArgument):
        panel.flow = "Steal"
