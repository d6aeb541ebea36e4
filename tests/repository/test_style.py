"""Style, types and dead code, checked by the commands that CONTRIBUTING lists."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("task", ["lint", "types", "dead-code"])
def test_every_file_passes(task: str, root: Path) -> None:
    beside = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    done = subprocess.run(
        [sys.executable, "-m", "poethepoet", "-q", task],
        cwd=root,
        env=os.environ | {"PATH": beside},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
