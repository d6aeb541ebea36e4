"""Header of a report: account, service, period, time zone, date and version."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any, Final
from zoneinfo import ZoneInfo

from svcnb.reports.conclusion import NO_MATH
from svcnb.toolkit.account_data import AccountData, Period

MIME: Final = "application/vnd.svcnb.header+json"
"""MIME type of the header in a notebook."""

_ADDRESS_CHARACTERS: Final = 42


class Header:
    """Displayed as a list of names and values, and as data for the page's title and the summary.

    Args:
        facts: Names and values.
        not_visible: Data that the report could not see, one sentence each.
    """

    def __init__(self, facts: Sequence[tuple[str, str]], not_visible: Sequence[str] = ()) -> None:
        self.facts = tuple(facts)
        self.not_visible = tuple(not_visible)

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


def header(
    data: AccountData | None = None,
    *,
    zone: str = "UTC",
    service: str = "",
    account: str = "",
    period: Period | None = None,
    not_visible: Sequence[str] = (),
) -> Header:
    """Returns the header of a report. Show it in the first cell after the parameters.

    Args:
        data: The account of the report. The other arguments override its values.
        zone: Time zone of the report.
        service: Address of the service.
        account: Identifier of the account.
        period: The period; a report without one is about the present.
        not_visible: Data that the report could not see, one sentence each.
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
    """The address of the account, or part of its key's hash if the service did not return the owner of the key."""
    is_hash = len(data.account) > _ADDRESS_CHARACTERS
    return f"of the key with hash {data.account[:10]}…{data.account[-4:]}" if is_hash else data.account


def local(moment: datetime, zone: str) -> str:
    """Returns a moment by the clock of a zone, to the minute.

    Args:
        moment: The time, with its own zone.
        zone: Name of the zone.
    """
    there = moment.astimezone(UTC if zone == "UTC" else ZoneInfo(zone))
    return f"{there:%Y-%m-%d %H:%M}"
