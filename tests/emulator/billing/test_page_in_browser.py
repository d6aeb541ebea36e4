"""The payment pages in a real Chromium: payment by mouse, by keyboard, and without scripts."""

from __future__ import annotations

from urllib.parse import quote

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]


@pytest.fixture(scope="module")
def browser(start_chromium):
    with start_chromium() as running:
        yield running


@pytest.fixture
def open_tab(browser, api):
    """Opens tabs that can reach only the emulator, and in which no script fails."""
    contexts, troubles = [], []

    def requested(request):
        if not request.url.startswith((api.base_url, "data:,")):
            troubles.append(request.url)

    def opened(**options):
        context = browser.new_context(**options)
        context.set_default_timeout(60_000)
        contexts.append(context)
        tab = context.new_page()
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on("request", requested)
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def account(api):
    return api.account()


@pytest.fixture
def intent(api, account):
    return api.intent(account[0])


@pytest.fixture
def address(api, intent):
    return f"{api.base_url}/processor/pay/{intent[0]}?client_secret={intent[1]}"


def test_a_person_pays_by_card_and_credits_the_account(open_tab, address, api, account):
    tab = open_tab()
    tab.goto(address)
    tab.get_by_role("button", name="Pay $5.00").click()
    tab.get_by_label("Account key or usage key").fill(account[0])
    tab.get_by_role("button", name="Credit the account").click()
    tab.get_by_text("The account has $5.00 credit. You can close this tab.").wait_for()
    assert tab.get_by_role("heading").inner_text() == "Credited"
    assert account[0] not in tab.url
    assert api.balance(account[0]) == -500


def test_a_declined_card_is_followed_by_a_good_one(open_tab, address):
    tab = open_tab()
    tab.goto(address)
    tab.get_by_label("Card number").fill("4000 0000 0000 0002")
    tab.get_by_role("button", name="Pay $5.00").click()
    assert tab.get_by_role("alert").inner_text() == "The card was declined."
    tab.get_by_role("button", name="Pay $5.00").click()
    tab.get_by_role("heading", name="Payment succeeded").wait_for()


def test_the_page_follows_a_crypto_payment_until_it_is_complete(open_tab, address, poor_emulator):
    tab = open_tab()
    tab.goto(address)
    tab.get_by_label("Crypto").check()
    assert not tab.get_by_label("Card number").is_visible()
    assert tab.get_by_text("Confirmation takes 60 seconds").is_visible()
    tab.get_by_role("button", name="Pay $5.00").click()
    tab.get_by_role("heading", name="Payment is processing").wait_for()
    assert not tab.get_by_label("Account key or usage key").is_visible()
    poor_emulator.clock.advance(60)
    tab.get_by_role("heading", name="Payment succeeded").wait_for()
    assert tab.get_by_label("Account key or usage key").is_visible()


def test_the_page_detects_a_payment_that_a_client_has_confirmed(open_tab, address, api, account, intent):
    tab = open_tab()
    tab.goto(address)
    tab.get_by_role("button", name="Pay $5.00").click()
    tab.get_by_role("heading", name="Payment succeeded").wait_for()
    assert api.post("billing/confirm_payment", {"payment_intent_id": intent[0]}, account[0]).status_code == 200
    tab.get_by_role("heading", name="Credited").wait_for()
    assert not tab.get_by_label("Account key or usage key").is_visible()


def test_a_wrong_key_is_reported_and_a_correct_one_then_works(open_tab, address, account):
    tab = open_tab()
    tab.goto(address)
    tab.get_by_role("button", name="Pay $5.00").click()
    key = tab.get_by_label("Account key or usage key")
    key.fill("wrong")
    key.press("Enter")
    assert "does not resolve to any account" in tab.get_by_role("alert").inner_text()
    key.fill(account[0])
    key.press("Enter")
    tab.get_by_role("heading", name="Credited").wait_for()
    assert not tab.get_by_role("alert").is_visible()


def test_a_key_kept_in_the_tab_credits_the_next_payment_at_once(open_tab, address, api, account):
    tab = open_tab()
    tab.goto(address)
    tab.get_by_role("button", name="Pay $5.00").click()
    tab.get_by_label("Account key or usage key").fill(account[0])
    tab.get_by_label("Keep the key until this tab is closed").check()
    tab.get_by_role("button", name="Credit the account").click()
    tab.get_by_role("heading", name="Credited").wait_for()
    intent, secret = api.intent(account[0])
    tab.goto(f"{api.base_url}/processor/pay/{intent}?client_secret={secret}")
    tab.get_by_role("button", name="Pay $5.00").click()
    tab.get_by_role("heading", name="Credited").wait_for()
    assert api.balance(account[0]) == -1000


