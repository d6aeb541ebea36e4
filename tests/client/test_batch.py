"""Batches of runs on the emulator, and with simulated responses that the emulator cannot produce."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time

import httpx
import pandas as pd
import pytest

from svcnb import Action, Forbidden, InvalidArgument, OutOfCredit, Unauthorized
from svcnb.client.batch_work import ATTEMPTS, Pace
from svcnb.protocol.limits import MAX_BATCH_CONCURRENCY

DOUBLE = Action("const main = ({ n }) => { if (n === 13) throw new Error('unlucky'); return n * 2; }", name="double")


def number(request: httpx.Request) -> int:
    return int(json.loads(request.content)["js_params"]["n"])


def answer(value: object) -> httpx.Response:
    return httpx.Response(200, json={"response": value, "logs": ""})


@pytest.fixture
def svc(emulator):
    return emulator.client().with_key(emulator.client().accounts.create("batches"))


@pytest.mark.parametrize("params", [{"n": 1}, "n", b"n", 5])
def test_an_argument_that_is_not_a_list_of_parameters_is_rejected_before_the_first_run(scripted, params) -> None:
    with pytest.raises(InvalidArgument, match="one entry per run"):
        scripted(lambda _request: answer(1)).map(DOUBLE, params)


@pytest.mark.slow
@pytest.mark.chain
@pytest.mark.engine
def test_results_keep_their_order_and_a_failed_run_does_not_stop_other_runs(svc) -> None:
    batch = svc.map(DOUBLE, [{"n": n} for n in range(40)], concurrency=8)
    assert len(batch) == 40
    assert batch.done
    assert [outcome.response for outcome in batch if outcome.ok] == [n * 2 for n in range(40) if n != 13]
    assert [(outcome.index, outcome.error) for outcome in batch.failed] == [(13, "Error: unlucky")]
    # One cent per second, and at least one cent (docs/service/billing.md#prices). A busy machine needs more time.
    assert batch.cost_cents == sum(max(1, int(outcome.elapsed)) for outcome in batch if outcome.ok)
    assert repr(batch) == "Batch(40 of 40 runs, 1 failed)"


@pytest.mark.slow
@pytest.mark.chain
@pytest.mark.engine
async def test_the_asynchronous_client_also_runs_batches(emulator, svc) -> None:
    async with emulator.async_client(api_key=svc.config.api_key) as client:
        batch = await client.map(DOUBLE, [{"n": n} for n in range(20)], concurrency=4)
    assert batch.responses() == [None if n == 13 else n * 2 for n in range(20)]


def test_a_batch_accepts_a_data_frame_and_returns_a_data_frame(scripted) -> None:
    svc = scripted(lambda request: answer(number(request) + 1))
    frame = svc.map(DOUBLE, pd.DataFrame({"n": [1, 2]})).to_frame()
    assert list(frame["response"]) == [2, 3]
    assert list(frame["params"]) == [{"n": 1}, {"n": 2}]
    assert frame.index.name == "run"


def test_a_batch_accepts_a_series(scripted) -> None:
    batch = scripted(lambda request: answer(number(request) + 1)).map(DOUBLE, pd.Series([{"n": 1}, {"n": 2}]))
    assert batch.responses() == [2, 3]


@pytest.mark.parametrize(
    ("second", "dtype"), [(2, "Int64"), (2**70, "object"), (True, "object"), (2.5, "float64"), ("b", "object")]
)
def test_a_failed_run_does_not_change_the_integers_of_a_frame(scripted, second: object, dtype: str) -> None:
    def reply(request: httpx.Request) -> httpx.Response:
        n = number(request)
        return httpx.Response(400, json={"error": "broken"}) if n == 3 else answer([1, second][n - 1])

    batch = scripted(reply).map(DOUBLE, [{"n": n} for n in (1, 2, 3)])
    response = batch.to_frame()["response"]
    assert list(response)[:2] == [1, second]
    assert pd.isna(response[2])
    assert response.dtype == dtype


def test_the_frame_of_an_empty_batch_has_the_types_of_strings(scripted) -> None:
    frame = scripted(lambda _: answer(1)).map(DOUBLE, []).to_frame()
    strings = pd.Series([""], dtype="str").dtype
    assert [frame[name].dtype for name in ("logs", "error", "request_id")] == [strings] * 3


def test_a_batch_does_not_exceed_its_concurrency(scripted) -> None:
    lock, now, most = threading.Lock(), 0, 0
    together = threading.Barrier(5, timeout=300)

    def handle(_: httpx.Request) -> httpx.Response:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        together.wait()
        with lock:
            now -= 1
        return answer(1)

    scripted(handle).map(DOUBLE, [{"n": n} for n in range(20)], concurrency=5)
    assert most == 5


@pytest.mark.slow
@pytest.mark.parametrize("status", [429, 503])
def test_a_batch_slows_down_for_an_overloaded_service_and_every_run_ends(scripted, status) -> None:
    refusals = {n: n % 3 for n in range(12)}

    def handle(request: httpx.Request) -> httpx.Response:
        if refusals[number(request)]:
            refusals[number(request)] -= 1
            return httpx.Response(status, json={"error": "busy", "message": "busy", "fix": "", "docs_url": ""})
        return answer(number(request))

    batch = scripted(handle, retries=0).map(DOUBLE, [{"n": n} for n in range(12)], concurrency=4)
    assert batch.responses() == list(range(12))


@pytest.mark.slow
def test_a_run_stays_pending_if_the_service_stays_overloaded(scripted) -> None:
    tries: list[int] = []

    def handle(request: httpx.Request) -> httpx.Response:
        tries.append(number(request))
        if len(tries) <= ATTEMPTS:
            return httpx.Response(429, json={"error": "busy", "message": "busy", "fix": "", "docs_url": ""})
        return answer(7)

    batch = scripted(handle, retries=0).map(DOUBLE, [{"n": 0}], concurrency=1)
    assert (len(tries), batch.pending, batch[0].error_type) == (ATTEMPTS, [0], "RateLimited")
    assert batch.resume().responses() == [7]


def test_rejections_double_the_pause_and_successes_halve_it() -> None:
    now = 0.0
    pace = Pace(clock=lambda: now, first=1.0, longest=4.0)
    assert pace.wait() == 0
    for expected in (1.0, 2.0, 4.0, 4.0):
        pace.refused()
        pace.refused()
        assert expected <= pace.wait() <= expected * 1.5
        now += expected
        assert pace.wait() == 0
    pace.answered()
    pace.answered()
    pace.refused()
    assert 2.0 <= pace.wait() <= 3.0


@pytest.mark.parametrize(("status", "error"), [(401, Unauthorized), (402, OutOfCredit), (403, Forbidden)])
def test_an_error_that_affects_every_run_stops_the_batch(scripted, status, error) -> None:
    asked: list[int] = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(number(request))
        return httpx.Response(status, json="no")

    with pytest.raises(error):
        scripted(handle).map(DOUBLE, [{"n": n} for n in range(500)], concurrency=4)
    assert len(asked) <= 8


def test_a_batch_without_credit_keeps_its_results_and_can_resume(scripted) -> None:
    credit = 5

    def handle(request: httpx.Request) -> httpx.Response:
        nonlocal credit
        if not credit:
            return httpx.Response(402, json={"error": "payment_required", "message": "no", "fix": "", "docs_url": ""})
        credit -= 1
        return answer(number(request))

    batch = scripted(handle).map(DOUBLE, [{"n": n} for n in range(9)], concurrency=1)
    assert repr(batch) == "Batch(5 of 9 runs, 1 failed, stopped by OutOfCredit: call resume() to continue)"
    assert isinstance(batch.stopped_by, OutOfCredit)
    credit = 9
    assert batch.resume().responses() == list(range(9))


def test_failed_runs_are_repeated_only_on_request(scripted) -> None:
    healed = False

    def handle(request: httpx.Request) -> httpx.Response:
        broken = number(request) == 1 and not healed
        return (
            httpx.Response(500, json="Internal server error: Uncaught Error: x") if broken else answer(number(request))
        )

    batch = scripted(handle).map(DOUBLE, [{"n": n} for n in range(3)])
    healed = True
    assert batch.resume().responses() == [0, None, 2]
    assert batch.resume(retry_failed=True).responses() == [0, 1, 2]


def test_results_in_the_file_are_not_paid_for_again(scripted, tmp_path) -> None:
    asked: list[int] = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(number(request))
        return answer({"n": number(request)})

    params = [{"n": n} for n in range(6)]
    file = tmp_path / "batch.jsonl"
    scripted(handle).map(DOUBLE, params, resume=file)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:4], lines[4][:20]]))  # three outcomes, and a line that a crash truncated
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    asked.clear()
    batch = scripted(handle).map(DOUBLE, params, resume=file)
    assert len(asked) == 3
    assert batch.responses() == [{"n": n} for n in range(6)]
    asked.clear()
    assert scripted(handle).map(DOUBLE, params, resume=file).done
    assert asked == []


def test_a_file_of_another_batch_is_rejected_before_the_first_run(scripted, tmp_path) -> None:
    file = tmp_path / "batch.jsonl"
    scripted(lambda _: answer(1)).map(DOUBLE, [{"n": 1}], resume=file)
    with pytest.raises(InvalidArgument, match="belongs to another batch: that batch has other parameters"):
        scripted(lambda _: answer(1)).map(DOUBLE, [{"n": 2}], resume=file)
    with pytest.raises(InvalidArgument, match="that batch has 1 runs, but this batch has 2"):
        scripted(lambda _: answer(1)).map(DOUBLE, [{"n": 1}, {"n": 2}], resume=file)
    with pytest.raises(InvalidArgument, match="contains runs of the action 'Qm"):
        scripted(lambda _: answer(1)).map(f"{DOUBLE.source} ", [{"n": 1}], resume=file)
    file.write_text("hello\n")
    with pytest.raises(InvalidArgument, match="is not a batch file"):
        scripted(lambda _: answer(1)).map(DOUBLE, [{"n": 2}], resume=file)


@pytest.mark.parametrize("concurrency", [0, MAX_BATCH_CONCURRENCY + 1])
def test_an_invalid_concurrency_is_rejected(scripted, concurrency) -> None:
    with pytest.raises(InvalidArgument, match="concurrent runs"):
        scripted(lambda _: answer(1)).map(DOUBLE, [{"n": 1}], concurrency=concurrency)


def test_parameters_that_json_cannot_represent_are_rejected(scripted) -> None:
    with pytest.raises(InvalidArgument, match="cannot be encoded as JSON"):
        scripted(lambda _: answer(1)).map(DOUBLE, [{"n": object()}])


def test_an_empty_batch_is_done_immediately(scripted) -> None:
    batch = scripted(lambda _: answer(1)).map(DOUBLE, [])
    assert batch.done
    assert len(batch.to_frame()) == 0


async def test_a_cancelled_batch_keeps_its_results_and_resumes_when_awaited_again(async_scripted) -> None:
    reached = asyncio.Event()
    gate = asyncio.Event()

    async def handle(request: httpx.Request) -> httpx.Response:
        if number(request) >= 3:
            reached.set()
            await gate.wait()
        return answer(number(request))

    client = await async_scripted(handle)
    batch = client.map(DOUBLE, [{"n": n} for n in range(8)], concurrency=1)
    task = asyncio.ensure_future(batch.resume())
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (batch.interrupted, batch.responses()[:4]) == (True, [0, 1, 2, None])
    gate.set()
    assert (await batch).responses() == list(range(8))
    assert not batch.interrupted


@pytest.mark.slow
@pytest.mark.chain
@pytest.mark.engine
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_returns_the_results_so_far_and_another_process_can_resume(emulator, svc, tmp_path) -> None:
    file = tmp_path / "batch.jsonl"
    program = textwrap.dedent("""
        import sys, svcnb
        svc = svcnb.Client()
        action = svcnb.Action("const main = async ({ n }) => { "
            "if (n >= 4) await new Promise((done) => setTimeout(done, 120000)); return n; }")
        batch = svc.map(action, [{"n": n} for n in range(8)], concurrency=2, resume=sys.argv[1], progress=False)
        print("kept", batch.interrupted, batch.responses()[:4], len(batch.pending))
    """)
    settings = {"SVC_BASE_URL": emulator.base_url, "SVC_API_KEY": svc.config.api_key.reveal()}
    running = subprocess.Popen(
        [sys.executable, "-c", program, str(file)], env=os.environ | settings, stdout=subprocess.PIPE, text=True
    )
    with running:
        while running.poll() is None and not (file.exists() and len(file.read_text().splitlines()) >= 5):
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        said, _ = running.communicate(timeout=300)
    assert said.strip() == "kept True [0, 1, 2, 3] 4"


def test_an_interrupt_while_threads_start_returns_the_results_so_far(scripted, monkeypatch) -> None:
    class Interrupted(threading.Thread):
        def start(self) -> None:
            if self.name == "svc-map-1":
                raise KeyboardInterrupt
            super().start()

    svc = scripted(lambda request: answer(number(request)))
    with monkeypatch.context() as patched:
        patched.setattr("svcnb.client.batch.threading.Thread", Interrupted)
        stopped = svc.map(DOUBLE, [{"n": n} for n in range(4)], concurrency=3)
    assert stopped.interrupted
    assert stopped.resume().responses() == [0, 1, 2, 3]


def test_a_progress_bar_is_shown_on_request(scripted, capsys) -> None:
    scripted(lambda _: answer(1)).map(DOUBLE, [{"n": n} for n in range(3)], progress=True)
    assert "3/3" in capsys.readouterr().err
    scripted(lambda _: answer(1)).map(DOUBLE, [{"n": n} for n in range(3)])
    assert capsys.readouterr().err == ""


def test_the_display_of_a_batch_is_a_short_table(scripted) -> None:
    html = scripted(lambda _: answer("<b>")).map(DOUBLE, [{"n": n} for n in range(12)])._repr_html_()
    assert "12 of 12 runs" in html
    assert "and 2 more" in html
    assert "&lt;b&gt;" in html
