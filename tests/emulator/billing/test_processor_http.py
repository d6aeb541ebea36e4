"""HTTP API of the processor, as used by a browser library and by a browser without scripts."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = [pytest.mark.chain, pytest.mark.engine]


@pytest.fixture(scope="module")
def account(poor_emulator):
    import httpx

    made = httpx.post(
        f"{poor_emulator.base_url}/core/v1/new_account", json={"account_name": "pages"}, timeout=300
    ).json()
    return made["api_key"], made["wallet_address"]


@pytest.fixture
def intent(api, account):
    return api.intent(account[0], 2500)


def retrieve(api: Any, intent: str, secret: str, **headers: str) -> Any:
    headers = headers or {"Authorization": f"Bearer {api.publishable_key}"}
    return api.get(f"/processor/v1/payment_intents/{intent}", params={"client_secret": secret}, headers=headers)


def page(api: Any, intent: str, secret: str, **query: str) -> Any:
    return api.get(f"/processor/pay/{intent}", params={"client_secret": secret, **query})


def press(api: Any, intent: str, secret: str, query: dict[str, str] | None = None, **form: str) -> Any:
    params = {"client_secret": secret, **(query or {})}
    return api.call("POST", f"/processor/pay/{intent}", params=params, data={"do": "pay", "method": "card", **form})


# --- the library's API --------------------------------------------------------------------------------------------


def test_a_payment_is_shown_without_its_secret(api, intent):
    answer = retrieve(api, *intent)
    assert answer.status_code == 200
    shown = answer.json()
    assert (shown["id"], shown["status"], shown["amount_cents"]) == (intent[0], "requires_payment_method", 2500)
    assert intent[1] not in answer.text


def test_a_request_needs_the_publishable_key_and_the_client_secret(api, intent):
    assert retrieve(api, *intent, Authorization="Bearer pk_test_wrong").status_code == 401
    assert retrieve(api, *intent, Accept="*/*").status_code == 401
    assert retrieve(api, intent[0], intent[1] + "x").status_code == 404
    assert retrieve(api, "pi_unknown", intent[1]).status_code == 404


def test_a_missing_and_a_wrong_publishable_key_are_two_errors(api, intent):
    wrong = retrieve(api, *intent, Authorization="Bearer pk_test_wrong").json()["error"]["message"]
    missing = retrieve(api, *intent, Accept="*/*").json()["error"]["message"]
    assert wrong.startswith("the publishable key is not the key of this service")
    assert missing.startswith("the publishable key is missing")
    assert "Authorization: Bearer KEY" in wrong
    assert "pk_test_wrong" not in wrong


def test_the_processor_rejects_an_account_key(api, intent, account):
    assert retrieve(api, *intent, Authorization=f"Bearer {account[0]}").status_code == 401


def test_a_form_is_accepted_like_json(api, intent):
    path = f"/processor/v1/payment_intents/{intent[0]}/confirm"
    form = {"key": api.publishable_key, "client_secret": intent[1], "payment_method": "card"}
    assert api.call("POST", path, data=form).json()["status"] == "succeeded"


@pytest.mark.parametrize("content", [b"{", b"[]", b"5", b"", b"x" * 20_000])
def test_a_broken_body_is_refused(api, intent, content):
    answer = api.call("POST", f"/processor/v1/payment_intents/{intent[0]}/confirm", content=content)
    assert answer.status_code in {400, 413}


def test_a_payment_can_be_canceled_only_once(api, intent):
    path = f"/processor/v1/payment_intents/{intent[0]}/cancel"
    body = {"key": api.publishable_key, "client_secret": intent[1]}
    assert api.post(path, body).json()["status"] == "canceled"
    assert api.post(path, body).json()["error"]["code"] == "payment_intent_unexpected_state"


# --- the page, without script -------------------------------------------------------------------------------------


def test_the_page_shows_the_amount_and_the_account(api, intent, account):
    answer = page(api, *intent)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "Pay $25.00" in answer.text
    assert account[1] in answer.text
    assert "no money" in answer.text


def test_the_page_does_not_reveal_its_secret(api, intent):
    headers = page(api, *intent).headers
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "default-src 'none'" in headers["content-security-policy"]


def test_no_page_shows_the_payment_page_in_a_frame(api, intent):
    headers = page(api, *intent).headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"


def test_the_page_loads_nothing_from_other_hosts(api, intent):
    for link in re.findall(r'(?:src|href|action)="([^"]*)"', page(api, *intent).text):
        assert not urlsplit(unescape(link)).netloc, link


def test_paying_leads_to_the_return_page_with_the_payment(api, intent):
    answer = press(api, *intent)
    assert answer.status_code == 303
    target = urlsplit(answer.headers["location"])
    assert target.path == "../return"
    assert parse_qs(target.query) == {
        "payment_intent": [intent[0]],
        "payment_intent_client_secret": [intent[1]],
        "redirect_status": ["succeeded"],
    }
    returned = api.get(f"/processor/return?{target.query}")
    assert returned.status_code == 200
    assert "Payment succeeded" in returned.text


def test_a_return_url_on_this_machine_is_followed_and_keeps_its_query(api, intent):
    answer = press(api, intent[0], intent[1], {"return_url": "http://127.0.0.1:1/done?mine=1"})
    assert answer.headers["location"].startswith(f"http://127.0.0.1:1/done?mine=1&payment_intent={intent[0]}&")


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_a_return_url_on_another_host_is_rejected_before_the_payment(api, intent, elsewhere):
    for answer in (
        page(api, *intent, return_url=elsewhere),
        press(api, intent[0], intent[1], {"return_url": elsewhere}),
    ):
        assert answer.status_code == 400
        assert "use an address on this machine" in answer.text
        assert "location" not in answer.headers
    assert retrieve(api, *intent).json()["status"] == "requires_payment_method"


def test_a_declined_card_leads_back_to_the_page_which_says_why(api, intent):
    answer = press(api, *intent, card_number="4000000000009995")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("?")
    assert "insufficient funds" in page(api, *intent).text
    assert press(api, *intent).headers["location"].startswith("../return")


def test_a_person_chooses_the_outcome_and_the_delay(api, intent, poor_emulator):
    answer = press(api, *intent, method="crypto", outcome="failed", delay_s="30")
    assert "redirect_status=pending" in answer.headers["location"]
    assert "processing" in page(api, *intent).text
    poor_emulator.clock.advance(30)
    assert retrieve(api, *intent).json()["error"]["code"] == "transaction_reverted"
    assert "was reverted" in page(api, *intent).text


def test_a_payment_can_be_canceled_on_the_page(api, intent):
    answer = press(api, *intent, do="cancel")
    assert "redirect_status=canceled" in answer.headers["location"]
    assert "Payment canceled" in page(api, *intent).text


@pytest.mark.parametrize(
    "form", [{"delay_s": "soon"}, {"delay_s": "-1"}, {"delay_s": "nan"}, {"outcome": "lost"}, {"method": "cash"}]
)
def test_an_invalid_form_has_no_effect(api, intent, form):
    assert press(api, *intent, **form).status_code == 400
    assert retrieve(api, *intent).json()["status"] == "requires_payment_method"


def test_without_the_secret_the_pages_show_nothing(api, intent, account):
    for answer in (
        page(api, intent[0], "wrong"),
        page(api, "pi_unknown", intent[1]),
        press(api, intent[0], "wrong"),
        api.get("/processor/return"),
        api.get("/processor/return", params={"payment_intent": intent[0]}),
    ):
        assert answer.status_code == 404
        assert account[1] not in answer.text


def test_values_from_the_address_are_shown_as_text(api, intent):
    answer = page(api, "<script>alert(1)", intent[1])
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert "<script>alert" not in answer.text
    answer = page(api, *intent, extra='"><script>alert(1)</script>')
    assert "<script>alert" not in answer.text


def test_the_pages_files_are_served_and_others_are_not(api):
    assert api.get("/processor/assets/page.css").headers["content-type"].startswith("text/css")
    assert api.get("/processor/assets/page.js").headers["content-type"].startswith("text/javascript")
    for name in ("__init__.py", "pay.html", "..%2Fstore.py"):
        assert api.get(f"/processor/assets/{name}").status_code == 404
    assert api.get("/processor/assets/pay.html").json()["fix"] == "Use one of the files page.css, page.js."
