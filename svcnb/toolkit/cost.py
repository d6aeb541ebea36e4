"""Estimates of the cost of requests, each with its reason. Amounts are whole cents.

Source: docs/service/billing.md#prices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from svcnb.checked import checked
from svcnb.client.errors import InvalidArgument
from svcnb.client.models.billing import dollars
from svcnb.client.references import ActionRef
from svcnb.protocol.cron import Cron
from svcnb.protocol.limits import (
    EXECUTION_COST_CENTS_PER_SECOND,
    MANAGEMENT_COST_CENTS,
    MAX_GROUP_ENTRIES,
)

if TYPE_CHECKING:
    from svcnb.toolkit.history import History

FREE: Final = frozenset(
    {
        "accounts.convert", "accounts.create", "accounts.exists", "actions.cid", "actions.get", "actions.list",
        "billing.balance", "billing.top_up", "explain", "groups.contents", "groups.get", "groups.list",
        "node.chain_config", "node.health", "node.limits", "node.version", "usage_keys.get", "usage_keys.list",
        "wallets.get", "wallets.list",
    }
)  # fmt: skip
"""Methods of a client that are free."""

METERED: Final = frozenset(
    {
        "actions.register", "actions.update", "actions.delete", "groups.create", "groups.update", "groups.delete",
        "groups.add_action", "groups.remove_action", "groups.add_wallet", "groups.remove_wallet", "usage_keys.create",
        "usage_keys.update", "usage_keys.update_metadata", "usage_keys.delete", "wallets.create",
    }
)  # fmt: skip
"""Methods of a client that cost one cent for each successful request. `of_call` counts the requests of a call."""


GAS: Final[Mapping[str, int]] = {
    "actions.register": 133_000,
    "actions.delete": 76_000,
    "groups.create": 130_000,
    "groups.update": 100_000,
    "groups.delete": 60_000,
    "groups.add_action": 95_000,
    "groups.add_wallet": 91_000,
    "groups.remove_action": 53_000,
    "groups.remove_wallet": 48_000,
    "usage_keys.create": 475_000,
    "usage_keys.update": 80_000,
    "usage_keys.delete": 79_000,
    "wallets.create": 240_000,
}
"""Approximate gas of one call of each method in ChainSecured mode, measured on the emulator's contract.

