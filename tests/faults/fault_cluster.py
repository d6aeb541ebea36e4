"""A batch on a real Dask cluster with a killed worker: ``pytest tests/faults -o python_files=fault_cluster.py -s``."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from svcnb import Action

distributed = pytest.importorskip("distributed", reason="Dask comes with the extra 'cluster'")

pytestmark = [
    pytest.mark.engine,
    pytest.mark.chain,
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),  # warnings of the cluster library
]

RUNS, WORKERS, CONCURRENCY = 120, 3, 12
SLOW = Action("const main = async ({ n }) => { await new Promise((go) => setTimeout(go, 150)); return n * n }")


def test_a_batch_on_a_cluster_is_whole_though_a_worker_is_killed(emulator):
    svc = emulator.client().with_key(emulator.client().accounts.create("cluster"))
    ended = threading.Semaphore(0)
    svc.on_run.append(lambda _: ended.release())
    with (
        distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=2, host="127.0.0.1", dashboard_address=None, silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = client.run(os.getpid).popitem()[1]

        def kill_midway() -> None:
            for _ in range(RUNS // 3):
                ended.acquire()
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill_midway, daemon=True)
        killer.start()
        begun = time.monotonic()
        with client.get_executor() as executor:
            batch = svc.map(SLOW, [{"n": n} for n in range(RUNS)], concurrency=CONCURRENCY, executor=executor)
        took = time.monotonic() - begun
        killer.join()
        assert victim not in client.run(os.getpid).values()
    assert batch.responses() == [n * n for n in range(RUNS)]
    mine = [run for run in emulator.runs(limit=1_000) if run["cid"] == SLOW.cid and run["status"] == "success"]
    again = len(mine) - RUNS
    # Another worker repeats the runs in progress of a killed worker, but no completed run.
    assert 0 <= again <= CONCURRENCY
    print(f"{RUNS} runs on {WORKERS} workers in {took:.1f} s, one killed: {again} ran twice")  # noqa: T201 - measured
