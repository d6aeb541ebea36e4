"""Filters and groups of past runs, expressed in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from svcnb.client.errors import InvalidArgument
from svcnb.client.references import key_hash, raw_cid
from svcnb.protocol.durations import seconds

GROUPS: Final[dict[str, str]] = {
    "action": "CASE WHEN action <> '' THEN action ELSE cid END",
    "key": "key_hash",
    "day": "date(started_at, 'unixepoch')",
    "service": "base_url",
    "trigger": "trigger_id",
}
"""SQL column or expression for each value of the argument `by` of `History.spend`."""
_VALUES: Final = {"status": ("success", "failed", "queued", "running"), "source": ("client", "trigger", "service")}
_WANTED: Final = frozenset({"action", "key", "keys", "service", "status", "source", "since", "until"})


def condition(wanted: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
    """Returns an SQL WHERE clause for filters of `History.runs`, and the values of its placeholders.

    Without filters, the clause is empty.
    """
    if unknown := set(wanted) - _WANTED:
        raise InvalidArgument(
            f"cannot filter runs by {', '.join(sorted(unknown))}",
            hint=f"Use the filters {', '.join(sorted(_WANTED))}.",
        )
    given = {name: value for name, value in wanted.items() if value is not None}
    _require_known_values(given)
    clauses: dict[str, tuple[Any, ...]] = {}
    if "action" in given:
        clauses["cid = ?"] = (raw_cid(given["action"]),)
    if "key" in given:
        clauses["key_hash = ?"] = (key_hash(given["key"]),)
    if "keys" in given:
        keys = tuple(given["keys"])
        clauses[f"key_hash IN ({', '.join('?' * len(keys))})"] = keys
    for name, column in (("service", "base_url"), ("status", "status"), ("source", "source")):
        if name in given:
            clauses[f"{column} = ?"] = (given[name],)
    if "since" in given:
        clauses["started_at >= ?"] = (_since(given["since"]),)
    if "until" in given:
        clauses["started_at < ?"] = (given["until"].timestamp(),)
    values = tuple(value for bound in clauses.values() for value in bound)
    return (f"WHERE {' AND '.join(clauses)}" if clauses else ""), values


def _require_known_values(given: Mapping[str, Any]) -> None:
    for name, allowed in _VALUES.items():
        if name in given and given[name] not in allowed:
            raise InvalidArgument(f"invalid {name} {given[name]!r}", hint=f"Use one of {', '.join(allowed)}.")


def _since(value: datetime | timedelta | str | None) -> float | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.timestamp()
    return datetime.now(UTC).timestamp() - seconds(value)
