"""Repeated runs use each stored result once, in the order of the first attempt, and repeat no side effect."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, ClassVar

import pytest

from svcnb.emulator.sandbox.answer_order import GRACE_S, AnswerOrder
from svcnb.emulator.sandbox.protocol import ABORTED, FetchRequest, FetchResponse, OperationRefused
from svcnb.emulator.sandbox.repeat import RepeatableHost
from svcnb.protocol.limits import ActionLimits

LIMITS = ActionLimits()
URL = "http://127.0.0.1/"


class Web:
    """Host that records requests, and responds when the test sets the response."""

    account = ""
    headers: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        self.made: list[FetchRequest] = []
        self.answers: list[asyncio.Future[bytes]] = []

    async def fetch(self, request: FetchRequest, _: ActionLimits) -> FetchResponse:
        self.made.append(request)
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.answers.append(answer)
        return FetchResponse(200, "", (), await answer, request.url)


class Attempts:
    """Two attempts of one run."""

    def __init__(self) -> None:
        self.web = Web()
        self.host = RepeatableHost(self.web)  # type: ignore[arg-type]
        self.received: list[bytes] = []
        self.tasks: list[asyncio.Task[bytes]] = []

    async def ask(self, request: FetchRequest) -> asyncio.Task[bytes]:
        """Starts a request, and waits until the host has recorded it."""

        async def body() -> bytes:
            answer = bytes((await self.host.fetch(request, LIMITS)).body)
            self.received.append(answer)
            return answer

        task = asyncio.ensure_future(body())
        self.tasks.append(task)
        await turns()
        return task

    async def answer(self, number: int, body: bytes | None = None) -> None:
        """Responds to the request with this number, counted from 0."""
        self.web.answers[number].set_result(f"answer {number}".encode() if body is None else body)
        await turns()

    def repeat(self) -> None:
        """Ends the first attempt, and starts the second."""
        for task in self.tasks:
            task.cancel()
        self.received.clear()
        self.host.repeat(0.0)


async def turns() -> None:
    """Runs all tasks until each one waits."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
async def attempts() -> AsyncIterator[Attempts]:
    made = Attempts()
    yield made
    made.host.close()


def get(path: str) -> FetchRequest:
    return FetchRequest("GET", URL + path)


def post(text: str) -> FetchRequest:
    return FetchRequest("POST", URL, (), text.encode())


def rpc(number: int, method: str, *params: Any) -> FetchRequest:
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
    return FetchRequest("POST", URL, (("content-length", str(len(body))),), body)


