"""The test cards of the local processor. No real card number is ever accepted, kept or repeated."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

DEFAULT_CARD: Final = "4242424242424242"


class Declined(NamedTuple):
    """Reason why a card does not pay.

    Attributes:
        code: For programs.
        message: For people.
    """

    code: str
    message: str


ACCEPTED: Final = {
    DEFAULT_CARD: "Visa",
    "5555555555554444": "Mastercard",
    "378282246310005": "American Express",
    "6011111111111117": "Discover",
}
"""Numbers that pay, known from the test modes of card processors."""

DECLINED: Final = {
    "4000000000000002": Declined("card_declined", "The card was declined."),
    "4000000000009995": Declined("insufficient_funds", "The card was declined: it has insufficient funds."),
    "4000000000000069": Declined("expired_card", "The card was declined: it has expired."),
    "4000000000000127": Declined("incorrect_cvc", "The card was declined: its security code is incorrect."),
    "4000000000000119": Declined("processing_error", "The card was declined: an error occurred while processing it."),
}
"""Numbers that fail, each for another reason."""

_SEPARATORS = re.compile(r"[\s-]+")


def judge(number: str | None) -> Declined | None:
    """Whether a card pays.

    Args:
        number: Card number, blanks and dashes ignored; None is a card that pays.

    Returns:
        None, or the reason why it does not pay.
    """
    digits = _SEPARATORS.sub("", number or DEFAULT_CARD)
    if digits in ACCEPTED:
        return None
    if digits in DECLINED:
        return DECLINED[digits]
    if not (digits.isascii() and digits.isdigit() and 12 <= len(digits) <= 19 and _luhn(digits)):  # noqa: PLR2004 - ISO/IEC 7812
        return Declined("incorrect_number", "The card was declined: this is no card number.")
    return Declined(
        "test_mode_card_required",
        "The card was declined: this processor moves no money and takes test cards only. Never type a real card number "
        f"here; use {DEFAULT_CARD}.",
    )


def _luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B."""
    doubled = (int(digit) * (1 + (place + len(digits)) % 2) for place, digit in enumerate(digits, 1))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0  # noqa: PLR2004 - two digits are added up
