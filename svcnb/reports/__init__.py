"""Reports that run by themselves: notebooks with typed parameters, executed, saved and told of by an exit code.

```python
from svcnb import reports

made = reports.run("spend", out="reports", since="30d", budget_cents=2_000)
made.html  # for people, and ready to be printed
made.attention  # whether somebody should look
```
"""

from __future__ import annotations

from svcnb.reports.catalogue import ReportKind, UnknownReport, catalogue
from svcnb.reports.conclusion import Conclusion, conclude
from svcnb.reports.data import history_of, service, triggers_service
from svcnb.reports.parameters import ParameterRefused, Parameters
from svcnb.reports.run import Report, ReportFailed, run

__all__ = [
    "Conclusion",
    "ParameterRefused",
    "Parameters",
    "Report",
    "ReportFailed",
    "ReportKind",
    "UnknownReport",
    "catalogue",
    "conclude",
    "history_of",
    "run",
    "service",
    "triggers_service",
]
