"""The panels on a page without any part of Jupyter: no theme, no `require`, and no other styles.

Editors such as VS Code show widgets on such a page, with a content security policy, and with the theme as a class of
the body. The page loads the modules from a blob, like anywidget. No kernel responds to their requests.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest

import svcnb
from svcnb.panels import (
    AccountPanel,
    ActionEditor,
    Panel,
    PermissionsPanel,
    RunsPanel,
    SigningPanel,
    TriggersPanel,
)
from tests.panels.axe import faults

pytestmark = [pytest.mark.browser]

MIN_CONTRAST = 4.5
"""Minimum contrast of WCAG 2, level AA, for text of normal size."""
NOBODY = "http://127.0.0.1:9"
PANELS = (AccountPanel, SigningPanel, ActionEditor, PermissionsPanel, RunsPanel, TriggersPanel)
PAGE = """<!doctype html><html lang="en"><head><title>host</title><meta http-equiv="Content-Security-Policy" content="
default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; style-src 'unsafe-inline'; connect-src 'none'">
</head><body class="{theme}"><main></main></body></html>"""
SHOW = """async ({source, style, state}) => {
  const sheet = document.createElement("style");
  sheet.textContent = style;
  document.head.append(sheet);
  const {default: widget} = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
  const el = document.createElement("div");
  document.querySelector("main").append(el);
  const model = {
    get: (name) => state[name], set() {}, save_changes() {}, on() {}, off() {},
    send: (message) => (window.asked ??= []).push(message.name ?? message.type),
  };
  (window.ends ??= []).push(await widget.render({model, el}));
}"""
"""Script that loads a module and its styles like anywidget."""
CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const drawn = (colours) => { // each colour over the one before it, as the page shows them
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const panel of document.querySelectorAll(".svcnb-panel")) {
    const walker = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const it = walker.currentNode.parentElement;
      const text = walker.currentNode.textContent.trim();
      if (!text || !it.checkVisibility() || it.closest("option, [aria-disabled]")) continue;
      const pages = [];
      for (let at = it; at; at = at.parentElement) pages.unshift(getComputedStyle(at).backgroundColor);
      const page = ["#fff", ...pages];
      const seen = [drawn(page), drawn([...page, getComputedStyle(it).color])];
      const [low, high] = seen.map(luminance).sort((a, b) => a - b);
      found.push([(high + 0.05) / (low + 0.05), text.slice(0, 40)]);
    }
  }
  return found;
}"""
"""Script that returns each text with its contrast to the background."""
SCHEMES = {"vscode-light": ("light", "rgb(255, 255, 255)"), "vscode-dark": ("dark", "rgb(22, 25, 31)")}


@pytest.fixture
def panels():
    with ExitStack() as stack:
        svc = stack.enter_context(svcnb.Client(NOBODY, triggers_url=NOBODY, rpc_url=NOBODY))
        made: list[Panel] = [kind(svc) for kind in PANELS]
        for panel in made:
            stack.callback(panel.close)
        yield made


@pytest.mark.parametrize("theme", sorted(SCHEMES))
def test_every_panel_works_on_a_plain_page_and_reports_a_missing_kernel(browser, panels, theme):
    page: Any = browser.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda said: troubles.append(said.text) if said.type == "error" else None)
    page.set_content(PAGE.format(theme=theme))
    scheme, colour = SCHEMES[theme]
    for panel in panels:
        state = panel.get_state()
        page.evaluate(SHOW, {"source": state.pop("_esm"), "style": state.pop("_css"), "state": _plain(state)})
        region = page.get_by_role("region", name=panel.title, exact=True)
        region.wait_for()
        found = region.evaluate("it => [getComputedStyle(it).colorScheme, getComputedStyle(it).backgroundColor]")
        assert found == [scheme, colour], panel.title
    for panel in panels:
        region = page.get_by_role("region", name=panel.title, exact=True)
        region.get_by_role("alert").filter(has_text="The kernel does not respond.").wait_for()
    assert faults(page) == []
    contrasts = page.evaluate(CONTRAST)
    assert len(contrasts) > 50
    assert [(round(ratio, 2), text) for ratio, text in contrasts if ratio < MIN_CONTRAST] == []
    page.evaluate("ends.forEach((end) => end())")
    assert page.locator(".svcnb-panel").count() == 0
    assert troubles == []
    page.close()


def _plain(state: dict[str, Any]) -> dict[str, Any]:
    """Returns the part of the state that belongs to the panel itself."""
    return {name: value for name, value in state.items() if not name.startswith("_")}