def result(number: int, value: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": value}).encode()


async def test_results_are_in_the_order_of_the_first_attempt(attempts: Attempts) -> None:
    await attempts.ask(post("slow"))
    await attempts.ask(post("quick"))
    await attempts.answer(1)
    await attempts.ask(post("after quick"))
    await attempts.answer(0)
    await attempts.answer(2)
    attempts.repeat()

    await attempts.ask(post("slow"))
    assert attempts.received == []
    await attempts.ask(post("quick"))
    assert attempts.received == [b"answer 1"]
    last = await attempts.ask(post("after quick"))
    assert await last == b"answer 2"
    assert attempts.received == [b"answer 1", b"answer 0", b"answer 2"]
    assert len(attempts.web.made) == 3
    assert not attempts.host.diverged


async def test_the_order_of_requests_does_not_matter(attempts: Attempts) -> None:
    for text in ("a", "b"):
        await attempts.ask(post(text))
    for number in (0, 1):
        await attempts.answer(number)
    attempts.repeat()
    b = await attempts.ask(post("b"))
    a = await attempts.ask(post("a"))
    assert (await a, await b) == (b"answer 0", b"answer 1")
    assert not attempts.host.diverged


async def test_equal_requests_receive_their_answers_in_order_and_each_answer_once(attempts: Attempts) -> None:
    for number in range(2):
        await attempts.ask(post("next"))
        await attempts.answer(number)
    attempts.repeat()
    assert [await (await attempts.ask(post("next"))) for _ in range(2)] == [b"answer 0", b"answer 1"]
    third = await attempts.ask(post("next"))
    await attempts.answer(2)
    assert await third == b"answer 2"
    assert len(attempts.web.made) == 3


async def test_a_missing_result_follows_all_others(attempts: Attempts) -> None:
    await attempts.ask(post("under way"))
    await attempts.ask(post("answered"))
    await attempts.answer(1)
    attempts.repeat()
    await attempts.answer(0)
    await attempts.ask(post("under way"))
    assert attempts.received == []
    await (await attempts.ask(post("answered")))
    await turns()
    assert attempts.received == [b"answer 1", b"answer 0"]


async def test_a_request_that_the_action_aborted_is_not_answered_in_the_repetition(attempts: Attempts) -> None:
    first = await attempts.ask(post("slow"))
    first.cancel(ABORTED)
    await turns()
    await attempts.answer(0)  # after the first attempt, and before the second
    attempts.repeat()
    second = await attempts.ask(post("slow"))
    assert not second.done()
    second.cancel(ABORTED)
    with pytest.raises(asyncio.CancelledError):
        await second
    assert len(attempts.web.made) == 1
    assert not attempts.host.diverged


async def test_a_repetition_does_not_wait_for_a_request_that_it_omits(attempts: Attempts) -> None:
    """The second attempt receives responses to its own requests. The host reports the requests that it omitted."""
    await attempts.ask(post("first only"))
    await attempts.ask(post("both"))
    await attempts.answer(0)
    await attempts.answer(1)
    attempts.repeat()
    assert await (await attempts.ask(post("both"))) == b"answer 1"
    assert attempts.host.diverged


async def test_the_order_is_given_up_after_the_time_of_the_first_attempt_and_a_grace_period() -> None:
    now = 0.0
    order = AnswerOrder(lambda: now)
    order.started("a")
    order.started("b")
    now = 7.0
    order.answered("b")
    order.answered("a")
    order.repeat()
    order.started("a")
    now += 7.0 + GRACE_S - 0.5
    early = asyncio.ensure_future(order.turn("a"))
    await turns()
    assert not early.done()
    now += 1.0
    await early


@pytest.mark.parametrize("method", ["eth_sendRawTransaction", "eth_chainId"])
async def test_json_rpc_requests_with_other_ids_are_equivalent(attempts: Attempts, method: str) -> None:
    await attempts.ask(rpc(9, method, "0xaa"))
    await attempts.ask(rpc(10, method, "0xbb"))
    await attempts.answer(0, result(9, "for aa"))
    await attempts.answer(1, result(10, "for bb"))
    attempts.repeat()
    bb = await attempts.ask(rpc(9, method, "0xbb"))
    aa = await attempts.ask(rpc(10, method, "0xaa"))
    assert json.loads(await aa) == {"jsonrpc": "2.0", "id": 10, "result": "for aa"}
    assert json.loads(await bb) == {"jsonrpc": "2.0", "id": 9, "result": "for bb"}
    assert len(attempts.web.made) == 2
    assert not attempts.host.diverged


async def test_the_answers_of_a_json_rpc_batch_have_the_ids_of_its_messages(attempts: Attempts) -> None:
    def batch(*ids: int) -> FetchRequest:
        messages = [{"jsonrpc": "2.0", "id": number, "method": "eth_chainId"} for number in ids]
        return FetchRequest("POST", URL, (), json.dumps(messages).encode())

    await attempts.ask(batch(1, 2))
    answers = [json.loads(result(number, str(number))) for number in (2, 1)]
    await attempts.answer(0, json.dumps(answers).encode())
    attempts.repeat()
    found = json.loads(await (await attempts.ask(batch(2, 3))))
    assert [(one["id"], one["result"]) for one in found] == [(3, "2"), (2, "1")]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"not JSON", b'{"id":7,"result":1e999}', b'{"result":1}', b'{"id":8}', b'{"id":[1]}']
)
async def test_an_answer_without_the_id_stays_as_it_is(attempts: Attempts, body: bytes) -> None:
    await attempts.ask(rpc(7, "eth_chainId"))
    await attempts.answer(0, body)
    attempts.repeat()
    assert await (await attempts.ask(rpc(6, "eth_chainId"))) == body


@pytest.mark.parametrize("request_", [get("new"), rpc(1, "eth_call", {})], ids=["GET", "eth_call"])
async def test_a_new_request_that_only_reads_is_made(attempts: Attempts, request_: FetchRequest) -> None:
    await attempts.ask(post("effect"))
    await attempts.answer(0)
    attempts.repeat()
    new = await attempts.ask(request_)
    await attempts.answer(1)
    assert await new == b"answer 1"
    assert await (await attempts.ask(post("effect"))) == b"answer 0"
    assert attempts.web.made == [post("effect"), request_]
    assert not attempts.host.diverged


@pytest.mark.parametrize("request_", [get("old"), rpc(1, "eth_call", {})], ids=["GET", "eth_call"])
async def test_a_request_that_only_reads_may_be_left_out(attempts: Attempts, request_: FetchRequest) -> None:
    await attempts.ask(request_)
    await attempts.answer(0)
    attempts.repeat()
    assert not attempts.host.diverged
    effect = await attempts.ask(post("effect"))
    await attempts.answer(1)
    assert await effect == b"answer 1"
    assert attempts.web.made == [request_, post("effect")]


BATCH = b'[{"jsonrpc":"2.0","id":1,"method":"eth_chainId"},{"jsonrpc":"2.0","id":2,"method":"eth_sendRawTransaction"}]'


