"""Local payment processor, which simulates payments and adds their amounts to accounts. No real money moves."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Final, TypeVar, get_args

from svcnb.emulator.billing import intents, store as books
from svcnb.emulator.billing.cards import judge
from svcnb.emulator.billing.intents import FINAL, PAYABLE, Intent, Method, Outcome, Status
from svcnb.emulator.billing.rules import check_payment_amount, dollars
from svcnb.emulator.errors import EndpointFailure
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.platform.store import Store
from svcnb.emulator.settings import Settings
from svcnb.protocol.limits import MAX_PAYMENT_DELAY_S

Word = TypeVar("Word", bound=str)

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
_METHODS: Final[tuple[Method, ...]] = get_args(Method)
_LONGEST_EMAIL: Final = 320
_REFUSED: Final = ("payment_failed", "the payment failed")
_REVERTED: Final = (
    "transaction_reverted",
    "the payment failed, because the transaction was reverted; no money was deducted",
)


class ProcessorRefusal(EndpointFailure):
    """Error response of the payment processor.

    Args:
        status: HTTP status.
        code: Machine-readable reason, for example ``resource_missing``.
        message: One clause that states the problem and the allowed values, in lower case and without a full stop.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(status, message)
        self.code = code


class Processor:
    """Payment processor of one emulator.

    Args:
        store: The database.
        clock: Clock that determines when a delayed payment is complete.
        randomness: Source of ids and client secrets.
        custody: Custody of the root secret. The publishable key is derived from the root secret.
        settings: Settings with ``crypto_delay_ms``.

    Attributes:
        publishable_key: Key for the processor's client library.
        crypto_delay_s: Confirmation time of a crypto payment, in seconds.
    """

    def __init__(
        self, *, store: Store, clock: Clock, randomness: Randomness, custody: Custody, settings: Settings
    ) -> None:
        self._store = store
        self._clock = clock
        self._randomness = randomness
        self.crypto_delay_s: float = settings.crypto_delay_ms / 1000
        self.publishable_key: str = "pk_test_" + _base62(custody.label("publishable key"), 24)

    # --- requests of the service --------------------------------------------------------------------------------

    async def ensure_customer(self, wallet: str, email: str | None = None) -> None:
        """Creates the customer for a billing wallet, or replaces the e-mail address of an existing customer.

        Args:
            wallet: Billing wallet of the customer.
            email: E-mail address. The method shortens a long address. None keeps the address of an existing customer.
        """
        await self._store.run(self._customer_work(wallet.lower(), email))

    async def create_intent(self, wallet: str, amount_cents: int) -> Intent:
        """Creates a payment with the status ``requires_payment_method``, and returns the payment.

        Raises:
            EndpointFailure: 400 if the amount is below the minimum or above the maximum.
        """
        check_payment_amount(amount_cents)
        now = self._clock.now()
        intent_id = f"pi_{self._token(24)}"
        intent = Intent(
            id=intent_id,
            wallet=wallet.lower(),
            client_secret=f"{intent_id}_secret_{self._token(25)}",
            amount_cents=amount_cents,
            created_at=now,
            updated_at=now,
        )
        customer = self._customer_work(intent.wallet, None)

        def work(connection: Connection) -> None:
            customer(connection)
            intents.add(connection, intent)

        await self._store.run(work)
        return intent

    async def credit(self, wallet: str, intent_id: str) -> int:
        """Credits a successful payment once. One transaction adds the credit and marks the payment as credited.

        Returns:
            The account's new credit, in cents.

        Raises:
            EndpointFailure: 404 if the payment does not exist. 400 if the payment belongs to another account, has not
                succeeded, or is already credited.
        """
        account, now = wallet.lower(), self._clock.now()

        def work(connection: Connection) -> int:
            intent = intents.load(connection, intent_id, now)
            if intent is None:
                raise EndpointFailure(404, _no_payment(intent_id))
            if problem := _not_creditable(intent, account):
                raise EndpointFailure(400, problem)
            reason = f"payment by {intent.method or 'card'}"
            entry = books.Entry(account, intent.amount_cents, "payment", reason, f"payment:{intent.id}", now)
            _, credit = books.post(connection, entry)
            intents.save(connection, intent._replace(credited_at=now))
            return credit

        return await self._store.run(work)

    # --- requests of a browser or of the control plane ----------------------------------------------------------

    async def find(self, intent_id: str, client_secret: str) -> Intent:
        """Returns a payment if the client secret is correct.

        Raises:
            ProcessorRefusal: 404 if the payment does not exist or has a different client secret.
        """
        return await self._change(intent_id, lambda intent: intent, client_secret)

    async def confirm(
        self, intent_id: str, client_secret: str, method: str, *, card_number: str | None = None
    ) -> Intent:
        """Confirms a payment. A card payment gets its outcome immediately, and a crypto payment after `crypto_delay_s`.

        Args:
            intent_id: Id of the payment.
            client_secret: Secret of the payment.
            method: ``card`` or ``crypto``.
            card_number: Number of a test card (see `cards`). None means the default card, which is accepted.

        Returns:
            The payment. After a declined card, the status of the payment is ``failed``, and the payment contains the
            reason.

        Raises:
            ProcessorRefusal: 404 as in `find`. 400 if the payment can no longer be paid, or the method is unknown.
        """
        declined = judge(card_number) if method == "card" else None
        return await self.attempt(
            intent_id,
            client_secret,
            method,
            outcome="failed" if declined else "succeeded",
            delay_s=self.crypto_delay_s if method == "crypto" else 0.0,
            problem=(declined.code, declined.message) if declined else None,
        )

    async def attempt(
        self,
        intent_id: str,
        client_secret: str,
        method: str,
        *,
        outcome: str,
        delay_s: float,
        problem: tuple[str, str] | None = None,
    ) -> Intent:
        """Confirms a payment like `confirm`, but with a chosen outcome and delay. Returns the payment.

        Args:
            intent_id: Id of the payment.
            client_secret: Secret of the payment.
            method: ``card`` or ``crypto``.
            outcome: ``succeeded``, ``failed``, or ``processing`` (until a call of `set_outcome`).
            delay_s: Seconds of processing before the outcome, by the emulator's clock.
            problem: Code and reason of a failure. None means the default reason of the payment method.

        Raises:
            ProcessorRefusal: 404 as in `find`. 400 if the payment can no longer be paid, or if the method, the outcome
                or the delay is invalid.
        """
        how: Method = _one_of("method", method, _METHODS)
        end: Outcome = _one_of("outcome", outcome, _OUTCOMES)
        now = self._clock.now()
        why = problem or (_REVERTED if method == "crypto" else _REFUSED)

        def change(intent: Intent) -> Intent:
            if intent.status not in PAYABLE:
                raise _wrong_status(intent, "the payment cannot be confirmed", PAYABLE)
            return intent.attempt(end, method=how, now=now, delay_s=_delay(delay_s), problem=why)

        return await self._change(intent_id, change, client_secret)

    async def cancel(self, intent_id: str, client_secret: str) -> Intent:
        """Cancels a payment, and returns the canceled payment.

        Raises:
            ProcessorRefusal: 404 as in `find`. 400 if the payment is processing, has succeeded or is canceled.
        """
        now = self._clock.now()

        def change(intent: Intent) -> Intent:
            if intent.status not in PAYABLE:
                raise _wrong_status(intent, "the payment cannot be canceled", PAYABLE)
            return intent._replace(
                status="canceled", becomes=None, due_at=None, problem_code=None, problem=None, updated_at=now
            )

        return await self._change(intent_id, change, client_secret)

    async def set_outcome(self, intent_id: str, outcome: str, delay_ms: int = 0) -> Intent:
        """Sets the outcome of a payment, even if the payment is already processing. Returns the payment.

        Args:
            intent_id: Id of the payment.
            outcome: ``succeeded``, ``failed``, or ``processing`` (until the next call of this method).
            delay_ms: Milliseconds of processing before the outcome, by the emulator's clock.

        Raises:
            ProcessorRefusal: 404 if the payment does not exist. 400 if the payment already has another final status, or
                if the outcome or the delay is invalid.
        """
        end: Outcome = _one_of("outcome", outcome, _OUTCOMES)
        now = self._clock.now()

        def change(intent: Intent) -> Intent:
            if intent.status == end and intent.status in FINAL:
                return intent
            if intent.status in FINAL:
                raise _wrong_status(
                    intent, "the outcome of the payment cannot be changed", frozenset[Status]({*PAYABLE, "processing"})
                )
            method = intent.method or "card"
            why = _REVERTED if method == "crypto" else _REFUSED
            return intent.attempt(end, method=method, now=now, delay_s=_delay(delay_ms / 1000), problem=why)

        return await self._change(intent_id, change)

    # ------------------------------------------------------------------------------------------------------------

    async def _change(
        self, intent_id: str, change: Callable[[Intent], Intent], client_secret: str | None = None
    ) -> Intent:
        now = self._clock.now()

        def work(connection: Connection) -> Intent:
            intent = intents.load(connection, intent_id, now)
            if client_secret is None and intent is None:
                raise ProcessorRefusal(404, "resource_missing", _no_payment(intent_id))
            if intent is None or (client_secret is not None and not _same(client_secret, intent.client_secret)):
                # Raise the same error in both cases, so that a caller without the secret cannot find out whether a
                # payment exists.
                raise ProcessorRefusal(
                    404,
                    "resource_missing",
                    f"no payment {intent_id[:80]!r} has this client secret: send the payment_intent_id and the "
                    "client_secret from one response of create_payment_intent",
                )
            changed = change(intent)
            if changed is not intent:
                intents.save(connection, changed)
            return changed

        return await self._store.run(work)

    def _customer_work(self, wallet: str, email: str | None) -> Callable[[Connection], None]:
        id_, now = f"cus_{self._token(14)}", self._clock.now()
        if email is not None:
            # JSON strings can contain characters that databases cannot store.
            email = email.encode("utf-8", "replace").decode().replace("\0", "").strip()[:_LONGEST_EMAIL] or None
        return lambda connection: intents.ensure_customer(connection, wallet, id_=id_, email=email, now=now)

    def _token(self, length: int) -> str:
        return _base62(self._randomness.bytes(32, "processor"), length)


