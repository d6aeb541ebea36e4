"""A hostile page in a real Chromium: from another port of this machine, from another host name, and after DNS
rebinding."""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

ATTACK = Path(__file__).with_name("attack.js").read_text(encoding="utf-8")
REBOUND = "rebound.example"
HTML = "<!doctype html><title>a game</title><body>"


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(HTML.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def hostile_site() -> Iterator[str]:
    """Web server of an attacker, on another port of this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser(start_chromium: Callable[..., AbstractContextManager[Any]]) -> Iterator[Any]:
    rules = f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1, MAP hostile.example 127.0.0.1"
    # The newest browsers ask the user before a public page can reach this machine. The emulator must not depend on
    # that.
    with start_chromium(rules, "--disable-features=LocalNetworkAccessChecks") as running:
        yield running


class Victim:
    """User with an account, a trigger and an open payment, whose browser is signed in at the approval page."""

    def __init__(self, wire: Any) -> None:
        self.wire = wire
        self.account = wire.account(credit=500)
        self.usage_key = self.account.usage_key(execute_in_groups=[0])
        self.token = secrets.token_urlsafe(32)
        wire.control("/agents/approve", {"challenge": _challenge(self.token)})
        paid = self.account.ok("billing/create_payment_intent", {"amount_cents": 700})
        self.intent, self.secret = paid["payment_intent_id"], paid["client_secret"]
        self.mallory = secrets.token_urlsafe(32)

    def facts(self) -> dict[str, Any]:
        """Returns the addresses and ids that the hostile page receives for its attacks."""
        return {
            "base": self.wire.base_url,
            "usageKey": self.usage_key,
            "wallet": self.account.wallet,
            "triggersToken": self.token,
            "challenge": _challenge(self.mallory),
            "intent": self.intent,
            "secret": self.secret,
            "publishableKey": self.wire.get("billing/processor_config").json()["publishable_key"],
        }

    def belongings(self) -> dict[str, Any]:
        """Returns all data that the page tries to change."""
        bearer = {"Authorization": f"Bearer {self.token}"}
        mallory = {"Authorization": f"Bearer {self.mallory}"}
        pay = f"/processor/v1/payment_intents/{self.intent}"
        key = {"Authorization": f"Bearer {self.facts()['publishableKey']}"}
        block = {"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []}
        state = self.wire.control("/state", method="GET")
        return {
            "block": self.wire.call("POST", "/rpc", json=block).json()["result"],
            "credit": self.account.credit(),
            "clock": state["clock"]["offset_s"],
            "frozen": state["clock"]["frozen"],
            "faults": self.wire.control("/faults", method="GET"),
            "network": self.wire.control("/network", method="GET"),
            "runs": self.wire.control("/runs", method="GET"),
            "triggers": self.wire.call("GET", "/api/triggers", headers=bearer).json(),
            "mallory": self.wire.call("GET", "/api/me", headers=mallory).status_code,
            "payment": self.wire.call("GET", pay, params={"client_secret": self.secret}, headers=key).json()["status"],
        }


def _challenge(token: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()


def attack(browser: Any, victim: Victim, site: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Opens the hostile page and runs its script.

    Returns the responses that the script received, and the text of the page's frames.
    """
    context = browser.new_context()
    try:
        own = context.new_page()
        own.goto(f"{victim.wire.base_url}/agent/authorize?challenge={victim.facts()['challenge']}")
        assert context.cookies(), "the victim is signed in"
        page = context.new_page()
        # The attacker serves the rebound name first. Later, the name resolves to the emulator's address.
        page.route(f"{site}/game", lambda route: route.fulfill(body=HTML, content_type="text/html"))
        page.goto(f"{site}/game")
        facts = victim.facts()
        if urlsplit(site).hostname == REBOUND:
            facts["base"] = site
        read = page.evaluate(ATTACK, facts)
        pay = f"{victim.wire.base_url}/processor/pay/{victim.intent}?client_secret={victim.secret}"
        ask = f"{victim.wire.base_url}/agent/authorize?challenge={facts['challenge']}"
        for address in (pay, ask):
            page.evaluate(
                "(address) => new Promise((done) => { const f = document.createElement('iframe');"
                " f.onload = done; f.src = address; document.body.append(f); })",
                address,
            )
        shown = [frame.locator("body").inner_text() for frame in page.frames if frame is not page.main_frame]
        return read, shown
    finally:
        context.close()


@pytest.fixture(scope="module")
def safe(start_local: Any) -> Victim:
    return Victim(start_local(starter_credits=1_000))


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "hostile.example"])
def test_a_page_of_another_origin_has_no_access(browser: Any, safe: Victim, hostile_site: str, name: str) -> None:
    before = safe.belongings()
    read, shown = attack(browser, safe, hostile_site.replace("127.0.0.1", name))
    assert read == []
    assert not [text for text in shown if "Pay" in text or "Approve" in text]
    assert safe.belongings() == before


def test_a_page_with_a_rebound_name_has_no_access(browser: Any, safe: Victim) -> None:
    before = safe.belongings()
    site = safe.wire.base_url.replace("127.0.0.1", REBOUND)
    read, _shown = attack(browser, safe, site)
    # Origin and address agree, so the browser shows every response to the page. All of them must be rejections.
    allowed = [each for each in read if each["method"] != "form" and each["status"] not in {401, 403}]
    # The sign-in page, which requests the control token. Without a session, the page cannot approve a client.
    assert {each["path"].partition("?")[0] for each in allowed} == {"/agent/authorize"}
    assert all("Control token" in each["text"] and "csrf" not in each["text"] for each in allowed)
    assert len(read) > 50
    assert safe.belongings() == before


def test_the_same_page_succeeds_where_the_user_allows_its_origin(
    browser: Any, start_local: Any, hostile_site: str
) -> None:
    """This test checks that the script works, and that `allow_origin` never gives access to the control plane."""
    victim = Victim(start_local(starter_credits=1_000, allow_origin=[hostile_site]))
    before = victim.belongings()
    read, _shown = attack(browser, victim, hostile_site)
    good = {(each["method"], each["path"]) for each in read if each["status"] < 400}
    assert {("POST", "/core/v1/new_account"), ("POST", "/core/v1/svc_action"), ("POST", "/rpc")} <= good
    assert not [path for _method, path in good if path.startswith(("/_emulator", "/agent"))]
    assert [each for each in read if each["path"] == "/core/v1/new_account" and "api_key" in each["text"]]
    after = victim.belongings()
    assert after["payment"] == "succeeded"
    for untouched in ("clock", "frozen", "faults", "network", "mallory"):
        assert after[untouched] == before[untouched]
