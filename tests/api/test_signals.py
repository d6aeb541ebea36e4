"""SIGTERM during the start and the stop of an emulator, which handles the signal once and completes its operations."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = [pytest.mark.chain, pytest.mark.engine]

PATIENCE_S = 120


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs an emulator whose service a script changes. The emulator ends without a signal from the test."""
    command = [sys.executable, "-c", textwrap.dedent(script), *arguments]
    return subprocess.run(
        command, input="{}\n", capture_output=True, text=True, timeout=PATIENCE_S, start_new_session=True, check=False
    )


@pytest.mark.slow
def test_a_signal_during_a_background_task_ends_the_start() -> None:
    # An exception at this point is lost in a task without an awaiting caller, and the start continues.
    ended = run("""
        import asyncio, os, signal
        from svcnb.cli import _serve
        from svcnb.emulator.service import Service

        async def elsewhere():
            os.kill(os.getpid(), signal.SIGTERM)

        async def start(self):
            asyncio.get_running_loop().background = asyncio.create_task(elsewhere())
            await asyncio.Event().wait()

        Service.start = start
        stop = Service.stop

        async def stopping(self):
            await stop(self)
            print("stopped", flush=True)

        Service.stop = stopping
        print("ended", int(_serve.serve({})), flush=True)
    """)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("stopped\nended 0\n", "", 0)


@pytest.mark.slow
def test_a_second_signal_does_not_interrupt_the_stop(tmp_path: Path) -> None:
    ended = run(
        """
        import os, signal, sys
        from svcnb.cli import _serve
        from svcnb.emulator.service import Service

        stop = Service.stop

        async def stopping(self):
            os.kill(os.getpid(), signal.SIGTERM)
            await stop(self)
            print("stopped", flush=True)

        Service.stop = stopping
        _serve._print_ready = lambda ready, **_: os.kill(os.getpid(), signal.SIGTERM)
        print("ended", int(_serve.serve({"state": sys.argv[1]})), flush=True)
        """,
        str(tmp_path / "state"),
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("stopped\nended 0\n", "", 0)
