"""Renderer of charts as images in a light, dark or automatic theme, without internet.

The same chart always gives the same bytes.

Altair's own renderers are not suitable for stored notebooks. One writes a random id into every output, and another
loads its code from the internet. Charts of this package are displayed as one SVG inside HTML. It follows the page's
theme, and screen readers read the chart's description. Notebooks that are not trusted remove images from HTML and show
only the description.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import altair as alt

from svcnb.charts.native import draw
from svcnb.charts.theme import FONT_FACE, THEMES, Theme, ThemeName, config
from svcnb.client.errors import InvalidArgument
from svcnb.protocol.text import xml_text

if TYPE_CHECKING:
    from altair import JupyterChart

NAME: Final = "svcnb"
"""Name of the renderer. ``alt.renderers.enable("svcnb")`` uses it for your own charts too."""

_PAGE: Final = Theme(text="#010101", muted="#020202", grid="#030303", background="transparent")
"""Placeholder colours, which are replaced by the page's own colours in a finished drawing."""

_PAGE_COLOURS: Final = {
    _PAGE.text: "currentColor",
    _PAGE.muted: "var(--jp-ui-font-color2,#808080)",
    _PAGE.grid: "var(--jp-border-color2,#80808044)",
}
_IDS: Final = re.compile(r'(?<=id=")(\w+)(?=")')
_HIDDEN: Final = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"
_PIXELS_PER_INCH: Final = 72


def svg(chart: alt.TopLevelMixin, *, theme: ThemeName = "light") -> str:
    """Returns a chart as SVG. The same chart always gives the same bytes.

    Args:
        chart: Any Altair chart.
        theme: ``light`` or ``dark``; ``auto`` for a drawing that takes the colours of the page around it.
    """
    return _svg(_spec(chart), theme)


def png(chart: alt.TopLevelMixin, *, theme: ThemeName = "light", scale: float = 2.0) -> bytes:
    """Returns a chart as PNG.

    Args:
        chart: Any Altair chart.
        theme: ``light`` or ``dark``.
        scale: Pixels of the image for one pixel of the chart.

    Raises:
        InvalidArgument: The theme is ``auto``: the colours of a PNG cannot change.
    """
    if theme == "auto":
        raise InvalidArgument("a PNG cannot follow a page's theme", hint='Choose theme="light" or theme="dark".')
    themed = _themed(_spec(chart), _theme(theme))
    return draw("png", themed, _VERSION, scale=scale, ppi=_PIXELS_PER_INCH)


def save(chart: alt.TopLevelMixin, path: str | Path, *, theme: ThemeName = "light", scale: float = 2.0) -> Path:
    """Writes a chart to a file.

    Args:
        chart: Any Altair chart.
        path: The file; its ending sets the format: ``.svg`` or ``.png``.
        theme: ``light``, ``dark``, or for SVG also ``auto``.
        scale: Pixels of a PNG for one pixel of the chart.

    Returns:
        The file.

    Raises:
        InvalidArgument: The ending is not one of these, or the format does not support the theme.
    """
    file = Path(path)
    match file.suffix.lower():
        case ".svg":
            file.write_text(svg(chart, theme=theme), encoding="utf-8")
        case ".png":
            file.write_bytes(png(chart, theme=theme, scale=scale))
        case other:
            raise InvalidArgument(f"charts are not saved as {other or 'a file without ending'}", hint=_SUFFIXES)
    return file


def live(chart: Any) -> JupyterChart:
    """Returns a chart as a widget with zoom and tooltips; works without internet.

    Args:
        chart: Any Altair chart.
    """
    alt.JupyterChart.enable_offline()
    if isinstance(chart, (Layers, Stack, Beside, Rows)):
        # Unlike a drawing, a widget cannot take the page's colours: these greys are readable on both themes.
        return alt.JupyterChart(chart.copy().properties(config=config(_BOTH)))
    return alt.JupyterChart(chart)


