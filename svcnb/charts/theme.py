"""Theme of the charts: one design with a light and a dark variant.

The colours are those of Okabe and Ito (2008), because people with any kind of colour blindness can distinguish these
colours. The theme uses a lighter blue and a darker purple. Each colour therefore has a contrast of at least 3 to 1
(WCAG 2.2, 1.4.11) on white and on JupyterLab's dark grey. Bars, points and lines look the same in both variants. No
chart relies on colour alone: shapes, dashes, fills or words show the same information.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

ThemeName: TypeAlias = Literal["auto", "light", "dark"]
"""Name of a theme. ``auto`` uses the colours of the page that shows the chart."""

BLUE: Final = "#1F83C4"
PALE_BLUE: Final = "rgba(31,131,196,0.35)"
VERMILLION: Final = "#D55E00"
GREEN: Final = "#009E73"
PURPLE: Final = "#C46A9C"
GREY: Final = "#7F7F7F"

_FIT: Final = "svcnb-fit"

FONT: Final = f"Liberation Sans, Arial, Helvetica, {_FIT}, sans-serif"
"""Fonts of the charts. The renderer uses Arimo, whose characters are as wide as those of the first three fonts."""

FONT_FACE: Final = f'@font-face{{font-family:{_FIT};src:local("DejaVu Sans");size-adjust:88%}}'
"""Fallback font, DejaVu Sans, for machines without the fonts in `FONT`.

The drawing condenses this font, which is an eighth wider than the fonts in `FONT`. Otherwise, labels would overlap and
extend beyond the edge of the drawing."""

WIDTH: Final = 640
"""Width of the plot, in pixels, without titles and labels."""

HEIGHT: Final = 220
MUTED: Final = "muted"
"""Name of the Vega-Lite style for less important text."""

OUTLINE: Final = "outline"
"""Name of the Vega-Lite style for frames."""


@dataclass(frozen=True)
class Theme:
    """Colours that differ between the light and the dark variant.

    Attributes:
        text: Colour of titles and labels.
        muted: Colour of subtitles, axis lines and less important parts.
        grid: Colour of the grid lines behind the data.
        background: Colour of the area behind the whole chart. ``transparent`` shows the page behind the chart.
    """

    text: str
    muted: str
    grid: str
    background: str


LIGHT: Final = Theme(text="#1F1F1F", muted="#5F5F5F", grid="#E4E4E4", background="#FFFFFF")
DARK: Final = Theme(text="#EDEDED", muted="#ADADAD", grid="#3A3A3A", background="#111111")
THEMES: Final = {"light": LIGHT, "dark": DARK}


def config(theme: Theme) -> dict[str, Any]:
    """Returns the configuration of a Vega-Lite chart for a theme."""
    titles = {"titleColor": theme.text, "titleFontWeight": "normal", "titleFontSize": 11}
    labels = {"labelColor": theme.text, "labelFontSize": 11, "labelLimit": 220}
    return {
        "background": theme.background,
        "font": FONT,
        "padding": 8,
        "title": {
            "anchor": "start", "color": theme.text, "fontSize": 14, "offset": 12, "subtitleColor": theme.muted,
            "subtitleFontSize": 11, "subtitlePadding": 4,
        },
        "axis": {
            **titles, **labels, "domainColor": theme.muted, "gridColor": theme.grid, "tickColor": theme.muted,
            "labelPadding": 4,
        },
        "axisX": {"grid": False},
        "header": {**titles, **labels},
        "legend": {**titles, **labels, "orient": "top", "symbolSize": 80, "symbolStrokeWidth": 1.5, "offset": 6},
        "view": {"stroke": None, "continuousWidth": WIDTH, "continuousHeight": HEIGHT},
        "text": {"color": theme.text, "fontSize": 11},
        "rule": {"color": theme.muted},
        "style": {MUTED: {"fill": theme.muted}, OUTLINE: {"stroke": theme.muted, "fillOpacity": 0}},
    }  # fmt: skip
