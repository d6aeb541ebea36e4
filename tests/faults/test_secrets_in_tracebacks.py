"""Tracebacks with values of variables contain no secrets.

Notebooks store tracebacks. ``%xmode Verbose``, ``pytest -l`` and crash reporters add the values of variables. No frame
of an error may contain a secret.
"""

from __future__ import annotations

import json
import socket
import string
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from IPython.core.ultratb import VerboseTB

import svcnb
from svcnb.client.config import Retries
from svcnb.protocol.hashes import api_key_hash

pytestmark = [pytest.mark.engine, pytest.mark.chain, pytest.mark.slow]

ONCE = Retries(attempts=1)
MARK = "bWFya2VkLXNlY3JldC1tYXJrZWQtc2VjcmV0LW1hcms="
"""Value in the form of a key: 32 bytes in base64."""
WALLET = "0x" + "5e" * 31 + "5f"
ACTION = "const main = ({ n }) => { if (n > 1) throw new Error('thrown'); return n; };"
NAMELESS = b'{"api_key":"%b"}' % MARK.encode()
"""Response of another service version, which omits a field."""


class Peer:
    """Server with responses that the emulator never sends.

    Args:
        answers: All bytes that the server sends on each connection. The last one is for all later connections. With
            None, the server sends nothing and keeps the connection open.
    """

    def __init__(self, *answers: bytes | None) -> None:
        self._answers = answers
        self.called = threading.Event()
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(connection)
            with suppress(OSError):  # the caller may have stopped waiting on a busy machine
                connection.recv(65_536)
                self.called.set()
                answer = self._answers[min(len(self._open), len(self._answers)) - 1]
                if answer is not None:
                    connection.sendall(answer)
                    connection.close()

    def close(self) -> None:
        # close alone leaves a thread in accept(), and the port open
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            connection.close()


@pytest.fixture
def peer() -> Iterator[Callable[..., Peer]]:
    """Starts servers of the class `Peer`, which stop after the test."""
    made: list[Peer] = []

    def start(*answers: bytes | None) -> Peer:
        made.append(Peer(*answers))
        return made[-1]

    yield start
    for each in made:
        each.close()


def http(status: str, body: bytes, kind: str = "application/json") -> bytes:
    # The server closes each connection, so the client must not use the connection again.
    head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def assert_hidden(seen: str, *secrets: str) -> None:
    """Fails with the lines that contain a secret."""
    lines = [line.strip()[:200] for line in seen.splitlines() if any(secret in line for secret in secrets)]
    assert not lines


