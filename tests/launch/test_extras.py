"""The command that installs an extra works in a clone and with an installed wheel."""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
from importlib.metadata import metadata
from pathlib import Path

import pytest

from svcnb import extras
from svcnb.cli.doctor import PACKAGES


def command(folder: Path) -> str:
    """Returns the command for an extra from a copy of the package in another folder."""
    copy = folder / "svcnb" / "extras.py"
    copy.parent.mkdir()
    shutil.copy(extras.__file__, copy)
    said: str = runpy.run_path(str(copy))["install_command"]("chain")
    return said


def test_a_clone_is_installed_with_its_tested_versions_and_stays_editable(tmp_path: Path) -> None:
    (tmp_path / "constraints.txt").touch()
    assert command(tmp_path) == "pip install -c constraints.txt -e '.[chain]' in your clone of this project"


def test_without_a_clone_pip_adds_the_packages_of_the_extra(tmp_path: Path) -> None:
    assert command(tmp_path) == "pip install 'svcnb[chain]'"


@pytest.mark.parametrize(
    ("hidden", "program", "extra"),
    [
        ({"coincurve", "eth_keys", "wallycore"}, "import svcnb; svcnb.LocalSigner.from_key('11' * 32)", "chain"),
        ({"altair"}, "from svcnb import charts", "lab"),
        ({"papermill"}, "import sys; from svcnb.cli import main; sys.exit(main(['report', 'spend']))", "reports"),
    ],
)
def test_a_missing_package_is_an_error_with_one_hint(hidden: set[str], program: str, extra: str) -> None:
    # A finder that returns no module also hides a package from importlib.util.find_spec.
    source = f"""
import importlib.machinery, importlib.util, sys
real, found = importlib.util.find_spec, importlib.machinery.PathFinder.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in {hidden!r} else real(name, *rest)
importlib.machinery.PathFinder.find_spec = lambda name, *rest: None if name in {hidden!r} else found(name, *rest)
{program}
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode != 0
    last = done.stderr.splitlines()[-2:]
    assert "Next step" not in last[0]
    assert last[1] == f"Next step: Install the package: {extras.install_command(extra)}"


def test_each_extra_that_doctor_names_exists() -> None:
    known = metadata("svcnb").get_all("Provides-Extra") or []
    assert set(PACKAGES) - set(known) == {"client"}
