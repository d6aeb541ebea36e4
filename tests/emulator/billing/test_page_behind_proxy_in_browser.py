"""The payment pages in a real Chromium, behind a real reverse proxy with another host name and a path prefix."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from svcnb.launch import Emulator
from tests.emulator.billing.conftest import Api

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

NAME = "pay.example"
START_S = 60
TOKEN = "routes of this test"


@pytest.fixture(scope="module")
def browser(start_chromium: Callable[..., AbstractContextManager[Any]]) -> Iterator[Any]:
    with start_chromium(f"--host-resolver-rules=MAP {NAME} 127.0.0.1") as running:
        yield running


@pytest.fixture
def proxied() -> Iterator[Callable[..., tuple[Api, str]]]:
    """Starts an emulator behind a proxy. Returns the emulator and its address for the browser."""
    pytest.importorskip("configurable_http_proxy", reason="the extra 'workshop' is not installed")
    with ExitStack() as stack:
        yield lambda **how: _start(stack, **how)


def _start(stack: ExitStack, *, allowed: bool, keeps_host: bool) -> tuple[Api, str]:
    ports = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
    port, api_port = (each.getsockname()[1] for each in ports)
    origin = f"http://{NAME}:{port}"
    emulator = stack.enter_context(Emulator(action_spares=1, allow_origin=[origin] if allowed else []))
    for each in ports:
        each.close()
    program = str(Path(sys.executable).with_name("configurable-http-proxy"))
    command = [program, "--ip", "127.0.0.1", "--port", str(port), "--api-ip", "127.0.0.1", "--api-port", str(api_port)]
    command += ["--no-include-prefix", "--log-level", "error"]
    if not keeps_host:  # like nginx with its default settings
        command += ["--custom-header", "host:localhost"]
    proxy = subprocess.Popen(command, env={"CONFIGPROXY_AUTH_TOKEN": TOKEN})
    stack.callback(proxy.wait, 60)
    stack.callback(proxy.terminate)
    _route(f"http://127.0.0.1:{api_port}/api/routes/emulator", emulator.base_url)
    api = Api(emulator.base_url)
    stack.callback(api.http.close)
    return api, f"{origin}/emulator"


def _route(url: str, target: str) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            headers = {"Authorization": f"token {TOKEN}"}
            made = httpx.post(url, json={"target": target}, headers=headers, trust_env=False, timeout=START_S)
        except httpx.TransportError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            assert made.status_code == httpx.codes.CREATED
            return


def _open(browser: Any, api: Api, address: str, key: str) -> Any:
    intent, secret = api.intent(key)
    tab = browser.new_page()
    tab.set_default_timeout(60_000)
    tab.goto(f"{address}/processor/pay/{intent}?client_secret={secret}")
    return tab


@pytest.mark.parametrize("keeps_host", [True, False])
def test_a_person_pays_through_a_proxy_whose_origin_is_allowed(
    browser: Any, proxied: Callable[..., tuple[Api, str]], keeps_host: object
) -> None:
    api, address = proxied(allowed=True, keeps_host=keeps_host)
    key, _wallet = api.account()
    tab = _open(browser, api, address, key)
    tab.get_by_role("button", name="Pay $5.00").click()
    tab.get_by_label("Account key or usage key").fill(key)
    tab.get_by_role("button", name="Credit the account").click()
    tab.get_by_text("The account has $5.00 credit. You can close this tab.").wait_for()
    assert tab.url.startswith(address)
    assert api.get("billing/balance", key).json()["balance_cents"] == -500


@pytest.mark.parametrize("keeps_host", [True, False])
def test_the_error_for_an_unknown_proxy_names_the_option(
    browser: Any, proxied: Callable[..., tuple[Api, str]], keeps_host: object
) -> None:
    api, address = proxied(allowed=False, keeps_host=keeps_host)
    tab = _open(browser, api, address, api.account()[0])
    tab.get_by_role("button", name="Pay $5.00").click()
    tab.get_by_text("--allow-origin").wait_for()