def told(error: BaseException) -> str:
    """Returns the visible data of an error and its causes: the variables of each frame, except those of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    plain = traceback.TracebackException(type(error), error, trace, capture_locals=True)
    return "".join(plain.format()) + VerboseTB().text(type(error), error, trace)


@contextmanager
def failing(kind: type[BaseException]) -> Iterator[list[str]]:
    """Stores the visible data of the error that ends the block."""
    seen: list[str] = []
    with pytest.raises(kind) as caught:
        yield seen
    seen.append(told(caught.value))


def test_the_check_finds_a_frame_with_a_secret() -> None:
    with failing(KeyError) as seen:
        string.Template("$no").substitute({"key": svcnb.Secret(MARK).reveal()})
    assert seen[0].count(MARK) >= 2  # with the standard library and with IPython


@pytest.mark.parametrize("answer", [
    None,
    b"",
    http("200 OK", b"<html>", "text/html"),
    http("200 OK", NAMELESS),
    http("200 OK", b"[" + NAMELESS + b"]"),
    http("301 Moved", b""),
    http("500 Internal Server Error", NAMELESS),
    http("401 Unauthorized", b'{"error":"unauthorized","message":"not %b","fix":""}' % MARK.encode()),
])  # fmt: skip
def test_no_frame_of_a_call_with_an_invalid_response_shows_a_key(peer, answer) -> None:
    calls: list[Callable[[svcnb.Client], object]] = [
        lambda svc: svc.groups.list(),
        lambda svc: svc.accounts.create("new"),
        lambda svc: svc.usage_keys.delete(svcnb.Secret(MARK)),
        lambda svc: svc.run(ACTION, n=1),
        lambda svc: svc.billing.balance(),
    ]
    failures = 0
    with svcnb.Client(peer(answer).url, api_key=MARK, retries=ONCE, timeout=0.5) as svc:
        for call in calls:
            try:
                call(svc)  # some responses are valid for some calls
            except svcnb.SvcnbError as error:
                failures += 1
                assert_hidden(told(error), MARK)
    assert failures >= 3


@pytest.mark.parametrize("change", [{"name": "new"}, {"execute_in_groups": [7]}])
def test_no_frame_of_an_interrupted_change_shows_the_changed_key(peer, change) -> None:
    key = svcnb.Secret(MARK)
    listed = [{"api_key_hash": api_key_hash(MARK), "name": "old", "description": ""}]
    url = peer(http("200 OK", json.dumps(listed).encode()), None).url
    with svcnb.Client(url, api_key=MARK, retries=ONCE, timeout=0.5) as svc:
        method = svc.usage_keys.update_metadata if "name" in change else svc.usage_keys.update
        with failing(svcnb.TimedOut) as seen:
            method(key, **change)
    assert_hidden(seen[0], MARK)


async def test_no_frame_of_an_asynchronous_call_shows_a_key(peer) -> None:
    for answer in (None, b"", http("200 OK", NAMELESS)):
        async with svcnb.AsyncClient(peer(answer).url, api_key=MARK, retries=ONCE, timeout=0.5) as svc:
            with failing(svcnb.SvcnbError) as seen:
                await svc.groups.list()  # a call with the key
            assert_hidden(seen[0], MARK)


def test_no_frame_of_a_call_without_a_response_shows_a_key(peer) -> None:
    gone = peer(None)
    gone.close()
    with svcnb.Client(gone.url, api_key=MARK, retries=ONCE) as svc, failing(svcnb.SvcnbError) as seen:
        svc.groups.list()
    assert_hidden(seen[0], MARK)


def test_no_frame_of_a_call_that_cannot_be_sent_shows_a_key() -> None:
    with svcnb.Client("http://127.0.0.1:1", api_key=MARK) as svc:
        with failing(svcnb.SvcnbError) as seen:
            svc.run(ACTION, n=float("nan"))
        assert_hidden(seen[0], MARK)
        with failing(svcnb.SvcnbError) as seen:
            svc.usage_keys.create(b"no text")  # type: ignore[arg-type]
        assert_hidden(seen[0], MARK)


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts by a signal")
def test_no_frame_of_a_call_that_was_interrupted_shows_a_key(peer) -> None:
    import signal

    slow = peer(None)

    def interrupt() -> None:
        slow.called.wait(300)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    person = threading.Thread(target=interrupt)
    with svcnb.Client(slow.url, api_key=MARK, retries=ONCE) as svc:
        person.start()
        with failing(KeyboardInterrupt) as seen:
            svc.run(ACTION, n=1)
        person.join()
    assert_hidden(seen[0], MARK)


def test_no_frame_of_a_rejected_call_shows_a_key(emulator) -> None:
    anyone = emulator.client(retries=ONCE)
    account = anyone.accounts.create("marked")
    svc = anyone.with_key(account)
    key = svc.usage_keys.create("weak")
    weak: Any = svc.with_key(key)
    secrets = (account.api_key.reveal(), key.usage_api_key.reveal())
    refused: tuple[Callable[[], object], ...] = (
        lambda: weak.run(ACTION, n=1),
        lambda: weak.groups.create("forbidden"),
        lambda: svc.run(ACTION, n=2),
        lambda: svc.groups.delete(10**6),
        lambda: weak.map(ACTION, [{"n": 1}], progress=False),
        lambda: svc.usage_keys.delete("bm90aGluZw=="),
    )
    for call in refused:
        with failing(svcnb.SvcnbError) as seen:
            call()
        assert_hidden(seen[0], *secrets)


def test_no_frame_of_a_wallets_failure_shows_its_key(emulator) -> None:
    owner = svcnb.LocalSigner.from_key(WALLET)
    with emulator.client() as svc, failing(svcnb.SvcnbError) as seen:
        svc.chain_secured.create(owner, "without gas")
    assert_hidden(seen[0], WALLET.removeprefix("0x"))
    with failing(svcnb.SvcnbError) as seen:
        owner.sign_typed_data({"no": "envelope"})
    assert_hidden(seen[0], WALLET.removeprefix("0x"))


def test_no_frame_of_a_call_with_an_invalid_wallet_key_shows_the_key() -> None:
    with failing(svcnb.SvcnbError) as seen:
        svcnb.LocalSigner.from_key(svcnb.Secret(WALLET + "00"))
    assert_hidden(seen[0], WALLET.removeprefix("0x"))


def test_no_frame_of_a_rejected_trigger_shows_key_or_token(emulator) -> None:
    account = emulator.client().accounts.create("marked")
    with emulator.triggers() as triggers:
        token = triggers.token.reveal()
        refused: tuple[Callable[[], object], ...] = (
            lambda: triggers.webhook("", ACTION, account.api_key),
            lambda: triggers.create("name", ACTION, account.api_key, "no kind"),
            lambda: triggers.schedule("often", ACTION, account.api_key, cron="* * * * * *"),
            lambda: triggers.get("00000000-0000-0000-0000-000000000000"),
        )
        for call in refused:
            with failing(svcnb.SvcnbError) as seen:
                call()
            assert_hidden(seen[0], account.api_key.reveal())
            assert_hidden(seen[0], token)
    # ... and the error of a client with an unapproved token also contains no secret.
    with svcnb.TriggersClient(emulator.triggers_url) as stranger, failing(svcnb.SvcnbError) as seen:
        stranger.list()
    assert_hidden(seen[0], stranger.token.reveal())


def test_no_frame_of_an_emulators_control_plane_shows_its_token(start_emulator) -> None:
    emulator: Any = start_emulator(control_token=MARK, action_spares=1)
    with failing(Exception) as seen:
        emulator.restore("nothing")
    assert_hidden(seen[0], MARK)
    emulator.stop()
    with failing(Exception) as seen:
        emulator.state()
    assert_hidden(seen[0], MARK)
