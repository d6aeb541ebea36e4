from __future__ import annotations

import json
import threading

import httpx
import pytest

from svcnb.client import errors
from svcnb.client.calls import Call
from svcnb.client.config import Config, Retries
from svcnb.client.request import build, delay

SOURCE = "const main = () => 1"
GROUP_ANSWER = {"success": True, "group_id": "1"}


class Script:
    """Simulated service with a list of responses and exceptions. The service repeats the last response."""

    def __init__(self, *answers) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, httpx.Response)
        return answer


def busy(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"error": "x", "message": "busy"}, headers=headers)


RUN_OK = httpx.Response(200, json={"response": 1, "logs": ""})
BROKEN = httpx.ReadError("connection reset")


@pytest.mark.parametrize("status", [429, 503])
def test_a_request_to_an_overloaded_service_is_retried(scripted, status: int) -> None:
    script = Script(busy(status), busy(status), RUN_OK)
    assert scripted(script).run(SOURCE).response == 1
    assert len(script.requests) == 3


@pytest.mark.parametrize("status", [200, 500])
def test_a_response_with_too_many_nested_levels_is_rejected(scripted, status: int) -> None:
    """If a library has raised the recursion limit, the parser of Python 3.11 can crash the process."""
    script = Script(httpx.Response(status, content=b'{"response": ' + b"[" * 200_000))
    with pytest.raises(errors.NotTheApi):
        scripted(script).run(SOURCE)


@pytest.mark.parametrize(("status", "kind"), [(429, errors.RateLimited), (503, errors.Unavailable)])
def test_the_overload_is_reported_after_five_attempts(scripted, status: int, kind) -> None:
    script = Script(busy(status))
    with pytest.raises(kind):
        scripted(script).run(SOURCE)
    assert len(script.requests) == 5


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 422, 500])
def test_a_refused_request_is_never_retried(scripted, status: int) -> None:
    script = Script(busy(status))
    with pytest.raises(errors.ServiceError):
        scripted(script).wallets.create()
    assert len(script.requests) == 1


def test_a_read_request_is_retried_after_a_broken_connection(scripted) -> None:
    script = Script(BROKEN, httpx.ReadTimeout("late"), httpx.Response(200, json=[]))
    assert scripted(script).wallets.list() == []
    assert len(script.requests) == 3


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda svc: svc.accounts.create("a"), id="new_account"),
        pytest.param(lambda svc: svc.usage_keys.create("k"), id="add_usage_api_key"),
        pytest.param(lambda svc: svc.wallets.create(), id="create_wallet"),
        pytest.param(lambda svc: svc.groups.create("g"), id="add_group"),
        pytest.param(lambda svc: svc.groups.delete(1), id="remove_group"),
        pytest.param(lambda svc: svc.actions.delete("0x" + "1" * 64), id="delete_action"),
        pytest.param(lambda svc: svc.usage_keys.delete("0x" + "1" * 64), id="remove_usage_api_key"),
        pytest.param(lambda svc: svc.billing.confirm("pi_1"), id="confirm_payment"),
        pytest.param(lambda svc: svc.run(SOURCE), id="svc_action"),
    ],
)
@pytest.mark.parametrize("failure", [BROKEN, httpx.ReadTimeout("late"), httpx.RemoteProtocolError("gone")])
def test_a_change_with_an_unknown_result_is_not_retried(scripted, call, failure) -> None:
    script = Script(failure)
    with pytest.raises(errors.TransportError) as caught:
        call(scripted(script))
    assert len(script.requests) == 1
    assert "may" in caught.value.hint
    assert isinstance(caught.value, errors.TimedOut) is isinstance(failure, httpx.TimeoutException)


def test_the_creation_of_a_payment_intent_is_not_retried(scripted) -> None:
    script = Script(httpx.Response(200, json={"publishable_key": "pk_1"}), BROKEN)
    with pytest.raises(errors.TransportError, match="was lost") as caught:
        scripted(script).billing.create_payment_intent(500)
    assert len(script.requests) == 2
    assert "Create another payment" in caught.value.hint


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda svc: svc.groups.add_wallet(1, "0x" + "1" * 40), id="add_pkp_to_group"),
        pytest.param(lambda svc: svc.groups.add_action(1, SOURCE), id="add_action_to_group"),
        pytest.param(lambda svc: svc.actions.register(SOURCE, name="n"), id="add_action"),
        pytest.param(lambda svc: svc.actions.update("0x" + "1" * 64, name="n", description=""), id="update"),
    ],
)
def test_an_idempotent_request_is_retried(scripted, call) -> None:
    script = Script(BROKEN, httpx.Response(200, json={"success": True}))
    call(scripted(script))
    assert len(script.requests) == 2


def test_any_request_that_was_not_sent_is_retried(scripted) -> None:
    script = Script(httpx.ConnectTimeout("no route"), httpx.ConnectError("unreachable"), RUN_OK)
    assert scripted(script).run(SOURCE).response == 1
    assert len(script.requests) == 3


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (httpx.ConnectTimeout("late"), "cannot connect to http://service.test within 10 s"),
        (httpx.PoolTimeout("busy"), "all connections of this client were busy for 30 s"),
        (httpx.ReadTimeout("late"), "did not respond to GET /core/v1/version within 30 s"),
        (httpx.LocalProtocolError("Illegal header value"), "violates the HTTP protocol"),
        (httpx.ProxyError("403"), "the proxy rejected the connection to http://service.test"),
        (httpx.DecodingError("not gzip"), "the response from http://service.test cannot be decompressed"),
        (BROKEN, "the connection to http://service.test was lost: ReadError"),
    ],
)
def test_each_cause_of_a_failed_request_has_its_own_message(scripted, failure, message) -> None:
    with pytest.raises(errors.TransportError, match=message):
        scripted(Script(failure), retries=0).node.version()


