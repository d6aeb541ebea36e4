"""List of the available reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from svcnb.client.errors import ConfigError
from svcnb.reports import parameters
from svcnb.reports.parameters import Parameters

TEMPLATES: Final = Path(__file__).with_name("templates")


class UnknownReport(ConfigError):
    """No report has this name."""


@dataclass(frozen=True)
class ReportKind:
    """One report.

    Attributes:
        name: Its name on the command line.
        title: Its heading.
        says: Its content, in a sentence.
        parameters: Class of its parameters.
        reads: The data source that needs settings: an account, or the triggers service.
    """

    name: str
    title: str
    says: str
    parameters: type[Parameters]
    reads: Literal["account", "triggers"] = "account"

    @property
    def template(self) -> Path:
        """The notebook."""
        return TEMPLATES / f"{self.name}.ipynb"

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Returns all parameters, checked, as JSON values.

        Args:
            given: Names and values; values may be texts, as from a command line.

        Raises:
            ParameterRefused: A name is unknown, or a value is of another type or out of its range.
        """
        return self.parameters.checked(given, self.name).model_dump(mode="json")

    @classmethod
    def named(cls, name: str) -> ReportKind:
        """Finds a report.

        Raises:
            UnknownReport: There is none of that name.
        """
        found = next((kind for kind in catalogue if kind.name == name), None)
        if found is None:
            raise UnknownReport(
                f"there is no report {name!r}",
                hint=f"Reports: {', '.join(kind.name for kind in catalogue)}; or a notebook, for example mine.ipynb.",
            )
        return found


catalogue: Final = (
    ReportKind(
        "run-history", "Run history", "What ran, what failed and why, and how long it took.", parameters.RunHistory
    ),
    ReportKind(
        "spend", "Spend", "What was spent on which action, key and day, and how long it lasts.", parameters.Spend
    ),
    ReportKind(
        "permission-audit",
        "Permission audit",
        "What every usage key may do, and which of it reaches too far.",
        parameters.PermissionAudit,
    ),
    ReportKind(
        "trigger-health",
        "Trigger health",
        "Which triggers fail, are late, or have stopped.",
        parameters.TriggerHealth,
        "triggers",
    ),
)
"""Every report, in the order of `svcnb report --list`."""
