"""Drawing of an `Explanation`: the key, the groups, the action, the wallet, and the links between them.

The drawing does not depend on colour: an existing link is a solid line, and a missing link is dashed and crossed out.
The drawing is an image, which untrusted notebooks also show. Its alternative text contains the result and the reason.
The image has a light background, which `display.DARK` inverts in a dark theme.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from html import escape
from typing import Final

from svcnb.brief import NO_MATH
from svcnb.client import display
from svcnb.client.models.explanation import Explanation, GroupLink
from svcnb.protocol.text import xml_text

MAX_GROUPS: Final = 6
"""Maximum number of groups in one drawing. Groups with the most links come first."""

_WIDTH: Final = 720
_BOX: Final = 168
_HEIGHT: Final = 40
_STEP: Final = 54
_LEFT: Final = 4
_MIDDLE: Final = (_WIDTH - _BOX) // 2
_RIGHT: Final = _WIDTH - _BOX - 4
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
    """Returns the drawing, the sentence, the repairs and the warnings as HTML."""
    data = b64encode(xml_text(drawing(explanation)).encode()).decode()
    said = f"{'Allowed' if explanation.allowed else 'Refused'}: {explanation.reason}"
    image = (
        f"{display.DARK}<img alt='{escape(said, quote=True)}' class='{display.PICTURE}' "
        f"style='max-width:{_WIDTH}px;width:100%' src='data:image/svg+xml;base64,{data}'>"
    )
    parts = [image, f"<div><b>{'Allowed' if explanation.allowed else 'Refused'}</b>: "]
    parts.append(f"{escape(explanation.reason)}</div>")
    for number, way in enumerate(explanation.repairs):
        title = "Repair" if number == 0 else "Or"
        parts.append(
            f"<div style='margin-top:4px'>{title} ({way.cost_cents} ct): {escape(way.says)}"
            f"<pre style='{_CODE}'>"
            f"{escape(way.code)}</pre></div>"
        )
    parts += [f"<div>⚠ {escape(warning.text)}</div>" for warning in explanation.warnings]
    return xml_text(f"<div class='{NO_MATH}' style='{_STYLE}'>{''.join(parts)}</div>")


def drawing(explanation: Explanation) -> str:
    """Returns the drawing as SVG."""
    groups = sorted(explanation.groups, key=lambda link: (-_count(link), link.id))[:MAX_GROUPS]
    left_out = len(explanation.groups) - len(groups)
    rows = max(len(groups), 2 if explanation.wallet else 1, 1)
    height = rows * _STEP + (18 if left_out else 0)
    middle = rows * _STEP // 2
    apart = max(_STEP, (rows - 1) * _STEP) // 2 if explanation.wallet else 0
    targets = {"action": middle - apart, "wallet": middle + apart}
    shapes = [_box(_LEFT, middle, "key", _short(explanation.key))]
    for row, link in enumerate(groups):
        shapes.append(
            _box(_MIDDLE, _row(row, len(groups), rows), "group", f"{link.id} {link.name}", strong=link.connects)
        )
    what = ("call", explanation.call) if explanation.call else ("action", _short(explanation.action))
    shapes.append(_box(_RIGHT, targets["action"], *what))
    if explanation.wallet:
        wallet = explanation.wallet
        shapes.append(_box(_RIGHT, targets["wallet"], "wallet", f"{wallet[:10]}…{wallet[-4:]}"))
    if left_out:
        shapes.append(_label(_MIDDLE + _BOX / 2, height - 6, f"and {left_out} more", _MUTED))
    shapes += _links(groups, middle, targets, rows, explanation)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{_WIDTH}' height='{height}' viewBox='0 0 {_WIDTH} {height}' "
        f"font-family='sans-serif' font-size='12'><rect width='100%' height='100%' rx='6' fill='{_PAGE}'/>"
        f"{' '.join(shapes)}</svg>"
    )


def _links(
    groups: list[GroupLink], middle: float, targets: Mapping[str, float], rows: int, explanation: Explanation
) -> Iterator[str]:
    if not groups:
        yield _line(
            _LEFT + _BOX,
            middle,
            _RIGHT,
            targets["action"],
            there=explanation.every_group or bool(explanation.call and explanation.allowed),
        )
        if explanation.wallet:
            yield _line(_LEFT + _BOX, middle, _RIGHT, targets["wallet"], there=explanation.allowed)
    for row, link in enumerate(groups):
        y = _row(row, len(groups), rows)
        yield _line(_LEFT + _BOX, middle, _MIDDLE, y, there=link.key, wildcard="key" in link.by_wildcard)
        yield _line(
            _MIDDLE + _BOX, y, _RIGHT, targets["action"], there=link.action, wildcard="action" in link.by_wildcard
        )
        if link.wallet is not None:
            yield _line(
                _MIDDLE + _BOX, y, _RIGHT, targets["wallet"], there=link.wallet, wildcard="wallet" in link.by_wildcard
            )


def _short(label: str) -> str:
    """Returns a label without its hash if the label also contains a name."""
    return label.rpartition(" ")[0].strip("'\"") if label.startswith(("'", '"')) else label


def _count(link: GroupLink) -> int:
    return sum((link.key, link.action, bool(link.wallet)))


def _row(row: int, drawn: int, rows: int) -> float:
    return (row + 0.5 + (rows - drawn) / 2) * _STEP


def _line(x1: float, y1: float, x2: float, y2: float, *, there: bool, wildcard: bool = False) -> str:
    style = f"stroke:{_TEXT};stroke-width:1.6" if there else f"stroke:{_BAD};stroke-width:1.2;stroke-dasharray:4 4"
    drawn = f"<line x1='{x1}' y1='{y1:g}' x2='{x2}' y2='{y2:g}' style='{style}'/>"
    x, y = (x1 + x2) / 2, (y1 + y2) / 2
    if not there:
        return drawn + _label(x, y + 4, "✕", _BAD)
    # Place the mark near the group, where the lines do not overlap yet.
    return drawn + (_label(x1 + (x2 - x1) * 0.3, y1 + (y2 - y1) * 0.3 - 3, "any", _TEXT) if wildcard else "")


def _box(x: float, y: float, kind: str, text: str, *, strong: bool = False) -> str:
    width = 2.2 if strong else 1
    return (
        f"<rect x='{x}' y='{y - _HEIGHT / 2:g}' width='{_BOX}' height='{_HEIGHT}' rx='4' "
        f"style='fill:{_PAGE};stroke:{_TEXT};stroke-width:{width}'/>"
        f"{_label(x + _BOX / 2, y - 4, kind, _MUTED)} {_label(x + _BOX / 2, y + 12, text, _TEXT)}"
    )


def _label(x: float, y: float, text: str, colour: str) -> str:
    shown = escape(display.shorten(text, _LETTERS))
    return f"<text x='{x:g}' y='{y:g}' text-anchor='middle' style='fill:{colour}'>{shown}</text>"
