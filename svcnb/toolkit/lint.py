"""Finds errors in an action before it runs: missing names, leaked keys, exceeded limits.

It uses a parser and not a text search, so strings, comments and shadowed names cause no false findings.

Source: specification 1.6, 1.8, 1.9; reference facts 5.1 to 5.7.
"""

from __future__ import annotations

from typing import Any

from svcnb.protocol.action import Action
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.toolkit.lint_findings import Finding, LintReport, Severity

__all__ = ["Finding", "LintReport", "Severity", "lint"]


def lint(
    action: Action | str, *, vocabulary: Vocabulary | None = None, limits: ActionLimits | None = None
) -> LintReport:
    """Checks an action.

    Args:
        action: The action, or its source.
        vocabulary: The service's names; the neutral ones when None.
        limits: Limits of one run; the service's usual limits when None.

    Returns:
        The findings; empty when there are none.

    Raises:
        ImportError: The parser is not installed; the message says which extra contains it.

    Example:
        >>> lint("const run = () => 1").codes  # doctest: +SKIP
        ['main_missing']
    """
    from svcnb.toolkit.javascript import Script
    from svcnb.toolkit.lint_context import Context
    from svcnb.toolkit.lint_rules import every_rule

    given: Any = action
    source, name = (given.source, given.name) if isinstance(given, Action) else (given, "")
    context = Context(Script(source), source, vocabulary or Vocabulary(), limits or ActionLimits())
    return LintReport(every_rule(context), name)
