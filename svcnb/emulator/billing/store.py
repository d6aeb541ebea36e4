"""Tables of the ledger, and functions that read and change these tables. Run each function inside `Store.run`.

Every change of credit is one immutable row of ``ledger_entries``. The ``kind`` of the row identifies the contra
account, so the table is double-entry bookkeeping with an implied second posting. The credit of an account is the sum of
its payments and grants, minus its charges. For speed, the table ``ledger_balances`` contains these sums.
`discrepancies` compares the balances with the entries.

Servers that share a PostgreSQL database exchange their holds in the table ``ledger_holds``. A server writes all its
holds to one row, in the transaction that begins, grows or charges a hold. The transactions of all servers run in
sequence (`svcnb.emulator.platform.store`). As with a lease (`svcnb.emulator.platform.leases`), the name of the server's
connection identifies the row. When a server stops, the database closes the server's connection. The holds of the server
then no longer count.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from svcnb.emulator.platform.database import Connection, inserting
from svcnb.emulator.platform.postgresql import LIVING
from svcnb.emulator.platform.schema import Table

Kind = Literal["payment", "grant", "starter", "charge"]
"""Contra account of an entry: payment, credit from the control plane, starter credit, or price of a call."""

# The reference identifies the cause of an entry. Each reference is unique, so that the ledger credits each payment and
# charges each request only once.
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

# "held" is a JSON object of cents by account. A server always writes the whole object, because the server has holds of
# only a few accounts at a time.
HOLDS: Final = Table("ledger_holds", "holder VARCHAR NOT NULL PRIMARY KEY, held TEXT NOT NULL")


class Entry(NamedTuple):
    """One change of an account's credit.

    Attributes:
        account: Address of the billing wallet, in lowercase.
        cents: The amount in cents: positive for added credit, negative for a charge.
        kind: The contra account. See `Kind`.
        reason: Reason for the change, shown to users.
        reference: Unique id of the cause, for example of the payment or the request.
        request_id: Id of the request that caused the entry, or None.
        at: Time of the entry, in Unix seconds of the emulator's clock.
    """

    account: str
    cents: int
    kind: Kind
    reason: str
    reference: str
    at: float
    request_id: str | None = None


def credit_of(connection: Connection, account: str) -> int:
    """Returns the credit of an account in cents. A negative amount is a debt. An unknown account has 0."""
    return connection.value("SELECT cents FROM ledger_balances WHERE account = :account", account=account) or 0


def credits_of(connection: Connection, accounts: Collection[str]) -> dict[str, int]:
    """Returns the credit of several accounts in cents, like `credit_of` for one account."""
    if len(accounts) <= 1:
        return {account: credit_of(connection, account) for account in accounts}
    named = {f"account_{number}": account for number, account in enumerate(accounts)}
    among = ", ".join(f":{name}" for name in named)
    found = connection.rows(f"SELECT account, cents FROM ledger_balances WHERE account IN ({among})", **named)  # noqa: S608 - the SQL contains no user input
    return dict.fromkeys(accounts, 0) | dict(found)


def post(connection: Connection, entry: Entry) -> tuple[bool, int]:
    """Adds an entry and updates the balance, unless an entry with this reference exists.

    Returns:
        Whether the function added the entry, and the new credit of the account in cents.
    """
    return post_all(connection, [entry])[0]


def post_all(connection: Connection, wanted: Sequence[Entry]) -> list[tuple[bool, int]]:
    """Adds several entries in order, with one statement for all entries and one for all balances.

    Returns:
        For each entry, the same result as from `post`.
    """
    if not wanted:
        return []
    made = {reference for (reference,) in connection.each(_INSERT_ENTRY, map(Entry._asdict, wanted))}
    new = []
    for entry in wanted:
        # If several entries have the same reference, the ledger stores only the first of these entries.
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
    """Adds cents to the balances of accounts. Returns the previous balances in cents, by account."""
    if len(moved) == 1:
        # A single account is the most common case, and needs one statement fewer.
        account, cents = next(iter(moved.items()))
        if not cents:
            return credits_of(connection, moved)
        [(after,)] = connection.rows(_MOVE_BALANCE, account=account, cents=cents)
        return {account: after - cents}
    before = credits_of(connection, moved)
    connection.each(_MOVE_BALANCE, ({"account": account, "cents": cents} for account, cents in moved.items() if cents))
    return before


def entries_of(connection: Connection, account: str) -> list[Entry]:
    """Returns all entries of an account, oldest first."""
    rows = connection.records(
        f"SELECT {', '.join(Entry._fields)} FROM ledger_entries WHERE account = :account ORDER BY id",  # noqa: S608 - the SQL contains no user input
        account=account,
    )
    return [Entry(**row) for row in rows]


def discrepancies(connection: Connection) -> list[str]:
    """Returns descriptions of all differences between balances and entries, and of entries with a wrong sign."""
    problems = [
        f"{account}: the balance is {kept or 0} cents, but the sum of the ledger entries is {counted or 0} cents"
        for account, kept, counted in connection.rows(_DISAGREEING)
    ]
    problems += [
        f"{account}: the sign of the ledger entry {reference} is wrong: it is a {kind} of {cents} cents"
        for account, reference, kind, cents in connection.rows(
            "SELECT account, reference, kind, cents FROM ledger_entries WHERE (kind = 'charge') = (cents > 0)"
        )
    ]
    return problems


def held_by_others(connection: Connection, accounts: Collection[str]) -> Counter[str]:
    """Returns the cents that other servers have reserved, by account."""
    found: Counter[str] = Counter()
    others = f"SELECT held FROM ledger_holds WHERE holder <> :me AND holder IN ({LIVING})"  # noqa: S608 - the SQL contains no user input
    for text in connection.column(others, me=connection.session):
        held: dict[str, int] = json.loads(text)
        for account in accounts & held.keys():
            found[account] += held[account]
    return found


def publish_holds(connection: Connection, held: Mapping[str, int]) -> None:
    """Publishes all reserved credit of this server, by account. Other servers see the change after the commit."""
    connection.run(
        "INSERT INTO ledger_holds (holder, held) VALUES (:me, :held) "
        "ON CONFLICT (holder) DO UPDATE SET held = excluded.held",
        me=connection.session,
        held=json.dumps(held, separators=(",", ":")),
    )


def delete_stopped_holders(connection: Connection) -> None:
    """Deletes the rows of stopped servers from ``ledger_holds``. These rows no longer count."""
    connection.run(f"DELETE FROM ledger_holds WHERE holder NOT IN ({LIVING})")  # noqa: S608 - the SQL contains no user input


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
