"""Unattended reports: execution of notebooks with typed parameters.

The package saves the results of a report, and shows whether the report found a problem.

```python
from svcnb import reports

made = reports.run("spend", out="reports", since="30d", budget_cents=2_000)
made.html  # page to read or print
made.attention  # whether the report found a problem
```
"""

from __future__ import annotations

from svcnb.client.models.billing import dollars
from svcnb.reports.conclusion import Conclusion, conclude
from svcnb.reports.data import account_data, failures, history_of, service, stripped, triggers_service
from svcnb.reports.header import Header, header, local
from svcnb.reports.kinds import ReportKind, UnknownReport, catalogue
from svcnb.reports.parameters import ParameterRefused, Parameters
from svcnb.reports.pictures import Picture, Rows, count, money, permission_matrix, picture
from svcnb.reports.runner import Report, ReportFailed, run, run_many
from svcnb.toolkit.account_data import key_names

__all__ = [
    "Conclusion",
    "Header",
    "ParameterRefused",
    "Parameters",
    "Picture",
    "Report",
    "ReportFailed",
    "ReportKind",
    "Rows",
    "UnknownReport",
    "account_data",
    "catalogue",
    "conclude",
    "count",
    "dollars",
    "failures",
    "header",
    "history_of",
    "key_names",
    "local",
    "money",
    "permission_matrix",
    "picture",
    "run",
    "run_many",
    "service",
    "stripped",
    "triggers_service",
]
