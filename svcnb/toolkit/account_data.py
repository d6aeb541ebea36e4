"""Runs and spending of an account at one service in a period, with a list of unavailable data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from svcnb.checked import checked
from svcnb.client.errors import ConfigError, ServiceError, SvcnbError, TransportError
from svcnb.client.permission_snapshot import master_wallet_of
from svcnb.protocol.durations import seconds
from svcnb.protocol.hashes import api_key_hash
from svcnb.toolkit.history_imports import LedgerEntry

if TYPE_CHECKING:
    from pandas import DataFrame

    from svcnb.client import Client
    from svcnb.client.models.usage_keys import UsageKey
    from svcnb.toolkit.history import History, Triggered

ACCOUNT_KEY: Final = "account key"
DAY_S: Final = 86_400.0
_TRIGGER_RUNS: Final = 1_000
_SERVED_RUNS: Final = 1_000
_SERVED_PAGES: Final = 20
"""Maximum number of pages to read from an emulator's list of runs. A page contains at most `_SERVED_RUNS` runs."""

_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True)
class Period:
    """Period from a start time to an end time.

    Attributes:
        begin: Start of the period, in UTC. The period includes this moment.
        end: End of the period, in UTC. The period does not include this moment.
    """

    begin: datetime
    end: datetime

    @classmethod
    def back(cls, since: float | str | timedelta, end: datetime | None = None) -> Period:
        """Returns the period of a given length that ends at `end`.

        Args:
            since: Length of the period: seconds, text such as ``"7d"``, or a ``timedelta``.
            end: End of the period. None means now.

        Raises:
            ValueError: The length is not a valid duration.
        """
        last = datetime.now(UTC) if end is None else end
        return cls(last - timedelta(seconds=seconds(since)), last)

    @property
    def previous(self) -> Period:
        """Period of the same length that ends at the start of this period."""
        return Period(self.begin - (self.end - self.begin), self.begin)

    @property
    def days(self) -> float:
        """Length of the period in days."""
        return (self.end - self.begin).total_seconds() / DAY_S


class BalanceCheck(NamedTuple):
    """Comparison of the recorded amounts with the service's balance. All amounts are in cents."""

    since: datetime
    """Time of the opening balance, in UTC."""

    opening: int
    """Opening balance: the last balance that was recorded before the period, or else the first recorded balance."""

    executions: int
    """Cost of the runs since the opening balance."""

    fees: int
    """Cost of the management calls since the opening balance."""

    payments: int
    """Payments since the opening balance."""

    balance: int
    """Balance that the service reports, for the comparison with `expected`."""

    @property
    def expected(self) -> int:
        """Balance in cents that results from the opening balance and the recorded amounts."""
        return self.opening - self.executions - self.fees + self.payments

    @property
    def unexplained(self) -> int:
        """Actual balance minus the expected balance, in cents. The value is negative if the actual balance is lower."""
        return self.balance - self.expected


@dataclass(frozen=True)
class AccountData:
    """Recorded runs, fees and balance of an account at one service.

    Attributes:
        service: Address of the service.
        account: Identifier of the account: the address of the account's master wallet, or the hash of the client's key
            if the wallet is unknown.
        keys: Names of the account's keys, with the hashes of the keys as dictionary keys.
        period: Time span that the runs, fees and amounts cover.
        runs: Runs of the period, in the format of `History.measures`.
        previous: Runs of the preceding period, which has the same length and ends at the start of `period`.
        fees: Fees of the period, one entry for each management call that the service charged for.
        balance: Current credit in cents. None if the service did not return the balance.
        check: Comparison of the recorded amounts with the balance. None if the local history contains no balance,
            or if the current balance is unknown.
        not_visible: Sentences about data that `read_account_data` could not read, one for each kind of data.
        reachable: Whether the service responded.
    """

    service: str
    account: str
    keys: Mapping[str, str]
    period: Period
    runs: DataFrame = field(repr=False)
    previous: DataFrame = field(repr=False)
    fees: tuple[LedgerEntry, ...] = field(default=(), repr=False)
    balance: int | None = None
    check: BalanceCheck | None = None
    not_visible: tuple[str, ...] = ()
    reachable: bool = True

    @property
    def execution_cents(self) -> int:
        """Cost of the runs of the period, in cents."""
        return int(self.runs["cost_cents"].sum())

    @property
    def fee_cents(self) -> int:
        """Cost of the management calls of the period, in cents."""
        return sum(each.cents for each in self.fees)

    @property
    def spent_cents(self) -> int:
        """Total spending in the period, in cents."""
        return self.execution_cents + self.fee_cents

    @property
    def first(self) -> datetime | None:
        """Time of the first recorded run or fee of the period. None if the period has no records."""
        times = [self.runs["started_at"].iloc[0].to_pydatetime()] if len(self.runs) else []
        return min([*times, *(each.at for each in self.fees)], default=None)

    @property
    def recorded_days(self) -> float:
        """Days between the first record and the end of the period. 0 if the period has no records."""
        return (self.period.end - self.first).total_seconds() / DAY_S if self.first else 0.0

    @property
    def cents_per_day(self) -> float | None:
        """Average spending in cents per day. None if the records cover less than one day."""
        return self.spent_cents / self.recorded_days if self.recorded_days >= 1 else None

    @property
    def days_left(self) -> float | None:
        """Days until the credit is used up at the rate `cents_per_day`.

        None if the rate or the balance is unknown, or if the rate is zero.
        """
        pace = self.cents_per_day
        return max(0, self.balance) / pace if pace and self.balance is not None else None

    def key_name(self, hashed: str) -> str:
        """Returns the name of a key, or the shortened hash of a key without a name.

        Args:
            hashed: Hash of the key. For an empty hash, the method returns ``(trigger)``. The hash is empty for runs of
                triggers whose key is unknown.
        """
        return self.keys.get(hashed) or (f"{hashed[:8]}…{hashed[-4:]}" if hashed else "(trigger)")

    def only(self, *, action: str | None = None, source: str | None = None) -> AccountData:
        """Returns a copy that contains only the selected runs. The fees and the balance stay the same.

        Args:
            action: Name or CID of an action. None selects all actions.
            source: ``client``, ``trigger`` or ``service``. None selects all sources.
        """

        def chosen(frame: DataFrame) -> DataFrame:
            if action is not None:
                frame = frame[(frame["action"] == action) | (frame["cid"] == action)]
            return frame if source is None else frame[frame["source"] == source]

        return replace(self, runs=chosen(self.runs), previous=chosen(self.previous))


