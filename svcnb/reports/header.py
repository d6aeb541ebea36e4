"""Header of a report: account, service, period, time zone, date and version."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any, Final
from zoneinfo import ZoneInfo

from svcnb.brief import NO_MATH
from svcnb.checked import checked
from svcnb.errors import InvalidArgument
from svcnb.toolkit.account_data import AccountData, Period

MIME: Final = "application/vnd.svcnb.header+json"
"""MIME type of the header in a notebook."""

_ADDRESS_CHARACTERS: Final = 42


class Header:
    """Header of a report, displayed as names and values, and available as data for the page title and summary.

    Args:
        facts: Names and values to show, in order.
        not_visible: Data that the report could not read, one sentence for each kind.
    """

    def __init__(self, facts: Sequence[tuple[str, str]], not_visible: Sequence[str] = ()) -> None:
        self.facts: tuple[tuple[str, str], ...] = tuple(facts)
        self.not_visible: tuple[str, ...] = tuple(not_visible)

    def __repr__(self) -> str:
        facts = [f"{name}: {value}" for name, value in self.facts]
        return "\n".join([*facts, *(f"Not visible: {each}" for each in self.not_visible)])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {
            "text/plain": repr(self),
            "text/html": self.html(),
            MIME: {"facts": dict(self.facts), "not_visible": list(self.not_visible)},
        }

    def html(self) -> str:
        """Returns the header as HTML."""
        facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in self.facts)
        unseen = "".join(f"<li>{escape(each)}</li>" for each in self.not_visible)
        below = f"<p class='svcnb-unseen'>Not visible to this report:</p><ul class='svcnb-unseen'>{unseen}</ul>"
        return f"<div class='{NO_MATH}'><dl class='svcnb-header'>{facts}</dl>{below if unseen else ''}</div>"


@checked
def header(
    data: AccountData | None = None,
    *,
    zone: str = "UTC",
    service: str = "",
    account: str = "",
    period: Period | None = None,
    not_visible: Sequence[str] = (),
) -> Header:
    """Returns the header of a report. Display the header in the first cell after the parameters.

    Args:
        data: Data of the account, from `account_data`. The header uses the service, account and period of
            ``data``, unless these arguments are given.
        zone: Time zone of the report.
        service: Address of the service.
        account: Identifier of the account.
        period: Period of the report. A report without a period describes the current state.
        not_visible: Data that the report could not read, one sentence for each kind. The function adds these sentences
            to those of ``data``.
    """
    import svcnb

    if data is not None:
        service, account = service or data.service, account or _account(data)
        period, not_visible = period or data.period, [*data.not_visible, *not_visible]
    now = datetime.now(UTC)
    span = local(now, zone) if period is None else f"{local(period.begin, zone)} to {local(period.end, zone)}"
    facts = [
        ("Account", account),
        ("Service", service),
        ("Period" if period else "State at", span),
        ("Time zone", zone),
        ("Created", f"{local(now, zone)} {zone}, svcnb {svcnb.__version__}"),
    ]
    return Header([fact for fact in facts if fact[1]], not_visible)


def _account(data: AccountData) -> str:
    """Returns the address of the account's master wallet, or part of the key's hash if the address is unknown."""
    is_hash = len(data.account) > _ADDRESS_CHARACTERS
    return f"of the key with hash {data.account[:10]}…{data.account[-4:]}" if is_hash else data.account


@checked
def local(moment: datetime, zone: str, *, seconds: bool = False) -> str:
    """Returns a time as text in a time zone.

    Args:
        moment: Time with a time zone.
        zone: Name of the time zone.
        seconds: Whether the text includes seconds.

    Raises:
        InvalidArgument: The time zone is unknown.
    """
    try:
        there = moment.astimezone(UTC if zone == "UTC" else ZoneInfo(zone))
    except (ValueError, KeyError, OSError) as error:
        raise InvalidArgument(f"unknown time zone {zone!r}", hint="Use a name such as Europe/Berlin.") from error
    return f"{there:%Y-%m-%d %H:%M:%S}" if seconds else f"{there:%Y-%m-%d %H:%M}"
