"""Commands in process groups, which leave no process behind if a test fails, times out or is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

GRACE_S = 30
"""Time for the processes of a group to end after SIGTERM. Then they receive SIGKILL."""

KILL_S = 10
"""Time for the operating system to end the processes of a group after SIGKILL."""


@contextmanager
def running(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Runs a command in its own process group, and stops all processes of the group at the end of the block.

    `subprocess.Popen` alone waits without a limit for the end of its process, also after an exception in the block.
    `subprocess.run` with a time limit kills only the process itself, not the processes that the process started.

    Args:
        command: Program and its arguments.
        **options: Options of `subprocess.Popen`. Streams are text.
    """
    process = subprocess.Popen(command, start_new_session=True, text=True, **options)
    try:
        yield process
    finally:
        stop(process)


def run_shell(script: str, *, timeout: float, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs commands in a shell, and stops all processes that are still running afterwards.

    Args:
        script: Commands. The first failing command ends the script.
        timeout: Time limit in seconds.
        **options: Options of `subprocess.Popen`, for example ``cwd`` and ``env``.

    Raises:
        AssertionError: The script exceeded the time limit. The message contains its output.
    """
    # A process in the background keeps a pipe open, so reading a pipe could wait without a limit.
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        code: int | None = None
        try:
            with running(["sh", "-ec", script], stdout=out, stderr=errors, **options) as shell:
                code = shell.wait(timeout)
        except subprocess.TimeoutExpired:
            pass
        for stream in (out, errors):
            stream.seek(0)
        done = subprocess.CompletedProcess(script, -1 if code is None else code, out.read(), errors.read())
    assert code is not None, f"the script did not end within {timeout:g} s\n{done.stdout}\n{done.stderr}"
    return done


def stop(process: subprocess.Popen[Any]) -> None:
    """Stops all processes of the group of a process: with SIGTERM, and with SIGKILL after `GRACE_S` seconds."""
    try:
        _send(process, signal.SIGTERM)
        _wait_until_empty(process, GRACE_S)
    finally:
        _send(process, signal.SIGKILL)
        process.wait()
        _wait_until_empty(process, KILL_S)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _wait_until_empty(process: subprocess.Popen[Any], seconds: float) -> None:
    until = time.monotonic() + seconds
    while _send(process, 0) and _has_live_process(process.pid) and time.monotonic() < until:
        time.sleep(0.02)


def _has_live_process(group: int) -> bool:
    """Returns whether a process of a group is not a zombie. The parent of orphans can read their exit codes late."""
    if sys.platform != "linux":
        return True
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended
            state, _, of_group = place.read_text(errors="replace").rpartition(")")[2].split()[:3]
            if int(of_group) == group and state != "Z":
                return True
    return False


def _send(process: subprocess.Popen[Any], number: int) -> bool:
    """Sends a signal to the group of a process. Returns whether the group has a process."""
    process.poll()  # a zombie process is part of its group
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return False
    return True
