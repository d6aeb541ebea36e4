"""Workbench in a browser, which tests operate by mouse or only by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

CELL = "import svcnb\nsvc = svcnb.Client()\nbench = svcnb.panels.Workbench(svc)\nbench"

REQUEST = ".svcnb-request"
FOCUSED = """() => {
  const it = document.activeElement;
  const label = it.labels?.[0]?.textContent ?? it.getAttribute("aria-label") ?? it.textContent;
  return label.trim();
}"""


class Bench:
    """Workbench in a notebook.

    Attributes:
        nb: The notebook.
        root: The workbench.
        agreed: Titles of the confirmed requests, in order.
    """

    def __init__(self, nb: Any) -> None:
        self.nb = nb
        self.keys = nb.tab.keyboard
        self.root = nb.panel("Workbench")
        self.agreed: list[str] = []
        self.root.get_by_label("Name", exact=True).wait_for()

    def tab(self, name: str) -> Any:
        """Opens a tab with the mouse."""
        self.root.get_by_role("tab", name=name).click()
        return self.place(name)

    def place(self, name: str) -> Any:
        """Returns the content of a tab."""
        return self.root.get_by_role("tabpanel", name=name)

    def at(self) -> str:
        """Returns the accessible name of the focused element."""
        return str(self.nb.tab.evaluate(FOCUSED))

    def walk(self, name: str, back: str = "") -> None:
        """Moves the focus to a control with only the Tab key."""
        for _ in range(120):
            if self.at() in {"Source of the action", "Parameters"}:
                self.keys.press("Escape")  # in an editor, the Tab key indents
            self.keys.press(f"{back}Tab")
            if self.at() == name:
                return
        raise AssertionError(f"{name} is not reached by the tab key")

    def press(self, name: str, back: str = "") -> None:
        """Presses a button with only the keyboard."""
        self.walk(name, back)
        self.keys.press("Enter")

    def create_account(self, name: str = "treasury") -> str:
        """Creates an account in API mode, and returns its key."""
        place = self.place("Account")
        place.get_by_label("Name", exact=True).fill(name)
        place.get_by_role("button", name="Create", exact=True).click()
        key = str(place.locator(".svcnb-key").inner_text())
        place.get_by_role("button", name="Hide key").click()
        return key

    @staticmethod
    def tab_to(page: Any, name: re.Pattern[str]) -> None:
        """Moves the focus to a control of another page with only the Tab key."""
        for _ in range(20):
            page.keyboard.press("Tab")
            if name.search(page.evaluate("document.activeElement.textContent")):
                return
        raise AssertionError(f"{name.pattern} is not reached by the tab key")

    def settle(self, done: Any, *, by: Callable[[Any], None] | None = None, gone: bool = False) -> None:
        """Confirms every request until an element is visible.

        Args:
            done: Element that shows the end of the operation.
            by: Function that confirms one request. By default, with the mouse.
            gone: Whether the element must disappear instead.
        """
        for _ in range(1200):
            if done.is_visible() is not gone:
                return
            card = self.root.locator(REQUEST).first
            if card.count() == 0:
                self.nb.tab.wait_for_timeout(50)
                continue
            shown = card.element_handle()
            title = card.get_by_role("heading").inner_text()
            (by or self.click)(card)
            shown.wait_for_element_state("hidden")
            self.agreed.append(title)
        raise AssertionError(f"{done} does not appear: {self.root.inner_text()}")

    def click(self, card: Any) -> None:
        """Confirms a request with the mouse."""
        card.locator("button.svcnb-primary").click()

    def enter(self, card: Any) -> None:
        """Confirms a request with only the keyboard. The panel moves the focus to the request."""
        heading = card.get_by_role("heading").inner_text()
        assert self.at() == heading, f"the focus is on {self.at()}, not on the request"
        for _ in range(3):  # an envelope scrolls, so the Tab key also stops there
            self.keys.press("Tab")
            if card.locator("button.svcnb-primary:focus").count():
                break
        self.keys.press("Enter")
