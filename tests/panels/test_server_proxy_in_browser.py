"""A remote Jupyter, whose server is below a path. The browser reaches the emulator only through
jupyter-server-proxy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.panels.conftest import Desk, Lab, running_lab

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

BASE = "/user/x/"
BENCH = "import svcnb\nbench = svcnb.panels.Workbench(svcnb.Client())\nbench"


@pytest.fixture(scope="module")
def lab(chromium: str, session_emulator: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:  # noqa: ARG001 - no Lab without it
    pytest.importorskip("jupyter_server_proxy", reason="jupyter-server-proxy is not installed (extra 'browser')")
    with running_lab(tmp_path_factory, session_emulator, base_url=BASE) as running:
        yield running


@pytest.fixture
def nb(notebook: Any, session_emulator: Any) -> Iterator[Any]:
    """Workbench in a browser that can reach only Jupyter's port on the machine of the kernel."""
    opened = notebook(BENCH, own=True)
    ports = {urlsplit(url).port for url in (session_emulator.base_url, session_emulator.triggers_url)}
    reached: list[str] = []

    def refuse(route: Any) -> None:
        reached.append(route.request.url)
        route.abort()

    for port in ports:
        opened.tab.context.route(f"http://*:{port}/**", refuse)
    yield opened
    assert reached == []


def through(desk: Desk, url: str) -> str:
    """Returns the address that the browser must use."""
    return f"{desk.lab.url}/proxy/{urlsplit(url).port}/"


def test_payment_approval_and_api_view_work_through_the_proxy(nb, desk, session_emulator):
    panel = nb.panel("Workbench")
    panel.get_by_label("Name", exact=True).fill("remote")
    panel.get_by_role("button", name="Create", exact=True).click()
    panel.get_by_role("button", name="Hide key").click()
    pay(nb, panel, desk, session_emulator)
    approve(nb, panel, desk, session_emulator)
    read_the_api(nb, desk, session_emulator)


def pay(nb: Any, panel: Any, desk: Desk, emulator: Any) -> None:
    panel.get_by_label("Amount").select_option("$25.00")
    panel.get_by_role("button", name="Add credit").click()
    with nb.tab.context.expect_page() as opening:
        panel.get_by_role("link", name="Open the processor's page").click()
    page = opening.value
    page.get_by_role("button", name="Pay $25.00").click()
    panel.get_by_role("row", name="Credit $35.00 credit").wait_for()
    assert page.url.startswith(through(desk, emulator.base_url))
    page.close()


def approve(nb: Any, panel: Any, desk: Desk, emulator: Any) -> None:
    panel.get_by_role("tab", name="Triggers").click()
    triggers = panel.get_by_role("tabpanel", name="Triggers")
    with nb.tab.context.expect_page() as opening:
        triggers.get_by_role("link", name="Open approval page").click()
    page = opening.value
    page.get_by_role("button", name="Approve").click()
    page.get_by_text("You can close this tab").or_(page.get_by_text("owner@localhost")).first.wait_for()
    assert page.url.startswith(through(desk, emulator.triggers_url))
    page.close()
    triggers.get_by_role("button", name="Continue").click()
    triggers.get_by_text("Authorised by owner@localhost").wait_for()


def read_the_api(nb: Any, desk: Desk, emulator: Any) -> None:
    page = nb.tab.context.new_page()
    page.goto(through(desk, emulator.base_url))
    operation = page.locator(".opblock", has_text="get_node_chain_config").first
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    operation.locator(".live-responses-table").get_by_text("contract_address").first.wait_for()
    page.close()
