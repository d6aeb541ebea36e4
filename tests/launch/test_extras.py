"""The command that installs an extra works in a clone and with an installed wheel."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

from svcnb import extras


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
