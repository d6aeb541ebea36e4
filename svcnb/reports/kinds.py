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
    """Error for an unknown name of a report."""


@dataclass(frozen=True)
class ReportKind:
    """Definition of a report: its notebook, its parameters, and the data that it reads.

    Attributes:
        name: Name on the command line.
        title: Heading of the report.
        says: Content of the report, in one sentence.
        parameters: Class of the parameters.
        reads: Data source of the report: ``account`` or ``triggers``. The source determines the settings that the
            report needs.
    """

    name: str
    title: str
    says: str
    parameters: type[Parameters]
    reads: Literal["account", "triggers"] = "account"

    @property
    def template(self) -> Path:
        """Path of the report's notebook."""
        return TEMPLATES / f"{self.name}.ipynb"

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Checks the given parameters, and returns all parameters, including defaults, as JSON values.

        Args:
            given: Names and values. Values can be text, as on a command line.

        Raises:
            ParameterRefused: A name is unknown, or a value has the wrong type or is out of range.
        """
        return self.parameters.checked(given, self.name).model_dump(mode="json")

    @classmethod
    def named(cls, name: str) -> ReportKind:
        """Returns the report that has the given name.

        Raises:
            UnknownReport: No report has this name.
        """
        found = next((kind for kind in catalogue if kind.name == name), None)
        if found is None:
            raise UnknownReport(
                f"unknown report {name!r}",
                hint=f"Use one of the reports {', '.join(kind.name for kind in catalogue)}, or a notebook such as "
                f"mine.ipynb.",
            )
        return found


catalogue: Final = (
    ReportKind("run-history", "Run history", "Runs, failures with their causes, and durations.", parameters.RunHistory),
    ReportKind("spend", "Spend", "Costs by action, key and day, and the time that the credit lasts.", parameters.Spend),
    ReportKind(
        "permission-audit",
        "Permission audit",
        "Permissions of each usage key, findings about permissions, and changes to the account.",
        parameters.PermissionAudit,
    ),
    ReportKind(
        "trigger-health",
        "Trigger health",
        "State of each trigger, with triggers that fail or are late, and the newest failures.",
        parameters.TriggerHealth,
        "triggers",
    ),
)
"""All reports, in the order of `svcnb report --list`."""
