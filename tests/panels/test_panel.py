"""Kernel side of a panel. The test simulates the browser."""

from __future__ import annotations

import asyncio
import gc
import json
import queue
import re
import sys
import threading
from functools import partial
from typing import Any

import pytest

import svcnb
from svcnb.client.errors import ConfigError, InvalidArgument, InvalidType, NotConfirmed, SigningError
from svcnb.panels.account import AccountPanel
from svcnb.panels.base import Panel, command
from svcnb.panels.browser_signer import BrowserSigner
from svcnb.panels.runs import RunsPanel
from svcnb.panels.workbench import Workbench

SECRET = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0MTI="


class Probe(Panel):
    """Panel with a command of every kind."""

    def about(self):
        return {"probe": 1}

    @command
    def add(self, one: int, other: int) -> int:
        self.record(f"{one} + {other}")
        return one + other

    @command
    async def wait(self) -> None:
        self.channel.progress("waiting")
        await asyncio.sleep(60)

    @command
    def refuse(self) -> None:
        raise InvalidArgument("that is no number", hint="Write one.")

    @command
    def confirm(self) -> None:
        raise NotConfirmed("this is for good", consequences=("It stays.",))

    @command
    def break_down(self) -> None:
        raise RuntimeError(f"api_key={SECRET}")

    def hidden(self) -> None:
        raise AssertionError("not a command")


