# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""Hostile load: 200 hostile actions for each engine together with a normal user, and 10,000 malformed requests.

Run ``pytest tests/faults -o python_files=fault_hostile.py -s``. ``SVC_HOSTILE_ACTIONS`` and ``SVC_MALFORMED`` set the
numbers, and ``SVC_HOSTILE_ENGINES`` the engines (separated by commas). The test prints the figures. The limits are
those of the service's specification, for a machine without other load.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import socket
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import pytest

from svcnb.launch import Emulator

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(sys.platform != "linux", reason="memory and handles are read in /proc"),
]

API: Final = "/core/v1"
ACTIONS: Final = int(os.environ.get("SVC_HOSTILE_ACTIONS", "200"))
MALFORMED: Final = int(os.environ.get("SVC_MALFORMED", "10000"))
ENGINES: Final = os.environ.get("SVC_HOSTILE_ENGINES", "v8,fast,auto").split(",")
WITHIN_MS: Final = 250
MOST_MIB: Final = 600
AFTER_MIB: Final = 250
AT_ONCE: Final = 12
TIMEOUT_MS: Final = 5_000
PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")

HOSTILE: Final = (
    "const main = () => '[' .repeat(200) + '\"' + '\\\\\"'.repeat(400000)",
    "const main = async () => { for (let n = 0; n < 1000; n++) await fetch('http://x/', { method: 'M'.repeat(1e6) }).catch(() => {}); }",
    "const main = async () => { for (let n = 0; n < 200; n++) await fetch('http://' + 'h'.repeat(1e6)).catch(() => {}); }",
    "const main = async ({ url }) => { await Promise.allSettled(Array.from({ length: 50 }, () => fetch(url + '/large'))); }",
    "const main = async ({ url }) => { await Promise.allSettled(Array.from({ length: 50 }, () => fetch(url + '/slow'))); }",
    "const main = async ({ url }) => { for (let n = 0; n < 50; n++) fetch(url + '/large'); for (;;); }",
    "const main = async () => { try { await Svc.Actions.Encrypt({ pkpId: '0x' + '11'.repeat(20), message: '\"\\\\\"'.repeat(7e6) }); } catch {} }",
    "const main = async () => { for (;;) Svc.Actions.Encrypt({ pkpId: '0x' + '11'.repeat(20), message: 'x'.repeat(1e6) }).catch(() => {}); }",
    "const main = () => { for (;;); }",
    "const main = () => { const held = []; for (;;) held.push(new Uint8Array(4e6).fill(1)); }",
    "const main = () => { for (;;) { try { console.log('spam'.repeat(100)); } catch {} } }",
    "const main = () => 'x'.repeat(1048577)",
    "const main = () => { throw new Error('x'.repeat(2e7)); }",
    "const main = () => Array.from({ length: 170000 }, () => [[]])",
    "const main = async ({ url }) => { await Promise.allSettled(Array.from({ length: 9 }, () => fetch(url, { method: 'POST', body: 'b'.repeat(1e7) }))); }",
    "const main = () => /^(a+)+$/.test('a'.repeat(40) + 'b')",
)  # fmt: skip
LARGE: Final = b"x" * (49 * 2**20)
NEIGHBOUR: Final = "const main = ({ n }) => n + 1;"


class _Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        try:
            if self.path.startswith("/slow"):
                time.sleep(30)
            body = LARGE if self.path.startswith("/large") else b"fine"
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    do_POST = do_GET  # noqa: N815 - http.server's name

    def log_message(self, *_: object) -> None:
        pass


def attack(told: Connection) -> None:
    """Serves the site that hostile actions access. Runs the actions after the process has received the service and the keys.

    The process has a lower priority than the service, because real clients are on other machines.
    """
    os.setsid()
    os.nice(10)
    # If the kernel schedules by session first, the niceness within one session has no effect on the others.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text("10", encoding="ascii")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}"
    told.send(site)
    service, keys = told.recv()
    jobs = itertools.islice(zip(itertools.cycle(HOSTILE), itertools.cycle(keys)), ACTIONS)
    began = time.monotonic()
    with httpx.Client(base_url=service, timeout=300, trust_env=False) as http, ThreadPoolExecutor(AT_ONCE) as pool:
        answers = Counter(pool.map(lambda job: run(http, job[1], job[0], {"url": site}).status_code, jobs))
    told.send((answers, time.monotonic() - began))
    server.shutdown()