The preview of a ChainSecured transaction shows the exact value."""

GAS_PER_MEMBER: Final = 58_000
"""Approximate gas for each of the first ten actions and the first ten wallets when a call writes a group."""

_DAY_S: Final = 86_400


@checked
def gas_of(verb: str, *, actions: int = 0, wallets: int = 0) -> int:
    """Returns the approximate gas of a change in ChainSecured mode, or 0 for a call that is not a transaction.

    Args:
        verb: Name of a method of an account, for example ``groups.create``.
        actions: Number of actions that the call adds to a group.
        wallets: Number of wallets that the call adds to a group.
    """
    gas = GAS.get(verb, 0)
    for members, one in ((actions, "groups.add_action"), (wallets, "groups.add_wallet")):
        gas += min(members, MAX_GROUP_ENTRIES) * GAS_PER_MEMBER + max(0, members - MAX_GROUP_ENTRIES) * GAS[one]
    return gas


@dataclass(frozen=True)
class Cost:
    """Estimated amount, or range of amounts, with its reason. Amounts are in cents.

    Attributes:
        cents: Expected amount.
        least: Minimum amount.
        most: Maximum amount. None means no limit.
        calls: Number of billed calls.
        gas: Units of gas on the chain. 0 in API mode.
        why: Reason for the amount, as text.
    """

    cents: int
    least: int
    most: int | None
    calls: int = 0
    gas: int = 0
    why: str = ""

    @classmethod
    def exactly(cls, cents: int, *, calls: int = 0, why: str = "") -> Cost:
        """Returns a cost with equal expected, minimum and maximum amounts.

        Args:
            cents: Amount in cents if all calls succeed.
            calls: Number of billed calls.
            why: Reason for the amount, as text.
        """
        return cls(cents, cents, cents, calls=calls, why=why)

    def __add__(self, other: Cost) -> Cost:
        most = None if self.most is None or other.most is None else self.most + other.most
        why = ", ".join(part for part in (self.why, other.why) if part)
        return Cost(
            self.cents + other.cents,
            self.least + other.least,
            most,
            calls=self.calls + other.calls,
            gas=self.gas + other.gas,
            why=why,
        )

    def times(self, count: int, why: str = "") -> Cost:
        """Returns the cost of `count` repetitions. A non-empty `why` replaces the reason."""
        most = None if self.most is None else self.most * count
        return Cost(self.cents * count, self.least * count, most, self.calls * count, self.gas * count, why or self.why)

    def __str__(self) -> str:
        shown = f"about {self.gas:,} gas" if self.gas and not self.cents else dollars(self.cents)
        if (self.least, self.most) != (self.cents, self.cents):
            most = "no maximum" if self.most is None else f"at most {dollars(self.most)}"
            shown += f" (at least {dollars(self.least)}, {most})"
        return f"{shown}: {self.why}" if self.why else shown


@checked
def of_call(verb: str, *, actions: int = 0, wallets: int = 0) -> Cost:
    """Returns the cost of one management call, including the additional calls for long lists of actions or wallets.

    Args:
        verb: Name of a method of a client, for example ``groups.create``.
        actions: Number of actions that the call adds to a group. Each action beyond ten needs a separate call.
        wallets: Number of wallets that the call adds to a group. Each wallet beyond ten needs a separate call.

    Raises:
        InvalidArgument: ``verb`` is not a management call or a free call of a client.

    Example:
        >>> str(of_call("groups.create", actions=12))
        '$0.03: groups.create'
    """
    if verb in FREE:
        return Cost.exactly(0, why=f"{verb} is free")
    if verb not in METERED:
        known = ", ".join(sorted(METERED))
        raise InvalidArgument(
            f"unknown management call {verb!r}",
            hint=f"Use one of {known}. For runs, call of_run(action).",
        )
    calls = 1
    if verb in {"groups.create", "groups.update"}:
        calls += sum(max(0, entries - MAX_GROUP_ENTRIES) for entries in (actions, wallets))
    return Cost.exactly(calls * MANAGEMENT_COST_CENTS, calls=calls, why=verb)


@checked
def of_seconds(seconds: float) -> int:
    """Returns the cost of a run in cents: one cent for each whole second, and at least one cent.

    Example:
        >>> of_seconds(0.2), of_seconds(3.9)
        (1, 3)
    """
    return max(1, int(seconds)) * EXECUTION_COST_CENTS_PER_SECOND


@checked
def of_run(
    action: ActionRef | None = None,
    *,
    seconds: float | None = None,
    history: History | None = None,
    longest: float | None = None,
) -> Cost:
    """Returns the estimated cost of one run.

    If `seconds` is None, the estimate uses the median duration of past runs of the action. Without past runs, the
    estimate is one cent.

    Args:
        action: Action whose past runs the estimate uses. None means that the estimate uses no past runs.
        seconds: Duration of the run in seconds. None means that the duration is unknown.
        history: Local history of past runs. None means that the estimate uses no past runs.
        longest: Time after which the service ends a run, in seconds (``svc.node.limits().timeout_ms / 1000``).
            None means that the estimate has no maximum.
    """
    most = None if longest is None else of_seconds(longest)
    if seconds is not None:
        return Cost(
            of_seconds(seconds),
            1,
            max(most or 0, of_seconds(seconds)) if most else None,
            1,
            why=f"a run of {seconds:g} s",
        )
    past = history.seconds_of(action) if history is not None and action is not None else []
    if not past:
        return Cost(1, 1, most, 1, why="a run of less than two seconds, because no past runs are known")
    middle = past[len(past) // 2]
    return Cost(of_seconds(middle), 1, most, 1, why=f"a run of {middle:.1f} s, based on {len(past)} past runs")


@checked
def of_batch(count: int, action: ActionRef | None = None, **known: Any) -> Cost:
    """Returns the cost of `count` runs of an action. The other arguments are the same as for `of_run`."""
    one = of_run(action, **known)
    return one.times(count, why=f"{count:,} runs, each calculated as {one.why}")


@checked
def of_schedule(cron: str, run: Cost | None = None, *, days: float = 30, after: float = 0.0) -> Cost:
    """Returns the cost of the runs that a trigger's schedule starts in a period.

    Args:
        cron: Schedule in UTC with five fields, or with six fields of which the first contains the seconds.
        run: Cost of one run (see `of_run`). None means one cent.
        days: Length of the period, in days.
        after: Start of the period, in Unix seconds.

    Raises:
        InvalidCron: ``cron`` is not a valid schedule.

    Example:
        >>> str(of_schedule("0 * * * *", days=2))
        '$0.48 (at least $0.48, no maximum): 48 runs in 2 days with the schedule 0 * * * *'
    """
    until = after + days * _DAY_S
    ticks = sum(1 for _ in takewhile(lambda tick: tick.timestamp() <= until, Cron(cron).ticks(after)))
    return (run or of_run()).times(ticks, why=f"{ticks:,} runs in {days:g} days with the schedule {cron}")


@checked
def of_calls(calls: Mapping[str, int]) -> Cost:
    """Returns the total cost of several calls.

    Args:
        calls: Number of calls, with the names of the methods as keys.

    Raises:
        InvalidArgument: A name is not a management call or a free call of a client.
    """
    each = (of_call(verb).times(count, why=f"{count} × {verb}") for verb, count in calls.items())  # noqa: RUF001 - the multiplication sign is intended
    return sum(each, Cost.exactly(0))
