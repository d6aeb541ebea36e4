"""Chart of the changes of an account over time."""

from __future__ import annotations

from typing import Any, Final

import altair as alt
import numpy as np

from svcnb.charts.bins import cover, wall_clock
from svcnb.charts.renderer import Layers
from svcnb.charts.table import Table
from svcnb.charts.theme import BLUE, GREEN, PURPLE, VERMILLION, WIDTH
from svcnb.charts.words import count, heading, short, span, time_axis
from svcnb.checked import checked

_COLOURS: Final = (BLUE, VERMILLION, GREEN, PURPLE)
_SHAPES: Final = ("circle", "triangle-up", "square", "diamond")
_ROW: Final = 26
_OTHERS: Final = "others"


@checked
def audit_timeline(entries: Any, *, zone: str = "UTC") -> Layers:
    """Returns a chart of an account's events on the chain.

    Each kind of event has a row. A symbol represents the events of one sender in one time span. The shape and the
    colour of the symbol represent the sender. If more than four wallets sent changes, the three wallets with the most
    events have their own symbols, and all others share one symbol. If a symbol represents more than one event, the
    number of events is beside the symbol.

    Args:
        entries: Result of ``account.audit()``, or a DataFrame with ``time``, ``event`` and ``who``.
        zone: Time zone of the axis.

    Raises:
        InvalidArgument: There is no data to draw, columns are missing or have the wrong type, or the time zone is
            unknown.
    """
    table = Table(entries, "events")
    times = wall_clock(table.times(), zone)
    events, names = table.labels("event")
    senders, who = table.labels("who")
    # The four senders with the most events have their own shapes.
    most = np.argsort(-np.bincount(senders, minlength=len(who)), kind="stable")
    own = most[: len(_SHAPES) if len(who) <= len(_SHAPES) else len(_SHAPES) - 1]
    signs = [short(who[number], 40) for number in own] + [_OTHERS] * (len(who) > len(own))
    sign = np.full(len(who), len(own))
    sign[own] = np.arange(len(own))
    bins = cover(times, zone)
    keys = (bins.of(times) * len(names) + events) * len(signs) + sign[senders]
    found, sizes = np.unique(keys, return_counts=True)
    rows = [
        {
            "at": (bins.begin_ms(at) + bins.begin_ms(at + 1)) // 2,
            "event": names[event],
            "who": signs[which],
            "events": int(size),
            "said": f"{size:,}" if size > 1 else "",
        }
        for key, size in zip(found.tolist(), sizes.tolist(), strict=True)
        for rest, which in [divmod(key, len(signs))]
        for at, event in [divmod(rest, len(names))]
    ]
    text = f"Changes of an account per {bins.name}"
    below = (count(len(times), "event"), span(times, zone))
    legend = alt.Legend(title="sent by", labelLimit=320)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("at", **time_axis(zone, *bins.whole_ms)),
        y=alt.Y("event", type="nominal", sort=names, axis=alt.Axis(title=None, grid=True, ticks=False)),
    )
    colours = alt.Scale(domain=signs, range=list(_COLOURS[: len(signs)]))
    shapes = alt.Scale(domain=signs, range=list(_SHAPES[: len(signs)]))
    return Layers(
        layer=[
            base.mark_point(filled=True, opacity=0.9, size=90).encode(
                color=alt.Color("who", type="nominal", scale=colours, legend=legend),
                shape=alt.Shape("who", type="nominal", scale=shapes, legend=legend),
            ),
            base.mark_text(dx=11).encode(text=alt.Text("said", type="nominal")),
        ],
        **heading(text, *below),
        width=WIDTH,
        height=_ROW * len(names),
    )
