"""Chart of the timeline of one run."""

from __future__ import annotations

from typing import Any, Final

import altair as alt

from svcnb.charts.renderer import Layers, Stack
from svcnb.charts.table import NothingToDraw
from svcnb.charts.theme import BLUE, GREEN, GREY, MUTED, VERMILLION, WIDTH
from svcnb.charts.words import TIMES, count, heading, short
from svcnb.checked import checked
from svcnb.client.errors import InvalidArgument
from svcnb.client.models.runs import Run
from svcnb.client.models.traces import Trace, TraceEvent

MAX_EVENTS: Final = 60
"""Maximum number of events in one chart. The chart shows the first events of a run."""

_GROUPS: Final = {
    "start": "run", "end": "run", "lost": "run", "console": "console", "key": "keys", "encrypt": "keys",
    "decrypt": "keys", "fetch": "network", "import": "network",
}  # fmt: skip
_LOOKS: Final = {
    "run": (GREY, "circle"),
    "console": (GREY, "square"),
    "keys": (GREEN, "diamond"),
    "network": (BLUE, "triangle-up"),
    "failed": (VERMILLION, "cross"),
}
_ROW: Final = 20
_MEGABYTE: Final = 1024 * 1024
_MEMORY_HEIGHT: Final = 60


@checked
def trace(run: Run | Trace) -> Layers | Stack:
    """Returns a chart of one run's timeline, with a row for each event.

    A bar shows each wait for the service. Below the events, the chart shows the memory that the run used, if known. The
    chart shows only the first 60 events of the run.

    Args:
        run: Run on an emulator, or the trace of the run.

    Raises:
        InvalidArgument: The argument is neither a run nor a trace, or the trace is empty.
        TraceUnavailable: The service is not an emulator, or has deleted the trace of the run.
    """
    found = run.trace() if isinstance(run, Run) else run
    if not isinstance(found, Trace):
        raise InvalidArgument(
            f"invalid argument of type {type(run).__name__}: expected a run or a trace",
            hint="Pass a run, or the result of run.trace().",
        )
    if not found.events:
        raise NothingToDraw(
            "this trace contains no events",
            hint="Pass the trace of a run that uses a key, sends a request, or writes to the console.",
        )
    shown = found.events[:MAX_EVENTS]
    rows = [_row(number, event) for number, event in enumerate(shown, start=1)]
    left_out = len(found) - len(shown) + found.dropped
    text = "Trace of one run (ms)"
    waited = f"{found.waited_ms:.1f} of {found.elapsed_ms:.1f} ms waiting for the service"
    below = (
        f"{count(len(found) + found.dropped, 'event')}, {waited}, engine {found.engine}",
        f"{count(left_out, 'event')} omitted" * bool(left_out),
    )
    whole = max(found.elapsed_ms, 0.001)
    about = heading(text, *below)
    x: dict[str, Any] = {
        "type": "quantitative",
        "scale": alt.Scale(domain=[0, whole]),
        "axis": alt.Axis(title="ms since the start", tickCount=8, labelFlush=False),
    }
    waterfall = _waterfall(rows, x)
    memory = [row for row in rows if row["memory"] is not None]
    if not memory:
        return Layers(layer=waterfall, **about, width=WIDTH, height=_ROW * len(rows))
    blank: dict[str, Any] = x | {"axis": alt.Axis(labels=False, ticks=False, title=None)}
    line = (
        alt.Chart(alt.InlineData(values=memory))
        .mark_line(interpolate="step-after", color=GREY, strokeWidth=1.5)
        .encode(
            x=alt.X("at", **blank),
            y=alt.Y("memory", type="quantitative", axis=alt.Axis(title="memory (MB)", tickCount=3)),
        )
    )
    main = alt.LayerChart(layer=waterfall, width=WIDTH, height=_ROW * len(rows))
    return Stack(spacing=6, vconcat=[main, line.properties(width=WIDTH, height=_MEMORY_HEIGHT)], **about)


def _row(number: int, event: TraceEvent) -> dict[str, Any]:
    # The duration of a start event is the wait in the queue, which is not part of the run's timeline.
    took = 0.0 if event.kind == "start" else event.took_ms or 0.0
    failed = event.refused is not None or event.ok is False
    return {
        "event": f"{number:>2} {short(event.label)}",
        "at": round(event.at_ms, 3),
        "from": round(max(0.0, event.at_ms - took), 3),
        "took": f"{took:.2g} ms" if 0 < took < 1 else f"{took:.1f} ms" if took else "",
        "kind": "failed" if failed else _GROUPS.get(event.kind, "run"),
        "mark": TIMES if failed else "",
        "memory": None if event.memory_bytes is None else round(event.memory_bytes / _MEGABYTE, 2),
    }


def _waterfall(rows: list[dict[str, Any]], x: dict[str, Any]) -> list[alt.Chart]:
    kinds = [kind for kind in _LOOKS if any(row["kind"] == kind for row in rows)]
    colours = alt.Scale(domain=kinds, range=[_LOOKS[kind][0] for kind in kinds])
    shapes = alt.Scale(domain=kinds, range=[_LOOKS[kind][1] for kind in kinds])
    legend = alt.Legend(title=None, symbolOpacity=1)
    y = alt.Y("event", type="nominal", sort=None, axis=alt.Axis(title=None, ticks=False, domain=False, labelLimit=320))
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y)
    colour = alt.Color("kind", type="nominal", scale=colours, legend=legend)
    return [
        base.mark_bar(height=9, opacity=0.45).encode(x=alt.X("from", **x), x2="at", color=colour),
        base.mark_point(filled=True, opacity=1, size=64).encode(
            x=alt.X("at", **x), color=colour, shape=alt.Shape("kind", type="nominal", scale=shapes, legend=legend)
        ),
        base.mark_text(align="left", dx=8, style=MUTED).encode(
            x=alt.X("at", **x), text=alt.Text("took", type="nominal")
        ),
    ]
