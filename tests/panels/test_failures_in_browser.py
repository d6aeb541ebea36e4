"""Every panel reports an unavailable service or kernel, keeps its content, and works again after the recovery.

One notebook contains all six panels, because opening a notebook takes seconds. Each panel must report the failure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.chain, pytest.mark.engine]

CELL = """
import os, tempfile, ipywidgets, svcnb
history = os.path.join(tempfile.mkdtemp(), "history.sqlite")
nobody = svcnb.Client({url!r}, triggers_url={triggers!r}, history=history)
svc = nobody.with_key(nobody.accounts.create("lone"))
add = svcnb.Action("const main = ({{ n }}) => n + 1", name="add")
svc.run(add, n=41)
triggers = svcnb.panels.TriggersPanel(svc)
ipywidgets.VBox([
    svcnb.panels.AccountPanel(nobody), svcnb.panels.SigningPanel(svc), svcnb.panels.ActionEditor(svc, add, {{"n": 1}}),
    svcnb.panels.PermissionsPanel(svc, [add]), svcnb.panels.RunsPanel(svc), triggers,
])
"""


@dataclass(frozen=True)
class Case:
    """A panel, and an operation with which it sends a request to its service.

    Attributes:
        title: Heading of the panel.
        button: Name of the button that sends the request.
        shown: Content before the request, which stays after a failed request.
        answered: Content after a successful request.
    """

    title: str
    button: str
    shown: str
    answered: str


CASES = [
    Case("Account", "Create", "Account key or usage key", "This is the account key."),
    Case("Signing", "Use current time", "The envelope", "The envelope"),
    Case("Action editor", "Run", "Identity", "✓ Response"),
    Case("Permissions", "Refresh", "The account has no groups.", "The account has no groups."),
    Case("Runs", "Refresh", "100 % succeeded", "% succeeded"),
    Case("Triggers", "Refresh", "No triggers yet.", "No triggers yet."),
]


def standing(notebook: Any, emulator: Any, **options: Any) -> Any:
    """Opens a notebook in which every panel is ready to send its request."""
    nb = notebook(CELL.format(url=emulator.base_url, triggers=emulator.triggers_url), **options)
    nb.panel("Account").get_by_label("Name", exact=True).fill("treasury")
    door = nb.panel("Triggers")
    door.get_by_role("link", name="Open approval page").wait_for()
    emulator.approve_agent(nb.value("triggers.triggers.challenge"), "panel")
    door.get_by_role("button", name="Continue").click()
    for case in CASES:
        nb.panel(case.title).get_by_text(case.shown).first.wait_for()
    return nb


def ask(nb: Any, case: Case) -> Any:
    """Sends the request with the keyboard, and returns the panel."""
    panel = nb.panel(case.title)
    panel.get_by_role("button", name=case.button, exact=True).press("Enter")
    return panel


def ended(nb: Any, panel: Any, case: Case) -> None:
    """Waits until no operation is running, so that the test can send the request again."""
    button = panel.get_by_role("button", name=case.button, exact=True).element_handle()
    nb.tab.wait_for_function("button => !button.hasAttribute('aria-busy')", arg=button)


def test_panels_report_a_stopped_emulator_and_work_again_after_its_restart(notebook, start_emulator, tmp_path):
    settings = {"starter_credits": 1000, "state": str(tmp_path / "state")}
    emulator = start_emulator(**settings)
    nb = standing(notebook, emulator)
    emulator.stop()
    for case in CASES:
        panel = ask(nb, case)
        failure = panel.get_by_role("alert").filter(has_text=re.compile("cannot connect to"))
        failure.wait_for()
        # The fix: start an emulator, or check the service, which can belong to another person.
        assert re.search("svcnb emulator|that the service is running", failure.inner_text())
        assert panel.get_by_text(case.shown).first.is_visible()
        ended(nb, panel, case)

    start_emulator(port=int(emulator.base_url.rpartition(":")[2]), **settings)
    for case in CASES:
        panel = ask(nb, case)
        panel.get_by_text(case.answered).first.wait_for()
        panel.locator(".svcnb-failure").wait_for(state="detached")


def test_panels_report_a_stopped_kernel_and_the_next_step(notebook, start_emulator):
    nb = standing(notebook, start_emulator(starter_credits=1000), own=True)
    nb.shut_down()
    for case in CASES:
        panel = ask(nb, case)
        failure = panel.get_by_role("alert").filter(has_text="The kernel does not respond.")
        failure.wait_for()
        assert "run the cell that created this panel again" in failure.inner_text()
        assert panel.get_by_text(case.shown).first.is_visible()
