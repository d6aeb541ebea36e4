"""Charts of runs, money, traces, permissions and audits: frames or models in, Altair out.

Data are aggregated before they are drawn, so a chart of a million runs is as small as one of a hundred.
"""

from __future__ import annotations

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
