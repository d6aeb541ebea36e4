"""Small HTML tables for notebooks with light and dark themes."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from html import escape
from typing import Final

from svcnb.brief import NO_MATH

_TABLE: Final = "border-collapse:collapse;color:var(--jp-ui-font-color1,inherit);font-size:0.9em"
_OPEN: Final = f"<table class='{NO_MATH}' style='{_TABLE}'>"
_CELL: Final = "text-align:left;padding:2px 10px;border-bottom:1px solid var(--jp-border-color2,#8884)"
_HEAD: Final = f"{_CELL};white-space:nowrap;color:var(--jp-ui-font-color2,inherit)"
_UPRIGHT: Final = ";writing-mode:vertical-rl;vertical-align:bottom;text-align:right;padding:8px 2px"
_MUTED: Final = "color:var(--jp-ui-font-color2,inherit)"
_LONG: Final = 48
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d\S*(?: UTC)?")
MAX_CELL: Final = 500
"""Maximum length of the text in one cell, in characters. An ellipsis replaces the rest."""

PICTURE: Final = "svcnb-picture"
"""CSS class of images with a light background, which `DARK` inverts in a dark theme."""

INVERSION: Final = 0.93
"""Degree of the inversion, from 0 to 1. White becomes nearly black, and black becomes light grey."""

DARK: Final = (
    f'<style>[data-jp-theme-light="false"] .{PICTURE},.vscode-dark .{PICTURE}'
    f"{{filter:invert({INVERSION}) hue-rotate(180deg)}}</style>"
)
"""Style sheet for dark themes of JupyterLab and VS Code.

The hue rotation restores the hues that the inversion changes. Viewers that sanitise HTML remove the style sheet and
show the light image."""


def shorten(value: object, limit: int = MAX_CELL) -> str:
    """Returns a value as text of at most ``limit`` characters. An ellipsis replaces the rest."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def cell(value: object) -> str:
    """Returns one value as HTML, without quotes around strings.

    The function joins the elements of lists, and replaces None with an empty string.
    """
    if isinstance(value, (tuple, list)):
        return escape(shorten(", ".join(str(item) for item in value)))
    return "" if value is None else escape(shorten(str(value)))


def _data(value: object) -> str:
    text = cell(value)
    if _MOMENT.fullmatch(text):  # a time on two lines would look like two values
        return f"<td style='{_CELL};white-space:nowrap'>{text}</td>"
    # Lines can break inside long hashes and signatures, but not inside short words and log lines.
    wrap = "white-space:pre-wrap;" + ("overflow-wrap:anywhere;min-width:14em" if len(text) > _LONG else "")
    return f"<td style='{_CELL};{wrap}'>{text}</td>"


def record(title: str, rows: Iterable[tuple[str, object]], note: str = "") -> str:
    """Returns one object as a two-column table.

    Args:
        title: Caption of the table, for example the class name of the object.
        rows: Name and value of each field, in order.
        note: Line in a muted colour below the table.
    """
    body = "".join(
        f"<tr><th scope='row' style='{_HEAD}'>{escape(name)}</th>{_data(value)}</tr>" for name, value in rows
    )
    return _captioned(title, body, note)


def _captioned(title: str, body: str, note: str) -> str:
    below = f"<div class='{NO_MATH}' style='{_MUTED};font-size:0.9em'>{escape(note)}</div>" if note else ""
    return f"{_OPEN}<caption style='text-align:left'>{escape(title)}</caption>{body}</table>{below}"


def _head(columns: Sequence[str], upright: Container[str] = ()) -> str:
    cells = (
        f"<th scope='col' style='{_HEAD}{_UPRIGHT if name in upright else ''}'>{escape(name)}</th>" for name in columns
    )
    return f"<thead><tr>{''.join(cells)}</tr></thead>"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], empty: str, *, upright: Container[str] = ()) -> str:
    """Returns objects as one table with a header, or the sentence ``empty`` if there are no objects.

    The headers of columns in ``upright`` are vertical, for tables with many narrow columns.
    """
    lines = ["<tr>" + "".join(_data(value) for value in row) + "</tr>" for row in rows]
    if not lines:
        return f"<div class='{NO_MATH}' style='{_MUTED}'>{escape(empty)}</div>"
    return f"{_OPEN}{_head(columns, upright)}<tbody>{''.join(lines)}</tbody></table>"


def bar(left: float, width: float, colour: str) -> str:
    """Returns a bar with a coloured part.

    ``left`` is the start of this part, and ``width`` is its length, both in percent of the bar's width.
    """
    part = f"position:absolute;height:0.7em;left:{left:.1f}%;width:{width:.1f}%;background:{colour}"
    return f"<div style='position:relative;width:16em;height:0.7em'><div style='{part}'></div></div>"


def cells(values: Iterable[str], hover: str = "") -> str:
    """Returns one row of a `waterfall`. The values and the hover text must be HTML."""
    title = f' title="{hover}"' if hover else ""
    row = "".join(f"<td style='{_CELL};white-space:nowrap'>{value}</td>" for value in values)
    return f"<tr{title}>{row}</tr>"


def waterfall(title: str, columns: Sequence[str], rows: str, note: str) -> str:
    """Returns a timeline: a caption, a header, rows of `cells`, and a line in a muted colour."""
    return _captioned(title, f"{_head(columns)}<tbody>{rows}</tbody>", note)
