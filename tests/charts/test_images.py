"""Images of charts: reproducible, offline, in both themes, and accessible without colour and without sight."""

from __future__ import annotations

import hashlib
import io
import re
import struct
import subprocess
import sys
import zlib
from base64 import b64decode
from collections.abc import Callable
from contextlib import redirect_stdout
from html import unescape
from itertools import combinations
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pytest
import resvg_py

from svcnb import InvalidArgument, charts
from svcnb.charts import theme
from svcnb.charts.compact import _unfiltered, chunks
from svcnb.charts.renderer import NAME, render
from svcnb.client import display, explanation_graph

DRAW: dict[str, Callable[[pd.DataFrame], Any]] = {
    "timeline": charts.run_timeline,
    "latency": charts.latency,
    "latency by action": lambda runs: charts.latency(runs, by="action"),
    "success": charts.success_rate,
    "success by action": lambda runs: charts.success_rate(runs, by="action"),
    "spend": charts.spend,
}
SHOW = """
import hashlib
import pandas as pd
from svcnb import charts
times = pd.date_range("2026-01-01", periods=50, freq="1h", tz="UTC")
runs = pd.DataFrame({"started_at": times, "status": ["success", "failed"] * 25, "elapsed": range(50)})
draw = [charts.run_timeline, charts.latency, charts.success_rate]
for make in draw:
    shown = make(runs)._repr_mimebundle_()
    print(make.__name__, hashlib.sha256("".join(shown.values()).encode()).hexdigest())
"""


@pytest.fixture(params=list(DRAW))
def chart(request, runs):
    return DRAW[request.param](runs)


@pytest.mark.slow
def test_stored_images_are_the_same_in_every_process_and_order() -> None:
    there = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, check=True, timeout=300)
    here = io.StringIO()
    with redirect_stdout(here):
        exec(SHOW.replace("in draw", "in reversed(draw)"), {})  # noqa: S102 - the same program, the other way round
    assert len(there.stdout.splitlines()) == 3
    assert sorted(there.stdout.splitlines()) == sorted(here.getvalue().splitlines())


def image(chart) -> tuple[str, bytes]:
    """Returns the alternative text and the bytes of the image that a notebook stores."""
    shown = chart._repr_mimebundle_()
    html = shown["text/html"].removeprefix(display.DARK)
    found = re.fullmatch(r'<img alt="([^"]*)" [^>]*src="data:image/png;base64,([^"]+)">', html)
    assert found
    assert b64decode(shown["image/png"]).startswith(b"\x89PNG")
    return unescape(found[1]), b64decode(found[2])


def test_a_chart_is_stored_as_an_image_with_its_description(chart) -> None:
    said, png = image(chart)
    assert said == repr(chart)
    assert png.startswith(b"\x89PNG")


def test_charts_in_one_image_have_the_descriptions_of_both(chart) -> None:
    said, _ = image(chart & chart)
    assert said == f"{chart.description}; {chart.description}"


def test_a_stored_image_is_small_and_looks_the_same(chart) -> None:
    _, png = image(chart)
    drawn = charts.png(chart)
    before, after = _pixels(drawn), _pixels(png)
    assert len(png) < 0.6 * len(drawn)
    assert 8 * len(png) < before[..., 0].size / 3, "a third of a bit per pixel"
    assert before.shape == after.shape
    apart = np.abs(before.astype(int) - after).max(axis=-1)
    assert (apart > 0).mean() < 0.002, "only rare shades at the edges of letters may differ"
    assert apart.max() < 80


def _pixels(png: bytes) -> np.ndarray:
    """Returns the red, green and blue values of every pixel."""
    parts: dict[bytes, bytes] = {}
    for name, content in chunks(png):
        parts[name] = parts.get(name, b"") + content
    width, height, depth, kind = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    assert depth == 8
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, -1)
    if kind == 3:
        assert not rows[:, 0].any()
        return np.frombuffer(parts[b"PLTE"], np.uint8).reshape(-1, 3)[rows[:, 1:]]
    assert (kind, rows.shape[1]) == (6, 1 + 4 * width)
    return _unfiltered(rows)[..., :3]


