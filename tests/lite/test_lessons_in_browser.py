"""The lessons in the page have the same outputs as on a computer, and send no request to another address."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest

from tests.lite.conftest import _EXECUTE, stored

pytestmark = pytest.mark.browser

LESSONS = [
    "00-primer",
    "01-quickstart",
    "02-actions-and-cids",
    "03-keys",
    "04-groups-and-least-privilege",
    "05-typed-data",
    "06-chain-secured",
    "07-contract-wallets",
    "08-convert-and-transfer",
    "10-credits-and-cost",
    "14-history-and-charts",
]
SKIPPED = {"14-history-and-charts": 11}
"""Cells that need parts which the page does not contain: pandas, charts, or a process for a report. The
output of each cell contains a notice."""


SIGN = """
import sys
before = set(sys.modules)
import svcnb
emu = svcnb.Emulator(starter_credits=1000)
svc = emu.client()
me = svc.with_key(svc.accounts.create("early"))
print(me.run("const main = () => 1").response, sorted(set(sys.modules) - before))
emu.stop()
"""
SEARCHES = """
import sys
searched = []
class Recorder:
    def find_spec(self, name, path=None, target=None):
        searched.append(name)
sys.meta_path.append(Recorder())
import svcnb
emu = svcnb.Emulator()
emu.stop()
sys.meta_path.pop()
print(searched)
"""
OWN_MODULES = """
from pathlib import Path
for name in ("own_module", "wave"):
    Path(f"{name}.py").write_text("MINE = True")
import own_module, wave
print(own_module.MINE, hasattr(wave, "MINE"))
for name in ("own_module", "wave"):
    Path(f"{name}.py").unlink()
"""


def test_the_first_run_imports_almost_nothing_because_the_start_of_the_page_did(lab: Callable[[str], Any]):
    response, _, modules = lab("01-quickstart").run(SIGN).partition(" ")
    assert response == "1"
    assert len(ast.literal_eval(modules)) < 15, modules


def test_the_emulator_of_the_page_does_not_search_for_missing_modules(lab: Callable[[str], Any]):
    """Each search reads the notebook's folder through the page, which takes up to 0.2 s."""
    assert lab("01-quickstart").run(SEARCHES).strip() == "[]"


def test_a_page_cannot_install_packages_and_says_so(lab: Callable[[str], Any]):
    page = lab("01-quickstart")
    done = page.tab.evaluate(_EXECUTE, "%pip install attrs")
    assert done["status"] == "error"
    assert "this page cannot install packages" in done["error"]


def test_a_cell_that_imports_micropip_loads_its_wheel(lab: Callable[[str], Any]):
    code = "import sys\nbefore = 'micropip' in sys.modules\nimport micropip\nprint(before, micropip.__name__)"
    assert lab("01-quickstart").run(code).strip() == "False micropip"


def test_a_file_beside_the_notebook_can_be_imported_but_hides_no_installed_module(lab: Callable[[str], Any]):
    assert lab("01-quickstart").run(OWN_MODULES).split() == ["True", "False"]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_has_its_stored_outputs_and_loads_only_from_the_site(lab: Callable[[str], Any], lesson: str):
    page = lab(lesson)
    page.run_all()
    pairs = list(zip(page.outputs(), stored(lesson), strict=True))
    notices = [here for here, _ in pairs if here and here[-1].startswith("Skipped on this page: ")]
    assert len(notices) == SKIPPED.get(lesson, 0), notices
    assert [here for here, _ in pairs if here not in notices] == [there for here, there in pairs if here not in notices]
    assert page.outside == []
