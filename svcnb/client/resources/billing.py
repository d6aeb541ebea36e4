"""Credit and payments."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Final, Literal
from urllib.parse import urlencode

from svcnb.client.calls import Answer, Call, Flow, Noted, ask, polling, require_number
from svcnb.client.config import Config
from svcnb.client.errors import BadRequest, InvalidArgument, NotFound, NotTheApi, OutOfCredit, PaymentFailed, TimedOut
from svcnb.client.models.billing import Balance, Payment
from svcnb.client.resources.base import Resource
from svcnb.client.resources.reading import member, model, nothing
from svcnb.protocol.limits import MIN_PAYMENT_CENTS

Method = Literal["card", "crypto"]

FIRST_POLL_S: Final = 0.2
LONGEST_POLL_S: Final = 5.0


def publishable_key() -> Flow[str]:
    """Reads and returns the payment processor's publishable key."""
    return ask(
        Call("GET", attrgetter("processor_config_path"), member("publishable_key"), key=False, timeout_class="read")
    )


def balance() -> Flow[Balance]:
    """Reads and returns the balance of the account."""
    return ask(Call("GET", "/billing/balance", model(Balance), timeout_class="read"))


def create_payment_intent(amount_cents: int, method: Method) -> Flow[Payment]:
    """Starts a payment, and returns the payment with the status ``waiting``."""
    if isinstance(amount_cents, bool) or not isinstance(amount_cents, int):
        raise InvalidArgument(
            f"invalid amount {amount_cents!r}: expected an integer number of cents", hint="Pass 500 for 5 dollars."
        )
    if amount_cents < MIN_PAYMENT_CENTS:
        raise InvalidArgument(
            f"{amount_cents} cents is below the minimum payment of {MIN_PAYMENT_CENTS} cents",
            hint=f"Pay at least the minimum: svc.billing.top_up({MIN_PAYMENT_CENTS}).",
        )
    if method not in ("card", "crypto"):
        raise InvalidArgument(
            f"invalid payment method {method!r}: expected 'card' or 'crypto'",
            hint="Omit method to pay by card, or pass method='crypto'.",
        )
    key = yield from publishable_key()

    def parse(body: Any, _answer: Answer) -> Payment:
        return Payment.model_validate({**body, "amount_cents": amount_cents, "method": method, "publishable_key": key})

    body = {"amount_cents": amount_cents}
    doubt = "Create another payment. The first payment may exist, but the processor collects no money for it."
    return (yield from ask(Call("POST", "/billing/create_payment_intent", parse, body, in_doubt=doubt)))


def confirm(payment: Payment | str) -> Flow[Balance]:
    """Requests the credit for a payment that the processor has collected, and returns the balance."""
    body = {"payment_intent_id": _id(payment)}
    doubt = "Check svc.billing.balance(), because the service may have credited the payment."
    yield from ask(Call("POST", "/billing/confirm_payment", nothing, body, in_doubt=doubt))
    if isinstance(payment, Payment):
        yield _credited(payment)
    return (yield from balance())


def wait(payment: Payment, timeout: float) -> Flow[Payment]:
    """Repeats the confirmation until the service has credited the payment, and returns the payment."""
    polls = yield from polling(timeout, first=FIRST_POLL_S, longest=LONGEST_POLL_S)
    while True:
        try:
            after = yield from confirm(payment)
        except BadRequest as error:
            if _mentions(error, "credited already", "already credited"):  # the payment page has confirmed the payment
                yield _credited(payment)
                return payment.model_copy(update={"status": "credited", "balance": (yield from balance())})
            if _mentions(error, "another account", "another customer"):
                raise
            if _mentions(error, "failed", "declined", "canceled", "cancelled", "pay again", "begin another"):
                raise PaymentFailed(f"the processor did not collect the payment: {error.message}") from error
            if not (yield from polls.wait()):
                raise TimedOut(
                    f"the processor did not collect the payment within {timeout:g} s: {error.message}",
                    hint="Make the payment, then call svc.billing.wait(payment) again. A crypto payment usually takes "
                    "1 to 5 minutes.",
                ) from error
        else:
            return payment.model_copy(update={"status": "credited", "balance": after})


def top_up(amount_cents: int, method: Method, timeout: float) -> Flow[Payment]:
    """Starts and returns a payment. With an emulator, the flow also completes the payment and waits for the credit."""
    require_number(timeout)
    payment = yield from create_payment_intent(amount_cents, method)
    body = _opening(payment) | {"payment_method": payment.method}
    try:
        # Send the same request as the processor's client library in a browser. Only the service that issued the secret
        # receives the secret.
        yield from ask(Call("POST", _local(payment) + "/confirm", nothing, body, key=False))
    except (NotFound, NotTheApi):
        return payment  # with a real processor, a person must pay
    except OutOfCredit as error:  # a 402 response from the processor concerns the card, not the account
        raise PaymentFailed(f"the processor did not collect the payment: {error.message}") from error
    return (yield from wait(payment, timeout))


