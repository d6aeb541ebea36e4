"""Commands of tests leave no process behind if they succeed, fail, time out or are interrupted."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from tests import process_groups
from tests.process_groups import run_shell, running

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_script_that_succeeds_or_fails_leaves_no_background_process() -> None:
    for last, code in (("true", 0), ("false", 1)):
        done = run_shell(f"sleep 600 & echo $!; {last}; echo unreached >&2", timeout=60)
        assert done.returncode == code
        assert ("unreached" in done.stderr) == (code == 0)
        assert not is_running(int(done.stdout))


def test_a_script_that_takes_too_long_leaves_no_process(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"did not end within 0\.5 s\nstarted"):
        run_shell("sleep 600 & echo $! > pid; echo started; wait", timeout=0.5, cwd=tmp_path)
    assert not is_running(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("error", [KeyboardInterrupt, AssertionError])
def test_an_interrupted_or_failed_test_leaves_no_process(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_groups, "GRACE_S", 0.1)

    def test() -> None:
        with running(["sh", "-c", "trap '' TERM; sleep 600 & echo $! > pid.new; mv pid.new pid; wait"], cwd=tmp_path):
            while not (tmp_path / "pid").exists():
                pass
            raise error

    with pytest.raises(error):
        test()
    assert not is_running(int((tmp_path / "pid").read_text()))


@pytest.mark.slow
@pytest.mark.chain
@pytest.mark.engine
def test_an_example_that_fails_leaves_no_emulator_and_no_chain_node(tmp_path: Path) -> None:
    script = f"""
        "{sys.executable}" -m svcnb emulator --port 0 > ready &
        until [ -s ready ]; do sleep 0.1; done
        echo $!
        for child in $(cat /proc/$!/task/*/children); do echo $child; cat /proc/$child/task/*/children; done
        false
    """
    done = run_shell(script, timeout=300, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    started = {int(pid) for pid in done.stdout.split()}
    assert json.loads((tmp_path / "ready").read_text())["pid"] in started
    assert len(started) > 3, "the emulator, the shell of its chain node, the node, and the process that starts runs"
    until = time.monotonic() + 60
    while any(map(is_running, started)):  # the chain node ends a moment after the emulator
        assert time.monotonic() < until, "an emulator or a chain node is still running"
        time.sleep(0.05)
