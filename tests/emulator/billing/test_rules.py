from __future__ import annotations

import pytest

from svcnb.emulator.billing.rules import (
    check_payment_amount,
    display,
    dollars,
    execution_cost_cents,
    payment_required,
)
from svcnb.emulator.errors import EndpointFailure
from svcnb.protocol.limits import MAX_PAYMENT_CENTS, MIN_PAYMENT_CENTS


@pytest.mark.parametrize(
    ("cents", "text"), [(0, "$0.00"), (3, "$0.03"), (500, "$5.00"), (123456, "$1234.56"), (-1, "-$0.01")]
)
def test_amounts_are_formatted_in_dollars(cents, text):
    assert dollars(cents) == text


@pytest.mark.parametrize(
    ("credit", "text"),
    [(500, "$5.00 credit"), (1, "$0.01 credit"), (0, "No credits"), (-3, "$0.03 owed"), (-1050, "$10.50 owed")],
)
def test_balances_have_the_format_of_the_service(credit, text):
    assert display(credit) == text


@pytest.mark.parametrize(("elapsed", "cents"), [(0, 1), (0.2, 1), (1, 1), (1.999, 1), (2, 2), (59.99, 59), (900, 900)])
def test_an_execution_costs_a_cent_a_whole_second_and_at_least_one(elapsed, cents):
    assert execution_cost_cents(elapsed) == cents


def test_the_402_contains_the_needed_credit_the_balance_and_the_fix():
    error = payment_required(1, 0)
    assert (error.status, error.code) == (402, "payment_required")
    assert error.message == "this call needs $0.01, but the available credit of the account is $0.00"
    assert payment_required(5, 3).message == "this call needs $0.05, but the available credit of the account is $0.03"
    assert payment_required(1, -7).message == "this call needs $0.01, but the available credit of the account is -$0.07"
    for word in ("$5.00", "card or crypto", "create_payment_intent", "confirm_payment", "balance"):
        assert word in error.fix


@pytest.mark.parametrize("amount", [MIN_PAYMENT_CENTS, 501, MAX_PAYMENT_CENTS])
def test_amounts_from_the_minimum_on_can_be_paid(amount):
    check_payment_amount(amount)


@pytest.mark.parametrize(
    ("amount", "why"),
    [
        (MIN_PAYMENT_CENTS - 1, "minimum payment is 500 cents"),
        (0, "minimum"),
        (-500, "minimum"),
        (MAX_PAYMENT_CENTS + 1, "send a smaller amount, in cents"),
        (2**63 - 1, "maximum"),
    ],
)
def test_other_amounts_get_400_with_the_bound(amount, why):
    with pytest.raises(EndpointFailure, match=why) as caught:
        check_payment_amount(amount)
    assert caught.value.status == 400
