"""Credit and payments."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Final, Literal

from svcnb.client.calls import Answer, Call, Flow, ask, now, pause
from svcnb.client.errors import BadRequest, InvalidArgument, NotFound, NotTheApi, PaymentFailed, TimedOut
from svcnb.client.models.billing import Balance, Payment
from svcnb.client.resources.base import AsyncResource, Resource, member, mirrors, model, nothing
from svcnb.protocol.limits import MIN_PAYMENT_CENTS

Method = Literal["card", "crypto"]

FIRST_POLL_S: Final = 0.2
LONGEST_POLL_S: Final = 5.0


def processor_config() -> Flow[str]:
    """Asks for the processor's publishable key."""
    return ask(Call("GET", attrgetter("processor_config_path"), member("publishable_key"), key=False, patience="read"))


def balance() -> Flow[Balance]:
    """Asks for the credit."""
    return ask(Call("GET", "/billing/balance", model(Balance), patience="read"))


def create_payment_intent(amount_cents: int, method: Method) -> Flow[Payment]:
    """Begins a payment."""
    if isinstance(amount_cents, bool) or not isinstance(amount_cents, int):
        raise InvalidArgument(
            f"an amount is a whole number of cents, not {amount_cents!r}", hint="5 dollars are 500 cents."
        )
    if amount_cents < MIN_PAYMENT_CENTS:
        raise InvalidArgument(
            f"{amount_cents} cents are less than the smallest payment, {MIN_PAYMENT_CENTS} cents",
            hint=f"svc.billing.top_up({MIN_PAYMENT_CENTS})",
        )
    if method not in ("card", "crypto"):
        raise InvalidArgument(f"{method!r} is no way to pay", hint="Use 'card' or 'crypto'.")
    key = yield from processor_config()

    def parse(body: Any, _answer: Answer) -> Payment:
        return Payment.model_validate({**body, "amount_cents": amount_cents, "method": method, "publishable_key": key})

    return (
        yield from ask(
            Call(
                "POST",
                "/billing/create_payment_intent",
                parse,
                {"amount_cents": amount_cents},
                in_doubt="a payment may have been begun. Nothing is collected until somebody pays it: begin another.",
            )
        )
    )


def confirm(payment: Payment | str) -> Flow[Balance]:
    """Asks the service to credit a payment that the processor has collected, then reads the credit."""
    yield from ask(
        Call(
            "POST",
            "/billing/confirm_payment",
            nothing,
            {"payment_intent_id": _id(payment)},
            in_doubt="the payment may be credited already; svc.billing.balance() shows it.",
        )
    )
    return (yield from balance())


def wait(payment: Payment, timeout: float) -> Flow[Payment]:
    """Tries to confirm until the payment is credited."""
    begun, _ = yield from now()
    delay = FIRST_POLL_S
    while True:
        try:
            after = yield from confirm(payment)
        except BadRequest as error:
            here, _ = yield from now()
            if _failed(error.message):
                raise PaymentFailed(f"the payment was not collected: {error.message}") from error
            if here - begun >= timeout:
                raise TimedOut(
                    f"the payment was not collected within {timeout:g} s: {error.message}",
                    hint="Pay it, then call svc.billing.wait(payment) again; a crypto payment may take 5 minutes.",
                ) from error
        else:
            return payment.model_copy(update={"status": "credited", "balance": after})
        yield from pause(min(delay, max(0.0, timeout - (here - begun))))
        delay = min(delay * 2, LONGEST_POLL_S)


def top_up(amount_cents: int, method: Method, timeout: float) -> Flow[Payment]:
    """Begins a payment; where a local processor stands beside the service, pays it there and waits for the credit."""
    payment = yield from create_payment_intent(amount_cents, method)
    try:
        yield from _pay_locally(payment)
    except (NotFound, NotTheApi):
        return payment  # a real processor: a person pays
    return (yield from wait(payment, timeout))


