"""The API view of the emulator below a path of a real reverse proxy. The browser can reach only the proxy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.emulator.billing.test_page_behind_proxy_in_browser import TOKEN, _route
from tests.panels.conftest import _free_port

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]


@pytest.fixture
def address(session_emulator: Any) -> Iterator[str]:
    """Address of the emulator behind a proxy that removes the folder from the path, as on JupyterHub and Binder."""
    pytest.importorskip("configurable_http_proxy", reason="the extra 'workshop' is not installed")
    port, api_port = _free_port(), _free_port()
    folder = f"/user/x/proxy/{urlsplit(session_emulator.base_url).port}"
    program = str(Path(sys.executable).with_name("configurable-http-proxy"))
    command = [program, "--ip", "127.0.0.1", "--port", str(port), "--api-ip", "127.0.0.1", "--api-port", str(api_port)]
    with ExitStack() as stack:
        proxy = subprocess.Popen(
            [*command, "--no-include-prefix", "--log-level", "error"], env={"CONFIGPROXY_AUTH_TOKEN": TOKEN}
        )
        stack.callback(proxy.wait, 60)
        stack.callback(proxy.terminate)
        _route(f"http://127.0.0.1:{api_port}/api/routes{folder}", session_emulator.base_url)
        yield f"http://127.0.0.1:{port}{folder}"


def test_the_api_view_is_complete_below_a_path(address: str, browser: Any) -> None:
    tab = browser.new_page()
    tab.set_default_timeout(60_000)
    tab.goto(f"{address}/")
    operation = tab.locator(".opblock", has_text="get_node_chain_config").first
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    operation.locator(".live-responses-table").get_by_text("contract_address").first.wait_for()
    assert tab.url.startswith(address)
    tab.close()
