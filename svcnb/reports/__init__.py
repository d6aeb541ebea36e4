"""Reports that run by themselves: notebooks with typed parameters, executed, saved and told of by an exit code.

```python
from svcnb import reports

made = reports.run("spend", out="reports", since="30d", budget_cents=2_000)
made.html  # for people, and ready to be printed
made.attention  # whether somebody should look
```
"""

from __future__ import annotations

from svcnb.client.models.billing import dollars
from svcnb.reports.conclusion import Conclusion, conclude
from svcnb.reports.data import credit_cents, history_of, service, stripped, triggers_service
from svcnb.reports.kinds import ReportKind, UnknownReport, catalogue
from svcnb.reports.parameters import ParameterRefused, Parameters
from svcnb.reports.pictures import Rows, permission_matrix, picture
from svcnb.reports.runner import Report, ReportFailed, run, run_many

__all__ = [
    "Conclusion",
    "ParameterRefused",
    "Parameters",
    "Report",
    "ReportFailed",
    "ReportKind",
    "Rows",
    "UnknownReport",
    "catalogue",
    "conclude",
    "credit_cents",
    "dollars",
    "history_of",
    "permission_matrix",
    "picture",
    "run",
    "run_many",
    "service",
    "stripped",
    "triggers_service",
]