@pytest.fixture
def attacker() -> Iterator[Connection]:
    """Starts the process that runs the attack.

    The process reports the address of its site. Then the process receives the address of the service and the keys, and
    reports the responses and the duration in seconds.
    """
    context = multiprocessing.get_context("spawn")
    connection, told = context.Pipe()
    process = context.Process(target=attack, args=(told,), daemon=True)
    process.start()
    yield connection
    process.terminate()
    process.join()


def resident_mib(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * PAGE_BYTES / 2**20


def handles(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def steady_handles(pid: int) -> int:
    """Returns the number of handles after the engine's warm processes have opened theirs."""
    seen = [handles(pid)]
    while len(seen) < 20 or len(set(seen[-20:])) > 1:
        time.sleep(0.1)
        seen.append(handles(pid))
    return seen[-1]


def call_again_and_again(service: str, pid: int, request: dict[str, Any], told: Connection) -> None:
    """Sends a request every 50 ms until the stop. Returns times, statuses, and the peak memory of the service."""
    times_ms, statuses, most_mib = [], Counter[int](), 0.0
    with httpx.Client(base_url=service, timeout=120, trust_env=False) as http:
        told.send("ready")
        while not told.poll(0.05):
            start = time.perf_counter()
            statuses[http.request(**request).status_code] += 1
            times_ms.append((time.perf_counter() - start) * 1000)
            most_mib = max(most_mib, resident_mib(pid))
    told.send((times_ms, statuses, most_mib))


class Watch:
    """Process that sends requests repeatedly during the load, and records the duration of each request."""

    def __init__(self, emulator: Emulator, **request: Any) -> None:
        self.times_ms: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.most_mib = 0.0
        context = multiprocessing.get_context("spawn")
        self._connection, told = context.Pipe()
        given = (emulator.base_url, emulator.pid, request, told)
        self._process = context.Process(target=call_again_and_again, args=given, daemon=True)

    @contextmanager
    def running(self) -> Iterator[None]:
        self._process.start()
        assert self._connection.recv() == "ready"
        try:
            yield
        finally:
            self._connection.send("end")
            self.times_ms, self.statuses, self.most_mib = self._connection.recv()
            self._process.join()

    @property
    def p99_ms(self) -> float:
        return statistics.quantiles(self.times_ms, n=100)[98]


def account(http: httpx.Client, name: str) -> str:
    made = http.post(f"{API}/new_account", json={"account_name": name, "account_description": "hostile load"})
    assert made.status_code == 200, made.text
    return str(made.json()["api_key"])


def run(http: httpx.Client, key: str, code: str, params: dict[str, Any]) -> httpx.Response:
    return http.request(**request_to_run(key, code, params))


def request_to_run(key: str, code: str, params: dict[str, Any]) -> dict[str, Any]:
    body = {"code": code, "js_params": params}
    return {"method": "POST", "url": f"{API}/svc_action", "headers": {"X-Api-Key": key}, "json": body}


@pytest.mark.parametrize("engine", ENGINES)
def test_hostile_actions_do_not_delay_others_and_leave_nothing(
    engine: str, attacker: Connection, start_emulator: Callable[..., Emulator]
):
    emulator = start_emulator(
        action_engine=engine,
        starter_credits=100_000,
        action_timeout_ms=TIMEOUT_MS,
        allow_address=[urlsplit(attacker.recv()).netloc],
    )
    with httpx.Client(base_url=emulator.base_url, timeout=300, trust_env=False) as http:
        keys = [account(http, f"hostile {n}") for n in range(3)]
        neighbour = account(http, "neighbour")
        assert run(http, neighbour, NEIGHBOUR, {"n": 1}).json()["response"] == 2
    health = Watch(emulator, method="GET", url="/health")
    runs = Watch(emulator, **request_to_run(neighbour, NEIGHBOUR, {"n": 1}))
    with health.running(), runs.running():
        attacker.send((emulator.base_url, keys))
        answers, took_s = attacker.recv()
    time.sleep(60)
    after_mib = resident_mib(emulator.pid)
    print(  # noqa: T201 - the measured figures
        f"\n{engine}: {ACTIONS} actions in {took_s:.0f} s, answers {dict(answers)}; neighbour p99 {runs.p99_ms:.0f} ms "
        f"(median {statistics.median(runs.times_ms):.0f}, {len(runs.times_ms)} runs, {dict(runs.statuses)}); /health p99 "
        f"{health.p99_ms:.0f} ms, most {max(health.times_ms):.0f} ms; memory {health.most_mib:.0f} MiB, a minute later "
        f"{after_mib:.0f} MiB; load average of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    assert set(answers) <= {200, 500}
    assert set(runs.statuses) == {200}
    assert health.most_mib < MOST_MIB
    assert after_mib < AFTER_MIB
    assert health.p99_ms < WITHIN_MS
    assert runs.p99_ms < WITHIN_MS


def malformed(chance: random.Random) -> bytes:
    """Returns the bytes of one invalid or almost invalid request."""
    path = chance.choice(
        [
            "/",
            "/health",
            f"{API}/svc_action",
            f"{API}/new_account",
            "/rpc",
            "/api/triggers",
            "/webhook/x",
            "/_emulator/state",
        ]
    )
    junk = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 200)))
    body = chance.choice(
        [b"{", b"[" * 5_000, b'{"a":1e999}', b'"' + b'\\"' * 2_000, b"\xff\xfe", junk, b"{}", b"null", b'{"code":1}']
    )
    head = f"{chance.choice(['GET', 'POST', 'PUT', 'BREW', 'DELETE', 'PATCH'])} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n".encode()
    return chance.choice(
        [
            junk,
            b"GET /\r\n\r\n",
            b"GET " + b"/a" * 40_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            head,
            head + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
            head + b"Content-Length: -1\r\n\r\n",
            head + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
            head + b"Content-Length: 99999999999\r\n\r\n" + body,
            head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + junk,
            head + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            head + b"Expect: 100-continue\r\nContent-Length: 10\r\n\r\nab",
            head + b"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
            head + b"X-Api-Key: " + junk.replace(b"\n", b"") + b"\r\n\r\n",
            *[head + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body] * 8,
        ]
    )