@pytest.mark.parametrize(
    "new",
    [
        post("b"),
        FetchRequest("POST", URL + "other", (), b"a"),
        FetchRequest("PUT", URL, (), b"a"),
        FetchRequest("POST", URL, (("x-idempotency-key", "2"),), b"a"),
        rpc(1, "eth_sendRawTransaction", "0xbb"),
        rpc(1, "eth_newFilter", {}),
        rpc(1, "anvil_setBalance", "0x", "0x1"),
        FetchRequest("POST", URL, (), BATCH),
        FetchRequest("POST", URL, (), b'{"jsonrpc":"1.0","id":1,"method":"eth_chainId"}'),
        FetchRequest("POST", URL, (), b'{"jsonrpc":"2.0","method":"eth_chainId"}'),
        FetchRequest("POST", URL, (), b'{"jsonrpc":"2.0","id":{},"method":"eth_chainId"}'),
    ],
)
async def test_no_other_request_with_effects_replaces_one_that_was_made(attempts: Attempts, new: FetchRequest) -> None:
    await attempts.ask(post("a"))
    await attempts.answer(0)
    attempts.repeat()
    with pytest.raises(OperationRefused, match="different requests"):
        await (await attempts.ask(new))
    with pytest.raises(OperationRefused, match="different requests"):
        await (await attempts.ask(new))
    assert attempts.web.made == [post("a")]
    assert attempts.host.diverged


# --- with the engines ---------------------------------------------------------------------------------------------

ENGINES = ("auto",)

# Two parallel sequences of requests. Their ids increase, as with the providers of ethers.
PARALLEL = """const main = async ({ url }) => {
  let count = 0;
  const ask = async (what) => (await fetch(url, { method: 'POST', body: JSON.stringify(MESSAGE) })).text();
  const answers = await Promise.all([
    ask('A').then((first) => ask(first + ' then B')),
    ask('C').then((first) => ask(first + ' then D')),
  ]);
  return [new globalThis["In" + "tl"].NumberFormat('de-DE').format(0.5), ...answers];
};"""
MESSAGES = {
    "numbers": "{ number: ++count, what }",
    "transactions": "{ jsonrpc: '2.0', id: ++count, method: 'eth_sendRawTransaction', params: [what] }",
}


@pytest.fixture
def forced_order(room: Any) -> Callable[[list[FetchRequest]], Any]:
    """Creates hosts whose network responds to A only after the request D, so that C and D arrive first."""

    def make(made: list[FetchRequest]) -> Any:
        host = room.host()
        d_was_requested = asyncio.Event()

        async def fetch(request: FetchRequest, _: ActionLimits) -> FetchResponse:
            made.append(request)
            body = json.loads(request.body or b"")
            what = body["what"] if "what" in body else body["params"][0]
            if what == "A":
                await asyncio.wait_for(d_was_requested.wait(), 60)
            elif what.endswith("D"):
                d_was_requested.set()
            return FetchResponse(200, "", (), what.encode(), request.url)

        host.fetch = fetch
        return host

    return make


@pytest.mark.engine
@pytest.mark.parametrize("message", MESSAGES)
def test_parallel_requests_are_repeated_in_any_order(
    room: Any, forced_order: Callable[[list[FetchRequest]], Any], message: str
) -> None:
    made: list[FetchRequest] = []
    source = PARALLEL.replace("MESSAGE", MESSAGES[message])
    outcome = room.run(source, {"url": "http://127.0.0.1:9/"}, host=forced_order(made))
    assert outcome.response == ["0,5", "A then B", "C then D"], outcome.error
    assert outcome.trace.engine == "v8"
    assert len(made) == 4


@pytest.mark.engine
def test_a_request_that_ran_into_its_time_limit_does_so_again_in_the_repetition(room: Any) -> None:
    """The response arrives between the two attempts."""
    host, made = room.host(), []
    aborted = asyncio.Event()

    async def fetch(request: FetchRequest, _: ActionLimits) -> FetchResponse:
        made.append(request)
        if request.url.endswith("/slow"):
            await asyncio.wait_for(aborted.wait(), 60)
        else:
            aborted.set()
        return FetchResponse(200, "", (), b"late", request.url)

    host.fetch = fetch
    source = """const main = async () => {
      const stop = new AbortController();
      setTimeout(() => stop.abort(), 20);
      const slow = await fetch('http://127.0.0.1:9/slow', { method: 'POST', signal: stop.signal })
        .then((answer) => answer.text(), (error) => error.name);
      await fetch('http://127.0.0.1:9/next', { method: 'POST' });
      return [slow, new globalThis["In" + "tl"].NumberFormat('de-DE').format(0.5)];
    };"""
    outcome = room.run(source, host=host)
    assert outcome.response == ["AbortError", "0,5"], outcome.error
    assert outcome.trace.engine == "v8"
    assert len(made) == 2


@pytest.mark.engine
def test_a_repetition_with_other_effects_ends_with_the_advice_to_choose_v8(room: Any) -> None:
    host, made = room.host(), []

    async def fetch(request: FetchRequest, _: ActionLimits) -> FetchResponse:
        made.append(request)
        return FetchResponse(200, "", (), b"", request.url)

    host.fetch = fetch
    source = """const main = async () => {
      await fetch('http://127.0.0.1:9/', { method: 'POST', body: crypto.randomUUID() });
      return new globalThis["In" + "tl"].NumberFormat('de-DE').format(0.5);
    };"""
    outcome = room.run(source, host=host)
    assert outcome.error_kind == "unsupported"
    assert "'v8'" in outcome.error
    assert len(made) == 1
