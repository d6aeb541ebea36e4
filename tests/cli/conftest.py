"""Runs the command line as people do: as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

Svcnb = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def svcnb() -> Svcnb:
    """`svcnb(*arguments, stdin="", **environment)`, which must end by itself."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "svcnb", *arguments],
            input=stdin,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run
