"""The panels on a page that has nothing of Jupyter's: no theme, no `require`, no styles but theirs.

Editors such as VS Code show widgets so: a bare page under a content policy, with the theme as a class of the body. The
modules are loaded as anywidget loads them, from a blob, and what they ask the kernel is never answered.
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
"""Does what anywidget does with a module and its styles."""
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
def test_every_panel_stands_on_a_bare_page_in_its_theme_and_says_that_no_kernel_answers(browser, panels, theme):
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
    page.evaluate("ends.forEach((end) => end())")
    assert page.locator(".svcnb-panel").count() == 0
    assert troubles == []
    page.close()


def _plain(state: dict[str, Any]) -> dict[str, Any]:
    """A panel's own part of its state."""
    return {name: value for name, value in state.items() if not name.startswith("_")}
