from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from svcnb.emulator.billing.cards import ACCEPTED, DECLINED, judge


@pytest.mark.parametrize(
    "number",
    [None, "", "4242424242424242", "4242 4242 4242 4242", "4242-4242-4242-4242", "378282246310005", "5555555555554444"],
)
def test_the_usual_test_cards_are_accepted(number):
    assert judge(number) is None


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("4000000000000002", "card_declined"),
        ("4000 0000 0000 9995", "insufficient_funds"),
        ("4000000000000069", "expired_card"),
        ("4000000000000127", "incorrect_cvc"),
        ("4000000000000119", "processing_error"),
        ("4242424242424241", "incorrect_number"),  # wrong check digit
        ("42", "incorrect_number"),
        ("not a number", "incorrect_number"),
        ("٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢", "incorrect_number"),  # digits of another script than ASCII
        ("4111111111111111", "test_mode_card_required"),
        ("79927398713000", "incorrect_number"),
        ("7992739871327", "incorrect_number"),
        ("4012888888881881", "test_mode_card_required"),
    ],
)
def test_every_other_number_is_declined_for_its_reason(number, code):
    declined = judge(number)
    assert declined is not None
    assert declined.code == code
    assert declined.message[0].islower()
    assert declined.message[-1] not in ".;"
    assert ". " not in declined.message


@given(st.from_regex(r"[0-9]{12,19}", fullmatch=True))
def test_a_number_that_might_be_a_real_card_never_pays_and_is_never_repeated(number):
    declined = judge(number)
    if number in ACCEPTED:
        assert declined is None
    else:
        assert declined is not None
        assert number not in declined.message


def test_all_listed_cards_have_a_valid_check_digit():
    # Simple implementation of ISO/IEC 7812-1, annex B.
    for number in [*ACCEPTED, *DECLINED]:
        total = 0
        for place, digit in enumerate(reversed(number)):
            value = int(digit) * (2 if place % 2 else 1)
            total += sum(map(int, str(value)))
        assert total % 10 == 0, number
