"""Timelines of executions, which clients read from an emulator."""

from __future__ import annotations

import pickle

import httpx
import pytest

from svcnb.client import errors
from svcnb.client.models.traces import Trace

BUSY = """async function main({ text }) {
  console.log('begun');
  const key = await Svc.Actions.getSvcActionPrivateKey();
  await fetch('http://127.0.0.1:1/').catch(() => 0);
  await new Promise((done) => setTimeout(done, 30));
  return new ethers.Wallet(key).signMessage(text);
}"""
EVENTS = [
    "start", "console", "key action key", "fetch GET 127.0.0.1 start", "fetch GET 127.0.0.1 refused", "end ok",
]  # fmt: skip


@pytest.fixture
def svc(emulator):
    key = emulator.client().accounts.create("traces").api_key
    return emulator.client(api_key=key)


def test_a_trace_contains_the_operations_of_a_run_and_their_times(svc) -> None:
    run = svc.run(BUSY, text="x")
    trace = run.trace()
    assert [event.label for event in trace] == EVENTS
    times = [event.at_ms for event in trace]
    assert times == sorted(times)
    assert 30 <= trace.elapsed_ms < 1_000 * run.elapsed + 1
    assert 0 < trace.waited_ms < trace.elapsed_ms - 29
    (begun, answered) = trace.of("fetch")
    assert (begun.took_ms, answered.refused is not None) == (None, True)
    assert answered.took_ms == pytest.approx(answered.at_ms - begun.at_ms, abs=1)


def test_traces_of_equal_runs_have_the_same_text_and_contain_no_secret(svc) -> None:
    one, other = (svc.run(BUSY, text="x").trace() for _ in range(2))
    assert repr(one) == repr(other) == f"Trace('fast', {', '.join(EVENTS)})"
    private = svc.run("const main = () => Svc.Actions.getSvcActionPrivateKey()")
    assert private.response not in private.trace().model_dump_json()
    assert private.response not in private.trace()._repr_html_()


def test_a_notebook_shows_a_bar_for_each_wait(svc) -> None:
    html = svc.run(BUSY, text="<b>").trace()._repr_html_()
    assert html.count("<tr") == len(EVENTS) + 1
    assert "fetch GET 127.0.0.1 refused" in html
    assert "waiting for the service" in html


def test_failed_runs_have_a_trace_by_their_error(svc) -> None:
    with pytest.raises(errors.ActionError) as caught:
        svc.run("async function main() { console.log(1); throw new RangeError('far'); }")
    trace = svc.trace(caught.value)
    assert [event.label for event in trace] == ["start", "console", "end throw"]
    assert svc.trace(caught.value.request_id) == trace


async def test_an_asynchronous_client_reads_the_same_trace(svc, emulator) -> None:
    async with emulator.async_client(api_key=svc.config.api_key) as twin:
        run = await twin.run(BUSY, text="x")
        assert repr(await twin.trace(run)) == repr(svc.trace(run))
        with pytest.raises(errors.InvalidArgument, match=r"needs a run of a synchronous client") as caught:
            run.trace()
    assert "svc.trace(run)" in caught.value.hint


def test_a_stored_run_keeps_its_values_but_not_its_client(svc) -> None:
    run = svc.run(BUSY, text="x")
    again = pickle.loads(pickle.dumps(run))  # noqa: S301 - our own bytes
    assert again == run
    with pytest.raises(errors.InvalidArgument):
        again.trace()
    assert svc.trace(again) == run.trace()


def test_a_refused_run_has_no_trace(svc) -> None:
    key = svc.usage_keys.create("nothing").usage_api_key
    with pytest.raises(errors.Forbidden) as caught:
        svc.with_key(key).run(BUSY)
    with pytest.raises(errors.TraceUnavailable, match="rejected the request with the status 403"):
        svc.trace(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(404, json={"error": "not_found", "message": "no such path", "fix": "", "docs_url": ""}),
        httpx.Response(200, html="<html>elsewhere</html>"),
        # The control plane of this emulator rejects the client. The API key is not the cause.
        httpx.Response(
            401, json={"error": "unauthorized", "message": "the control token is missing", "fix": "", "docs_url": ""}
        ),
    ],
)
def test_a_service_that_is_not_an_emulator_has_no_traces(scripted, answer) -> None:
    with pytest.raises(errors.TraceUnavailable, match="r-77"):
        scripted(lambda _: answer).trace("r-77")


def test_a_value_without_a_request_id_is_an_error(scripted) -> None:
    with pytest.raises(errors.InvalidArgument, match="no request id"):
        scripted(lambda _: httpx.Response(200)).trace("")


def test_the_control_plane_gets_its_token_and_not_the_key(scripted) -> None:
    seen: list[httpx.Headers] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers)
        return httpx.Response(200, json={"request_id": "r", "http_status": 200, "trace": {"engine": "v8"}})

    svc = scripted(answer, api_key="a2V5", control_token="open-sesame")
    assert svc.trace("r") == Trace(engine="v8")
    assert seen[0]["authorization"] == "Bearer open-sesame"
    assert "x-api-key" not in seen[0]
    assert "open-sesame" not in repr(svc.config)


def test_waits_that_overlap_count_once() -> None:
    events = [
        {"at_ms": 0.0, "kind": "start", "took_ms": 50.0},
        {"at_ms": 10.0, "kind": "fetch", "took_ms": 8.0},
        {"at_ms": 12.0, "kind": "fetch", "took_ms": 10.0},
        {"at_ms": 20.0, "kind": "key", "took_ms": 1.0},
        {"at_ms": 30.0, "kind": "end", "ok": True},
    ]
    assert Trace.model_validate({"engine": "v8", "events": events}).waited_ms == 11.0
