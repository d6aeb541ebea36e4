"""Test cards of the local processor. The processor rejects real card numbers, and never stores or repeats them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

DEFAULT_CARD: Final = "4242424242424242"


class Declined(NamedTuple):
    """Reason for a declined card.

    Attributes:
        code: Machine-readable code, for example ``card_declined``.
        message: One clause for the user, in lower case and without a full stop.
    """

    code: str
    message: str


ACCEPTED: Final = {
    DEFAULT_CARD: "Visa",
    "5555555555554444": "Mastercard",
    "378282246310005": "American Express",
    "6011111111111117": "Discover",
}
"""Accepted numbers with their brands. Card processors use these numbers in their test modes."""

DECLINED: Final = {
    "4000000000000002": Declined("card_declined", "the card was declined"),
    "4000000000009995": Declined("insufficient_funds", "the card was declined: it has insufficient funds"),
    "4000000000000069": Declined("expired_card", "the card was declined: it has expired"),
    "4000000000000127": Declined("incorrect_cvc", "the card was declined: its security code is incorrect"),
    "4000000000000119": Declined("processing_error", "the card was declined: an error occurred while processing it"),
}
"""Test numbers that the processor declines, each with the reason for the decline."""

_SEPARATORS = re.compile(r"[\s-]+")


def judge(number: str | None) -> Declined | None:
    """Checks a card number.

    Args:
        number: Card number. The check ignores spaces and dashes. None means `DEFAULT_CARD`, which is accepted.

    Returns:
        The reason why the processor declines the card, or None if it accepts the card.
    """
    digits = _SEPARATORS.sub("", number or DEFAULT_CARD)
    if digits in ACCEPTED:
        return None
    if digits in DECLINED:
        return DECLINED[digits]
    if not (digits.isascii() and digits.isdigit() and 12 <= len(digits) <= 19 and _luhn(digits)):  # noqa: PLR2004 - ISO/IEC 7812
        return Declined("incorrect_number", "the card was declined: the card number is invalid")
    return Declined(
        "test_mode_card_required",
        (
            "the card was declined, because this processor moves no money and accepts only test cards: use "
            f"{DEFAULT_CARD}, and never enter a real card number"
        ),
    )


def _luhn(digits: str) -> bool:
    """Returns whether the check digit is correct (ISO/IEC 7812-1, annex B)."""
    doubled = (int(digit) * (1 + (place + len(digits)) % 2) for place, digit in enumerate(digits, 1))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0  # noqa: PLR2004 - the digits of a two-digit number are added
