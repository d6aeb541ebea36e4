"""Ledger of account credits, which counts each payment and each request once."""

from __future__ import annotations

from svcnb.emulator.billing import store as books
from svcnb.emulator.billing.batcher import Counter
from svcnb.emulator.billing.holds import Hold, Holds
from svcnb.emulator.billing.rules import display
from svcnb.emulator.billing.store import Entry, Kind
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.store import Store

__all__ = ["Hold", "Ledger"]


class Ledger:
    """Credits in whole cents, keyed by billing wallet.

    Args:
        store: The database.
        clock: Clock for the time of the entries.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._counter = Counter(store, Holds())

    display = staticmethod(display)

    async def credit_cents(self, billing_wallet: str) -> int:
        """Returns the credit in cents, including reserved cents. A negative amount is a debt."""
        account = billing_wallet.lower()
        return await self._store.run(lambda connection: books.credit_of(connection, account))

    async def hold(self, billing_wallet: str, cents: int = 1) -> Hold:
        """Reserves credit for a call.

        Servers that share a database respect each other's holds. A server that stops releases its holds.

        Raises:
            StructuredError: 402 if the available credit (neither spent nor held) does not cover ``cents``.
        """
        counter = self._counter
        hold = Hold(billing_wallet.lower(), cents, settle=self._settle, grow=counter.grow, release=counter.release)
        try:
            await self._counter.begin(hold)
        except BaseException:
            # This includes a cancellation while the database is busy, because a hold without an owner would never end.
            hold.release()
            raise
        return hold

    async def charge(self, billing_wallet: str, cents: int, *, reason: str, request_id: str) -> int:
        """Charges a call that has succeeded. If the price exceeds the credit, the account owes the difference.

        Args:
            billing_wallet: The paying wallet.
            cents: The price in cents, at least 1.
            reason: Reason for the charge, shown to users, for example ``add_group``.
            request_id: Id of the request. Repeated calls with the same id charge only once.

        Returns:
            The account's new credit, in cents.
        """
        return await self._charge(billing_wallet.lower(), cents, reason=reason, request_id=request_id)

    async def add_credit(
        self, billing_wallet: str, cents: int, *, reason: str, reference: str, kind: Kind = "grant"
    ) -> int:
        """Adds credit, once for each reference.

        Args:
            billing_wallet: The receiving wallet.
            cents: The amount in cents, at least 1.
            reason: Reason for the credit, shown to users.
            reference: Id of the cause. Another credit with the same reference and kind has no effect.
            kind: The source of the credit.

        Returns:
            The account's new credit, in cents.
        """
        account = billing_wallet.lower()
        entry = Entry(account, _positive(cents), kind, reason, f"{kind}:{reference}", self._clock.now())
        return (await self._store.run(lambda connection: books.post(connection, entry)))[1]

    async def starter_credit(self, billing_wallet: str, cents: int) -> int:
        """Adds the starter credit of a new account, once. Returns the new credit in cents."""
        account = billing_wallet.lower()
        if not cents:
            return await self.credit_cents(account)
        return await self.add_credit(account, cents, reason="starter credits", reference=account, kind="starter")

    async def entries(self, billing_wallet: str) -> list[Entry]:
        """Returns all movements of an account, oldest first."""
        account = billing_wallet.lower()
        return await self._store.run(lambda connection: books.entries_of(connection, account))

    async def verify(self) -> list[str]:
        """Compares balances with entries, and returns a description of each discrepancy."""
        return await self._store.run(books.discrepancies)

    async def _settle(self, hold: Hold, cents: int, *, reason: str, request_id: str) -> int:
        try:
            return await self._charge(hold.account, cents, reason=reason, request_id=request_id, hold=hold)
        finally:
            hold.release()  # this has an effect only if the charge failed

    async def _charge(self, account: str, cents: int, *, reason: str, request_id: str, hold: Hold | None = None) -> int:
        reference = f"request:{request_id}"
        entry = Entry(account, -_positive(cents), "charge", reason, reference, self._clock.now(), request_id)

        return await self._counter.charge(entry, hold)


def _positive(cents: int) -> int:
    if cents < 1:
        raise ValueError(f"{cents} cents is not a valid amount: expected an integer of at least 1")
    return cents
