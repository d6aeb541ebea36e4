"""Tables of the ledger and the functions that touch them, each to be run inside one `Store.run`.

Every movement of credit is one row of ``ledger_entries`` and never changes. Its ``kind`` names the other side, so the
books are double entry with the second posting implied: what accounts hold is what payments and gifts brought in, less
what calls cost. ``ledger_balances`` is kept beside it for speed, and `discrepancies` proves the two equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

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
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql import Executable

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
    return connection.execute(_CREDIT_OF, {"account": account}).scalar_one_or_none() or 0


def post(connection: Connection, entry: Entry) -> tuple[bool, int]:
    """Makes an entry and moves the balance with it, unless its reference has been used.

    Returns:
        Whether it was made now, and the account's credit in cents afterwards.
    """
    insert_entry, move_balance = _statements(connection.dialect.name)
    row = {
        "account": entry.account,
        "cents": entry.cents,
        "kind": entry.kind,
        "reason": entry.reason,
        "reference": entry.reference,
        "request_id": entry.request_id,
        "at": entry.at,
    }
    if not connection.execute(insert_entry, row).rowcount:
        return False, credit_of(connection, entry.account)
    moved = connection.execute(move_balance, {"account": entry.account, "cents": entry.cents})
    return True, int(moved.scalar_one())


def entries_of(connection: Connection, account: str) -> list[Entry]:
    """All entries of an account, oldest first."""
    wanted = (entries.c[name] for name in Entry.__slots__)
    rows = connection.execute(select(*wanted).where(entries.c.account == account).order_by(entries.c.id))
    return [Entry(**row._mapping) for row in rows]  # noqa: SLF001  the documented way to a row's names


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


_CREDIT_OF: Final = select(balances.c.cents).where(balances.c.account == bindparam("account"))


@cache
def _statements(dialect: str) -> tuple[Executable, Executable]:
    # "Insert unless there" is no part of standard SQL; both databases spell it alike but in their own dialects.
    # Built once: building costs more than running them.
    insert: Any = postgresql.insert if dialect == "postgresql" else sqlite.insert
    into_entries = insert(entries).on_conflict_do_nothing(index_elements=["reference"])
    into_balances = insert(balances)
    move = into_balances.on_conflict_do_update(
        index_elements=["account"], set_={"cents": balances.c.cents + into_balances.excluded.cents}
    ).returning(balances.c.cents)
    return into_entries, move
