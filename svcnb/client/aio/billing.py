"""Asynchronous versions of the classes of `svcnb.client.resources.billing`. Generated."""
# Written by .ci/asynchronous.py: change the synchronous class and run `poe asynchronous`.

from __future__ import annotations

from svcnb.client.models.billing import Balance, Payment
from svcnb.client.resources.base import AsyncResource
from svcnb.client.resources.billing import (
    Method,
    balance,
    confirm,
    create_payment_intent,
    pay_page,
    publishable_key,
    top_up,
    wait,
)


class AsyncBilling(AsyncResource):
    """Credit and payments. All keys of an account share the same credit. All calls are free."""

    async def balance(self) -> Balance:
        """Returns the credit of the account."""
        return await self._do(balance())

    async def top_up(self, amount_cents: int, *, method: Method = "card", timeout: float = 600.0) -> Payment:
        """Adds credit.

        With an emulator, the local processor completes the payment, and this method returns after the service has added
        the credit. With a real service, a person must pay. This method then returns the payment with the status
        ``waiting``, and `wait` waits for the credit.

        Args:
            amount_cents: Amount in US cents, at least 500.
            method: ``card`` or ``crypto``. A crypto payment takes some minutes, depending on the chain.
            timeout: Seconds to wait for the credit.

        Raises:
            InvalidArgument: The amount is less than 500 cents.
            PaymentFailed: The processor did not collect the payment.
            TimedOut: The processor did not collect the payment in time. `wait` can still complete it.
        """
        return await self._do(top_up(amount_cents, method, timeout))

    async def create_payment_intent(self, amount_cents: int, *, method: Method = "card") -> Payment:
        """Starts a payment, which a person must then complete.

        Args:
            amount_cents: Amount in US cents, at least 500.
            method: Payment method. The service only stores it with the payment.
        """
        return await self._do(create_payment_intent(amount_cents, method))

    async def confirm(self, payment: Payment | str) -> Balance:
        """Credits a payment that the processor has collected, and returns the account's credit.

        Args:
            payment: The payment or its id, which starts with ``pi_``.

        Raises:
            BadRequest: The processor has not collected the payment yet, the service has already credited it, or it
                belongs to another account.
        """
        return await self._do(confirm(payment))

    async def wait(self, payment: Payment, *, timeout: float = 600.0) -> Payment:
        """Waits until the processor has collected a payment and the service has credited it.

        Args:
            payment: The payment that `top_up` or `create_payment_intent` returned.
            timeout: Seconds to wait.

        Raises:
            PaymentFailed: The processor did not collect the payment.
            TimedOut: The processor did not collect the payment in time.
        """
        return await self._do(wait(payment, timeout))

    async def pay_page(self, payment: Payment) -> str | None:
        """Returns the address of the local processor's page on which a person chooses the outcome of a payment.

        The address contains the payment's secret, so do not save outputs that contain the address. With a real service,
        the method returns None, because the processor has its own client library.
        """
        return await self._do(pay_page(self._session.config, payment))

    async def publishable_key(self) -> str:
        """Returns the processor's publishable key, which starts with ``pk_``. This call needs no API key."""
        return await self._do(publishable_key())