def test_the_keyboard_alone_is_enough(open_tab, address):
    tab = open_tab()
    tab.goto(address)
    visited = []
    for _ in range(5):
        tab.keyboard.press("Tab")
        visited.append(tab.evaluate("document.activeElement.name || document.activeElement.tagName"))
    assert visited == ["method", "card_number", "SUMMARY", "do", "do"]
    tab.keyboard.press("Shift+Tab")
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", name="Payment succeeded").wait_for()


def test_paying_needs_no_script(open_tab, address, poor_emulator):
    tab = open_tab(java_script_enabled=False)
    tab.goto(address)
    tab.get_by_label("Crypto").check()
    tab.get_by_role("button", name="Pay $5.00").click()
    tab.get_by_role("heading", name="Payment is processing").wait_for()
    assert tab.get_by_text("This page cannot request the credit without JavaScript").is_visible()
    poor_emulator.clock.advance(60)
    tab.reload()
    tab.get_by_role("heading", name="Payment succeeded").wait_for()


def test_the_chosen_outcome_happens(open_tab, address):
    tab = open_tab()
    tab.goto(address)
    tab.get_by_text("Choose the result").click()
    tab.get_by_label("Result of this payment").select_option("Fails")
    tab.get_by_role("button", name="Pay $5.00").click()
    assert tab.get_by_role("alert").inner_text() == "The payment failed."


def test_a_payment_that_fails_later_may_be_paid_again(open_tab, address, poor_emulator):
    tab = open_tab()
    tab.goto(address)
    tab.get_by_label("Crypto").check()
    tab.get_by_text("Choose the result").click()
    tab.get_by_label("Result of this payment").select_option("Fails")
    tab.get_by_role("button", name="Pay $5.00").click()
    tab.get_by_role("heading", name="Payment is processing").wait_for()
    assert not tab.get_by_role("link", name="Pay again").is_visible()
    poor_emulator.clock.advance(60)
    tab.get_by_text(
        "The payment failed, because the transaction was reverted; no money was deducted.", exact=True
    ).wait_for()
    tab.get_by_role("link", name="Pay again").click()
    tab.get_by_label("Card", exact=True).check()
    tab.get_by_role("button", name="Pay $5.00").click()
    tab.get_by_role("heading", name="Payment succeeded").wait_for()


def test_the_page_can_return_to_a_page_of_the_user(open_tab, address, api):
    tab = open_tab()
    tab.goto(f"{address}&return_url={quote(api.base_url + '/health?mine=1')}")
    tab.get_by_role("button", name="Pay $5.00").click()
    tab.wait_for_url("**/health?mine=1&payment_intent=pi_*")


CONTRAST = """
() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll("body *")].filter((element) =>
    element.checkVisibility() && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return texts.map((element) => {
    const [a, b] = [light(rgb(getComputedStyle(element).color)), light(ground(element))];
    return [element.textContent.trim().slice(0, 40), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
  });
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast_in_both_colour_schemes(open_tab, address, scheme, tmp_path):
    tab = open_tab(color_scheme=scheme)
    tab.goto(address)
    tab.get_by_label("Card number").fill("4000000000000002")
    tab.get_by_role("button", name="Pay $5.00").click()
    tab.get_by_text("Choose the result").click()
    tab.get_by_text("Test cards", exact=True).click()
    tab.screenshot(path=tmp_path / f"pay-{scheme}.png", full_page=True)
    measured = tab.evaluate(CONTRAST)
    assert len(measured) > 20
    # WCAG 2.2, success criterion 1.4.3.
    assert [text for text, ratio in measured if ratio < 4.5] == []
    ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(238, 241, 245)" if scheme == "light" else "rgb(20, 23, 28)")


def test_every_field_has_a_name_for_screen_readers(open_tab, address):
    tab = open_tab()
    tab.goto(address)
    tab.get_by_text("Choose the result").click()
    unnamed = "[...document.querySelectorAll('input, select')].filter((field) => !field.labels.length)"
    assert tab.evaluate(f"{unnamed}.map((field) => field.name)") == []
    assert tab.evaluate("document.documentElement.lang") == "en"
    assert tab.get_by_role("group", name="Pay with").count() == 1


def test_a_narrow_window_needs_no_sideways_scrolling(open_tab, address):
    tab = open_tab(viewport={"width": 320, "height": 640})
    tab.goto(address)
    tab.get_by_text("Test cards", exact=True).click()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 320
