"""Ledger of the accounts' credits, in which nothing is counted twice."""

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
        clock: Time of the entries.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._counter = Counter(store, Holds())

    display = staticmethod(display)

    async def credit_cents(self, billing_wallet: str) -> int:
        """Cents of credit; negative is owed. Held cents are included, because they are not spent yet."""
        account = billing_wallet.lower()
        return await self._store.run(lambda connection: books.credit_of(connection, account))

    async def hold(self, billing_wallet: str, cents: int = 1) -> Hold:
        """Reserves credit for a call that is about to be served.

        Servers that share a database count each other's holds. When a server is killed, its holds are released.

        Raises:
            StructuredError: 402, the credit that is neither spent nor held does not cover ``cents``.
        """
        counter = self._counter
        hold = Hold(billing_wallet.lower(), cents, settle=self._settle, grow=counter.grow, release=counter.release)
        try:
            await self._counter.begin(hold)
        except BaseException:
            # Also when the caller is cancelled while the database is busy: a hold without an owner would never end.
            hold.release()
            raise
        return hold

    async def charge(self, billing_wallet: str, cents: int, *, reason: str, request_id: str) -> int:
        """Charges a call that has succeeded. An amount beyond the credit is owed.

        Args:
            billing_wallet: The paying wallet.
            cents: The price, at least 1.
            reason: For people, for example ``add_group``.
            request_id: The request; it is charged once however often this is called.

        Returns:
            The account's credit in cents afterwards.
        """
        return await self._charge(billing_wallet.lower(), cents, reason=reason, request_id=request_id)

    async def add_credit(
        self, billing_wallet: str, cents: int, *, reason: str, reference: str, kind: Kind = "grant"
    ) -> int:
        """Adds credit once.

        Args:
            billing_wallet: The receiving wallet.
            cents: The amount, at least 1.
            reason: For people.
            reference: The cause of the credit; a second credit of the same reference and kind changes nothing.
            kind: The source of the credit.

        Returns:
            The account's credit in cents afterwards.
        """
        account = billing_wallet.lower()
        entry = Entry(account, _positive(cents), kind, reason, f"{kind}:{reference}", self._clock.now())
        return (await self._store.run(lambda connection: books.post(connection, entry)))[1]

    async def starter_credit(self, billing_wallet: str, cents: int) -> int:
        """Gives a new account its starter credits, once; 0 cents gives nothing. Returns the credit afterwards."""
        account = billing_wallet.lower()
        if not cents:
            return await self.credit_cents(account)
        return await self.add_credit(account, cents, reason="starter credits", reference=account, kind="starter")

    async def entries(self, billing_wallet: str) -> list[Entry]:
        """All movements of an account, oldest first."""
        account = billing_wallet.lower()
        return await self._store.run(lambda connection: books.entries_of(connection, account))

    async def verify(self) -> list[str]:
        """Checks balances against entries. Each text names one discrepancy; an empty list means that all agree."""
        return await self._store.run(books.discrepancies)

    async def _settle(self, hold: Hold, cents: int, *, reason: str, request_id: str) -> int:
        try:
            return await self._charge(hold.account, cents, reason=reason, request_id=request_id, hold=hold)
        finally:
            hold.release()  # releases the hold of a failed charge

    async def _charge(self, account: str, cents: int, *, reason: str, request_id: str, hold: Hold | None = None) -> int:
        reference = f"request:{request_id}"
        entry = Entry(account, -_positive(cents), "charge", reason, reference, self._clock.now(), request_id)

        return await self._counter.charge(entry, hold)


def _positive(cents: int) -> int:
    if cents < 1:
        raise ValueError(f"{cents} cents cannot be booked: amounts are whole cents from 1")
    return cents
