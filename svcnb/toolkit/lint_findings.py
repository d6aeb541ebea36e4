"""Findings of the linter for actions, and their display."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Literal, overload

from svcnb.brief import NO_MATH
from svcnb.client.models.base import Model

Severity = Literal["error", "warning"]


class Finding(Model):
    """Problem in the source of an action, found by the linter."""

    severity: Severity
    """``error`` if a run fails, ``warning`` if a run can fail or the action can be insecure."""

    code: str
    """Code of the rule, for example ``main_missing``."""

    line: int
    """Line of the source, counted from 1."""

    column: int
    """Column in the line, counted from 1."""

    message: str
    """Description of the problem."""
    hint: str = ""
    """How to fix the problem. Can be empty."""

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.severity} {self.code}: {self.message}"


class LintReport(Sequence[Finding]):
    """Findings for one action, in the order of the source.

    Args:
        findings: The findings, in any order.
        name: Name of the action, for display before each finding. Can be empty.
    """

    def __init__(self, findings: Iterable[Finding], name: str = "") -> None:
        self._findings = sorted(findings, key=lambda each: (each.line, each.column, each.code))
        self.name = name

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self._findings[index]

    def __len__(self) -> int:
        return len(self._findings)

    @property
    def errors(self) -> list[Finding]:
        """Findings with the severity ``error``, which usually make a run fail."""
        return [each for each in self._findings if each.severity == "error"]

    @property
    def warnings(self) -> list[Finding]:
        """Findings with the severity ``warning``: a run can fail, or the action can be insecure."""
        return [each for each in self._findings if each.severity == "warning"]

    @property
    def ok(self) -> bool:
        """Whether the report contains no finding with the severity ``error``. Warnings are allowed."""
        return not self.errors

    @property
    def codes(self) -> list[str]:
        """Codes of the findings, in the order of the findings."""
        return [each.code for each in self._findings]

    def __repr__(self) -> str:
        if not self._findings:
            return "no problems found"
        lines = []
        for each in self._findings:
            lines.append(f"{self.name}:{each}" if self.name else str(each))
            if each.hint:
                lines.append(f"    {each.hint}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from svcnb.client import display

        rows = [[each.line, each.severity, each.code, each.message, each.hint] for each in self._findings]
        shown = display.table(["line", "", "code", "what", "fix"], rows, empty="No problems found.")
        return f"<div class='{NO_MATH}'>{escape(self.name)}</div>{shown}" if self.name else shown
