"""The browser's typed data matches the shared vectors. Deno runs the browser's own tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from svcnb import tools

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_the_browsers_typed_data_agrees_with_the_vectors() -> None:
    done = subprocess.run(
        [
            tools.deno(),
            "test",
            "--quiet",
            "--no-prompt",
            "--cached-only",
            "--config=widgets/deno.json",
            "--allow-env",  # a dependency of ethers needs this option
            "--allow-read=tests/vectors",
            "widgets/tests/typed_data_test.ts",
        ],
        cwd=ROOT,
        env=os.environ | {"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "54 passed" in done.stdout