def render(spec: Mapping[str, Any], **_options: Any) -> dict[str, str]:
    """The renderer for Altair's registry.

    Args:
        spec: A Vega-Lite chart.

    Returns:
        HTML that contains the drawing, and the chart's description as text.
    """
    said = describe(spec)
    html = (
        f'<div style="color:var(--jp-ui-font-color1,inherit)"><span style="{_HIDDEN}">{escape(said)}</span>'
        f"{_svg(spec, 'auto')}</div>"
    )
    return {"text/plain": said, "text/html": html}


def describe(spec: Mapping[str, Any]) -> str:
    """Returns a chart's description in one line, without characters that XML forbids."""
    if said := spec.get("description"):
        return xml_text(str(said))
    title = spec.get("title")
    text = title.get("text", "") if isinstance(title, Mapping) else title or ""
    return "chart" if not text else xml_text(f"chart: {' '.join(text) if isinstance(text, list) else text}")


class Shown:
    """A chart that uses this renderer, unless another one was chosen with ``alt.renderers.enable``."""

    # Not a chart class on its own: Altair asks all chart classes for their schema.

    def _repr_mimebundle_(self, *args: Any, **kwds: Any) -> Any:
        if alt.renderers.active not in {"default", NAME}:
            return super()._repr_mimebundle_(*args, **kwds)  # type: ignore[misc]  # the chart's own
        return render(_spec(self))

    def __repr__(self) -> str:
        return describe(_spec(self))

    def __or__(self, other: Any) -> Any:
        return Beside(hconcat=[self, other])  # type: ignore[list-item]  # those that are shown are charts

    def __and__(self, other: Any) -> Any:
        return Stack(vconcat=[self, other])  # type: ignore[list-item]  # as above


class Layers(Shown, alt.LayerChart):
    """Marks on top of one another."""


class Stack(Shown, alt.VConcatChart):
    """Charts under one another."""


class Beside(Shown, alt.HConcatChart):
    """Charts beside one another."""


class Rows(Shown, alt.FacetChart):
    """One small chart for each row."""


_VERSION: Final = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
_SUFFIXES: Final = "End the file's name with .svg or .png."
_BOTH: Final = Theme(text="#808080", muted="#808080", grid="#80808044", background="transparent")

alt.renderers.register(NAME, render)


def _spec(chart: Any) -> dict[str, Any]:
    made: dict[str, Any] = chart.to_dict(context={"pre_transform": False})
    return made


def _theme(name: str) -> Theme:
    try:
        return THEMES[name]
    except KeyError:
        raise InvalidArgument(f"there is no theme {name!r}", hint="Allowed are: auto, light, dark.") from None


def _themed(spec: Mapping[str, Any], theme: Theme) -> dict[str, Any]:
    """The chart with a theme's configuration as defaults of its own."""
    return {**spec, "config": _under(config(theme), spec.get("config", {}))}


def _under(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**base}
    for name, value in over.items():
        below = merged.get(name)
        both = isinstance(value, Mapping) and isinstance(below, Mapping)
        merged[name] = _under(below, value) if both else value  # type: ignore[arg-type]  # both are mappings
    return merged


def _svg(spec: Mapping[str, Any], theme: ThemeName) -> str:
    chosen = _PAGE if theme == "auto" else _theme(theme)
    drawn = draw("svg", _themed(spec, chosen), _VERSION).decode()
    if theme == "auto":
        for stand_in, colour in _PAGE_COLOURS.items():
            drawn = drawn.replace(f'"{stand_in}"', f'"{colour}"')
    return _named(drawn, describe(spec))


def _named(drawn: str, said: str) -> str:
    """The drawing with unique ids: vl-convert counts ids for each process, so two on a page could be equal."""
    found = list(dict.fromkeys(_IDS.findall(drawn)))
    for number, name in enumerate(found):
        drawn = re.sub(rf'(id="|#){name}(?=["\)])', rf"\1@{number}@", drawn)
    mark = hashlib.sha256(drawn.encode()).hexdigest()[:8]
    drawn = re.sub(r'(?<=[#"])@(\d+)@', rf"c{mark}-\1", drawn)
    drawn = drawn.replace("<svg ", f'<svg role="img" aria-label="{escape(said)}" ', 1)
    return drawn.replace(">", f"><style>{FONT_FACE}</style>", 1)
