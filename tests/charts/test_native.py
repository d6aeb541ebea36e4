"""Charts replace text that XML forbids.

The renderer runs in a process without permissions, and its crash does not end the user's process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import altair as alt
import pytest

from svcnb import charts
from svcnb.charts import native
from svcnb.errors import ExtraMissing
from svcnb.tools import ToolMissing

FORBIDDEN = "\x00\x01\x08\x0b\x0c\x0e\x1b\x1f\udfff\ud800\ufffe\uffff"
"""Characters outside production 2 (Char) of XML 1.0: both ends of each range."""

EVERY_CHART = """
import sys
import pandas as pd
from svcnb import charts
from svcnb.client.models.explanation import Explanation, GroupLink
from svcnb.client.models.traces import Trace, TraceEvent
from svcnb.reports.pictures import permission_matrix
from types import SimpleNamespace as Of

forbidden = [chr(int(each, 16)) for each in sys.argv[1:]]
bad = "".join(forbidden) + "name"
days = pd.date_range("2026-01-01", periods=50, freq="1h", tz="UTC")
runs = pd.DataFrame(
    {"started_at": days, "status": ["success", "failed"] * 25, "elapsed": range(50), "cost_cents": 3, "action": bad}
)
links = (GroupLink(id=1, name=bad, key=True, action=True, wallet=False, connects=False),)
found = Explanation(allowed=False, reason=bad, key=bad, action=bad, groups=links)
key = Of(name=bad, api_key_hash="0x12345678", execute_in_groups=[0], manage_ipfs_ids_in_groups=[],
         add_pkp_to_groups=[], remove_pkp_from_groups=[])
events = {"time": days[:1], "event": [bad], "who": [bad]}
made = [
    charts.run_timeline(runs), charts.spend(runs), charts.spend(runs[:2]), charts.latency(runs),
    charts.latency(runs, by="action"), charts.success_rate(runs), charts.success_rate(runs, by="action"),
    charts.permission_graph(found), charts.audit_timeline(events),
    charts.trace(Trace(engine="v8", events=(TraceEvent(at_ms=1, kind="fetch", host=bad, method=bad, name=bad),))),
]
for chart in made:
    assert "<svg" in charts.svg(chart)
    assert charts.png(chart, scale=1).startswith(b"\\x89PNG")
    shown = chart._repr_mimebundle_()
    assert "image/png" in shown
    assert not any(each in text for text in [*shown.values(), charts.svg(chart)] for each in forbidden)
