"""Exercises of lesson 16: tests of actions. The learner's tests run against a correct action and a faulty action."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from svcnb.toolkit.exercises.exercise import Exercise

_TIMEOUT_S = 120
_ALL_PASSED, _SOME_FAILED = 0, 1

_ACTION = """async function main({{ wallet, cents }}) {{
  if ({refused}) throw new Error("at most 500 cents");
  const signer = new ethers.Wallet(await Svc.Actions.getPrivateKey({{ pkpId: wallet }}));
  return await signer.signMessage(`received ${{cents}} cents`);
}}
"""
_GENEROUS = _ACTION.format(refused="!Number.isInteger(cents) || cents > 500")
_STRICT = _ACTION.format(refused="!Number.isInteger(cents) || cents < 1 || cents > 500")

_TESTS = """import pytest
import svcnb
from pathlib import Path

TIP_JAR = svcnb.Action.from_file(Path(__file__).with_name("tip_jar.js"))

"""
_WANTED = """
@pytest.mark.parametrize("cents", [1, 500])
def test_valid_amounts_are_signed(svc, cents):
    wallet = svc.wallets.create()
    signature = svc.run(TIP_JAR, wallet=wallet.address, cents=cents).response
    assert svcnb.recover(f"received {cents} cents", signature).lower() == wallet.address

@pytest.mark.parametrize("cents", [0, -1, 501, 1.5])
def test_invalid_amounts_are_rejected(svc, cents):
    wallet = svc.wallets.create()
    with pytest.raises(svcnb.ActionError):
        svc.run(TIP_JAR, wallet=wallet.address, cents=cents)
"""


def _negative(answer: str) -> str | None:
    if "def test_" not in answer:
        return "the source does not define a test: write a function whose name starts with test_."
    red = _failing({"generous": (_TESTS + answer, _GENEROUS), "strict": (_TESTS + answer, _STRICT)})
    if red is None:
        return "pytest cannot run this source: check its syntax, and check that the function is complete."
    if "generous" not in red:
        return "the test passes with the faulty action, which accepts negative tips: expect an error for cents=-1."
    if "strict" in red:
        return "the test also fails with an action that rejects negative tips: run the test and read its error."
    return None


def _mended(answer: Any) -> str | None:
    source = getattr(answer, "source", answer)
    if not isinstance(source, str):
        raise TypeError
    red = _failing({"mended": (_TESTS + _WANTED, source)})
    if red is None:
        return "the answer is not the source of an action: define a function main."
    if red:
        return (
            "the action must sign 1 and 500, and reject 0, -1, 501 and 1.5. The result for at "
            "least one of these amounts is wrong."
        )
    return None


def _failing(cases: Mapping[str, tuple[str, str]]) -> set[str] | None:
    """Runs the tests of each case against the action of the case, all on one emulator.

    Args:
        cases: For each name, the source of the tests and the source of the action.

    Returns:
        The names of the cases in which a test failed. None if the tests cannot run.
    """
    with tempfile.TemporaryDirectory(prefix="svcnb-exercise-") as folder:
        for name, (tests, action) in cases.items():
            here = Path(folder) / name
            here.mkdir()
            (here / "tip_jar.js").write_text(action, encoding="utf-8")
            (here / f"test_{name}.py").write_text(tests, encoding="utf-8")
        quick = ("-p", "svcnb", "-p", "no:cacheprovider", "--color=no")
        command = [sys.executable, "-m", "pytest", "-rfE", *quick, f"--rootdir={folder}"]
        environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # loading other plugins takes seconds
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
        )
    if done.returncode not in {_ALL_PASSED, _SOME_FAILED}:
        return None
    return {name for name in cases if f"FAILED {name}/" in done.stdout or f"ERROR {name}/" in done.stdout}


EXERCISES = (
    Exercise(
        "testing.negative",
        "the source of a test as a string",
        "the test fails with the faulty action and passes with the correct one, so it detects the fault.",
        _negative,
        str,
    ),
    Exercise(
        "testing.mended",
        "the corrected source of the action as a string, or an svcnb.Action",
        "the tests confirm that the action is correct.",
        _mended,
    ),
)
