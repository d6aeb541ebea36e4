"""Chart of the links between a key, groups, an action and a wallet, with missing links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import altair as alt

from svcnb.charts.renderer import Layers
from svcnb.charts.theme import BLUE, MUTED, OUTLINE, VERMILLION
from svcnb.charts.words import TIMES, said, short, title
from svcnb.checked import checked
from svcnb.client.errors import InvalidArgument
from svcnb.client.models.explanation import Explanation, GroupLink

MAX_GROUPS: Final = 12
"""Maximum number of groups in one drawing. Groups with the most existing links come first."""

_WIDTH: Final = 700
_STEP: Final = 54
_BOX: Final = 180
_TALL: Final = 38
_LETTERS: Final = 26
_LEFT: Final = _BOX / 2
_MIDDLE: Final = _WIDTH / 2
_RIGHT: Final = _WIDTH - _BOX / 2


@checked
def permission_graph(explanation: Explanation) -> Layers:
    """Draws an explanation. Solid lines are existing links; dashed lines with a cross are missing links.

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
    groups = sorted(explanation.groups, key=lambda link: (-_links(link), link.id))[:MAX_GROUPS]
    rows = max(len(groups), 2 if explanation.wallet else 1)
    height = rows * _STEP
    apart = max(_STEP, (rows - 1) * _STEP) / 2 if explanation.wallet else 0
    targets = {"action": height / 2 - apart, "wallet": height / 2 + apart}
    lines = list(_lines(explanation, groups, height, targets))
    boxes = list(_boxes(explanation, groups, height, targets))
    verdict = "Allowed" if explanation.allowed else "Refused"
    left_out = len(explanation.groups) - len(groups)
    below = [explanation.reason, *(f"warning: {each.text}" for each in explanation.warnings)]
    below += [f"{left_out} more groups not shown"] * bool(left_out)
    return Layers(
        layer=[*_line_marks(lines), *_box_marks(boxes)],
        title=title(verdict, *(part for text in below for part in _wrapped(text))),
        description=said(verdict, *below),
        width=_WIDTH,
        height=height,
    )


def _lines(
    explanation: Explanation, groups: list[GroupLink], height: float, targets: dict[str, float]
) -> Iterator[dict[str, Any]]:
    if not groups:
        yield _line(_LEFT, height / 2, _RIGHT, targets["action"], there=explanation.every_group)
        if explanation.wallet:
            yield _line(_LEFT, height / 2, _RIGHT, targets["wallet"], there=explanation.allowed)
    for row, link in enumerate(groups):
        y = _row(row, len(groups), height)
        wide = link.by_wildcard
        yield _line(_LEFT, height / 2, _MIDDLE, y, there=link.key, wildcard="key" in wide)
        yield _line(_MIDDLE, y, _RIGHT, targets["action"], there=link.action, wildcard="action" in wide)
        if link.wallet is not None:
            yield _line(_MIDDLE, y, _RIGHT, targets["wallet"], there=link.wallet, wildcard="wallet" in wide)


def _line(x: float, y: float, x2: float, y2: float, *, there: bool, wildcard: bool = False) -> dict[str, Any]:
    # Boxes cover the ends of a line, so put the sign in the middle of the visible part.
    begin, end = x + _BOX / 2, x2 - _BOX / 2
    # Do not put the sign at a crossing of lines.
    share = 0.36 if wildcard else 0.5
    return {
        "x": begin, "y": y, "x2": end, "y2": y2, "link": "existing" if there else "missing",
        "sign": ("any" if wildcard else "") if there else TIMES,
        "at_x": begin + (end - begin) * share, "at_y": y + (y2 - y) * share - (7 if wildcard else 0),
    }  # fmt: skip


def _boxes(
    explanation: Explanation, groups: list[GroupLink], height: float, targets: dict[str, float]
) -> Iterator[dict[str, Any]]:
    yield _box(_LEFT, height / 2, "key", _name(explanation.key))
    yield _box(_RIGHT, targets["action"], "action", _name(explanation.action))
    if explanation.wallet:
        yield _box(_RIGHT, targets["wallet"], "wallet", short(explanation.wallet, 15))
    for row, link in enumerate(groups):
        y = _row(row, len(groups), height)
        yield _box(_MIDDLE, y, "group", f"{link.id} {link.name}", strong=link.connects)


def _box(x: float, y: float, kind: str, text: str, *, strong: bool = False) -> dict[str, Any]:
    return {
        "x": x - _BOX / 2, "x2": x + _BOX / 2, "y": y - _TALL / 2, "y2": y + _TALL / 2, "kind": kind, "at": x,
        "kind_y": y - 9, "text_y": y + 8, "text": short(text, _LETTERS), "strong": strong,
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
    """Returns a scale for positions in pixels."""
    return {
        "x": alt.X(x, type="quantitative", scale=None, axis=None),
        "y": alt.Y(y, type="quantitative", scale=None, axis=None),
    }


def _row(row: int, drawn: int, height: float) -> float:
    return height / 2 + (row - (drawn - 1) / 2) * _STEP


def _links(link: GroupLink) -> int:
    return sum((link.key, link.action, bool(link.wallet)))


def _name(label: str) -> str:
    """Returns the name without the hash that follows it. A label without a name stays unchanged."""
    return label.rpartition(" ")[0].strip("'\"") if label.startswith(("'", '"')) else label


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 110)
