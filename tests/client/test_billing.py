from __future__ import annotations

import json
import math

import httpx
import pytest

from svcnb.client import errors
from svcnb.client.calls import Answer, Call
from svcnb.client.config import Config
from svcnb.client.models.billing import Balance, Payment, dollars
from svcnb.client.request import build, failure
from svcnb.client.resources.reading import nothing

INTENT = {"payment_intent_id": "pi_1", "client_secret": "pi_1_secret_abc"}
UNPAID = "this payment has not been paid yet"


class Service:
    """Simulated service that credits a payment after some rejections, with or without a local processor."""

    def __init__(self, refusals=(), *, local: int = 404) -> None:
        self.refusals, self.local = list(refusals), local
        self.paths: list[str] = []
        self.paid: dict[str, str] = {}

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/core/v1")
        self.paths.append(path)
        if path.startswith("/processor/"):
            assert "x-api-key" not in request.headers
            if request.method == "POST":
                self.paid = json.loads(request.content)
            body = {"error": {"type": "card_error", "code": "declined", "message": "The card was declined."}}
            return httpx.Response(self.local, json=body if self.local != 200 else {"status": "succeeded"})
        if path == "/billing/confirm_payment" and self.refusals:
            return httpx.Response(400, json=self.refusals.pop(0))
        answers = {
            "/billing/processor_config": {"publishable_key": "pk_1"},
            "/billing/create_payment_intent": INTENT,
            "/billing/confirm_payment": {"success": True},
            "/billing/balance": {"balance_cents": -500, "balance_display": "$5.00 credit"},
        }
        return httpx.Response(200, json=answers[path])


def test_with_a_local_processor_top_up_pays_and_adds_credit(scripted) -> None:
    service = Service(local=200)
    payment = scripted(service, api_key="a2V5").billing.top_up(500, method="crypto")
    assert repr(payment) == "Payment($5.00 by crypto, credited, balance='$5.00 credit')"
    assert service.paid == {"key": "pk_1", "client_secret": "pi_1_secret_abc", "payment_method": "crypto"}


def test_with_a_real_service_a_person_pays(scripted) -> None:
    svc = scripted(Service())
    payment = svc.billing.top_up(500)
    assert (payment.status, payment.balance) == ("waiting", None)
    assert svc.billing.pay_page(payment) is None
    assert svc.billing.wait(payment).status == "credited"


def test_only_a_local_processor_has_a_payment_page(scripted) -> None:
    svc = scripted(Service(local=200))
    payment = svc.billing.create_payment_intent(500)
    assert svc.billing.pay_page(payment) == "http://service.test/processor/pay/pi_1?client_secret=pi_1_secret_abc"


def test_a_declined_card_does_not_raise_out_of_credit(scripted) -> None:
    with pytest.raises(errors.PaymentFailed, match="The card was declined"):
        scripted(Service(local=402)).billing.top_up(500)


def test_wait_returns_when_the_payment_is_credited(scripted) -> None:
    service = Service([UNPAID, "this payment is still processing"], local=200)
    assert scripted(service).billing.top_up(500).status == "credited"
    assert service.paths.count("/billing/confirm_payment") == 3


def test_a_payment_that_the_return_page_credited_counts_as_credited(scripted) -> None:
    payment = scripted(Service(["This payment has been credited already, $5.00."], local=200)).billing.top_up(500)
    assert (payment.status, payment.balance) == (
        "credited",
        Balance(balance_cents=-500, balance_display="$5.00 credit"),
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (
            "the payment failed: the transaction was reverted; pay again, or create another payment",
            errors.PaymentFailed,
        ),
        ("this payment was canceled: create another payment", errors.PaymentFailed),
        ("this payment belongs to another account", errors.BadRequest),
    ],
)
def test_wait_ends_when_a_payment_can_no_longer_succeed(scripted, text: str, kind) -> None:
    service = Service([text] * 3)
    svc = scripted(service)
    with pytest.raises(kind, match=text[:20]):
        svc.billing.wait(svc.billing.top_up(500))
    assert len(service.refusals) == 2


def test_wait_for_a_payment_has_a_timeout(scripted) -> None:
    svc = scripted(Service([UNPAID] * 9))
    with pytest.raises(errors.TimedOut, match="did not collect the payment within 0 s") as caught:
        svc.billing.wait(svc.billing.top_up(500), timeout=0)
    assert "svc.billing.wait" in caught.value.hint


@pytest.mark.parametrize("amount", [499, 0, -500, 5.0, "500", True])
def test_an_invalid_amount_is_rejected_before_sending(scripted, amount) -> None:
    service = Service()
    with pytest.raises(errors.InvalidArgument):
        scripted(service).billing.top_up(amount)
    assert service.paths == []


def test_an_unknown_payment_method_is_rejected(scripted) -> None:
    with pytest.raises(errors.InvalidArgument, match="cheque"):
        scripted(Service()).billing.top_up(500, method="cheque")


@pytest.mark.parametrize("wrong", ["", "in_1", "pi_1_secret_abc", 5])
def test_confirm_rejects_a_value_that_is_not_a_payment(scripted, wrong) -> None:
    with pytest.raises(errors.InvalidArgument) as caught:
        scripted(Service()).billing.confirm(wrong)
    assert "pi_1_secret_abc" not in str(caught.value)


@pytest.mark.parametrize(
    ("cents", "available", "owed"), [(-500, 500, 0), (0, 0, 0), (3, 0, 3)], ids=["credit", "none", "debt"]
)
def test_a_negative_balance_of_the_processor_is_credit(cents: int, available: int, owed: int) -> None:
    balance = Balance(balance_cents=cents)
    assert (balance.available_cents, balance.owed_cents) == (available, owed)


@pytest.mark.parametrize(("cents", "text"), [(0, "$0.00"), (5, "$0.05"), (12345, "$123.45"), (-7, "-$0.07")])
def test_cents_are_displayed_in_dollars(cents: int, text: str) -> None:
    assert dollars(cents) == text


def test_no_error_contains_the_secret_of_a_payment(scripted) -> None:
    payment = Payment(amount_cents=500, payment_intent_id="pi_1", client_secret="pi_1_secret_abc", publishable_key="pk")
    with pytest.raises(errors.InternalError) as caught:
        scripted(lambda _: httpx.Response(500, json="x")).billing.pay_page(payment)
    assert "secret_abc" not in str(caught.value) + repr(vars(caught.value))


def test_an_error_about_a_response_contains_the_path_without_the_query() -> None:
    call = Call("GET", "/x", nothing, query={"client_secret": "pi_1_secret_abc"})
    request = build(call, Config("http://h"))
    answer = Answer(status=500, headers={}, content=b"<html>", sent_at=0.0, elapsed=0.0)
    error = failure(answer, Config("http://h"), request, call)
    assert "GET http://h/core/v1/x (status 500) is not JSON" in str(error)
    assert "secret_abc" not in str(error)


def test_a_timeout_that_is_not_a_number_is_rejected_before_a_payment_starts(scripted) -> None:
    service = Service()
    with pytest.raises(errors.InvalidArgument, match="invalid duration nan"):
        scripted(service, api_key="a2V5").billing.top_up(500, timeout=math.nan)
    assert service.paths == []
