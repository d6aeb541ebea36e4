"""Charts in a real JupyterLab. The fixture `notebook` checks that no request goes to another machine."""

from __future__ import annotations

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
def test_a_chart_is_a_readable_image_with_its_description_in_either_theme(notebook, theme):
    nb = notebook(CELL, "charts.run_timeline(runs)", theme=theme)
    drawing = nb.tab.get_by_role("img", name="Runs per hour: 40 runs, 10 failed")
    drawing.wait_for()
    assert drawing.evaluate("image => [image.tagName, image.naturalWidth > image.width]") == ["IMG", True]
    # The background belongs to the image. A dark theme inverts both, so letters and background keep their contrast.
    corner = drawing.evaluate("""image => {
      const canvas = document.createElement("canvas");
      const context = canvas.getContext("2d");
      context.filter = getComputedStyle(image).filter;
      context.drawImage(image, 0, 0);
      return [...context.getImageData(0, 0, 1, 1).data];
    }""")
    assert corner[3] == 255
    assert max(corner[:3]) < 24 if theme == "dark" else min(corner[:3]) == 255


def test_two_charts_appear_one_below_the_other(notebook):
    nb = notebook(CELL, "charts.run_timeline(runs) & charts.success_rate(runs)")
    nb.tab.get_by_role("img", name="Success rate per hour (%)").wait_for()


def test_a_live_chart_is_drawn_without_internet(notebook):
    nb = notebook(CELL, "charts.live(charts.latency(runs))")
    nb.tab.locator(".vega-embed canvas, .vega-embed svg").first.wait_for()