def read_account_data(
    client: Client,
    history: History,
    period: Period,
    *,
    triggers: Triggered | None = None,
    control_token: str | None = None,
) -> AccountData:
    """Returns the data of a client's account, from the local history and from the service.

    The function adds two kinds of runs to the local history: runs of triggers, and runs that an emulator recorded. All
    requests are free.

    Args:
        client: Client of the service, with a key of the account.
        history: Local history.
        period: Time span that the runs, fees and amounts cover.
        triggers: Client of the triggers service. None means that the function reads no runs of triggers.
        control_token: Token of an emulator's control plane. The function sends the token only to a loopback
            address. A token that the user's own emulator has saved takes precedence. None means that the function uses
            only a saved token.

    Raises:
        ConfigError: The client has no key, or the history file cannot be read.
    """
    if client.config.api_key is None:
        raise ConfigError(
            "the API key is missing, so the account of the report is unknown",
            hint="Set SVC_API_KEY, or pass --key-file.",
        )
    unseen: list[str] = []
    service, own = client.base_url, api_key_hash(client.config.api_key.reveal())
    account, keys, balance, reachable = own, {own: ACCOUNT_KEY}, None, True
    entries = history.ledger(service=service)  # read before the balance request, which adds an entry
    try:
        account, keys = _keys_of(client, own)
        balance = _balance_of(client, unseen)
    except TransportError as error:
        reachable, account = False, history.account_of(service, own) or own
        unseen.append(
            f"{service} did not respond ({error.message}), so the account's keys and balance could not be read."
        )
    else:
        unseen += _served(client, history, control_token)
        history.remember_keys(service, account, keys)
    keys = history.remembered_keys(service, account) | keys
    unseen += _triggered(triggers, history, service, reachable=reachable)
    keys = _with_created(keys, entries)
    mine = [each for each in entries if each.key_hash in keys]
    known = [*keys, ""]  # runs of triggers, because the triggers service does not return their key
    runs = history.measures(service=service, keys=known, since=period.begin, until=period.end)
    previous = history.measures(service=service, keys=known, since=period.previous.begin, until=period.previous.end)
    return AccountData(
        service=service,
        account=account,
        keys=keys,
        period=period,
        runs=runs,
        previous=previous,
        fees=tuple(each for each in mine if each.kind == "fee" and period.begin <= each.at < period.end),
        balance=balance,
        check=_check(history, (service, known), mine, period.begin, balance),
        not_visible=(*unseen, *_without_key(runs), *_others(history, service, len(runs), period)),
        reachable=reachable,
    )


@checked
def key_names(keys: Sequence[UsageKey]) -> dict[str, str]:
    """Returns the names of usage keys, with the hashes of the keys as dictionary keys.

    If several keys have the same name, or a key has no name, the function adds part of the hash to the name.

    Args:
        keys: Usage keys of one account.
    """
    counted = Counter(key.name for key in keys)
    return {
        key.api_key_hash: key.name
        if key.name and counted[key.name] == 1
        else f"{key.name or 'key'} {key.api_key_hash[:8]}"
        for key in keys
    }


