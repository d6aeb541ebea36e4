"""Time from the command to the first response, in turn with moto_server, and from that response to the first action."""

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

ROUNDS = 7


def first_answer(command: list[str], url: str | None, environment: dict[str, str]) -> float:
    """Returns the seconds from the command to the first response below 500.

    If the URL is None, the function reads the URL from the ready line.
    """
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


def call(url: str, body: dict[str, object], key: str = "") -> dict[str, object]:
    """Returns the response to a POST request."""
    headers = {"Content-Type": "application/json", "X-Api-Key": key}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310 - loopback
        found: dict[str, object] = json.load(answer)
    return found


def test_a_first_action_completes_a_tenth_of_a_second_after_the_start(compiled: dict[str, str]) -> None:
    seen = []
    for _ in range(ROUNDS + 1):
        with subprocess.Popen(
            [sys.executable, "-m", "svcnb", "emulator", "--starter-credits", "500"],
            env=compiled,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                assert process.stdout is not None
                base = json.loads(process.stdout.readline())["base_url"] + "/core/v1"
                start = time.perf_counter()
                key = str(call(f"{base}/new_account", {"account_name": "first"})["api_key"])
                ran = call(f"{base}/svc_action", {"code": "const main = () => 'ran'"}, key)
                seen.append(time.perf_counter() - start)
                assert ran["response"] == "ran"
            finally:
                process.terminate()
                process.wait(20)
    print(f"\nfirst account and action {statistics.median(seen[1:]):.3f} s after the ready line")
    assert statistics.median(seen[1:]) <= 0.1