def test_the_hint_for_a_refused_connection_mentions_the_emulator(unused_tcp_port) -> None:
    from svcnb.client import Client

    with Client(f"http://127.0.0.1:{unused_tcp_port}") as svc, pytest.raises(errors.TransportError) as caught:
        svc.node.version()
    assert "svcnb emulator" in caught.value.hint


def test_retries_can_be_disabled(scripted) -> None:
    script = Script(busy(503))
    with pytest.raises(errors.Unavailable):
        scripted(script).with_options(retries=0).wallets.list()
    assert len(script.requests) == 1


def config(**options) -> Config:
    return Config("http://h", retries=Retries(**options))


def test_delays_double_with_jitter_up_to_a_limit() -> None:
    settings = config(first_delay=1.0, longest_delay=4.0)
    for attempt, mean in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 4.0), (9, 4.0)):
        delays = {delay(attempt, None, settings) for _ in range(50)}
        assert all(mean * 0.5 <= seconds <= mean * 1.5 for seconds in delays)
        assert len(delays) > 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "3600"}, 30.0),
        (
            {"retry-after": "Fri, 02 Jan 2026 00:00:05 GMT", "date": "Fri, 02 Jan 2026 00:00:00 GMT"},
            5.0,
        ),
    ],
)
def test_retry_after_is_followed_up_to_a_limit(headers: dict[str, str], seconds: float) -> None:
    assert delay(1, headers, config()) == seconds


@pytest.mark.parametrize("text", ["soon", "-5", "1e9", "Fri, 99 Jan"])
def test_an_invalid_retry_after_is_ignored(text: str) -> None:
    assert 0.25 <= delay(1, {"retry-after": text}, config()) <= 0.75


def test_the_key_is_sent_in_its_header_and_only_where_it_is_needed(scripted) -> None:
    script = Script(httpx.Response(200, json=[]))
    svc = scripted(script, api_key="a2V5")
    svc.wallets.list()
    svc.node.payers()
    with_key, without = script.requests
    assert with_key.headers["x-api-key"] == "a2V5"
    assert "x-api-key" not in without.headers


def test_a_correlation_id_is_sent_when_one_is_set(scripted) -> None:
    script = Script(httpx.Response(200, json=[]))
    svc = scripted(script)
    svc.wallets.list()
    svc.with_options(correlation_id="lesson-1").wallets.list()
    assert [request.headers.get("x-correlation-id") for request in script.requests] == [None, "lesson-1"]


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object(), "\ud800", {"key": b"bytes"}])
def test_parameters_that_json_cannot_represent_are_rejected_before_sending(scripted, value) -> None:
    script = Script(RUN_OK)
    with pytest.raises(errors.InvalidArgument) as caught:
        scripted(script).run(SOURCE, value)
    assert caught.value.hint
    assert script.requests == []


def test_text_outside_ascii_is_sent_as_utf_8() -> None:
    request = build(Call("POST", "/x", lambda body, _: body, "grüß 🙂"), config())
    assert request.content == json.dumps("grüß 🙂", ensure_ascii=False).encode()


def test_the_vocabulary_determines_the_paths(scripted) -> None:
    from svcnb.protocol.vocabulary import Vocabulary

    script = Script(httpx.Response(200, json={"response": 1, "publishable_key": "pk_1"}))
    svc = scripted(script, vocabulary=Vocabulary(service="acme", processor="payco"))
    svc.run(SOURCE)
    svc.billing.publishable_key()
    assert [request.url.path for request in script.requests] == [
        "/core/v1/acme_action",
        "/core/v1/billing/payco_config",
    ]


def test_the_clock_skew_is_measured_with_the_date_header(scripted, monkeypatch) -> None:
    from email.utils import formatdate
    from types import SimpleNamespace

    ahead = 240
    here = SimpleNamespace(now=1_800_000_000.9)
    clock = SimpleNamespace(time=lambda: here.now, perf_counter=lambda: here.now)
    monkeypatch.setattr("svcnb.client._http.time", clock)
    monkeypatch.setattr("svcnb.client.client_settings.time", clock)

    def answer(_: httpx.Request) -> httpx.Response:
        here.now += 0.1  # the request
        date = formatdate(here.now + ahead, usegmt=True)
        here.now += 0.1  # the response
        return httpx.Response(200, json=[], headers={"Date": date})

    svc = scripted(answer)
    assert svc.clock_skew is None
    svc.wallets.list()
    assert svc.clock_skew == pytest.approx(ahead, abs=0.5)  # the header has a resolution of one second
    assert svc.now() == pytest.approx(here.now + ahead, abs=0.5)


def test_several_threads_can_share_one_client(scripted) -> None:
    svc = scripted(lambda request: httpx.Response(200, json={"response": json.loads(request.content)["js_params"]}))
    wrong: list[object] = []

    def work(number: int) -> None:
        wrong.extend(n for n in range(20) if svc.run(SOURCE, number * 100 + n).response != number * 100 + n)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_closed_client_raises_an_error(scripted) -> None:
    svc = scripted(Script(RUN_OK))
    derived = svc.with_key("a2V5")
    derived.close()
    assert svc.run(SOURCE).response == 1
    svc.close()
    with pytest.raises(errors.TransportError, match="closed"):
        svc.run(SOURCE)