@pytest.mark.parametrize(("height", "width"), [(40, 7), (7, 40), (1, 1), (12, 12)])
def test_all_filters_of_png_are_decoded_as_in_the_standard(height, width) -> None:
    """Source: Portable Network Graphics (PNG) Specification (Third Edition), section 9."""
    chance = np.random.default_rng(height)
    rows = chance.integers(0, 256, (height, 1 + 4 * width), np.uint8)
    rows[:, 0] = chance.integers(0, 5, height)
    expected = np.zeros((height + 1, 4 * (width + 1)), int)
    for y, (kind, *coded) in enumerate(rows.tolist(), 1):
        for x, each in enumerate(coded, 4):
            a, b, c = (int(value) for value in (expected[y, x - 4], expected[y - 1, x], expected[y - 1, x - 4]))
            paeth = min((a, b, c), key=lambda near: abs(a + b - c - near))
            expected[y, x] = (each + (0, a, b, (a + b) // 2, paeth)[kind]) % 256
    assert (_unfiltered(rows).reshape(height, -1) == expected[1:, 4:]).all()


def test_a_drawing_in_a_page_uses_the_colours_of_the_page(chart) -> None:
    drawn = charts.svg(chart, theme="auto")
    assert "currentColor" in drawn
    assert "--jp-ui-font-color2" in drawn
    assert not re.search(r"#0[123]0[123]0[123]", drawn)


def test_light_and_dark_differ_in_nothing_but_colours(chart) -> None:
    light, dark = charts.svg(chart, theme="light"), charts.svg(chart, theme="dark")
    assert light != dark
    assert theme.DARK.text in dark
    assert theme.DARK.text not in light

    def bare(text: str) -> str:
        return re.sub(r'c[0-9a-f]{8}-|"(#[0-9A-Fa-f]{3,6}|white)"', "", text)

    assert bare(light) == bare(dark)


def test_ids_of_two_drawings_on_a_page_are_different() -> None:
    clipped = [
        alt.Chart(pd.DataFrame({"a": [1, end]})).mark_line(clip=True, point=True).encode(x="a:Q", y="a:Q")
        for end in (2, 3)
    ]
    drawn = [charts.svg(each) for each in clipped]
    ids = [set(re.findall(r'\bid="([^"]+)"', each)) for each in drawn]
    assert all(ids)
    assert [charts.svg(each) for each in clipped] == drawn
    assert all(first.isdisjoint(second) for first, second in combinations(ids, 2))
    for each, own in zip(drawn, ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", each)) <= own


def test_a_drawing_has_a_description_for_screen_readers(chart) -> None:
    said = repr(chart)
    shown = chart._repr_mimebundle_()
    assert shown["text/plain"] == said
    assert f'role="img" aria-label="{said}"' in charts.svg(chart)
    assert re.search(r"\d[\d,]* runs?", said)


def test_titles_contain_units_and_the_time_zone(runs) -> None:
    for name, make in DRAW.items():
        drawn = charts.svg(make(runs))
        unit = {"timeline": "Runs per", "spend": "(US dollars)"}.get(name, "(%)" if "success" in name else "(ms)")
        assert unit in drawn, name
        assert "action" in name or "time (UTC)" in drawn, name


def test_long_names_of_actions_do_not_overlap_the_axis_title(runs) -> None:
    long = runs.assign(action="price feed with a rather long name: " + runs["action"])
    drawn = charts.svg(charts.latency(long, by="action"))
    (title,) = re.findall(r"<text[^>]*>action \(runs\)</text>", drawn)
    assert "rotate" not in title, "upright beside the names it would lie on the longest"


@pytest.mark.parametrize("draw", [charts.latency, lambda runs: charts.latency(runs, by="action"), charts.run_timeline])
def test_colour_is_never_the_only_distinction(draw, runs) -> None:
    layers = draw(runs).to_dict()["layer"]
    told = {
        channel: part["field"]
        for layer in layers
        for channel, part in layer["encoding"].items()
        if isinstance(part, dict) and "field" in part
    }
    coloured = {told[channel] for channel in ("color", "fill", "stroke") if channel in told}
    otherwise = {told[channel] for channel in ("shape", "strokeDash", "text") if channel in told}
    assert coloured
    assert coloured <= otherwise


def _light(colour: str) -> float:
    """Returns the relative luminance according to WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_light(one), _light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("shown", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_contrasts_comply_with_wcag(shown) -> None:
    for text in (shown.text, shown.muted):
        assert _contrast(text, shown.background) >= 4.5
    for mark in (theme.BLUE, theme.VERMILLION, theme.GREEN, theme.PURPLE, theme.GREY):
        assert _contrast(mark, shown.background) >= 3


def _inverted(colour: str) -> str:
    """Returns a colour after the filter of dark themes.

    Source: Filter Effects Module Level 1, https://www.w3.org/TR/filter-effects-1/#feColorMatrixElement.
    """
    channels = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    inverted = display.INVERSION + channels * (1 - 2 * display.INVERSION)
    grey = np.array([0.213, 0.715, 0.072])
    rotated = np.clip(2 * grey @ inverted - inverted, 0, 1)  # rotates the hue by 180 degrees around grey
    return "#" + "".join(f"{round(channel * 255):02x}" for channel in rotated)


def test_a_dark_theme_inverts_stored_images_to_colours_with_enough_contrast() -> None:
    assert f"invert({display.INVERSION}) hue-rotate(180deg)" in display.DARK
    page = _inverted(theme.LIGHT.background)
    assert _contrast(page, theme.DARK.background) < 1.1  # almost the background of the dark charts
    for text in (theme.LIGHT.text, theme.LIGHT.muted):
        assert _contrast(_inverted(text), page) >= 4.5
    for mark in (theme.BLUE, theme.VERMILLION, theme.GREEN, theme.PURPLE, theme.GREY):
        assert _contrast(_inverted(mark), page) >= 3
    drawn = (explanation_graph._TEXT, explanation_graph._MUTED, explanation_graph._BAD)
    assert min(_contrast(_inverted(colour), page) for colour in drawn) >= 4.5


def test_pictures_are_written_by_the_ending_of_the_file(runs, tmp_path) -> None:
    chart = charts.run_timeline(runs)
    picture = charts.save(chart, tmp_path / "runs.png", theme="dark").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    half = charts.png(chart, scale=1)
    wide, narrow = (int.from_bytes(each[16:20]) for each in (picture, half))
    assert abs(wide - 2 * narrow) <= 2
    assert charts.save(chart, tmp_path / "runs.SVG").read_text(encoding="utf-8") == charts.svg(chart)
    with pytest.raises(InvalidArgument, match=r"cannot save a chart as \.pdf"):
        charts.save(chart, tmp_path / "runs.pdf")
    with pytest.raises(InvalidArgument, match="does not support theme"):
        charts.png(chart, theme="auto")
    with pytest.raises(InvalidArgument, match="unknown theme 'blue'"):
        charts.svg(chart, theme="blue")  # type: ignore[arg-type]


@pytest.mark.slow
def test_combined_charts_keep_the_style(runs) -> None:
    both = charts.run_timeline(runs) & charts.latency(runs)
    beside = (charts.run_timeline(runs) | charts.success_rate(runs)).properties(title="two")
    for made in (both, beside):
        assert "image/png" in made._repr_mimebundle_()
    assert repr(beside) == "chart: two"


def test_charts_and_settings_of_the_user_stay_unchanged(runs) -> None:
    own = alt.Chart(pd.DataFrame({"a": [1, 2]})).mark_point().encode(x="a:Q")
    assert alt.renderers.active == "default"
    assert "vega-embed" in str(own._repr_mimebundle_())
    with alt.renderers.enable("json"):
        assert "application/json" in charts.run_timeline(runs)._repr_mimebundle_()[0]
    with alt.renderers.enable(NAME):
        shown = own._repr_mimebundle_()
    assert shown == render(own.to_dict())
    assert shown["text/plain"] == "chart"


@pytest.mark.slow
def test_a_chart_can_be_a_live_widget(runs) -> None:
    widget = charts.live(charts.latency(runs))
    assert widget.spec["description"] == repr(charts.latency(runs))
    assert "config" in widget.spec
    assert not re.search(r"^\s*import\b", widget._esm, re.MULTILINE)


def test_equal_charts_have_equal_pictures(runs) -> None:
    made = {hashlib.sha256(charts.png(charts.latency(runs), scale=1)).hexdigest() for _ in range(2)}
    assert len(made) == 1


def test_images_do_not_depend_on_the_fonts_of_the_machine(chart, monkeypatch) -> None:
    """A chart with other characters or with a font of its own also uses the fonts of the machine."""
    skipped: list[bool] = []
    convert = resvg_py.svg_to_bytes

    def noted(*args: Any, **options: Any) -> bytes:
        skipped.append(options["skip_system_fonts"])
        return convert(*args, **options)

    monkeypatch.setattr("resvg_py.svg_to_bytes", noted)
    charts.png(chart)
    charts.png(chart.properties(title="価格"))
    charts.png(chart.configure_title(font="Georgia"))
    assert skipped == [True, False, False]
