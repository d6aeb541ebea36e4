"""HTML pages of the payment processor. The server renders the pages, so a payment needs no script.

Only the return page has a script (`widgets/src/processor_page`). The script updates the status, and sends the request
that adds the payment to the account's credit. This request has a key in a header, which an HTML form cannot send.
"""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from svcnb.emulator.billing.cards import ACCEPTED, DECLINED, DEFAULT_CARD
from svcnb.emulator.billing.intents import PAYABLE, Intent
from svcnb.emulator.billing.rules import dollars
from svcnb.emulator.errors import as_sentence

_HEADINGS: Final = {
    "requires_payment_method": "Not paid yet",
    "processing": "Payment is processing",
    "succeeded": "Payment succeeded",
    "failed": "Payment failed",
    "canceled": "Payment canceled",
}
_MESSAGES: Final = {
    "requires_payment_method": "This payment has not been paid yet.",
    "processing": "The processor is waiting for the confirmation of the payment.",
    "succeeded": "The processor has collected the payment.",
    "failed": "The payment failed. No money was deducted.",
    "canceled": "The payment was canceled. No money was deducted.",
}
# A page with a pending payment reloads at intervals.
_REFRESH: Final = '<meta http-equiv="refresh" content="3">'
_SCRIPT: Final = '<script type="module" src="./assets/page.js"></script>'
ASSETS: Final = {"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8"}


def pay_page(intent: Intent, *, action: str, crypto_delay_s: float) -> str:
    """Returns the page on which the user pays.

    Args:
        intent: An unpaid payment.
        action: URL of this page, including its query. The buttons send their forms to this URL.
        crypto_delay_s: Seconds that a crypto payment takes.
    """
    crypto = intent.method == "crypto"
    rows = [(number, f"pays ({brand})") for number, brand in ACCEPTED.items()]
    rows += [(number, as_sentence(why.message)) for number, why in DECLINED.items()]
    body = _fill(
        "pay.html",
        amount=dollars(intent.amount_cents),
        wallet=intent.wallet,
        action=action,
        card=DEFAULT_CARD,
        crypto_delay=_duration(crypto_delay_s),
        raw_alert=f'<p class="alert" role="alert">{escape(as_sentence(intent.problem))}</p>' if intent.problem else "",
        raw_card_checked="" if crypto else " checked",
        raw_crypto_checked=" checked" if crypto else "",
        raw_cards="".join(f'<option value="{number}">' for number, _ in rows),
        raw_card_rows="".join(f"<tr><td>{_grouped(number)}</td><td>{escape(what)}</td></tr>" for number, what in rows),
    )
    return _page(f"Pay {dollars(intent.amount_cents)}", body, root="..")


def settled_page(intent: Intent, *, onward: str) -> str:
    """Returns the page for a payment that is processing or has ended.

    Args:
        intent: The payment.
        onward: URL that the button "Continue" opens.
    """
    body = _fill("settled.html", onward=onward, **_facts(intent))
    head = _REFRESH if intent.status == "processing" else ""
    return _page(_HEADINGS[intent.status], body, root="..", head=head)


def return_page(intent: Intent, *, publishable_key: str) -> str:
    """Returns the page that the browser opens after a payment. On this page, the user adds the payment to the credit.

    Args:
        intent: The payment.
        publishable_key: Key with which the page's script requests the status of the payment.
    """
    body = _fill("return.html", secret=intent.client_secret, key=publishable_key, **_facts(intent))
    return _page(_HEADINGS[intent.status], body, root=".", head=_SCRIPT)


def message_page(heading: str, message: str, *, root: str) -> str:
    """Returns a page with one message. ``root`` is the relative path from the page to the processor's folder."""
    return _page(heading, f'<h1>{escape(heading)}</h1><p class="alert" role="alert">{escape(message)}</p>', root=root)


def asset(name: str) -> bytes | None:
    """Returns a static file of the pages, or None if the file does not exist or is not in `ASSETS`.

    Args:
        name: File name. The build of the front end creates the script ``page.js``.
    """
    folder = files("svcnb.emulator.billing").joinpath("static" if name.endswith(".js") else "pages")
    file = folder.joinpath(name)
    return file.read_bytes() if name in ASSETS and file.is_file() else None


def _facts(intent: Intent) -> dict[str, str]:
    credited = intent.credited_at is not None
    message = f"{dollars(intent.amount_cents)} was credited to the account." if credited else _MESSAGES[intent.status]
    return {
        "heading": _HEADINGS[intent.status],
        "amount": dollars(intent.amount_cents),
        "wallet": intent.wallet,
        "intent": intent.id,
        "state": "credited" if credited else "waiting" if intent.status in PAYABLE else intent.status,
        "message": as_sentence(intent.problem) if intent.status == "failed" and intent.problem else message,
    }


def _page(title: str, body: str, *, root: str, head: str = "") -> str:
    return _fill("layout.html", title=title, root=root, raw_body=body, raw_head=head)


def _fill(name: str, **values: str) -> str:
    """Fills a template. Escapes values, except values whose name starts with ``raw_``."""
    safe = {
        key.removeprefix("raw_"): value if key.startswith("raw_") else escape(value) for key, value in values.items()
    }
    return _template(name).substitute(safe)


@cache
def _template(name: str) -> Template:
    return Template(files("svcnb.emulator.billing").joinpath("pages", name).read_text("utf-8"))


def _grouped(number: str) -> str:
    return " ".join(number[place : place + 4] for place in range(0, len(number), 4))


def _duration(seconds: float) -> str:
    if seconds < 1:
        return "no time"
    if seconds < 100:  # noqa: PLR2004 - "60 seconds", but "2 minutes"
        return f"{seconds:g} seconds"
    return f"{seconds / 60:g} minutes"
