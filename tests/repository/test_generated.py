"""Files that the project's scripts generate are up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("script", ["asynchronous.py", "emulator_settings.py"])
def test_generated_modules_are_current(script: str, root: Path) -> None:
    command = [sys.executable, f".ci/{script}", "--check"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), f"run: python .ci/{script}"


@pytest.mark.slow
@pytest.mark.chain
@pytest.mark.engine
def test_the_images_of_the_charts_page_are_current(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "docs/gallery.py", str(tmp_path)]
    subprocess.run(command, cwd=root, check=True, timeout=300)
    drawn, stored = (
        {file.name: file.read_bytes() for file in folder.iterdir()}
        for folder in (tmp_path, root / "docs/images/charts")
    )
    assert [*sorted(drawn)] == [*sorted(stored)]
    assert [name for name in drawn if drawn[name] != stored[name]] == [], "run: python docs/gallery.py"