class Browser:
    """Simulated browser, which exchanges messages with a panel."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self.heard: queue.Queue[dict[str, object]] = queue.Queue()
        panel.channel._send = self.heard.put

    def says(self, **message: object) -> None:
        self.panel.channel.receive(message)

    def next(self, kind: str) -> dict[str, Any]:
        while True:
            message = self.heard.get(timeout=300)
            if message["type"] == kind:
                return message

    def call(self, name: str, **args: object) -> dict[str, Any]:
        self.says(type="command", id="c1", name=name, args=args)
        return self.next("answer")


@pytest.fixture
def panel():
    return Probe()


@pytest.fixture
def browser(panel):
    return Browser(panel)


def test_a_command_starts_and_gets_a_response(browser):
    answer = browser.call("add", one=1, other=2)
    assert answer == {"type": "answer", "id": "c1", "ok": True, "value": 3}


def test_a_command_does_not_run_on_the_thread_of_messages(panel, browser):
    seen = []
    panel.channel._commands = {"where": lambda: seen.append(threading.current_thread())}
    browser.call("where")
    assert seen[0] is not threading.current_thread()


def test_the_response_to_a_failed_command_contains_the_hint(browser):
    assert browser.call("refuse")["error"] == {
        "type": "InvalidArgument",
        "message": "that is no number",
        "hint": "Write one.",
        "consequences": [],
    }


def test_the_response_to_an_irreversible_command_contains_the_consequences(browser):
    assert browser.call("confirm")["error"]["consequences"] == ["It stays."]


def test_an_unexpected_error_gets_a_masked_response(browser, caplog):
    error = browser.call("break_down")["error"]
    assert error["type"] == "RuntimeError"
    assert SECRET not in json.dumps(error)
    assert "bug in svcnb" in error["hint"]
    assert "break_down" in caplog.text


@pytest.mark.parametrize("name", ["hidden", "no_such", "__init__", "client"])
def test_only_commands_can_be_called(browser, name):
    answer = browser.call(name)
    assert not answer["ok"]
    assert "no command" in answer["error"]["message"]


def test_invalid_arguments_are_rejected(browser):
    answer = browser.call("add", one=1)
    assert not answer["ok"]
    assert "other" in answer["error"]["message"]


def test_a_command_can_be_cancelled(browser):
    browser.says(type="command", id="c1", name="wait", args={})
    assert browser.next("progress")["text"] == "waiting"
    browser.says(type="cancel", id="c1")
    answer = browser.next("answer")
    assert answer["error"]["type"] == "Cancelled"


@pytest.mark.parametrize("message", [None, 7, {}, {"type": "command"}, {"type": "cancel", "id": "x"}, {"type": "?"}])
def test_an_invalid_message_is_ignored(panel, browser, message):
    panel.channel.receive(message)
    assert browser.heard.empty()


async def test_the_user_replies_to_a_question(panel, browser):
    asked = asyncio.create_task(panel.channel.ask("sign", {"digest": "0x12"}, within=300))
    ask = await asyncio.to_thread(browser.next, "ask")
    assert (ask["name"], ask["args"]) == ("sign", {"digest": "0x12"})
    browser.says(type="shown", id=ask["id"])
    browser.says(type="reply", id=ask["id"], ok=True, value="0xabc")
    assert await asked == "0xabc"
    assert browser.next("settled")["id"] == ask["id"]


async def test_the_first_reply_of_two_views_counts(panel, browser):
    asked = asyncio.create_task(panel.channel.ask("sign", {}, within=300))
    ask = await asyncio.to_thread(browser.next, "ask")
    for value in ("first", "second"):
        browser.says(type="reply", id=ask["id"], ok=True, value=value)
    assert await asked == "first"


async def test_a_declined_question_is_an_error_with_a_hint(panel, browser):
    asked = asyncio.create_task(panel.channel.ask("sign", {}, within=300))
    ask = await asyncio.to_thread(browser.next, "ask")
    browser.says(type="reply", id=ask["id"], ok=False, error={"message": "declined", "hint": "Ask again."})
    with pytest.raises(SigningError, match="declined") as caught:
        await asked
    assert caught.value.hint == "Ask again."


async def test_a_question_that_no_view_shows_ends(panel, browser):
    with pytest.raises(SigningError, match="none of the displayed panels"):
        await panel.channel.ask("sign", {}, within=None, shown=0.05)
    assert browser.next("settled")


async def test_a_question_without_a_reply_ends_after_its_time_limit(panel, browser):
    asks: list[dict[str, Any]] = []

    def show(message: dict[str, Any]) -> None:
        if message["type"] == "ask":  # immediately, even on a busy machine
            asks.append(message)
            browser.says(type="shown", id=message["id"])

    panel.channel._send = show
    with pytest.raises(SigningError, match=r"the user did not respond in the panel within 0\.1 seconds"):
        await panel.channel.ask("sign", {}, within=0.1, shown=0.05)
    (ask,) = asks
    browser.says(type="reply", id=ask["id"], ok=True, value="late")  # the panel ignores it


async def test_a_view_that_opens_later_also_shows_the_question(panel, browser):
    asked = asyncio.create_task(panel.channel.ask("sign", {}, within=300))
    first = await asyncio.to_thread(browser.next, "ask")
    browser.says(type="hello")
    assert await asyncio.to_thread(browser.next, "ask") == first
    browser.says(type="reply", id=first["id"], ok=True, value=1)
    assert await asked == 1


def test_the_recorded_python_runs(browser, panel):
    browser.call("add", one=1, other=2)
    assert panel.as_code() == "import svcnb\n\n1 + 2\n"
    assert browser.call("code")["value"] == {"code": panel.as_code()}
    exec(panel.as_code(), {})  # noqa: S102 - our own lines


def test_the_recorded_client_does_not_contain_its_key():
    with svcnb.Client("http://127.0.0.1:9", api_key=SECRET) as client:
        probe = Probe(client)
        assert "svc = svcnb.Client('http://127.0.0.1:9')  # reads the key from SVC_API_KEY" in probe.as_code()
        assert SECRET not in probe.as_code() + repr(probe) + json.dumps(probe.get_state(), default=str)


def test_the_repr_is_the_same_at_every_run(panel):
    assert repr(panel) == "Probe(probe=1)"


def test_a_value_that_is_not_a_client_is_rejected():
    with pytest.raises(InvalidType, match=r"invalid argument client of Probe: expected Client \| None, got str"):
        Probe("http://127.0.0.1")  # type: ignore[arg-type] # on purpose


@pytest.mark.parametrize("kind", [AccountPanel, Workbench])
def test_a_panel_whose_constructor_failed_is_closed_without_an_error(kind, monkeypatch):
    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    with pytest.raises(InvalidArgument):
        kind("http://127.0.0.1")
    gc.collect()
    assert ignored == []


def test_a_panel_without_a_client_raises_an_error_when_it_needs_one(panel):
    with pytest.raises(ConfigError, match="has no client"):
        _ = panel.client


def test_the_error_for_a_missing_bundle_explains_how_to_build_it():
    with pytest.raises(ConfigError, match=r"no_such\.js is missing") as caught:
        type("Broken", (Panel,), {}, bundle="no_such")
    assert "hatch_build.py" in caught.value.hint


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(RunsPanel, history=3), "invalid argument history of RunsPanel: expected History | None, got int"),  # type: ignore[arg-type]
        (partial(RunsPanel, triggers=3), "invalid argument triggers of RunsPanel: expected Triggered | None, got int"),  # type: ignore[arg-type]
        (BrowserSigner, "invalid argument panel of BrowserSigner: expected WalletPanel | None, got Client"),
    ],
)
def test_a_panel_and_its_signer_reject_arguments_of_a_wrong_type(make, message):
    with svcnb.Client("http://127.0.0.1:9") as svc, pytest.raises(InvalidType, match=re.escape(message)):
        make(svc)
