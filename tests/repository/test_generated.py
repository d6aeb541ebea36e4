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
