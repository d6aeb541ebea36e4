"""Input of charts: columns of runs from DataFrames, models or a history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from svcnb.charts.bins import Array
from svcnb.charts.words import count
from svcnb.client.errors import InvalidArgument
from svcnb.protocol.cid_text import is_cid_v0
from svcnb.protocol.errors import shown

MAX_ACTIONS: Final = 20
"""Maximum number of actions in one chart. The chart shows the actions with the most runs."""

SUCCESS, FAILED, OPEN = 0, 1, 2
"""Numbers in the array of `Table.status`: the run succeeded, failed, or is unfinished."""

_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "time": ("started_at", "time"),
    "status": ("status", "ok"),
    "seconds": ("elapsed", "seconds"),
    "action": ("action", "name"),
    "cents": ("cost_cents",),
    "cid": ("cid",),
    "event": ("event",),
    "who": ("who",),
}
_SUCCESSES: Final = frozenset({"success", True, "True", "true"})
_FAILURES: Final = frozenset({"failed", False, "False", "false"})
_ROWS_HINT: Final = "Correct or remove these rows before you draw the chart."

_RUNS_HINT: Final = "Pass a History, the runs of a History, or a data frame with the columns of History().measures()."
_HINTS: Final[Mapping[str, str]] = {
    "events": "Pass the result of account.audit(), or a data frame with the columns time, event and who."
}
"""Hints for data other than runs. The dictionary keys are the values of the argument `what` of `Table`."""

_NO_EVENTS: Final = "Change the account first, for example create a group, or pass the history of another account."


class NothingToDraw(InvalidArgument):
    """Error for data that the chart cannot show, for example a list without runs."""

    default_hint = "Choose a longer period (since=...), or run an action first."


class Table:
    """Rows of data, which a chart reads by column.

    Args:
        data: DataFrame, mapping of columns, models, or a `svcnb.toolkit.history.History`. A DataFrame can be from
            pandas, polars, or any library whose columns have ``to_numpy``. Models are, for example, past runs of a
            history or runs of a trigger.
        what: Description of the rows in the plural, for example ``runs``.

    Raises:
        InvalidArgument: The data has an unsupported type.
        NothingToDraw: The data has no rows.
    """

    def __init__(self, data: Any, what: str = "runs") -> None:
        self._what = what
        self._frame = _frame(data, what)
        self.columns: list[str] = [str(name) for name in self._frame.columns]
        if len(self) == 0:
            raise NothingToDraw(f"there are no {what} to draw", hint=_NO_EVENTS if what == "events" else None)

    def __len__(self) -> int:
        return len(self._frame)

    def times(self) -> Array:
        """Returns the time of each row: the start of a run, or the time of an event. Microseconds since 1970, UTC.

        Raises:
            InvalidArgument: The column is missing, does not contain times, or has empty values.
        """
        column = self._column("time")
        if column.dtype.kind in "iufc":
            raise self._wrong(
                "time",
                "contains numbers without a unit: expected dates and times",
                "Convert the column, for example with pandas.to_datetime(column, unit='s', utc=True).",
            )
        try:
            stamps = pd.DatetimeIndex(pd.to_datetime(column, utc=True, format="ISO8601"))
        except (ValueError, TypeError):
            bad = _first_invalid(column, lambda each: pd.to_datetime(each, utc=True, format="ISO8601"))
            raise self._wrong(
                "time",
                f"contains values that are not times{bad}: expected ISO 8601, for example 2026-01-31T12:00:00Z",
            ) from None
        self._whole("time", stamps.isna())
        found: Array = stamps.as_unit("us").asi8
        return found

    def status(self) -> Array:
        """Returns the status of each row: `SUCCESS`, `FAILED`, or `OPEN` for any other value.

        Raises:
            InvalidArgument: The column is missing, or has empty values.
        """
        codes, names = pd.factorize(self._column("status"))
        self._whole("status", codes < 0)
        kinds = [SUCCESS if name in _SUCCESSES else FAILED if name in _FAILURES else OPEN for name in names]
        found: Array = np.array(kinds, dtype=np.int8)[codes]
        return found

    def seconds(self) -> Array:
        """Returns the duration of each row in seconds, or NaN if the duration is unknown.

        Raises:
            InvalidArgument: The column is missing, or contains values that are not numbers or are negative.
        """
        return self._numbers("seconds")

    def cents(self) -> Array:
        """Returns the cost of each row, in cents.

        Raises:
            InvalidArgument: The column is missing, or contains values that are empty, not numbers or negative.
        """
        found = self._numbers("cents")
        self._whole("cents", np.isnan(found))
        return found

    def labels(self, name: str) -> tuple[Array, list[str]]:
        """Returns a column of strings as an array and a list. The list contains each distinct string once.

        For each row, the array contains the index of its string in the list. ``(none)`` replaces a missing value. For
        actions, the CID replaces a missing name if the data has a column ``cid``.

        Raises:
            InvalidArgument: The column is missing.
        """
        codes, names = pd.factorize(self._column(name))
        texts = [_brief(str(each)) for each in names]
        # The CID, if available, replaces a missing name.
        if name == "action" and ("" in texts or (codes < 0).any()) and "cid" in self.columns:
            return self._named_by_cid(codes, texts)
        if (codes < 0).any():
            codes, texts = np.where(codes < 0, len(texts), codes), [*texts, "(none)"]
        return codes, texts

    def _named_by_cid(self, codes: Array, texts: Sequence[str]) -> tuple[Array, list[str]]:
        names = np.array([*texts, ""], dtype=object)[codes]
        cids = np.asarray(self._column("cid"), dtype=object)
        short = [name or _brief(str(cid)) for name, cid in zip(names, cids, strict=True)]
        found, kept = pd.factorize(np.array(short, dtype=object))
        return found, [str(each) for each in kept]

    def _numbers(self, name: str) -> Array:
        try:
            found: Array = np.asarray(pd.to_numeric(self._column(name)), dtype=np.float64)
        except (ValueError, TypeError):
            bad = _first_invalid(self._column(name), pd.to_numeric)
            raise self._wrong(name, f"contains values that are not numbers{bad}") from None
        if (found < 0).any():
            raise self._wrong(name, f"contains negative numbers, such as {found.min():g}")
        return found

    def _column(self, name: str) -> Any:
        """Returns a column as a pandas or numpy object."""
        for each in _NAMES[name]:
            if each in self.columns:
                column = self._frame[each]
                return column if isinstance(column, pd.Series) else column.to_numpy()
        wanted = " or ".join(repr(each) for each in _NAMES[name])
        raise InvalidArgument(
            f"the {self._what} have no column {wanted}; available columns: {', '.join(self.columns) or 'none'}",
            hint=_HINTS.get(self._what, _RUNS_HINT),
        )

    def _whole(self, name: str, missing: Any) -> None:
        if empty := int(np.count_nonzero(missing)):
            raise self._wrong(name, f"is empty in {empty} of {len(self)} rows")

    def _wrong(self, name: str, what: str, hint: str = "") -> InvalidArgument:
        column = next(each for each in _NAMES[name] if each in self.columns)
        return InvalidArgument(f"column {column!r} {what}", hint=hint or _ROWS_HINT)


def most_frequent(sizes: Array) -> tuple[list[int], str]:
    """Returns the indexes of the `MAX_ACTIONS` largest groups, and a note about the other groups.

    The result omits groups without runs. If there are no other groups, the note is empty.
    """
    shown = [int(number) for number in np.argsort(-sizes, kind="stable")[:MAX_ACTIONS] if sizes[number]]
    left_out = int((sizes > 0).sum()) - len(shown)
    return shown, f"not shown: {count(left_out, 'action')} with fewer runs" * bool(left_out)


def _first_invalid(column: Any, parse: Callable[[Any], object]) -> str:
    for each in column:
        try:
            parse(each)
        except (ValueError, TypeError):
            return f", such as {shown(each)}"
    return ""


def _brief(text: str) -> str:
    return f"{text[:10]}…" if is_cid_v0(text) else text


def _frame(data: Any, what: str) -> Any:
    if hasattr(data, "measures"):
        return data.measures()
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        return data
    if isinstance(data, Mapping):
        return pd.DataFrame(data)
    if not isinstance(data, Iterable) or isinstance(data, (str, bytes)):
        raise InvalidArgument(
            f"invalid data of type {type(data).__name__}: expected {what}", hint=_HINTS.get(what, _RUNS_HINT)
        )
    rows = list(data)
    known = [each for names in _NAMES.values() for each in names if any(hasattr(row, each) for row in rows)]
    if rows and not known:
        raise InvalidArgument(
            f"invalid list of {type(rows[0]).__name__} objects: expected {what}", hint=_HINTS.get(what, _RUNS_HINT)
        )
    return pd.DataFrame({name: [getattr(row, name, None) for row in rows] for name in known})
