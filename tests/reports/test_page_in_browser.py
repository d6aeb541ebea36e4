"""Page of a report in a real Chromium, on a narrow screen and in print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from svcnb.reports.page import page
from svcnb.reports.pdf import chromium
from svcnb.reports.pictures import Rows

pytestmark = pytest.mark.browser

PAPER_PX = 688
"""A4 without its margins."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra 'browser')")
    program = chromium()
    if program is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=str(program), args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


@pytest.mark.parametrize(("width", "media"), [(400, "screen"), (PAPER_PX, "print")])
def test_a_wide_table_and_a_chart_do_not_widen_the_page(browser, width, media) -> None:
    heads = [
        "earlier credit",
        "executions",
        "management calls",
        "payments",
        "expected",
        "current",
        "unexplained",
    ]
    table = Rows(heads, [["$12,345.67 (2026-11-23 18:31)", *["$12,345.67"] * 6]], "")._repr_html_()
    chart = "<img alt='' src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='900' height='90'/>\">"
    outputs = [new_output("display_data", {"text/html": each}) for each in (table, chart)]
    notebook = new_notebook(cells=[new_code_cell("", outputs=outputs)])
    tab = browser.new_page(viewport={"width": width, "height": 800})
    tab.emulate_media(media=media)
    tab.set_content(page(notebook, "Spend"))
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert tab.evaluate("document.querySelector('td').getBoundingClientRect().width") > 60, "no column of one letter"
    tab.close()
