"""A batch on Dask clusters with one and two workers, in turn. Two workers execute at least 1.6 times as many runs.

The runs wait, like runs with outbound requests. The number of workers therefore limits the runs, not the cores
of the service.
"""

from __future__ import annotations

import statistics
import time
from contextlib import ExitStack
from typing import Any

import pytest

from svcnb import Action

distributed = pytest.importorskip("distributed", reason="Dask comes with the extra 'cluster'")

pytestmark = [
    pytest.mark.engine,
    pytest.mark.filterwarnings("default"),  # warnings of the cluster library
]

RUNS, THREADS, ROUNDS, WAIT_MS = 48, 4, 3, 300
WAITING = Action(
    f"const main = async ({{ n }}) => {{ await new Promise((go) => setTimeout(go, {WAIT_MS})); return n * n }}"
)


def test_two_workers_execute_more_runs_than_one(emulator) -> None:
    anyone = emulator.client()
    svc = anyone.with_key(anyone.accounts.create("scaling"))
    seen: dict[int, list[float]] = {1: [], 2: []}
    with ExitStack() as stack:
        clients: dict[int, Any] = {}
        for workers in seen:
            cluster = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=THREADS,
                    host="127.0.0.1",
                    dashboard_address=None,
                    silence_logs="CRITICAL",
                )
            )
            clients[workers] = stack.enter_context(distributed.Client(cluster))
        for _ in range(ROUNDS + 1):
            for workers, client in clients.items():
                with client.get_executor() as executor:
                    begun = time.monotonic()
                    batch = svc.map(WAITING, [{"n": n} for n in range(RUNS)], concurrency=RUNS, executor=executor)
                    seen[workers].append(time.monotonic() - begun)
                assert batch.responses() == [n * n for n in range(RUNS)]
    # In the first round, the workers import their modules.
    median = {workers: statistics.median(times[1:]) for workers, times in seen.items()}
    ratio = median[1] / median[2]
    print(
        f"\n{RUNS} runs of {WAIT_MS} ms: one worker {median[1]:.2f} s, two workers {median[2]:.2f} s, "
        f"{RUNS / median[1]:.1f} and {RUNS / median[2]:.1f} runs/s, ratio {ratio:.2f}"
    )
    assert ratio >= 1.6
