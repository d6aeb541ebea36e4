"""Chart of the groups that permit a key, an action and a wallet, with missing permissions.

`svcnb.client.explanation_graph` places the boxes and lines, and explains why there are two renderers.
"""

from __future__ import annotations

from typing import Any, Final

import altair as alt

from svcnb.charts.renderer import Layers
from svcnb.charts.theme import BLUE, MUTED, OUTLINE, VERMILLION
from svcnb.charts.words import TIMES, count, heading, short
from svcnb.checked import checked
from svcnb.client.errors import InvalidArgument
from svcnb.client.explanation_graph import Box, Line, layout
from svcnb.client.models.explanation import Explanation

MAX_GROUPS: Final = 12
"""Maximum number of groups in one drawing. Groups with the most existing permissions come first."""

_WIDTH: Final = 700
_STEP: Final = 54
_BOX: Final = 180
_TALL: Final = 38
_LETTERS: Final = 26
_COLUMNS: Final = (_BOX / 2, _WIDTH / 2, _WIDTH - _BOX / 2)


@checked
def permission_graph(explanation: Explanation) -> Layers:
    """Returns a chart that shows why a run is allowed or refused.

    A line connects a key, an action or a wallet with a group. Solid lines are existing permissions. Dashed lines with a
    cross are missing permissions. The chart shows at most 12 groups.

    Args:
        explanation: Result of ``svc.explain(key, action, wallet)`` or ``error.explain()``.

    Raises:
        InvalidArgument: The argument is not an explanation.
    """
    if not isinstance(explanation, Explanation):
        raise InvalidArgument(
            f"invalid argument explanation: expected an Explanation, got {type(explanation).__name__}",
            hint=("Pass the result of svc.explain(key, action)."),
        )
    graph = layout(explanation, MAX_GROUPS)
    height = graph.rows * _STEP
    lines = [_line(line, height / 2) for line in graph.lines]
    boxes = [_box(box, height / 2) for box in graph.boxes]
    verdict = "Allowed" if explanation.allowed else "Refused"
    below = [explanation.reason, *(f"warning: {each.text}" for each in explanation.warnings)]
    below += [f"{count(graph.left_out, 'more group')} not shown"] * bool(graph.left_out)
    return Layers(
        layer=[*_line_marks(lines), *_box_marks(boxes)],
        **heading(verdict, *below),
        width=_WIDTH,
        height=height,
    )


def _line(line: Line, middle: float) -> dict[str, Any]:
    # Boxes cover the ends of a line, so put the sign in the middle of the visible part.
    begin, end = _COLUMNS[line.start.column] + _BOX / 2, _COLUMNS[line.end.column] - _BOX / 2
    y, y2 = middle + line.start.row * _STEP, middle + line.end.row * _STEP
    # Do not put the sign at a crossing of lines.
    share = 0.36 if line.wildcard else 0.5
    return {
        "x": begin, "y": y, "x2": end, "y2": y2, "link": "existing" if line.there else "missing",
        "sign": ("any" if line.wildcard else "") if line.there else TIMES,
        "at_x": begin + (end - begin) * share, "at_y": y + (y2 - y) * share - (7 if line.wildcard else 0),
    }  # fmt: skip


def _box(box: Box, middle: float) -> dict[str, Any]:
    x, y = _COLUMNS[box.column], middle + box.row * _STEP
    text = short(box.text, 15) if box.kind == "wallet" else short(box.text, _LETTERS)
    return {
        "x": x - _BOX / 2, "x2": x + _BOX / 2, "y": y - _TALL / 2, "y2": y + _TALL / 2, "kind": box.kind, "at": x,
        "kind_y": y - 9, "text_y": y + 8, "text": text, "strong": box.strong,
    }  # fmt: skip


def _line_marks(lines: list[dict[str, Any]]) -> list[alt.Chart]:
    kinds = [kind for kind in ("existing", "missing") if any(line["link"] == kind for line in lines)]
    looks = {"existing": (BLUE, [1, 0]), "missing": (VERMILLION, [4, 4])}
    legend = alt.Legend(title=None, symbolType="stroke", symbolStrokeWidth=2)
    colour = alt.Scale(domain=kinds, range=[looks[kind][0] for kind in kinds])
    dash = alt.Scale(domain=kinds, range=[looks[kind][1] for kind in kinds])
    signs = [line for line in lines if line["sign"]]
    return [
        alt.Chart(alt.InlineData(values=lines))
        .mark_rule(strokeWidth=1.8)
        .encode(
            **_at("x", "y"),
            x2="x2",
            y2="y2",
            color=alt.Color("link", type="nominal", scale=colour, legend=legend),
            strokeDash=alt.StrokeDash("link", type="nominal", scale=dash, legend=legend),
        ),
        alt.Chart(alt.InlineData(values=signs))
        .mark_text(fontSize=13)
        .encode(**_at("at_x", "at_y"), text=alt.Text("sign", type="nominal")),
    ]


def _box_marks(boxes: list[dict[str, Any]]) -> list[alt.Chart]:
    base = alt.Chart(alt.InlineData(values=boxes))
    return [
        base.mark_rect(style=OUTLINE, cornerRadius=4).encode(
            **_at("x", "y"),
            x2="x2",
            y2="y2",
            strokeWidth=alt.StrokeWidth(
                "strong", type="nominal", scale=alt.Scale(domain=[False, True], range=[1, 2.5]), legend=None
            ),
        ),
        base.mark_text(style=MUTED, fontSize=10).encode(**_at("at", "kind_y"), text=alt.Text("kind", type="nominal")),
        base.mark_text(fontSize=12).encode(**_at("at", "text_y"), text=alt.Text("text", type="nominal")),
    ]


def _at(x: str, y: str) -> dict[str, Any]:
    """Returns the encoding of a position, from the names of the fields that contain its coordinates in pixels."""
    return {
        "x": alt.X(x, type="quantitative", scale=None, axis=None),
        "y": alt.Y(y, type="quantitative", scale=None, axis=None),
    }
