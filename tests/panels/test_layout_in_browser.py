"""Every state of the panels fits into three widths, and has no serious accessibility problem."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.panels.axe import faults
from tests.panels.bench import CELL, Bench
from tests.panels.conftest import THEME
from tests.panels.tour import tour

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

WIDTHS = (1366, 1024, 390)
SHOTS = os.environ.get("SVC_SHOTS")
"""Folder for screenshots of every state at every width, in the light and dark theme. None means no screenshots."""

MAX_LINES = 3
"""Maximum number of lines of an address. A hash or a CID can have twice as many lines."""

WIDE = """lines => {
  const shown = (it) => it.checkVisibility() && it.getClientRects().length > 0;
  const scrolls = (it) => ["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(it).overflowX);
  const name = (it) => `${it.tagName.toLowerCase()}.${it.className} ${it.textContent.trim().slice(0, 40)}`;
  const found = [];
  for (const panel of document.querySelectorAll(".svcnb-panel")) {
    if (!shown(panel)) continue;
    const inside = (it) => {
      for (let at = it.parentElement; at && at !== panel; at = at.parentElement) if (scrolls(at)) return true;
      return false;
    };
    const edge = panel.getBoundingClientRect().right + 0.5;
    for (let at = panel.parentElement; at; at = at.parentElement) {
      const hidden = at.scrollWidth - at.clientWidth;
      if (hidden > 0 && scrolls(at)) found.push(`${hidden} px around the panel: ${at.className}`);
    }
    if (panel.scrollWidth > panel.clientWidth) found.push(`panel: ${panel.scrollWidth - panel.clientWidth} px`);
    for (const it of panel.querySelectorAll("*")) {
      if (!shown(it) || it.closest(".svcnb-aside, svg, .cm-editor") || inside(it)) continue;
      const over = Math.round(it.getBoundingClientRect().right - edge);
      if (over > 0) found.push(`${over} px: ${name(it)}`);
    }
    for (const code of panel.querySelectorAll("code")) {
      const text = code.textContent;
      const most = /^0x[0-9a-f]{40}$/i.test(text) ? lines : /^(0x[0-9a-f]{64}|Qm\\w{44})$/i.test(text) ? lines * 2 : 0;
      if (!most || !shown(code)) continue;
      const range = document.createRange();
      range.selectNodeContents(code);
      const rows = new Set([...range.getClientRects()].map(({top}) => Math.round(top))).size;
      if (rows > most) found.push(`${rows} lines: ${name(code)}`);
    }
  }
  return found;
}"""


INVISIBLE = """() => {
  const shown = (it) => it.checkVisibility() && it.getClientRects().length > 0;
  const found = [];
  for (const panel of document.querySelectorAll(".svcnb-panel")) {
    if (!shown(panel)) continue;
    const page = getComputedStyle(panel).backgroundColor;
    for (const bar of panel.querySelectorAll(".svcnb-bar, .svcnb-succeeded, .svcnb-failed")) {
      const {backgroundColor, borderTopWidth} = getComputedStyle(bar); // images are not drawn
      const drawn = ![page, "rgba(0, 0, 0, 0)"].includes(backgroundColor) || borderTopWidth !== "0px";
      if (shown(bar) && !drawn) found.push(bar.className);
    }
    for (const list of panel.querySelectorAll("[role=tablist]")) {
      const colours = [...list.children].map((tab) => getComputedStyle(tab).borderBottomColor);
      if (new Set(colours).size !== 2) found.push(`the chosen tab looks like the others: ${colours}`);
    }
  }
  return found;
}"""
"""Script that returns elements without a visible difference in system colours: bars, or the chosen tab."""


# JupyterLab updates its layout in the frames after a change of the window.
LAID_OUT = """async () => {
  for (let frame = 0; frame < 4; frame += 1) await new Promise((go) => requestAnimationFrame(go));
}"""


TOOLBAR = "Failed to execute 'removeChild' on 'Node'"
"""Error of JupyterLab 4.6, whose toolbar moves buttons in a narrow window. The panels do not cause this error."""


def test_no_state_overflows_or_has_a_serious_fault(notebook, desk, emulator):
    desk.known = (TOOLBAR,)
    nb = notebook(CELL, own=True, viewport={"width": WIDTHS[0], "height": 1000})
    found: dict[str, list[str]] = {}
    states = 0
    for state in tour(Bench(nb), emulator):
        states += 1
        for width in WIDTHS:
            nb.tab.set_viewport_size({"width": width, "height": 1000})
            nb.tab.evaluate(LAID_OUT)
            if wide := nb.tab.evaluate(WIDE, MAX_LINES):
                found[f"{state}, {width} px"] = wide[:4]
            shoot(nb, state, width, "light")
        if serious := faults(nb.tab):
            found[f"{state}, light"] = serious[:4]
        nb.tab.evaluate(THEME, "JupyterLab Dark")
        # Of all rules, only this one depends on the theme.
        if serious := faults(nb.tab, rules=("color-contrast",)):
            found[f"{state}, dark"] = serious[:4]
        for width in WIDTHS if SHOTS else ():
            nb.tab.set_viewport_size({"width": width, "height": 1000})
            nb.tab.evaluate(LAID_OUT)
            shoot(nb, state, width, "dark")
        nb.tab.evaluate(THEME, "JupyterLab Dark High Contrast")
        if serious := faults(nb.tab, rules=("color-contrast-enhanced",)):
            found[f"{state}, high contrast"] = serious[:4]
        shoot(nb, state, WIDTHS[0], "contrast")
        nb.tab.emulate_media(forced_colors="active")
        if weak := nb.tab.evaluate(INVISIBLE):
            found[f"{state}, forced colours"] = weak[:4]
        shoot(nb, state, WIDTHS[0], "forced")
        nb.tab.emulate_media(forced_colors="none")
        nb.tab.evaluate(THEME, "JupyterLab Light")
        nb.tab.set_viewport_size({"width": WIDTHS[0], "height": 1000})
    assert not found, "\n".join(f"{state}: {text}" for state, texts in found.items() for text in texts)
    assert states > 25


def shoot(nb: Any, state: str, width: int, theme: str) -> None:
    if SHOTS:
        name = re.sub(r"\W+", "-", state)
        nb.tab.set_viewport_size({"width": width, "height": 5000})
        nb.tab.evaluate(LAID_OUT)
        panel = nb.tab.locator(".svcnb-panel").first
        panel.screenshot(path=Path(SHOTS) / f"{name}-{width}-{theme}.png", animations="disabled")
