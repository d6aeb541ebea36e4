"""Tables of the ledger and the functions that touch them, each to be run inside one `Store.run`.

Every movement of credit is one row of ``ledger_entries`` and never changes. Its ``kind`` names the other side, so the
books are double entry with the second posting implied: what accounts hold is what payments and gifts brought in, less
what calls cost. ``ledger_balances`` is kept beside it for speed, and `discrepancies` proves the two equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    String,
    Table,
    Text,
    bindparam,
    func,
    select,
)

from svcnb.emulator.statements import Statement
from svcnb.emulator.store import metadata

Kind = Literal["payment", "grant", "starter", "charge"]
"""Other side of an entry: money paid in, credit given by hand, credit of a new account, a call's price."""

entries = Table(
    "ledger_entries",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("account", String(42), nullable=False),
    Column("cents", BigInteger, CheckConstraint("cents <> 0"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("reason", Text, nullable=False),
    # What caused the entry. Unique, so that a payment credits once and a request is charged once.
    Column("reference", String(160), nullable=False, unique=True),
    Column("request_id", String(64)),
    Column("at", Float, nullable=False),
    Index("ledger_entries_by_account", "account", "id"),
)

balances = Table(
    "ledger_balances",
    metadata,
    Column("account", String(42), primary_key=True),
    Column("cents", BigInteger, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One movement of credit.

    Attributes:
        account: Billing wallet, lowercase.
        cents: Positive adds credit, negative spends it.
        kind: The other side.
        reason: For people.
        reference: What caused it; a second entry of the same cause is not made.
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
    found = _CREDIT_OF.rows(connection, {"account": account})
    return found[0][0] if found else 0


def credits_of(connection: Connection, accounts: Collection[str]) -> dict[str, int]:
    """Cents of credit of several accounts at once, as `credit_of`."""
    if len(accounts) <= 1:
        return {account: credit_of(connection, account) for account in accounts}
    rows = connection.execute(_CREDITS_OF, {"accounts": list(accounts)})
    return dict.fromkeys(accounts, 0) | {row.account: row.cents for row in rows}


def post(connection: Connection, entry: Entry) -> tuple[bool, int]:
    """Makes an entry and moves the balance with it, unless its reference has been used.

    Returns:
        Whether it was made now, and the account's credit in cents afterwards.
    """
    return post_all(connection, [entry])[0]


def post_all(connection: Connection, wanted: Sequence[Entry]) -> list[tuple[bool, int]]:
    """Makes several entries in their order, with one statement for all entries and one for all balances.

    Returns:
        For each what `post` would have answered.
    """
    if not wanted:
        return []
    statements = _statements(connection.dialect.name)
    made = {reference for (reference,) in statements.insert_entries.rows(connection, *map(_row, wanted))}
    new = []
    for entry in wanted:
        # The first of several with one reference is the one that was made.
        new.append(entry.reference in made)
        made.discard(entry.reference)
    moved: Counter[str] = Counter()
    for entry, is_new in zip(wanted, new, strict=True):
        moved[entry.account] += entry.cents * is_new
    running = _moved(connection, statements, moved)
    answers = []
    for entry, is_new in zip(wanted, new, strict=True):
        running[entry.account] += entry.cents * is_new
        answers.append((is_new, running[entry.account]))
    return answers


def _moved(connection: Connection, statements: _Statements, moved: dict[str, int]) -> dict[str, int]:
    """Changes balances by these cents; what they were before."""
    if len(moved) == 1:
        # The usual case by far, and one statement less.
        account, cents = next(iter(moved.items()))
        if not cents:
            return credits_of(connection, moved)
        [(after,)] = statements.move_balance.rows(connection, {"account": account, "cents": cents})
        return {account: after - cents}
    before = credits_of(connection, moved)
    if changes := [{"account": account, "cents": cents} for account, cents in moved.items() if cents]:
        statements.move_balance.rows(connection, *changes)
    return before


def entries_of(connection: Connection, account: str) -> list[Entry]:
    """All entries of an account, oldest first."""
    wanted = (entries.c[name] for name in Entry.__slots__)
    rows = connection.execute(select(*wanted).where(entries.c.account == account).order_by(entries.c.id))
    return [Entry(**row._mapping) for row in rows]  # noqa: SLF001 - the documented way to a row's names


def discrepancies(connection: Connection) -> list[str]:
    """Where the books do not agree with themselves; empty when all is well."""
    summed = select(entries.c.account, func.sum(entries.c.cents).label("cents")).group_by(entries.c.account).subquery()
    found = connection.execute(
        select(func.coalesce(balances.c.account, summed.c.account), balances.c.cents, summed.c.cents)
        .select_from(balances)
        .join(summed, balances.c.account == summed.c.account, full=True)
        .where(func.coalesce(balances.c.cents, 0) != func.coalesce(summed.c.cents, 0))
    )
    problems = [
        f"{account}: the balance says {kept or 0} cents, the entries sum to {counted or 0}"
        for account, kept, counted in found
    ]
    wrong_sign = (entries.c.kind == "charge") == (entries.c.cents > 0)
    problems += [
        f"{account}: entry {reference} is a {kind} of {cents} cents"
        for account, reference, kind, cents in connection.execute(
            select(entries.c.account, entries.c.reference, entries.c.kind, entries.c.cents).where(wrong_sign)
        )
    ]
    return problems


def _row(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in Entry.__slots__}


_CREDITS_OF: Final = select(balances.c.account, balances.c.cents).where(
    balances.c.account.in_(bindparam("accounts", expanding=True))
)
_CREDIT_OF: Final = Statement(select(balances.c.cents).where(balances.c.account == bindparam("account")))


class _Statements(NamedTuple):
    """What writes, built once for a kind of database: building costs more than running."""

    insert_entries: Statement
    move_balance: Statement


@cache
def _statements(dialect: str) -> _Statements:
    # "Insert unless there" is no part of standard SQL; both databases spell it alike but in their own dialects.
    insert: Any
    if dialect == "postgresql":
        # Loading a dialect takes as long as starting the chain: only the one in use.
        from sqlalchemy.dialects.postgresql import insert
    else:
        from sqlalchemy.dialects.sqlite import insert
    into_entries = insert(entries).on_conflict_do_nothing(index_elements=["reference"]).returning(entries.c.reference)
    into_balances = insert(balances)
    move = into_balances.on_conflict_do_update(
        index_elements=["account"], set_={"cents": balances.c.cents + into_balances.excluded.cents}
    )
    return _Statements(
        Statement(into_entries, Entry.__slots__), Statement(move.returning(balances.c.cents), ["account", "cents"])
    )
