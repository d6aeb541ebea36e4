"""Drawing of an `Explanation`: boxes for key, groups, action and wallet, and a line for each permission.

`layout` computes all positions once, for two renderers. This module writes SVG text, because an explanation must
not require optional packages, and a saved notebook must show an image. `svcnb.charts.permissions` makes a chart,
because charts have themes, can be combined, and can be saved as PNG.

The drawing does not depend on colour: an existing permission is a solid line, and a missing permission is a dashed line
with a cross. The drawing is an image, because a notebook shows images even if the user has not trusted the notebook.
The alternative text contains the result and the reason. The image has a light background, which `display.DARK` inverts
in a dark theme.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import Final, NamedTuple

from svcnb.brief import NO_MATH
from svcnb.client import display
from svcnb.client.models.billing import dollars
from svcnb.client.models.explanation import Explanation, GroupLink
from svcnb.protocol.text import xml_text

MAX_GROUPS: Final = 6
"""Maximum number of groups in one drawing. Groups with the most permissions come first."""

_WIDTH: Final = 720
_BOX: Final = 168
_HEIGHT: Final = 40
_STEP: Final = 54
_MIDDLE: Final = (_WIDTH - _BOX) // 2
_COLUMNS: Final = (4, _MIDDLE, _WIDTH - _BOX - 4)
_LETTERS: Final = 22
_TEXT: Final = "#17202b"
_MUTED: Final = "#545f6d"
_PAGE: Final = "#ffffff"
_STYLE: Final = "color:var(--jp-ui-font-color1,inherit);font-size:0.9em"
_CODE: Final = (
    "margin:2px 0 0 0;padding:4px 8px;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere;"
    "border-left:3px solid var(--jp-ui-font-color2,currentColor)"
)
_BAD: Final = "#a5201a"


def draw(explanation: Explanation) -> str:
    """Returns an explanation as HTML: the drawing, the result with its reason, the repairs and the warnings."""
    data = b64encode(xml_text(drawing(explanation)).encode()).decode()
    said = f"{'Allowed' if explanation.allowed else 'Refused'}: {explanation.reason}"
    image = (
        f"{display.DARK}<img alt='{escape(said, quote=True)}' class='{display.PICTURE}' "
        f"style='max-width:{_WIDTH}px;width:100%' src='data:image/svg+xml;base64,{data}'>"
    )
    parts = [image, f"<div><b>{'Allowed' if explanation.allowed else 'Refused'}</b>: "]
    parts.append(f"{escape(explanation.reason)}</div>")
    for number, way in enumerate(explanation.repairs):
        title = "Fix" if number == 0 else "Or"
        parts.append(
            f"<div style='margin-top:4px'>{title} ({dollars(way.cost_cents)}): {escape(way.says)}"
            f"<pre style='{_CODE}'>"
            f"{escape(way.code)}</pre></div>"
        )
    parts += [f"<div>⚠ {escape(warning.text)}</div>" for warning in explanation.warnings]
    return xml_text(f"<div class='{NO_MATH}' style='{_STYLE}'>{''.join(parts)}</div>")


class Box(NamedTuple):
    """Box of the graph, which represents one key, group, action, call or wallet.

    Attributes:
        column: 0 for the key, 1 for a group, 2 for the action or the wallet.
        row: Number of rows below the middle of the graph. Negative for a box above the middle.
        kind: Label of the box: ``key``, ``group``, ``action``, ``call`` or ``wallet``.
        text: Name of the object.
        strong: Whether the box is a group that has all required permissions.
    """

    column: int
    row: float
    kind: str
    text: str
    strong: bool = False


class Line(NamedTuple):
    """Line between two boxes, which represents a permission.

    Attributes:
        start: Left box.
        end: Right box.
        there: Whether the permission exists.
        wildcard: Whether the permission comes from a wildcard entry.
    """

    start: Box
    end: Box
    there: bool
    wildcard: bool = False


class Layout(NamedTuple):
    """All boxes and lines of a graph, with their positions.

    Attributes:
        boxes: All boxes.
        lines: All lines between boxes.
        rows: Height of the graph, as a number of rows.
        left_out: Number of omitted groups.
    """

    boxes: list[Box]
    lines: list[Line]
    rows: int
    left_out: int


def layout(explanation: Explanation, max_groups: int) -> Layout:
    """Returns the positions of the boxes and lines of an explanation.

    Args:
        explanation: Explanation to draw.
        max_groups: Maximum number of groups. Groups with the most existing permissions come first.
    """
    links = sorted(explanation.groups, key=lambda link: (-_count(link), link.id))[:max_groups]
    rows = max(len(links), 2 if explanation.wallet else 1)
    apart = max(1, rows - 1) / 2 if explanation.wallet else 0
    key = Box(0, 0, "key", _short(explanation.key))
    what = ("call", explanation.call) if explanation.call else ("action", _short(explanation.action))
    action = Box(2, -apart, *what)
    wallet = Box(2, apart, "wallet", explanation.wallet) if explanation.wallet else None
    groups = [
        Box(1, row - (len(links) - 1) / 2, "group", f"{link.id} {link.name}", strong=link.connects)
        for row, link in enumerate(links)
    ]
    lines = []
    if not groups:
        lines.append(Line(key, action, explanation.every_group or bool(explanation.call and explanation.allowed)))
        if wallet:
            lines.append(Line(key, wallet, explanation.allowed))
    for group, link in zip(groups, links, strict=True):
        wide = link.by_wildcard
        lines.append(Line(key, group, link.key, "key" in wide))
        lines.append(Line(group, action, link.action, "action" in wide))
        if wallet and link.wallet is not None:
            lines.append(Line(group, wallet, link.wallet, "wallet" in wide))
    boxes = [key, *groups, action, *([wallet] if wallet else [])]
    return Layout(boxes, lines, rows, len(explanation.groups) - len(links))


def drawing(explanation: Explanation) -> str:
    """Returns the drawing as SVG."""
    graph = layout(explanation, MAX_GROUPS)
    middle = graph.rows * _STEP // 2
    height = graph.rows * _STEP + (18 if graph.left_out else 0)
    shapes = [_box(box, middle) for box in graph.boxes]
    if graph.left_out:
        shapes.append(_label(_MIDDLE + _BOX / 2, height - 6, f"and {graph.left_out} more", _MUTED))
    shapes += [_line(line, middle) for line in graph.lines]
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{_WIDTH}' height='{height}' viewBox='0 0 {_WIDTH} {height}' "
        f"font-family='sans-serif' font-size='12'><rect width='100%' height='100%' rx='6' fill='{_PAGE}'/>"
        f"{' '.join(shapes)}</svg>"
    )


def _short(label: str) -> str:
    """Returns a label without its hash if the label also contains a name."""
    return label.rpartition(" ")[0].strip("'\"") if label.startswith(("'", '"')) else label


def _count(link: GroupLink) -> int:
    return sum((link.key, link.action, bool(link.wallet)))


def _line(line: Line, middle: float) -> str:
    x1, y1 = _COLUMNS[line.start.column] + _BOX, middle + line.start.row * _STEP
    x2, y2 = _COLUMNS[line.end.column], middle + line.end.row * _STEP
    style = f"stroke:{_TEXT};stroke-width:1.6" if line.there else f"stroke:{_BAD};stroke-width:1.2;stroke-dasharray:4 4"
    drawn = f"<line x1='{x1}' y1='{y1:g}' x2='{x2}' y2='{y2:g}' style='{style}'/>"
    if not line.there:
        return drawn + _label((x1 + x2) / 2, (y1 + y2) / 2 + 4, "✕", _BAD)
    # Place the label near the group, where the lines do not overlap yet.
    return drawn + (_label(x1 + (x2 - x1) * 0.3, y1 + (y2 - y1) * 0.3 - 3, "any", _TEXT) if line.wildcard else "")


def _box(box: Box, middle: float) -> str:
    x, y = _COLUMNS[box.column], middle + box.row * _STEP
    text = f"{box.text[:10]}…{box.text[-4:]}" if box.kind == "wallet" else box.text
    return (
        f"<rect x='{x}' y='{y - _HEIGHT / 2:g}' width='{_BOX}' height='{_HEIGHT}' rx='4' "
        f"style='fill:{_PAGE};stroke:{_TEXT};stroke-width:{2.2 if box.strong else 1}'/>"
        f"{_label(x + _BOX / 2, y - 4, box.kind, _MUTED)} {_label(x + _BOX / 2, y + 12, text, _TEXT)}"
    )


def _label(x: float, y: float, text: str, colour: str) -> str:
    shown = escape(display.shorten(text, _LETTERS))
    return f"<text x='{x:g}' y='{y:g}' text-anchor='middle' style='fill:{colour}'>{shown}</text>"