def pay_page(config: Config, payment: Payment) -> Flow[str | None]:
    """Returns the address of a payment's page at an emulator's processor, or None with a real service."""
    opening = _opening(payment)
    try:
        yield from ask(Call("GET", _local(payment), nothing, query=opening, key=False, timeout_class="read"))
    except (NotFound, NotTheApi):
        return None
    query = urlencode({"client_secret": opening["client_secret"]})
    return f"{config.base_url}/processor/pay/{payment.payment_intent_id}?{query}"


def _credited(payment: Payment) -> Noted:
    return Noted("payment", payment.amount_cents, "confirm_payment", reference=payment.payment_intent_id)


def _local(payment: Payment) -> str:
    # The emulator's processor always has this path, regardless of the configured name of the processor.
    return f"//processor/v1/payment_intents/{payment.payment_intent_id}"


def _opening(payment: Payment) -> dict[str, str]:
    return {"key": payment.publishable_key, "client_secret": payment.client_secret.reveal()}


def _mentions(error: BadRequest, *words: str) -> bool:
    return any(word in error.message.lower() for word in words)


def _id(payment: object) -> str:
    text = payment.payment_intent_id if isinstance(payment, Payment) else payment
    if not isinstance(text, str) or not text.startswith("pi_"):  # do not show the text, because it can be a secret
        what = "payment id" if isinstance(text, str) else f"payment of type {type(payment).__name__}"
        raise InvalidArgument(
            f"invalid {what}: expected a Payment, or an id that starts with pi_",
            hint="Pass the Payment that top_up returned, or its id.",
        )
    if "_secret_" in text:
        raise InvalidArgument(
            "expected the id of a payment, got the client secret of a payment",
            hint="Pass the part before _secret_.",
        )
    return text


class Billing(Resource):
    """Credit and payments. All keys of an account share the same credit. All calls are free."""

    def balance(self) -> Balance:
        """Returns the balance of the account: its credit or its debt."""
        return self._do(balance())

    def top_up(self, amount_cents: int, *, method: Method = "card", timeout: float = 600.0) -> Payment:
        """Adds credit to the account, and returns the payment.

        With an emulator, the local processor completes the payment, and this method returns after the service has added
        the credit. With a real service, a person must pay. Therefore, the method immediately returns the payment
        with the status ``waiting``. To wait for the credit, call `wait`.

        Args:
            amount_cents: Amount in US cents, at least 500.
            method: ``card`` or ``crypto``. A crypto payment takes some minutes, depending on the chain.
            timeout: Maximum time to wait for the credit, in seconds. With a real service, the timeout has no effect.

        Raises:
            InvalidArgument: The amount is not an integer of at least 500 cents, or the method is unknown.
            PaymentFailed: The processor did not collect the payment.
            TimedOut: The processor did not collect the payment in time. To continue waiting, call `wait`.
        """
        return self._do(top_up(amount_cents, method, timeout))

    def create_payment_intent(self, amount_cents: int, *, method: Method = "card") -> Payment:
        """Starts and returns a payment with the status ``waiting``. A person must then complete the payment.

        Args:
            amount_cents: Amount in US cents, at least 500.
            method: ``card`` or ``crypto``. The argument only sets the field ``method`` of the result.

        Raises:
            InvalidArgument: The amount is not an integer of at least 500 cents, or the method is unknown.
        """
        return self._do(create_payment_intent(amount_cents, method))

    def confirm(self, payment: Payment | str) -> Balance:
        """Requests the credit for a payment that the processor has collected, and returns the account's balance.

        Args:
            payment: The payment or its id, which starts with ``pi_``.

        Raises:
            BadRequest: The processor has not collected the payment yet, the service has already added the credit, or
                the payment belongs to another account.
        """
        return self._do(confirm(payment))

    def wait(self, payment: Payment, *, timeout: float = 600.0) -> Payment:
        """Waits until the service has added the credit of a payment, and returns the payment with status ``credited``.

        Args:
            payment: The payment that `top_up` or `create_payment_intent` returned.
            timeout: Maximum time to wait, in seconds.

        Raises:
            PaymentFailed: The processor did not collect the payment.
            TimedOut: The processor did not collect the payment in time.
            BadRequest: The payment belongs to another account.
        """
        return self._do(wait(payment, timeout))

    def pay_page(self, payment: Payment) -> str | None:
        """Returns the address of a page of the emulator, on which a person chooses the outcome of a payment.

        The address contains the payment's secret, so do not save outputs that contain the address. With a real service,
        the method returns None, because the payment processor has its own client library.
        """
        return self._do(pay_page(self._session.config, payment))

    def publishable_key(self) -> str:
        """Returns the publishable key (``pk_...``) for the payment processor's library. This call needs no API key."""
        return self._do(publishable_key())
