"""Fixtures that run the command line, in this process (`svcnb`) or in a new one (`svcnb_process`)."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout

import pytest

from svcnb.cli import main

Ended = subprocess.CompletedProcess[str]
Svcnb = Callable[..., Ended]


@pytest.fixture
def svcnb(monkeypatch: pytest.MonkeyPatch) -> Svcnb:
    """Function `svcnb(*arguments, stdin="", **environment)`, which returns the exit code and the output."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> Ended:
        out, error = io.BytesIO(), io.BytesIO()
        shown, told = _terminal(out), _terminal(error)
        with monkeypatch.context() as during, redirect_stdout(shown), redirect_stderr(told):
            during.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8"))
            for name, value in environment.items():
                during.setenv(name, value)
            code = main(arguments)
        return Ended(arguments, code, out.getvalue().decode(), error.getvalue().decode())

    return run


@pytest.fixture
def svcnb_process() -> Svcnb:
    """Function like `svcnb` that runs the command in a new process, which must end without a signal."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> Ended:
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


def _terminal(written: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(written, "utf-8", write_through=True)
