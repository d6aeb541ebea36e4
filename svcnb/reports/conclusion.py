"""Conclusion of a report: set by its last cell, shown at its top, and summarised by the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Final

MIME: Final = "application/vnd.svcnb.conclusion+json"
"""MIME type of the conclusion in a notebook."""

NO_MATH: Final = "tex2jax_ignore mathjax_ignore"
"""CSS classes that prevent dollar signs from being treated as formulas."""

_NOTHING: Final = "No problems found."


class Conclusion:
    """Displayed as a list, and as data for the program that runs the report.

    Args:
        attention: Problems that a person should check, one sentence each; empty when there are none.
        also: Further facts.
    """

    def __init__(self, attention: Sequence[str], also: Sequence[str] = ()) -> None:
        self.attention = tuple(attention)
        self.also = tuple(also)

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


def conclude(attention: Sequence[str] = (), also: Sequence[str] = ()) -> Conclusion:
    """Returns the conclusion of a report, for its last cell: problems and further facts.

    Args:
        attention: Problems, one sentence each; any of them changes the exit code of `svcnb report`.
        also: Further facts, one sentence each; they do not change the exit code.
    """
    return Conclusion(attention, also)
