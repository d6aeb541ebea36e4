"""Charts of `svcnb.charts` for the runs panel, as drawings that use the colours of the page.

The kernel draws the charts, so the page does not need to load a chart library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from svcnb.client.errors import InvalidArgument
from svcnb.client.frames import pandas
from svcnb.toolkit.run_feed import SeenRun

CODE: Final = "charts.run_timeline(runs), charts.latency(runs), charts.success_rate(runs), charts.spend(runs)"
"""Python code that draws the same charts as `draw`, for the recorded steps of a panel."""


def draw(runs: Sequence[SeenRun]) -> list[str]:
    """Returns the charts as SVG. The result omits charts for which the runs have no data.

    Args:
        runs: Runs to draw, with the names of their actions.

    Raises:
        NothingToDraw: There are no runs.
    """
    from svcnb import charts

    pd = pandas()

    if not runs:
        raise charts.NothingToDraw("there are no runs to draw")
    frame = pd.DataFrame(
        {
            "started_at": pd.to_datetime([run.started_at for run in runs], unit="s", utc=True),
            # Charts expect the format of a client's runs, in which a rejection is a failure.
            "status": ["failed" if run.status == "refused" else run.status for run in runs],
            "elapsed": [run.elapsed for run in runs],
            "action": [run.action for run in runs],
            "cid": [run.cid for run in runs],
            "cost_cents": [run.cost_cents for run in runs],
        }
    )
    found: list[str] = []
    for chart in (charts.run_timeline, charts.latency, charts.success_rate, charts.spend):
        try:
            found.append(charts.svg(chart(frame), theme="auto"))
        except InvalidArgument:  # for example, the latency chart if all runs failed
            continue
    return found
