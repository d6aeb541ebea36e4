"""Batches on an executor with threads or processes, also if a worker process dies."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

from svcnb import Action, ExecutorLost, Forbidden, WorkerLost
from svcnb.client.remote import Service

pytestmark = [pytest.mark.chain, pytest.mark.engine]

SQUARE = Action("const main = ({ n }) => { if (n === 3) throw new Error('three'); return n * n }", name="square")
SLOW = Action("const main = async ({ n }) => { await new Promise((go) => setTimeout(go, 200)); return n }", name="slow")


@pytest.fixture
def svc(emulator):
    return emulator.client().with_key(emulator.client().accounts.create("executors"))


@pytest.fixture
def processes():
    """Returns a function that creates pools of new processes. The pools end with the test."""
    made: list[ProcessPoolExecutor] = []

    def make(workers: int = 2) -> ProcessPoolExecutor:
        made.append(ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")))
        return made[-1]

    yield make
    for pool in made:
        pool.shutdown(cancel_futures=True)


@pytest.fixture(params=["threads", "processes"])
def executor(request, processes):
    if request.param == "processes":
        yield processes()
    else:
        with ThreadPoolExecutor(2) as pool:
            yield pool


@pytest.mark.slow
def test_runs_execute_in_the_executor_and_listeners_are_called_in_this_process(svc, executor) -> None:
    records: list[Any] = []
    svc.on_run.append(records.append)
    batch = svc.map(SQUARE, [{"n": n} for n in range(6)], concurrency=3, executor=executor)
    assert batch.responses() == [0, 1, 4, None, 16, 25]
    assert [failed.error for failed in batch.failed] == ["Error: three"]
    # One cent per second, and at least one cent (docs/service/billing.md#prices). A busy machine needs more time.
    assert batch.cost_cents == sum(max(1, int(outcome.elapsed)) for outcome in batch if outcome.ok) >= 5
    assert sorted(record.params["n"] for record in records) == list(range(6))
    assert {record.action_name for record in records} == {"square"}


@pytest.mark.slow
def test_a_key_without_permission_stops_the_batch(svc, executor) -> None:
    limited = svc.with_key(svc.usage_keys.create("k"))
    with pytest.raises(Forbidden):
        limited.map(SQUARE, [{"n": n} for n in range(20)], executor=executor)


async def test_an_asynchronous_batch_also_accepts_executors(emulator, svc) -> None:
    records: list[Any] = []
    async with emulator.async_client(api_key=svc.config.api_key) as client:
        client.on_run.append(records.append)
        with ThreadPoolExecutor(2) as pool:
            batch = await client.map(SQUARE, [{"n": n} for n in range(4)], executor=pool)
        assert batch.responses() == [0, 1, 4, None]
        assert len(records) == 4
        batch = client.map(SQUARE, [{"n": 1}], executor=pool)
        with pytest.raises(ExecutorLost, match="does not accept more runs"):
            await batch


class Killed:
    """Executor that passes runs to a pool of processes, and kills a worker after some results."""

    def __init__(self, pool: ProcessPoolExecutor, after: int) -> None:
        self.pool = pool
        self.left = after

    def submit(self, fn, /, *args, **kwargs) -> Future[Any]:
        future = self.pool.submit(fn, *args, **kwargs)
        future.add_done_callback(self._one)
        return future

    def _one(self, _: Future[Any]) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(next(iter(self.pool._processes)), signal.SIGKILL)


@pytest.mark.slow
def test_after_a_worker_is_killed_only_the_missing_runs_execute_again(svc, emulator, processes, tmp_path) -> None:
    params = [{"n": n} for n in range(16)]
    file = tmp_path / "batch.jsonl"
    batch = svc.map(SLOW, params, concurrency=2, executor=Killed(processes(), after=5), resume=file)
    assert not batch.done
    assert isinstance(batch.stopped_by, ExecutorLost)
    kept = [outcome.index for outcome in batch if outcome.ok]
    assert 5 <= len(kept) < 16
    assert all(isinstance(outcome.exception, WorkerLost) for outcome in batch.failed)
    again = svc.map(SLOW, params, concurrency=4, executor=processes(), resume=file)
    assert again.responses() == list(range(16))
    mine = [run for run in emulator.runs(limit=1_000) if run["cid"] == SLOW.cid and run["status"] == "success"]
    # Runs that ended before the kill are not repeated or charged again. At most the two runs in progress are.
    assert 16 <= len(mine) <= 18


def test_a_run_that_the_executor_cancels_stays_pending(svc) -> None:
    class Cancelling:
        def submit(self, *_args: object, **_named: object) -> Future[None]:
            future: Future[None] = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    batch = svc.map(SQUARE, [{"n": 1}], executor=Cancelling())
    [outcome] = batch.failed
    assert isinstance(outcome.exception, WorkerLost)
    assert batch.pending == [0]


def test_a_key_is_pickled_for_the_executor_but_never_displayed(svc) -> None:
    service = Service.of(svc.config)
    assert service.key == svc.config.api_key.reveal()
    assert service.key not in repr(service)
    assert pickle.loads(pickle.dumps(service)) == service  # noqa: S301 - our own bytes
