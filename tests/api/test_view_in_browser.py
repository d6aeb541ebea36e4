"""Interactive documentation in a real browser that can reach only this server."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


def test_the_view_shows_every_endpoint_and_tries_one_out(wire, start_chromium):
    described = wire.get("openapi.json").json()["paths"]
    with start_chromium() as browser:
        page = browser.new_page()
        requested: list[str] = []
        complaints: list[str] = []
        page.on("request", lambda request: requested.append(request.url))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.goto(f"{wire.base_url}/")
        page.wait_for_selector(".opblock")
        assert len(page.query_selector_all(".opblock")) == sum(len(operations) for operations in described.values())
        page.click("#operations-Account-post_new_account .opblock-summary")
        page.click(".try-out__btn")
        page.click(".execute")
        page.wait_for_selector(".live-responses-table")
        assert "wallet_address" in page.inner_text(".live-responses-table")
    assert complaints == []
    assert [url for url in requested if not url.startswith((wire.base_url, "data:"))] == []
