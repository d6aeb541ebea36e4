"""Charts in a real JupyterLab. The fixture `notebook` holds that nothing is asked of another machine."""

from __future__ import annotations

import re

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

CELL = """
import pandas as pd
from svcnb import charts
times = pd.date_range("2026-01-01", periods=40, freq="1h", tz="UTC")
status = (["success"] * 3 + ["failed"]) * 10
runs = pd.DataFrame({"started_at": times, "status": status, "elapsed": 0.5})
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chart_takes_the_colours_of_the_page_and_is_named(notebook, theme):
    nb = notebook(CELL, "charts.run_timeline(runs)", theme=theme)
    drawing = nb.tab.get_by_role("img", name="Runs per hour: 40 runs, 10 failed")
    drawing.wait_for()
    red, green, blue, *_ = map(
        float,
        re.findall(
            r"[\d.]+", drawing.evaluate("svg => getComputedStyle(svg.querySelector('text[fill=currentColor]')).fill")
        ),
    )
    brightness = (red + green + blue) / 3
    assert brightness < 64 if theme == "light" else brightness > 192


def test_two_charts_stand_under_one_another(notebook):
    nb = notebook(CELL, "charts.run_timeline(runs) & charts.success_rate(runs)")
    nb.tab.get_by_role("img").filter(has_text="Success rate per hour (%)").wait_for()


def test_a_live_chart_is_drawn_without_internet(notebook):
    nb = notebook(CELL, "charts.live(charts.latency(runs))")
    nb.tab.locator(".vega-embed canvas, .vega-embed svg").first.wait_for()
