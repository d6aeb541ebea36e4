"""Lessons on a live service: one confirmation, the learner's account, and skipped cells that cause no errors.

The live service is an emulator whose control plane is not available, and which adds no starter credit.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import svcnb
from svcnb import lessons, live_lessons
from svcnb.control import EmulatorControl
from svcnb.launch import Emulator
from svcnb.live_lessons import LIVE, Skipper

pytestmark = [pytest.mark.chain, pytest.mark.engine]

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
NUMBERS = {
    "quickstart": "01", "actions-and-cids": "02", "keys": "03", "groups": "04", "typed-data": "05",
    "chain-secured": "06", "webhooks": "11", "history": "14", "batches": "15",
}  # fmt: skip
CREDIT_CENTS = 500
NOTICE = "Skipped on a live service: "


class Live:
    """Live service, and the key of an account with credit."""

    def __init__(self, emulator: EmulatorControl) -> None:
        self.emulator = emulator
        self.account = emulator.client().accounts.create("mine")
        emulator.credit(self.account.wallet_address, CREDIT_CENTS)
        self.environment = {"SVC_BASE_URL": emulator.base_url, "SVC_LESSONS": "live"}

    @property
    def with_account(self) -> dict[str, str]:
        return self.environment | {"SVC_API_KEY": self.account.api_key.reveal()}

    def available(self) -> int:
        return self.emulator.client(api_key=self.account).billing.balance().available_cents


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    # No file contains a configured token, so a lesson cannot find it.
    with Emulator(control_token="the live service tells no one", starter_credits=0) as emulator:
        yield Live(emulator)


def run(lesson: str, environment: dict[str, str], own: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    """Runs a lesson's cells in a kernel. Returns each cell with the text of its outputs. An error fails the test.

    Args:
        lesson: Name of the lesson.
        environment: Additional environment variables of the kernel.
        own: Additional cells of the learner. The key of each is a text of the preceding cell.
    """
    (path,) = NOTEBOOKS.glob(f"{NUMBERS[lesson]}-*.ipynb")
    notebook = nbformat.read(path, 4)  # type: ignore[no-untyped-call]
    for before, source in (own or {}).items():
        (number,) = [number for number, cell in enumerate(notebook.cells) if cell.source.startswith(before)]
        notebook.cells.insert(number + 1, nbformat.v4.new_code_cell(source))  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute(
        env=os.environ | environment
    )
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [(cell.source, "".join(map(text_of, cell.outputs))) for cell in cells]


def text_of(output: Any) -> str:
    return str(output.get("text") or output.get("data", {}).get("text/plain") or output.ename)


def skipped(cells: list[tuple[str, str]]) -> list[str]:
    return [shown.partition(NOTICE)[2].partition("\n")[0] for _, shown in cells if NOTICE in shown]


def shown_by(cells: list[tuple[str, str]], words: str) -> str:
    """Returns the output of the cell whose source ends with a text."""
    (found,) = [shown for source, shown in cells if source.endswith(words)]
    return found


WITHOUT_SKIPS = {"quickstart", "actions-and-cids", "groups"}


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LIVE)
def test_a_lesson_runs_live_with_the_learners_account_and_skips_what_needs_an_emulator(live: Live, lesson: str) -> None:
    live.emulator.credit(live.account.wallet_address, 100)
    before = live.available()
    cells = run(lesson, live.with_account)
    reasons = skipped(cells)
    assert bool(reasons) == (lesson not in WITHOUT_SKIPS), reasons
    assert [reason for reason in reasons if "no attribute" in reason or "is not defined" in reason] == []
    # The figure in the box is an upper limit that is close to the actual cost.
    assert 0 <= before - live.available() <= LIVE[lesson].cents


@pytest.mark.slow
def test_without_an_account_a_payment_waits_and_what_needs_credit_is_skipped(live: Live) -> None:
    cells = run("quickstart", live.environment)
    shown = dict(cells)
    assert "waiting" in shown["me = svc.with_key(account.api_key)\nme.billing.top_up(500)"]
    reasons = skipped(cells)
    assert reasons[0].startswith("this call needs $0.01, but the available credit of the account is $0.00")
    assert "this cell requires wallet, which a skipped cell defines." in reasons


@pytest.mark.slow
def test_lesson_6_runs_live_with_the_learners_wallet(live: Live) -> None:
    owner = svcnb.LocalSigner.random()
    live.emulator.faucet(owner.address)
    cells = run(
        "chain-secured",
        live.with_account,
        {"owner = ": f"owner = svcnb.LocalSigner.from_key({owner.reveal()!r})"},
    )
    assert [reason for reason in skipped(cells) if "owner" in reason or "mine" in reason] == []
    assert f"admin='{owner.address}'" in shown_by(cells, "mine.describe()")
    assert "'unfinished'" in shown_by(cells, "svc.chain_secured.pending()\nunfinished")
    assert shown_by(cells, "print(mine.usage_keys.check(finished))\nsvc.chain_secured.pending()").endswith("[]")
    assert live.emulator.client().chain_secured.open(owner).describe().usage_keys == 2


@pytest.mark.slow
def test_with_an_approved_token_a_learner_does_all_of_lesson_11(live: Live) -> None:
    live.emulator.credit(live.account.wallet_address, 100)
    token = live.emulator.triggers("lesson 11").token.reveal()
    place = {"SVC_TRIGGERS_URL": live.emulator.triggers_url, "SVC_TRIGGERS_TOKEN": token}
    cells = run("webhooks", live.with_account | place)
    assert skipped(cells) == []
    assert shown_by(cells, "accepted.status") == "'queued'"
    assert shown_by(cells, "triggers.runs(shop)").count("status='success'") == 2


EMULATED = [path for path in sorted(NOTEBOOKS.glob("*.ipynb")) if path.name[:2] not in NUMBERS.values()]


@pytest.mark.slow
@pytest.mark.parametrize("path", EMULATED, ids=lambda path: path.stem)
def test_a_lesson_that_needs_an_emulator_throughout_runs_on_one_with_pytest_live(live: Live, path: Path) -> None:
    before = live.available()
    pytest_live(live, path)
    assert live.available() == before


@pytest.mark.slow
def test_pytest_live_skips_cells_and_does_not_fail(live: Live) -> None:
    pytest_live(live, NOTEBOOKS / "05-typed-data.ipynb")


def pytest_live(live: Live, path: Path) -> None:
    """Runs a lesson with the instructions in docs/live.md."""
    command = [sys.executable, "-m", "pytest", "--live", "--nbval-lax", "-n0", "-p", "no:cacheprovider", str(path)]
    done = subprocess.run(
        command, cwd=NOTEBOOKS.parent, env=os.environ | live.with_account, capture_output=True, text=True, check=False,
        timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]


def test_nothing_happens_before_the_learner_confirms(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in live.with_account.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SVC_LESSONS")
    with pytest.raises(svcnb.NotConfirmed, match="because it runs on the live service") as asked:
        svcnb.lesson("quickstart")
    assert "where it costs about 10 cents." in str(asked.value)
    assert asked.value.hint.startswith("To start the lesson, call svcnb.lesson('quickstart', confirm=True).")
    service = svcnb.lesson("quickstart", confirm=True)
    assert repr(service) == f"LiveService({live.emulator.base_url!r})"
    account = service.client().accounts.create("any name")
    assert account.api_key.reveal() == live.account.api_key.reveal()


def test_a_lesson_that_needs_an_emulator_throughout_uses_one_of_this_computer(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_BASE_URL", live.emulator.base_url)
    emulator = svcnb.lesson("contract-wallets")
    assert isinstance(emulator, Emulator)
    lessons._running.pop("contract-wallets").stop()


EMULATOR_TEXT = (
    "This lesson always uses the [emulator](glossary.md#emulator), which is the complete service on your own computer. "
    "The lesson is free."
)


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_box_at_the_top_of_a_lesson_matches_live_mode(path: Path) -> None:
    cells = nbformat.read(path, 4).cells  # type: ignore[no-untyped-call]
    box = next(line for line in cells[0].source.splitlines() if line.startswith("> **Live service:** "))
    names = [
        name
        for cell in cells
        if cell.cell_type == "code"
        for name in re.findall(r'^emu = svcnb\.lesson\("([\w-]+)"', cell.source, re.MULTILINE)
    ]
    live = LIVE.get(names[0]) if names else None
    assert box == f"> **Live service:** {live.text if live else EMULATOR_TEXT}"


class Cells:
    """Runner of cells that applies the transformer, like IPython."""

    def __init__(self, live: live_lessons.Live | None = LIVE["keys"], kind: type[Skipper] = Skipper) -> None:
        self.names: dict[str, Any] = {"emu": live_lessons.LiveService("http://127.0.0.1:9"), "svcnb": svcnb}
        self.skipper = kind(live, self.names)

    def run(self, source: str) -> None:
        exec(compile(self.skipper.visit(ast.parse(source)), "cell", "exec"), self.names)  # noqa: S102 - as IPython does


def test_a_skipped_cell_takes_with_it_what_depends_on_it_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    cells = Cells()
    cells.run("def later():\n    return emu.clock.now()\na = 1")
    cells.run("b = a + 1")
    cells.run("for each in (b,):\n    print('never')")
    cells.run("a = 2")
    cells.run("print('ran', a)\na")
    assert capsys.readouterr().out.splitlines() == [
        f"{NOTICE}emu.clock requires an emulator.",
        f"{NOTICE}this cell requires a, which a skipped cell defines.",
        f"{NOTICE}this cell requires b, which a skipped cell defines.",
        "ran 2",
        "2",
    ]
    assert cells.names["a"] == 2


def test_a_mistake_of_the_learner_is_an_error_and_a_limit_of_the_service_is_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cells = Cells()
    with pytest.raises(NameError):
        cells.run("c = never_made")
    cells.run("refused = emu.triggers()")
    cells.run("refused.list()")
    assert capsys.readouterr().out.splitlines() == [
        f"{NOTICE}no triggers service is configured. Set SVC_TRIGGERS_URL to the address of the triggers service.",
        f"{NOTICE}this cell requires refused, which a skipped cell defines.",
    ]


def test_practice_keys_are_rejected_as_owners_on_a_live_service(capsys: pytest.CaptureFixture[str]) -> None:
    cells = Cells(LIVE["chain-secured"])
    cells.run("owner = svcnb.practice_key(1)")
    cells.run("print(owner)")
    cells.run("owner = 'mine'")
    cells.run("print(owner)")
    shown = capsys.readouterr().out
    assert "the practice keys are public." in shown
    assert shown.endswith("mine\n")


def test_in_a_page_cells_that_need_an_absent_package_say_so_and_the_others_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cells = Cells(None, live_lessons.PageSkipper)
    cells.run("import no_such_package.frames as frames\nmonth = frames.make()")
    cells.run("month")
    cells.run("raise svcnb.ExtraMissing('charts require the package numpy', 'lab', hint='Use an installed svcnb.')")
    cells.run("print(svcnb.practice_key(1)[:4])")
    assert capsys.readouterr().out.splitlines() == [
        "Skipped on this page: the page does not contain no_such_package. Run this cell with a local svcnb.",
        "Skipped on this page: this cell requires month, which a skipped cell defines.",
        "Skipped on this page: charts require the package numpy. Use an installed svcnb.",
        "0x11",
    ]
    with pytest.raises(NameError):
        cells.run("never_made")
