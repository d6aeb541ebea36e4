"""Tables of the ledger and the functions that use them, each to be run inside one `Store.run`.

Every movement of credit is one row of ``ledger_entries`` and never changes. Its ``kind`` names the other side. So this
is double-entry bookkeeping with an implied second posting. The credit of accounts is the sum of payments and gifts,
less the cost of calls. The table ``ledger_balances`` is stored in addition for speed, and `discrepancies` checks that
the two are equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final, Literal, NamedTuple

from svcnb.emulator.platform.database import Connection, inserting
from svcnb.emulator.platform.schema import Table

Kind = Literal["payment", "grant", "starter", "charge"]
"""Other side of an entry: money paid in, credit given by hand, credit of a new account, a call's price."""

# An entry's reference is its cause. It is unique, so that a payment credits once and a request is charged once.
Table(
    "ledger_entries",
    """
    id NUMBERED,
    account VARCHAR(42) NOT NULL,
    cents BIGINT NOT NULL CHECK (cents <> 0),
    kind VARCHAR(16) NOT NULL,
    reason TEXT NOT NULL,
    reference VARCHAR(160) NOT NULL UNIQUE,
    request_id VARCHAR(64),
    at FLOAT NOT NULL
    """,
    ledger_entries_by_account="(account, id)",
)

Table("ledger_balances", "account VARCHAR(42) NOT NULL PRIMARY KEY, cents BIGINT NOT NULL")


class Entry(NamedTuple):
    """One movement of credit.

    Attributes:
        account: Billing wallet, lowercase.
        cents: Positive adds credit, negative spends it.
        kind: The other side.
        reason: For people.
        reference: Its cause; a second entry of the same cause is not made.
        request_id: Request that caused it, if one did.
        at: Unix seconds by the emulator's clock.
    """

    account: str
    cents: int
    kind: Kind
    reason: str
    reference: str
    at: float
    request_id: str | None = None


def credit_of(connection: Connection, account: str) -> int:
    """Cents of credit; negative is owed, 0 for an account never seen."""
    return connection.value("SELECT cents FROM ledger_balances WHERE account = :account", account=account) or 0


def credits_of(connection: Connection, accounts: Collection[str]) -> dict[str, int]:
    """Cents of credit of several accounts at once, as `credit_of`."""
    if len(accounts) <= 1:
        return {account: credit_of(connection, account) for account in accounts}
    named = {f"account_{number}": account for number, account in enumerate(accounts)}
    among = ", ".join(f":{name}" for name in named)
    found = connection.rows(f"SELECT account, cents FROM ledger_balances WHERE account IN ({among})", **named)  # noqa: S608 - our own names
    return dict.fromkeys(accounts, 0) | dict(found)


def post(connection: Connection, entry: Entry) -> tuple[bool, int]:
    """Adds an entry and changes the balance, unless its reference has been used.

    Returns:
        Whether it was added now, and the account's credit in cents afterwards.
    """
    return post_all(connection, [entry])[0]


def post_all(connection: Connection, wanted: Sequence[Entry]) -> list[tuple[bool, int]]:
    """Adds several entries in their order, with one statement for all entries and one for all balances.

    Returns:
        For each entry, the result that `post` would have returned.
    """
    if not wanted:
        return []
    made = {reference for (reference,) in connection.each(_INSERT_ENTRY, map(Entry._asdict, wanted))}
    new = []
    for entry in wanted:
        # Of several entries with one reference, the first was added.
        new.append(entry.reference in made)
        made.discard(entry.reference)
    moved: Counter[str] = Counter()
    for entry, is_new in zip(wanted, new, strict=True):
        moved[entry.account] += entry.cents * is_new
    running = _moved(connection, moved)
    answers = []
    for entry, is_new in zip(wanted, new, strict=True):
        running[entry.account] += entry.cents * is_new
        answers.append((is_new, running[entry.account]))
    return answers


def _moved(connection: Connection, moved: dict[str, int]) -> dict[str, int]:
    """Changes balances by these cents. Returns the balances before."""
    if len(moved) == 1:
        # The usual case by far, and one statement less.
        account, cents = next(iter(moved.items()))
        if not cents:
            return credits_of(connection, moved)
        [(after,)] = connection.rows(_MOVE_BALANCE, account=account, cents=cents)
        return {account: after - cents}
    before = credits_of(connection, moved)
    connection.each(_MOVE_BALANCE, ({"account": account, "cents": cents} for account, cents in moved.items() if cents))
    return before


def entries_of(connection: Connection, account: str) -> list[Entry]:
    """All entries of an account, oldest first."""
    rows = connection.records(
        f"SELECT {', '.join(Entry._fields)} FROM ledger_entries WHERE account = :account ORDER BY id",  # noqa: S608 - our own names
        account=account,
    )
    return [Entry(**row) for row in rows]


def discrepancies(connection: Connection) -> list[str]:
    """Differences between balances and entries; empty when they agree."""
    problems = [
        f"{account}: the balance says {kept or 0} cents, the entries sum to {counted or 0}"
        for account, kept, counted in connection.rows(_DISAGREEING)
    ]
    problems += [
        f"{account}: entry {reference} is a {kind} of {cents} cents"
        for account, reference, kind, cents in connection.rows(
            "SELECT account, reference, kind, cents FROM ledger_entries WHERE (kind = 'charge') = (cents > 0)"
        )
    ]
    return problems


_INSERT_ENTRY: Final = (
    inserting("ledger_entries", Entry._fields) + " ON CONFLICT (reference) DO NOTHING RETURNING reference"
)
_MOVE_BALANCE: Final = (
    "INSERT INTO ledger_balances (account, cents) VALUES (:account, :cents) "
    "ON CONFLICT (account) DO UPDATE SET cents = ledger_balances.cents + excluded.cents RETURNING cents"
)
_DISAGREEING: Final = """
    SELECT coalesce(kept.account, summed.account), kept.cents, summed.cents
    FROM ledger_balances AS kept
    FULL JOIN (
        SELECT account, CAST(sum(cents) AS BIGINT) AS cents FROM ledger_entries GROUP BY account
    ) AS summed ON kept.account = summed.account
    WHERE coalesce(kept.cents, 0) <> coalesce(summed.cents, 0)
"""
