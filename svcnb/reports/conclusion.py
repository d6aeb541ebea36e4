"""Conclusion of a report. The last cell of the report's notebook sets the conclusion.

The HTML page of the report shows the conclusion at the top. The exit code of `svcnb report` shows whether the
conclusion contains a problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Final

from svcnb.brief import NO_MATH
from svcnb.checked import checked

MIME: Final = "application/vnd.svcnb.conclusion+json"
"""MIME type of the conclusion in a notebook."""

_NOTHING: Final = "No problems found."


class Conclusion:
    """Conclusion of a report, displayed as a list and available as data for the program that runs the report.

    Args:
        attention: Problems that need attention, one sentence each. Empty if there are none.
        also: Additional facts.
    """

    def __init__(self, attention: Sequence[str], also: Sequence[str] = ()) -> None:
        self.attention: tuple[str, ...] = tuple(attention)
        self.also: tuple[str, ...] = tuple(also)

    def __repr__(self) -> str:
        wanted = [f"Attention: {each}" for each in self.attention] or [_NOTHING]
        return "\n".join([*wanted, *self.also])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {
            "text/plain": repr(self),
            "text/html": self.html(),
            MIME: {"attention": list(self.attention), "also": list(self.also)},
        }

    def html(self) -> str:
        """Returns the conclusion as HTML."""
        items = [f"<li><b>Attention:</b> {escape(each)}</li>" for each in self.attention] or [f"<li>{_NOTHING}</li>"]
        items += [f"<li>{escape(each)}</li>" for each in self.also]
        kind = "attention" if self.attention else "calm"
        return f"<ul class='svcnb-conclusion svcnb-{kind} {NO_MATH}'>{''.join(items)}</ul>"


@checked
def conclude(attention: Sequence[str] = (), also: Sequence[str] = ()) -> Conclusion:
    """Returns the conclusion of a report, with problems and additional facts. Call this function in the last cell.

    Args:
        attention: Problems, one sentence each. If the list is not empty, the exit code of `svcnb report` is 7.
        also: Additional facts, one sentence each, which do not change the exit code.
    """
    return Conclusion(attention, also)