def _keys_of(client: Client, own: str) -> tuple[str, dict[str, str]]:
    """Returns the identifier of the account and the names of its keys."""
    wallet = master_wallet_of(client.wallets.list())
    keys = key_names(client.usage_keys.list())
    return wallet or own, keys if own in keys else {own: ACCOUNT_KEY, **keys}


def _balance_of(client: Client, unseen: list[str]) -> int | None:
    """Returns the credit in cents.

    If the service rejects the request, the function adds the reason to ``unseen``, and returns None.
    """
    try:
        return -client.billing.balance().balance_cents
    except ServiceError as error:
        unseen.append(f"The balance could not be read: {error.message}.")
        return None


def _with_created(keys: Mapping[str, str], entries: list[LedgerEntry]) -> dict[str, str]:
    """Returns the given keys and the usage keys that these keys created, including deleted usage keys."""
    found = dict(keys)
    for each in entries:  # oldest first
        if each.subject and each.key_hash in found and each.subject not in found:
            found[each.subject] = f"deleted key {each.subject[:8]}"
    return found


def _served(client: Client, history: History, token: str | None) -> list[str]:
    """Adds the runs of an emulator to the local history.

    Returns:
        A list with one sentence for the report if the emulator's record of runs is not available. Otherwise, an empty
        list.
    """
    from svcnb.control import ControlRefused, EmulatorError
    from svcnb.control.plane import ControlPlane

    elsewhere = (
        "The service does not list runs, so runs of other machines are counted only after `svcnb history merge`."
    )
    if urlsplit(client.base_url).hostname not in _LOOPBACK:
        return [elsewhere]
    plane = ControlPlane(f"{client.base_url}/_emulator", token)
    rows: list[dict[str, Any]] = []
    try:
        for _ in range(_SERVED_PAGES):
            found = plane.request("GET", f"/runs?limit={_SERVED_RUNS}&offset={len(rows)}")["runs"]
            if not found:  # only the last page is empty, but a page with long strings can be incomplete
                break
            rows += found
    except ControlRefused:
        return [
            f"{elsewhere} To include the runs of an emulator, set SVC_CONTROL_TOKEN to the emulator's control token."
        ]
    except EmulatorError as error:
        return [f"{elsewhere} The emulator's list of runs could not be read: {error.message.removesuffix('.')}."]
    history.add_service_runs((row for row in rows if row["status"] != "refused"), service=client.base_url)
    return []


def _triggered(triggers: Triggered | None, history: History, service: str, *, reachable: bool) -> list[str]:
    if triggers is None:
        return ["Runs of triggers were not read: set SVC_TRIGGERS_URL and SVC_TRIGGERS_TOKEN_FILE to count them."]
    if not reachable:
        return []
    try:
        history.add_trigger_runs(triggers, service=service, limit=_TRIGGER_RUNS)
    except SvcnbError as error:
        return [f"Runs of triggers could not be read: {error.message.removesuffix('.')}."]
    return []


def _check(
    history: History, whose: tuple[str, list[str]], mine: list[LedgerEntry], begin: datetime, balance: int | None
) -> BalanceCheck | None:
    """Compares the current balance with the amounts recorded since the opening balance.

    The opening balance is the last balance before the period, or else the first recorded balance.
    """
    seen = [each for each in mine if each.kind == "balance"]
    if balance is None or not seen:
        return None
    before = [each for each in seen if each.at <= begin]
    opening = before[-1] if before else seen[0]
    later = [each for each in mine if each.at > opening.at]
    service, keys = whose
    return BalanceCheck(
        since=opening.at,
        opening=opening.cents,
        executions=history.total_cents(service=service, keys=keys, since=opening.at),
        fees=sum(each.cents for each in later if each.kind == "fee"),
        payments=sum(each.cents for each in later if each.kind == "payment"),
        balance=balance,
    )


def _without_key(runs: DataFrame) -> list[str]:
    """Returns a list with one sentence about counted runs without a key. Empty if all counted runs have a key."""
    count = int((runs["key"] == "").sum())
    text = "The triggers service does not return the keys of runs"
    return (
        [f"{text}. The report counts {count:,} runs without a key, which can belong to any account."] if count else []
    )


def _others(history: History, service: str, counted: int, period: Period) -> list[str]:
    """Returns a list with one sentence about recorded runs that are not counted. Empty if all runs are counted."""
    others = history.count(service=service, since=period.begin, until=period.end) - counted
    text = f"{others:,} recorded runs at this service used other keys (keys of other accounts, or deleted keys)"
    return [f"{text} and are not counted."] if others else []