matrix = permission_matrix(Of(keys=[key], groups=[(Of(id=1, name=bad), ())]))
assert "data:image/svg+xml" in matrix._repr_html_()
assert not any(each in shown._repr_html_() for shown in (found, matrix) for each in forbidden)
print("drawn", len(made) + 1)
"""


TOO_LARGE = alt.Chart(alt.sequence(0, 1e9, as_="a")).mark_point().encode(x="a:Q")
"""Chart with a billion rows, for which the renderer has not enough memory."""


@pytest.fixture
def little_memory(monkeypatch) -> Iterator[None]:
    """Renderer that has only 64 MB of memory, so that a crash takes little time."""
    native._renderer.close()
    monkeypatch.setattr(native, "_MEMORY_MB", 64)
    yield
    native._renderer.close()


@pytest.mark.slow
def test_every_chart_is_drawn_with_any_name() -> None:
    command = [sys.executable, "-c", EVERY_CHART, *(f"{ord(each):x}" for each in FORBIDDEN)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (ran.returncode, ran.stdout) == (0, "drawn 11\n"), ran.stderr[-2000:]


def test_a_drawing_is_well_formed_xml_and_keeps_all_other_characters() -> None:
    name = "tab\tbel\x07 émoji 😀 \x7f\x85 next\ufffd"
    chart = alt.Chart(alt.InlineData(values=[{"a": name}])).mark_text().encode(text=alt.Text("a", type="nominal"))
    drawn = "".join(ET.fromstring(charts.svg(chart)).itertext())  # noqa: S314 - our own drawing
    assert "émoji 😀" in drawn
    assert "bel\ufffd" in drawn


def test_a_drawing_is_well_formed_xml_if_an_expression_creates_a_forbidden_character() -> None:
    axis = alt.Axis(labelExpr=r"'bell\u0000' + datum.label")
    chart = alt.Chart(alt.InlineData(values=[{"a": 1}])).mark_point().encode(x=alt.X("a", type="nominal", axis=axis))
    assert "bell\ufffd1" in "".join(ET.fromstring(charts.svg(chart)).itertext())  # noqa: S314 - our own drawing


@pytest.mark.slow
@pytest.mark.usefixtures("little_memory")
def test_a_crash_of_the_renderer_is_an_error_and_the_next_chart_is_drawn(runs) -> None:
    for draw in (charts.svg, charts.png):
        with pytest.raises(charts.RenderFailed, match=r"the chart renderer stopped with exit code -\d+") as caught:
            draw(TOO_LARGE)
        assert caught.value.hint
        assert "<svg" in charts.svg(charts.latency(runs))


@pytest.mark.slow
def test_a_crash_of_the_renderer_does_not_end_the_kernel() -> None:
    code = (
        "import altair as alt\nfrom svcnb import charts\nfrom svcnb.charts import native\nnative._MEMORY_MB = 64\n"
        f"chart = alt.Chart.from_dict({TOO_LARGE.to_dict()!r})\n"
        "with alt.renderers.enable('svcnb'):\n"
        "    try: chart._repr_mimebundle_()\n"
        "    except charts.RenderFailed: print('told')\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert (ran.returncode, ran.stdout) == (0, "told\n"), ran.stderr[-2000:]


@pytest.mark.slow
def test_a_renderer_that_does_not_respond_is_killed(runs, monkeypatch) -> None:
    chart = charts.latency(runs)
    charts.svg(chart)
    process = native.process()
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    monkeypatch.setattr(native, "TIMEOUT_SECONDS", 0.2)
    with pytest.raises(charts.RenderFailed, match=r"took more than 0\.2 seconds"):
        charts.svg(chart)
    assert process.poll() is not None
    monkeypatch.undo()
    assert "<svg" in charts.svg(chart)


def test_one_renderer_is_reused_also_by_many_threads(runs) -> None:
    chart = charts.latency(runs)
    expected = charts.svg(chart)
    first = native.process()
    drawn: list[str] = []
    threads = [threading.Thread(target=lambda: drawn.append(charts.svg(chart))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert drawn == [expected] * 4
    assert native.process() is first


def test_an_interrupt_of_the_notebook_leaves_the_renderer_usable(runs) -> None:
    chart = charts.latency(runs)
    expected = charts.svg(chart)
    process = native.process()
    assert process is not None
    os.kill(process.pid, signal.SIGINT)  # Jupyter interrupts the whole process group of a kernel
    assert charts.svg(chart) == expected
    assert native.process() is process


@pytest.mark.slow
def test_the_renderer_ends_with_the_process_that_uses_it() -> None:
    code = (
        "import os, signal, altair as alt\nfrom svcnb import charts\nfrom svcnb.charts import native\n"
        "chart = alt.Chart(alt.InlineData(values=[{'a': 1}])).mark_point().encode(x='a:Q')\n"
        "charts.svg(chart)\nprint(native.process().pid, flush=True)\n"
    )
    for last in ("", "os.kill(os.getpid(), signal.SIGKILL)"):
        ran = subprocess.run([sys.executable, "-c", code + last], capture_output=True, timeout=300, check=False)
        assert not ran.stderr
        pid = int(ran.stdout)
        while _alive(pid):  # the process ends when it detects the closed pipe
            pass


def test_a_chart_that_vega_rejects_does_not_end_the_renderer(runs) -> None:
    chart = charts.latency(runs)
    charts.svg(chart)
    process = native.process()
    with pytest.raises(charts.RenderFailed, match=r"cannot draw this chart: .*TypeError") as caught:
        native.draw({**chart.to_dict(), "layer": [{"mark": "no such mark"}]})
    assert "https://" not in caught.value.message
    assert native.process() is process


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:9/runs.csv", "/etc/hostname", "file:///etc/hostname", "runs.csv"]
)
def test_the_renderer_loads_no_urls_and_no_files(address) -> None:
    rows = alt.InlineData(values=[{"a": address}])
    for chart in (
        alt.Chart(alt.UrlData(address, format=alt.CsvDataFormat(type="csv"))).mark_point().encode(x="a:Q"),
        alt.Chart(rows).mark_image(width=9, height=9).encode(url="a:N"),
    ):
        with pytest.raises(charts.RenderFailed, match="the renderer loads no URLs and no files") as caught:
            charts.png(chart)
        assert address in caught.value.message


def test_a_link_with_a_script_is_not_part_of_a_drawing() -> None:
    rows = alt.InlineData(values=[{"a": "javascript:alert(1)"}, {"a": "https://example.com/"}])
    drawn = charts.svg(alt.Chart(rows).mark_point(tooltip=False, aria=False).encode(href="a:N"))
    assert 'href="https://example.com/"' in drawn
    assert "javascript" not in drawn


def test_the_renderer_has_no_permission() -> None:
    assert not [flag for flag in native._FLAGS if flag.startswith(("--allow", "-A"))]


def test_an_image_that_needs_too_much_memory_is_an_error(runs) -> None:
    with pytest.raises(charts.RenderFailed, match=r"image of \d+ x \d+ pixels is too large") as caught:
        charts.png(charts.latency(runs), scale=1000)
    assert "scale" in caught.value.hint


@pytest.mark.parametrize("drawing", ["<svg/>", '<svg viewBox="0 0 1 1"><rect width="1" height="1"/></svg>'])
def test_a_drawing_without_a_size_is_not_converted_because_its_limit_is_unknown(drawing) -> None:
    with pytest.raises(charts.RenderFailed, match="no width and height in pixels") as caught:
        native.rasterize(drawing, 1.0)
    assert "SVG" in caught.value.hint


def test_a_missing_renderer_is_an_error_that_names_the_extra(runs, monkeypatch) -> None:
    chart = charts.latency(runs)
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ExtraMissing, match="require the package resvg_py") as caught:
        charts.png(chart)
    assert "[lab]" in caught.value.hint
    native._renderer.close()
    monkeypatch.delenv("SVC_DENO", raising=False)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    monkeypatch.setattr("importlib.metadata.distribution", lambda _name: SimpleNamespace(files=None))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ToolMissing, match="deno is missing") as missing:
        charts.svg(chart)
    assert "[lab]" in missing.value.hint


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:  # noqa: PTH123 - not a file of ours
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
