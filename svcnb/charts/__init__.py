"""Altair charts of runs, spending, traces, permissions and audits, from DataFrames or models.

Charts of runs and audits contain aggregated data. A chart of a million runs is therefore as small as a chart of a
hundred runs. `svg`, `png` and `save` convert a chart to an image, and `live` converts a chart to a widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svcnb.errors import ExtraMissing
from svcnb.protocol.in_page import IN_PAGE

try:
    from svcnb.charts.audit import audit_timeline
    from svcnb.charts.latency import latency
    from svcnb.charts.native import RenderFailed
    from svcnb.charts.permissions import permission_graph
    from svcnb.charts.renderer import live, png, save, svg
    from svcnb.charts.spend import spend
    from svcnb.charts.success import success_rate
    from svcnb.charts.table import NothingToDraw
    from svcnb.charts.timeline import run_timeline
    from svcnb.charts.waterfall import trace
except ModuleNotFoundError as error:
    if (error.name or "").startswith("svcnb"):
        raise
    if not IN_PAGE:
        raise ExtraMissing(f"svcnb.charts requires the package {error.name}", "lab") from error
    # In a page, the import still succeeds, so that a notebook can run the cells that draw no chart.
    _absent = error.name
    if not TYPE_CHECKING:

        def __getattr__(name: str) -> Any:
            if name not in __all__:
                raise AttributeError(f"module 'svcnb.charts' has no attribute {name!r}")
            raise ExtraMissing(f"charts require the package {_absent}", "lab")


__all__ = [
    "NothingToDraw",
    "RenderFailed",
    "audit_timeline",
    "latency",
    "live",
    "permission_graph",
    "png",
    "run_timeline",
    "save",
    "spend",
    "success_rate",
    "svg",
    "trace",
]