def test_malformed_requests_cause_only_503_and_leave_nothing_open(start_emulator: Callable[..., Emulator]):
    emulator = start_emulator()
    address = urlsplit(emulator.base_url)
    where = (str(address.hostname), int(address.port or 0))
    before = steady_handles(emulator.pid)

    def send(number: int) -> str:
        chance = random.Random(number)
        with socket.create_connection(where, timeout=120) as connection:
            try:
                connection.sendall(malformed(chance))
                if chance.random() < 0.9:
                    connection.shutdown(socket.SHUT_WR)
                    data = b""
                    while chunk := connection.recv(65_536):
                        data += chunk
                    first = data.split(b"\r\n", 1)[0].decode("latin-1").split()
                    if not first:
                        return "closed"
                    return (
                        first[1] if first[1] != "503" or b"retry-after" in data.lower() else "503 without Retry-After"
                    )
            except OSError:
                return "reset"
        return "left"

    began = time.monotonic()
    with ThreadPoolExecutor(40) as pool:
        seen = Counter(pool.map(send, range(MALFORMED)))
    took_s = time.monotonic() - began
    end = time.monotonic() + 120
    while handles(emulator.pid) > before + 5 and time.monotonic() < end:
        time.sleep(0.2)
    print(  # noqa: T201 - the measured figures
        f"\n{MALFORMED} malformed requests in {took_s:.0f} s: {dict(sorted(seen.items()))}; handles {before} before, "
        f"{handles(emulator.pid)} after; memory {resident_mib(emulator.pid):.0f} MiB"
    )
    assert not [status for status in seen if status.startswith("5") and status != "503"]
    assert seen["422"] > 0, "none came as far as an endpoint"
    assert handles(emulator.pid) <= before + 5
    assert httpx.get(f"{emulator.base_url}/health", trust_env=False).status_code == 200