def _pay_locally(payment: Payment) -> Flow[None]:
    # What the processor's client library does in the browser. The secret goes to the service that issued it.
    body = {
        "key": payment.publishable_key,
        "client_secret": payment.client_secret.reveal(),
        "payment_method": payment.method,
    }
    path = f"//processor/v1/payment_intents/{payment.payment_intent_id}/confirm"
    return ask(Call("POST", path, nothing, body, key=False))


def _failed(message: str) -> bool:
    return any(word in message.lower() for word in ("failed", "canceled", "cancelled", "declined"))


def _id(payment: object) -> str:
    text = payment.payment_intent_id if isinstance(payment, Payment) else payment
    if not isinstance(text, str) or not text.startswith("pi_"):
        raise InvalidArgument(
            "this is no payment", hint="Pass the Payment that top_up returned, or its id, which starts with pi_."
        )
    if "_secret_" in text:
        raise InvalidArgument(
            "this is the client secret of a payment, and its id is wanted here",
            hint="The id is the part before _secret_.",
        )
    return text


class Billing(Resource):
    """Credit and payments. All keys of an account share one credit; all calls here are free."""

    def balance(self) -> Balance:
        """Returns the credit of the account."""
        return self._do(balance())

    def top_up(self, amount_cents: int, *, method: Method = "card", timeout: float = 600.0) -> Payment:
        """Adds credit.

        Beside an emulator the payment is made at its local processor, and this returns once it is credited. Beside a
        real service a person must pay: this returns the payment with status ``waiting``, and `wait` finishes it.

        Args:
            amount_cents: Cents, at least 500.
            method: ``card`` or ``crypto``; crypto takes the minutes that its chain takes.
            timeout: Seconds to wait for the credit.

        Raises:
            InvalidArgument: Less than 500 cents.
            PaymentFailed: The processor did not collect it.
            TimedOut: It was not collected in time; the payment may still be waited for.
        """
        return self._do(top_up(amount_cents, method, timeout))

    def create_payment_intent(self, amount_cents: int, *, method: Method = "card") -> Payment:
        """Begins a payment without paying it.

        Args:
            amount_cents: Cents, at least 500.
            method: How it will be paid; only remembered.
        """
        return self._do(create_payment_intent(amount_cents, method))

    def confirm(self, payment: Payment | str) -> Balance:
        """Credits a payment that the processor has collected, and returns the credit.

        Args:
            payment: The payment or its id, which starts with ``pi_``.

        Raises:
            BadRequest: Not collected yet, credited already, or another account's.
        """
        return self._do(confirm(payment))

    def wait(self, payment: Payment, *, timeout: float = 600.0) -> Payment:
        """Waits until a payment is collected and credited.

        Args:
            payment: The payment that `top_up` or `create_payment_intent` returned.
            timeout: Seconds to wait.

        Raises:
            PaymentFailed: The processor did not collect it.
            TimedOut: It was not collected in time.
        """
        return self._do(wait(payment, timeout))

    def processor_config(self) -> str:
        """Returns the processor's publishable key, starts with ``pk_``. No key needed."""
        return self._do(processor_config())


@mirrors(Billing)
class AsyncBilling(AsyncResource):
    """The asynchronous twin of `Billing`."""

    async def balance(self) -> Balance:
        """See `Billing.balance`."""
        return await self._do(balance())

    async def top_up(self, amount_cents: int, *, method: Method = "card", timeout: float = 600.0) -> Payment:  # noqa: ASYNC109 - the time of the payment, not of the call
        """See `Billing.top_up`."""
        return await self._do(top_up(amount_cents, method, timeout))

    async def create_payment_intent(self, amount_cents: int, *, method: Method = "card") -> Payment:
        """See `Billing.create_payment_intent`."""
        return await self._do(create_payment_intent(amount_cents, method))

    async def confirm(self, payment: Payment | str) -> Balance:
        """See `Billing.confirm`."""
        return await self._do(confirm(payment))

    async def wait(self, payment: Payment, *, timeout: float = 600.0) -> Payment:  # noqa: ASYNC109 - as above
        """See `Billing.wait`."""
        return await self._do(wait(payment, timeout))

    async def processor_config(self) -> str:
        """See `Billing.processor_config`."""
        return await self._do(processor_config())
