"""Renderer that draws charts as images with a light, dark or automatic theme, without internet access.

The same chart always produces the same SVG. A PNG image is also the same on every machine if the font Arimo is
sufficient.

Altair's own renderers are not suitable for stored notebooks. One writes a random id into every output, and another
loads its code from the internet. Notebooks show charts of this package as PNG images, with their descriptions as
alternative text. Some viewers sanitise HTML: GitHub, VS Code, and JupyterLab for notebooks that are not trusted. These
viewers keep images, but remove the shapes of an SVG inside HTML, so only the text of the SVG would remain.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import altair as alt
from altair.utils import update_nested

from svcnb.charts.compact import compact
from svcnb.charts.native import draw, rasterize
from svcnb.charts.theme import FONT_FACE, THEMES, Theme, ThemeName, config
from svcnb.charts.widget import offline_widget
from svcnb.checked import checked
from svcnb.client.display import DARK, PICTURE
from svcnb.client.errors import InvalidArgument, InvalidType
from svcnb.protocol.text import xml_text

if TYPE_CHECKING:
    from altair import JupyterChart

NAME: Final = "svcnb"
"""Name of the renderer. ``alt.renderers.enable("svcnb")`` enables it for your own charts."""

_PAGE: Final = Theme(text="#010101", muted="#020202", grid="#030303", background="transparent")
"""Placeholder colours for the theme ``auto``. In the finished drawing, the colours of the page replace them."""

_PAGE_COLOURS: Final = {
    _PAGE.text: "currentColor",
    _PAGE.muted: "var(--jp-ui-font-color2,#808080)",
    _PAGE.grid: "var(--jp-border-color2,#80808044)",
}
_IDS: Final = re.compile(r'(?<=id=")(\w+)(?=")')
_SCALE: Final = 2
"""Number of image pixels for one pixel of the chart, for high-resolution screens."""


@checked
def svg(chart: alt.TopLevelMixin, *, theme: ThemeName = "light") -> str:
    """Returns a chart as SVG. The same chart always produces the same bytes.

    Args:
        chart: Any Altair chart.
        theme: ``light``, ``dark``, or ``auto`` for a drawing that uses the colours of the page around it.

    Raises:
        InvalidArgument: The theme is unknown.
        RenderFailed: The renderer cannot draw the chart.
    """
    return _svg(_spec(chart), theme)


@checked
def png(chart: alt.TopLevelMixin, *, theme: ThemeName = "light", scale: float = 2.0) -> bytes:
    """Returns a chart as PNG.

    Args:
        chart: Any Altair chart.
        theme: ``light`` or ``dark``.
        scale: Number of image pixels for one pixel of the chart.

    Raises:
        InvalidArgument: The theme is unknown, or is ``auto``. The colours of a PNG image cannot change.
        RenderFailed: The renderer cannot draw the chart, or the image is too large.
    """
    if theme == "auto":
        raise InvalidArgument('a PNG image does not support theme="auto"', hint='Pass theme="light" or theme="dark".')
    return rasterize(draw(_themed(_spec(chart), _theme(theme))), scale)


@checked
def save(chart: alt.TopLevelMixin, path: str | Path, *, theme: ThemeName = "light", scale: float = 2.0) -> Path:
    """Writes a chart to a file.

    Args:
        chart: Any Altair chart.
        path: Path of the file. Its extension selects the format: ``.svg`` or ``.png``.
        theme: ``light``, ``dark``, or for SVG also ``auto``.
        scale: Number of image pixels for one pixel of the chart (PNG only).

    Returns:
        Path of the file.

    Raises:
        InvalidArgument: The extension is not supported, the theme is unknown, or the format does not support the theme.
        RenderFailed: The renderer cannot draw the chart, or the PNG image is too large.
        OSError: The file cannot be written.
    """
    file = Path(path)
    match file.suffix.lower():
        case ".svg":
            file.write_text(svg(chart, theme=theme), encoding="utf-8")
        case ".png":
            file.write_bytes(png(chart, theme=theme, scale=scale))
        case other:
            raise InvalidArgument(f"cannot save a chart as {other or 'a file without an extension'}", hint=_SUFFIXES)
    return file


@checked
def live(chart: Any) -> JupyterChart:
    """Returns a chart as a widget with zoom and tooltips. The widget works without internet access.

    Args:
        chart: Any Altair chart.

    Raises:
        InvalidType: ``chart`` is not an Altair chart.
    """
    if not isinstance(chart, alt.TopLevelMixin):
        raise InvalidType(
            f"invalid argument chart of live: expected an Altair chart, got {type(chart).__name__}",
            hint="Pass a chart, for example svcnb.charts.live(svcnb.charts.latency(runs)).",
        )
    widget = offline_widget()
    if isinstance(chart, (Layers, Stack, Beside, Rows)):
        # Unlike a drawing, a widget cannot use the page's colours. These greys are readable in both themes.
        return widget(chart.copy().properties(config=config(_BOTH)))
    return widget(chart)  # type: ignore[arg-type]  # all top-level charts have the accepted type


def render(spec: Mapping[str, Any], **_options: Any) -> dict[str, str]:
    """Renders a chart. This function is the renderer in Altair's registry.

    Returns:
        The chart in three formats: HTML with the image and the chart's description as alternative text, the image
        alone, and the description.
    """
    said = describe(spec)
    drawn = draw(_themed(spec, THEMES["light"]))
    fine, coarse = (compact(rasterize(drawn, scale)) for scale in (_SCALE, 1))
    html = (
        f'{DARK}<img alt="{escape(said)}" class="{PICTURE}" width="{_width(coarse)}" '
        f'style="max-width:100%;height:auto" src="data:image/png;base64,{b64encode(fine).decode()}">'
    )
    # Viewers without HTML, such as VS Code in an untrusted folder, show the image in its original size.
    return {"text/plain": said, "text/html": html, "image/png": b64encode(coarse).decode()}


def _width(png: bytes) -> int:
    """Returns the width of a PNG image in pixels, from its header."""
    return int.from_bytes(png[16:20], "big")


def describe(spec: Mapping[str, Any]) -> str:
    """Returns a chart's description in one line, without characters that XML forbids.

    If the chart has no description, the function returns the title, or the descriptions of the chart's parts.
    """
    if said := spec.get("description"):
        return xml_text(str(said))
    title = spec.get("title")
    text = title.get("text", "") if isinstance(title, Mapping) else title or ""
    if text:
        return xml_text(f"chart: {' '.join(text) if isinstance(text, list) else text}")
    parts = [part for name in ("hconcat", "vconcat", "concat") for part in spec.get(name, ())]
    return "; ".join(map(describe, parts)) or "chart"


class Shown:
    """Mixin for charts that use this renderer, unless ``alt.renderers.enable`` selected another renderer."""

    # This is not a chart class, because Altair reads the schema of all chart classes.

    def _repr_mimebundle_(self, *args: Any, **kwds: Any) -> Any:
        if alt.renderers.active not in {"default", NAME}:
            return super()._repr_mimebundle_(*args, **kwds)  # type: ignore[misc]  # the chart's own
        return render(_spec(self))

    def __repr__(self) -> str:
        return describe(_spec(self))

    def __or__(self, other: Any) -> Any:
        return Beside(hconcat=[self, other])  # type: ignore[list-item]  # all classes with this mixin are charts

    def __and__(self, other: Any) -> Any:
        return Stack(vconcat=[self, other])  # type: ignore[list-item]  # all classes with this mixin are charts


class Layers(Shown, alt.LayerChart):
    """Chart with several layers, for example bars and a line."""


class Stack(Shown, alt.VConcatChart):
    """Combination of charts in a column."""


class Beside(Shown, alt.HConcatChart):
    """Combination of charts in a row."""


class Rows(Shown, alt.FacetChart):
    """Chart with a small chart in each row."""


_SUFFIXES: Final = "Use a file name that ends with .svg or .png."
_BOTH: Final = Theme(text="#808080", muted="#808080", grid="#80808044", background="transparent")

alt.renderers.register(NAME, render)


def _spec(chart: Any) -> dict[str, Any]:
    made: dict[str, Any] = chart.to_dict(context={"pre_transform": False})
    return made


def _theme(name: str) -> Theme:
    try:
        return THEMES[name]
    except KeyError:
        raise InvalidArgument(
            f"unknown theme {name!r}", hint="Use light or dark. For SVG, you can also use auto."
        ) from None


def _themed(spec: Mapping[str, Any], theme: Theme) -> dict[str, Any]:
    """Returns the chart with the configuration of a theme. The chart's own configuration has priority."""
    return {**spec, "config": update_nested(config(theme), spec.get("config", {}))}


def _svg(spec: Mapping[str, Any], theme: ThemeName) -> str:
    chosen = _PAGE if theme == "auto" else _theme(theme)
    drawn = draw(_themed(spec, chosen))
    if theme == "auto":
        for placeholder, colour in _PAGE_COLOURS.items():
            drawn = drawn.replace(f'"{placeholder}"', f'"{colour}"')
    return _named(drawn, describe(spec))


def _named(drawn: str, said: str) -> str:
    """Returns the drawing with unique ids, with the description as its label, and with the fallback font.

    Vega assigns ids separately in each process, so two drawings on one page could have the same ids.
    """
    found = list(dict.fromkeys(_IDS.findall(drawn)))
    for number, name in enumerate(found):
        drawn = re.sub(rf'(id="|#){name}(?=["\)])', rf"\1@{number}@", drawn)
    mark = hashlib.sha256(drawn.encode()).hexdigest()[:8]
    drawn = re.sub(r'(?<=[#"])@(\d+)@', rf"c{mark}-\1", drawn)
    drawn = drawn.replace("<svg ", f'<svg role="img" aria-label="{escape(said)}" ', 1)
    return drawn.replace(">", f"><style>{FONT_FACE}</style>", 1)
