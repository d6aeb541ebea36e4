"""Local payment processor: creates payments, simulates them, and credits them to accounts. No money moves anywhere."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Final, TypeVar, get_args

from svcnb.emulator.billing import intents, store as books
from svcnb.emulator.billing.cards import judge
from svcnb.emulator.billing.intents import FINAL, PAYABLE, Intent, Method, Outcome
from svcnb.emulator.billing.rules import check_payment_amount, dollars
from svcnb.emulator.errors import EndpointFailure
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.database import Connection
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.platform.store import Store
from svcnb.emulator.settings import Settings

Word = TypeVar("Word", bound=str)

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
_METHODS: Final[tuple[Method, ...]] = get_args(Method)
_LONGEST_DELAY_S: Final = 30 * 24 * 3600
_LONGEST_EMAIL: Final = 320
_REFUSED: Final = ("payment_failed", "The payment failed.")
_REVERTED: Final = ("transaction_reverted", "The payment failed: the transaction was reverted. Nothing was deducted.")


class ProcessorRefusal(EndpointFailure):
    """The processor refuses a request.

    Args:
        status: HTTP status.
        code: For programs.
        message: For people.
        kind: Group of the code: ``invalid_request_error`` or ``card_error``.
    """

    def __init__(self, status: int, code: str, message: str, kind: str = "invalid_request_error") -> None:
        super().__init__(status, message)
        self.code = code
        self.kind = kind


class Processor:
    """Payments of one emulator.

    Args:
        store: The database.
        clock: Decides when a delayed payment is complete.
        randomness: Source of ids and client secrets.
        custody: Identifies this emulator in the publishable key.
        settings: ``crypto_delay_ms``.
    """

    def __init__(
        self, *, store: Store, clock: Clock, randomness: Randomness, custody: Custody, settings: Settings
    ) -> None:
        self._store = store
        self._clock = clock
        self._randomness = randomness
        self._crypto_delay_s = settings.crypto_delay_ms / 1000
        self.publishable_key = "pk_test_" + _base62(custody.label("publishable key"), 24)

    @property
    def crypto_delay_s(self) -> float:
        """Seconds that a crypto payment takes to be confirmed."""
        return self._crypto_delay_s

    # --- requests of the service --------------------------------------------------------------------------------

    async def ensure_customer(self, wallet: str, email: str | None = None) -> None:
        """Creates the customer of a billing wallet, unless it exists. A new email replaces the existing one."""
        work = self._customer_work(wallet.lower(), email)
        await self._store.run(work)

    async def create_intent(self, wallet: str, amount_cents: int) -> Intent:
        """Begins a payment.

        Raises:
            EndpointFailure: 400, the amount is below the minimum or too large.
        """
        check_payment_amount(amount_cents)
        now = self._clock.now()
        intent_id = f"pi_{self._token(24)}"
        intent = Intent(
            id=intent_id,
            wallet=wallet.lower(),
            client_secret=f"{intent_id}_secret_{self._token(25)}",
            amount_cents=amount_cents,
            status="requires_payment_method",
            method=None,
            becomes=None,
            due_at=None,
            problem_code=None,
            problem=None,
            created_at=now,
            updated_at=now,
            credited_at=None,
        )
        customer = self._customer_work(intent.wallet, None)

        def work(connection: Connection) -> None:
            customer(connection)
            intents.add(connection, intent)

        await self._store.run(work)
        return intent

    async def credit(self, wallet: str, intent_id: str) -> int:
        """Credits a payment that has succeeded, once, in one transaction with marking it so.

        Args:
            wallet: Billing wallet of the calling account.
            intent_id: The payment.

        Returns:
            The account's credit in cents afterwards.

        Raises:
            EndpointFailure: 404 there is no such payment; 400 it is another account's, has not succeeded, or has been
                credited.
        """
        account, now = wallet.lower(), self._clock.now()

        def work(connection: Connection) -> int:
            intent = intents.load(connection, intent_id, now)
            if intent is None:
                raise EndpointFailure(
                    404, "No such payment. The payment_intent_id is what create_payment_intent returned."
                )
            if problem := _not_creditable(intent, account):
                raise EndpointFailure(400, problem)
            reason = f"payment by {intent.method or 'card'}"
            entry = books.Entry(account, intent.amount_cents, "payment", reason, f"payment:{intent.id}", now)
            _, credit = books.post(connection, entry)
            intents.save(connection, intent._replace(credited_at=now))
            return credit

        return await self._store.run(work)

    # --- actions of a browser, a person or a teacher ------------------------------------------------------------

    async def find(self, intent_id: str, client_secret: str) -> Intent:
        """A payment, for the holder of its client secret.

        Raises:
            ProcessorRefusal: 404 the payment does not exist, or the secret is not its own.
        """
        return await self._change(intent_id, lambda intent: intent, client_secret)

    async def confirm(
        self, intent_id: str, client_secret: str, method: str, *, card_number: str | None = None
    ) -> Intent:
        """Pays, as a processor's browser library would: a card at once, crypto after its delay.

        Args:
            intent_id: The payment.
            client_secret: Its secret.
            method: ``card`` or ``crypto``.
            card_number: A test card, see `cards`; None is a card that pays.

        Returns:
            The payment. If the card was declined, the payment has failed and contains the reason.

        Raises:
            ProcessorRefusal: 404 as in `find`; 400 it cannot be paid (any more), or the method is unknown.
        """
        declined = judge(card_number) if method == "card" else None
        return await self.attempt(
            intent_id,
            client_secret,
            method,
            outcome="failed" if declined else "succeeded",
            delay_s=self._crypto_delay_s if method == "crypto" else 0.0,
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
        """Pays with a chosen outcome and delay; otherwise as `confirm`.

        Args:
            intent_id: The payment.
            client_secret: Its secret.
            method: ``card`` or ``crypto``.
            outcome: Its final status.
            delay_s: Seconds that it is processing first.
            problem: Code and text of a failure, None for the ordinary ones.
        """
        how, end = _one_of("method", method, _METHODS), _one_of("outcome", outcome, _OUTCOMES)
        now = self._clock.now()
        why = problem or (_REVERTED if method == "crypto" else _REFUSED)

        def change(intent: Intent) -> Intent:
            if intent.status not in PAYABLE:
                raise ProcessorRefusal(
                    400, "payment_intent_unexpected_state", f"This payment is {intent.status} and cannot be paid again."
                )
            return intent.attempt(end, method=how, now=now, delay_s=_delay(delay_s), problem=why)

        return await self._change(intent_id, change, client_secret)

    async def cancel(self, intent_id: str, client_secret: str) -> Intent:
        """Cancels a payment.

        Raises:
            ProcessorRefusal: 404 as in `find`; 400 it is being processed or has ended.
        """
        now = self._clock.now()

        def change(intent: Intent) -> Intent:
            if intent.status not in PAYABLE:
                raise ProcessorRefusal(
                    400, "payment_intent_unexpected_state", f"This payment is {intent.status} and cannot be canceled."
                )
            return intent.canceled(now)

        return await self._change(intent_id, change, client_secret)

    async def set_outcome(self, intent_id: str, outcome: str, delay_ms: int = 0) -> Intent:
        """Sets the outcome of a payment for the control plane, regardless of earlier choices.

        Args:
            intent_id: The payment.
            outcome: ``succeeded``, ``failed`` or ``processing`` (until decided again).
            delay_ms: Milliseconds of the emulator's clock that it is processing first.

        Raises:
            ProcessorRefusal: 404 there is no such payment; 400 it has ended otherwise, or the outcome is unknown.
        """
        end = _one_of("outcome", outcome, _OUTCOMES)
        now = self._clock.now()

        def change(intent: Intent) -> Intent:
            if intent.status == end and intent.status in FINAL:
                return intent
            if intent.status in FINAL:
                raise ProcessorRefusal(
                    400, "payment_intent_unexpected_state", f"This payment is {intent.status}, which is final."
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
            if intent is None or (client_secret is not None and not _same(client_secret, intent.client_secret)):
                # One answer for both: without its secret a caller cannot learn whether a payment exists.
                raise ProcessorRefusal(404, "resource_missing", f"No payment {intent_id} goes with this client secret.")
            changed = change(intent)
            if changed is not intent:
                intents.save(connection, changed)
            return changed

        return await self._store.run(work)

    def _customer_work(self, wallet: str, email: str | None) -> Callable[[Connection], None]:
        id_, now = f"cus_{self._token(14)}", self._clock.now()
        if email is not None:
            # JSON texts may contain characters that no database stores.
            email = email.encode("utf-8", "replace").decode().replace("\0", "").strip()[:_LONGEST_EMAIL] or None
        return lambda connection: intents.ensure_customer(connection, wallet, id_=id_, email=email, now=now)

    def _token(self, length: int) -> str:
        return _base62(self._randomness.bytes(32, "processor"), length)


def _not_creditable(intent: Intent, account: str) -> str | None:
    if intent.wallet != account:
        return "This payment belongs to another account."
    if intent.credited_at is not None:
        return f"This payment has been credited already, {dollars(intent.amount_cents)}. GET billing/balance shows it."
    return {
        "requires_payment_method": "This payment has not been paid yet: pay it at the processor, then confirm it.",
        "processing": "This payment is still processing: confirm it again later. Crypto takes some minutes.",
        "failed": f"{intent.problem or 'The payment failed.'} Pay again, or begin another payment.",
        "canceled": "This payment was canceled: begin another one.",
        "succeeded": None,
    }[intent.status]


def _one_of(what: str, value: str, allowed: tuple[Word, ...]) -> Word:
    for known in allowed:
        if known == value:
            return known
    raise ProcessorRefusal(400, "parameter_invalid", f"The {what} {value!r} is not known: use {' or '.join(allowed)}.")


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


def _delay(seconds: float) -> float:
    if not 0 <= seconds <= _LONGEST_DELAY_S:
        raise ProcessorRefusal(
            400, "parameter_invalid", f"A delay of {seconds:g} s is not possible: 0 to {_LONGEST_DELAY_S} seconds are."
        )
    return seconds


def _base62(data: bytes, length: int) -> str:
    # 32 bytes hold 42 digits of base 62, so up to that many are as good as random.
    number = int.from_bytes(data, "big")
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)
