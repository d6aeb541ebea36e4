"""The emulator answers `get_node_chain_config` no later than moto_server gives its first answer, in one run."""

from __future__ import annotations

import importlib.util
import json
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

ROUNDS = 5


def first_answer(command: list[str], url: str | None, environment: dict[str, str]) -> float:
    """Seconds from the command to the first answer below 500; the url None is taken from the ready line."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            if url is None:
                assert process.stdout is not None
                url = json.loads(process.stdout.readline())["base_url"] + "/core/v1/get_node_chain_config"
            while time.perf_counter() - start < 60:
                try:
                    with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - loopback
                        answer.read()
                    return time.perf_counter() - start
                except urllib.error.HTTPError:
                    return time.perf_counter() - start
                except OSError:
                    time.sleep(0.002)
            pytest.fail("no answer within 60 s")
        finally:
            process.terminate()
            process.wait(20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.skipif(importlib.util.find_spec("moto") is None, reason="needs the extra 'bench'")
def test_the_emulator_is_ready_no_later_than_moto_server(compiled: dict[str, str]) -> None:
    seen: dict[str, list[float]] = {"svcnb": [], "moto": []}
    for _ in range(ROUNDS + 1):
        seen["svcnb"].append(first_answer([sys.executable, "-m", "svcnb", "emulator"], None, compiled))
        port = free_port()
        moto = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        seen["moto"].append(first_answer(moto, f"http://127.0.0.1:{port}/moto-api/", compiled))
    # The first round fills the caches.
    median = {name: statistics.median(times[1:]) for name, times in seen.items()}
    print(f"\nsvcnb emulator {median['svcnb']:.3f} s, moto_server {median['moto']:.3f} s")
    assert median["svcnb"] <= median["moto"]