def _no_payment(intent_id: str) -> str:
    return f"there is no payment {intent_id[:80]!r}: send the payment_intent_id from create_payment_intent"


def _not_creditable(intent: Intent, account: str) -> str | None:
    if intent.wallet != account:
        return "this payment belongs to another account: send a key of the account that created the payment"
    if intent.credited_at is not None:
        return (
            f"this payment of {dollars(intent.amount_cents)} is already credited; GET billing/balance shows the credit"
        )
    return {
        "requires_payment_method": "this payment has not been paid yet: pay at the processor, then confirm the payment",
        "processing": "this payment is still processing: confirm the payment later (crypto can take several minutes)",
        "failed": f"{intent.problem or 'the payment failed'}; pay again, or create another payment",
        "canceled": "this payment was canceled: create another payment",
        "succeeded": None,
    }[intent.status]


def _wrong_status(intent: Intent, effect: str, allowed: frozenset[Status]) -> ProcessorRefusal:
    text = f"the status of this payment is {intent.status}, so {effect}: the status must be "
    return ProcessorRefusal(400, "payment_intent_unexpected_state", text + " or ".join(sorted(allowed)))


def _one_of(what: str, value: str, allowed: tuple[Word, ...]) -> Word:
    for known in allowed:
        if known == value:
            return known
    raise ProcessorRefusal(400, "parameter_invalid", f"invalid {what} {value[:60]!r}: use {' or '.join(allowed)}")


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


def _delay(seconds: float) -> float:
    if not 0 <= seconds <= MAX_PAYMENT_DELAY_S:
        raise ProcessorRefusal(
            400, "parameter_invalid", f"invalid delay of {seconds:g} s: use a delay from 0 to {MAX_PAYMENT_DELAY_S} s"
        )
    return seconds


def _base62(data: bytes, length: int) -> str:
    # 32 bytes contain 42 digits of base 62, so up to 42 digits have a nearly uniform distribution.
    number = int.from_bytes(data, "big")
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)
