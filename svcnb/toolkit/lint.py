"""Linter that finds errors in an action before a run, such as undefined names, leaked keys and exceeded limits.

The linter uses a parser instead of a text search. Strings, comments and shadowed names therefore cause no false
findings.

Source: docs/service/index.md#derived-actions, docs/service/limits.md#limits-of-a-run,
    docs/service/runtime.md#functions, docs/service/runtime.md#calling-main.
"""

from __future__ import annotations

from typing import Any

from svcnb.checked import checked
from svcnb.protocol.action import Action
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.toolkit.lint_findings import Finding, LintReport, Severity

__all__ = ["Finding", "LintReport", "Severity", "lint"]


@checked
def lint(
    action: Action | str, *, vocabulary: Vocabulary | None = None, limits: ActionLimits | None = None
) -> LintReport:
    """Checks the source of an action.

    Args:
        action: The action, or its source.
        vocabulary: Names of the service. None means the names of the specification.
        limits: Limits of one run. None means the default limits of the service.

    Returns:
        A report with the findings. The report is empty if the linter found no problems.

    Raises:
        ImportError: The parser is not installed. The message contains the name of the extra to install.

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
