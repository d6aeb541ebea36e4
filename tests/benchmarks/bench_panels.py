"""First paint of each panel after its bundle has loaded, and frame times of the list of runs while it scrolls, in
Chromium.

The page contains no other elements and has no kernel, so the figures include only the work of the browser. The list
shows the data of a panel for a history of 10,000 runs.
"""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import svcnb
from svcnb.panels import AccountPanel, ActionEditor, Panel, PermissionsPanel, RunsPanel, SigningPanel, TriggersPanel
from svcnb.panels.loop import BACKGROUND
from tests.panels.conftest import browser

__all__ = ["browser"]

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

FIRST_PAINT_MS = 150
FRAME_MS = 1000 / 60
ROUNDS = 9
RUNS = 10_000
PANELS = (AccountPanel, SigningPanel, ActionEditor, PermissionsPanel, RunsPanel, TriggersPanel)
LOAD = """async ({source, style}) => {
  const sheet = document.createElement("style");
  sheet.textContent = style;
  document.head.append(sheet);
  window.widget = (await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})))).default;
}"""
PAINT = """async ({state, answers}) => {
  const el = document.createElement("div");
  const begun = performance.now();
  document.querySelector("main").replaceChildren(el);
  let hear = () => {};
  const model = {
    get: (name) => state[name], set() {}, save_changes() {}, off() {},
    on: (event, listener) => { if (event === "msg:custom") hear = listener; },
    send: ({type, id, name}) => {
      if (type !== "command" || !(name in answers)) return;
      setTimeout(() => { hear({type: "begun", id}); hear({type: "answer", id, ok: true, value: answers[name]}); });
    },
  };
  window.ends?.();
  window.ends = window.widget.render({model, el});
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  return performance.now() - begun;
}"""
PLAIN = """() => {
  const list = document.createElement("div");
  list.className = "svcnb-runs";
  list.style = "max-height: 24em; overflow: auto";
  for (let row = 0; row < 200; row += 1) list.append(Object.assign(document.createElement("p"), {textContent: row}));
  document.querySelector("main").append(list);
}"""
SCROLL = """async () => {
  const list = document.querySelector(".svcnb-runs");
  const times = [];
  let last = await new Promise(requestAnimationFrame);
  for (let step = 0; step < 240; step += 1) {
    list.scrollTop += step < 120 ? 40 : -40;
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  return {times, rows: list.querySelectorAll("tr[data-run]").length};
}"""


@pytest.fixture
def svc(session_emulator: Any, tmp_path: Path) -> Iterator[svcnb.Client]:
    """Client with a history of many runs."""
    records: list[Any] = []
    with session_emulator.client(history=tmp_path / "history.sqlite", on_run=records.append) as client:
        svc = client.with_key(client.accounts.create("busy"))
        svc.run("const main = () => 1;")
        (first,) = records
        others = [listener for listener in svc.on_run if listener != records.append]
        for number in range(RUNS):
            run = first.run.model_copy(update={"request_id": f"{number:032x}"})
            again = dataclasses.replace(first, run=run, started_at=first.started_at + number / 1000)
            for listener in others:
                listener(again)
        yield svc


def test_first_paint_and_scrolling(browser: Any, svc: svcnb.Client) -> None:
    plain = frames_of_plain_text(browser)
    busy = max(1.0, plain / FRAME_MS)  # under load, the browser also renders plain text more slowly
    figures: dict[str, float] = {}
    for kind in PANELS:
        panel: Panel = kind(svc)
        answers = {"read": BACKGROUND.submit(panel.read("")).result(300)} if isinstance(panel, RunsPanel) else {}
        page = browser.new_page(viewport={"width": 1366, "height": 900})
        page.set_content("<!doctype html><title>panel</title><main></main>")
        state = panel.get_state()
        page.evaluate(LOAD, {"source": state.pop("_esm"), "style": state.pop("_css")})
        given = {"state": {name: value for name, value in state.items() if name[0] != "_"}, "answers": answers}
        given = json.loads(json.dumps(given, default=str))
        figures[panel.title] = statistics.median(page.evaluate(PAINT, given) for _ in range(ROUNDS))
        if answers:
            page.locator("tr[data-run]").first.wait_for()
            scrolled = page.evaluate(SCROLL)
        panel.close()
        page.close()
    print("first paint, ms: " + ", ".join(f"{name} {took:.0f}" for name, took in figures.items()))
    times = sorted(scrolled["times"])
    print(
        f"list of runs ({scrolled['rows']} rows of {RUNS:,} runs), ms a frame: median {statistics.median(times):.1f}, "
        f"95 % {times[int(len(times) * 0.95)]:.1f}; a list of plain text {plain:.1f}"
    )
    assert max(figures.values()) < FIRST_PAINT_MS * busy
    assert statistics.median(times) < FRAME_MS * 1.1 * busy


def frames_of_plain_text(browser: Any) -> float:
    """Returns the milliseconds per frame of a list of plain paragraphs."""
    page = browser.new_page(viewport={"width": 1366, "height": 900})
    page.set_content("<!doctype html><title>plain</title><main></main>")
    page.evaluate(PLAIN)
    times = page.evaluate(SCROLL)["times"]
    page.close()
    return float(statistics.median(times))
