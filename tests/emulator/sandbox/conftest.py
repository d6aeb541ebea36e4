"""Fixtures with a real engine on a separate event loop, a real host, and a small web server for outbound requests."""

from __future__ import annotations

import asyncio
import dataclasses
import http.server
import json
import os
import re
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import pytest

from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.addresses import AddressPolicy, AllowedAddress
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.sandbox.auto import AutoEngine
from svcnb.emulator.sandbox.fast import FastEngine
from svcnb.emulator.sandbox.host import ActionHost
from svcnb.emulator.sandbox.network import Network
from svcnb.emulator.sandbox.packages import Packages
from svcnb.emulator.sandbox.protocol import Engine, OperationRefused, Outcome
from svcnb.emulator.sandbox.v8 import V8Engine
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

T = TypeVar("T")

CID = "QmRunningAction"
WALLET = "0x00000000000000000000000000000000000000aa"
WALLET_SECRET = bytes.fromhex("4646464646464646464646464646464646464646464646464646464646464646")

_ENGINES: dict[str, Callable[..., Engine]] = {"v8": V8Engine, "fast": FastEngine, "auto": AutoEngine}


# Long timeout, because a busy machine is slow. Successful operations usually end much earlier.
PATIENCE_S = 600


class Room:
    """Runner that executes actions on one engine, and waits for their outcomes."""

    def __init__(self, loop: asyncio.AbstractEventLoop, kind: str = "v8", **engine: Any) -> None:
        self.loop = loop
        self.kind = kind
        self.custody = Custody(b"\7" * 32, Vocabulary(), Randomness("tests"))
        self.engine: Engine = self.call(self._start(kind, engine))

    @staticmethod
    async def _start(kind: str, engine: dict[str, Any]) -> Engine:
        made: Engine = _ENGINES[kind](ActionLimits(), **engine)
        await made.start()
        return made

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Waits for a coroutine on the engine's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_S)

    def host(
        self,
        *,
        network: Network | None = None,
        packages: Packages | None = None,
        headers: dict[str, str] | None = None,
        cid: str = CID,
        account: str = "",
    ) -> ActionHost:
        """Host with one wallet."""

        async def wallet_secret(pkp_id: str) -> bytes:
            if pkp_id.lower() != WALLET:
                raise OperationRefused(f"this key may not use the wallet {pkp_id}")
            return WALLET_SECRET

        return ActionHost(
            custody=self.custody,
            cid=cid,
            wallet_secret=wallet_secret,
            headers=headers or {"x-request-id": "b8bd8b8e-5d4f-4d2a-8f3e-3f0f2f1c9a11"},
            network=network or Network("deny"),
            packages=packages,
            account=account,
        )

    def submit(
        self, source: str, params: object = None, *, host: ActionHost | None = None, **limits: int
    ) -> Future[Outcome]:
        """Starts a run. `limits` are fields of `ActionLimits`. The default time limit is five minutes."""
        allowed = ActionLimits()._replace(**{"timeout_ms": 300_000, **limits})
        run = self.engine.run(source, params, allowed, host or self.host())
        return asyncio.run_coroutine_threadsafe(run, self.loop)

    def run(self, source: str, params: object = None, *, host: ActionHost | None = None, **limits: int) -> Outcome:
        """Runs an action to its end."""
        return self.submit(source, params, host=host, **limits).result(PATIENCE_S)

    def value(self, source: str, params: object = None, *, host: ActionHost | None = None, **limits: int) -> Any:
        """Returns the response of a run that must succeed."""
        outcome = self.run(source, params, host=host, **limits)
        assert outcome.ok, outcome.error
        return outcome.response

    def error(self, source: str, params: object = None, *, host: ActionHost | None = None, **limits: int) -> str:
        """Returns the error of a run that must fail."""
        outcome = self.run(source, params, host=host, **limits)
        assert not outcome.ok, outcome.response
        assert outcome.response is None
        assert outcome.error is not None
        return outcome.error

    def until(self, condition: Callable[[], bool], what: str, seconds: float = PATIENCE_S) -> None:
        """Waits for a background operation of the engine."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"still not so after {seconds} s: {what}"
            time.sleep(0.01)


def isolates(*bundles: str) -> dict[int, int]:
    """Returns the live isolates of engines in this process (pid to spawner), but not those of emulator processes.

    Args:
        bundles: Bundles that the isolates run.
    """
    return _children(*bundles)[0]


def spawners() -> set[int]:
    """Returns the processes that start isolates for the engines in this process."""
    return _children("spawner.py")[1]


def _children(*texts: str) -> tuple[dict[int, int], set[int]]:
    """Returns the grandchildren and children of this process with one of the texts in their command line."""
    found = {}
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "stat").read_text()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            fields = status.rpartition(")")[2].split()
            parents[int(entry.name)] = int(fields[1])
            if any(text.encode() in command for text in texts) and fields[0] != "Z":
                found[int(entry.name)] = int(fields[1])
    here = os.getpid()
    grandchildren = {pid: parent for pid, parent in found.items() if parents.get(parent) == here}
    return grandchildren, {pid for pid, parent in found.items() if parent == here}


@pytest.fixture(scope="package")
def engine_loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="engine loop")
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join(PATIENCE_S)
    loop.close()


@pytest.fixture(scope="package")
def rooms(engine_loop: asyncio.AbstractEventLoop) -> Iterator[Callable[[str], Room]]:
    """Engines that most tests share, by name."""
    made: dict[str, Room] = {}
    sizes: dict[str, dict[str, Any]] = {"v8": {"spares": 2}, "auto": {"spares": 2}, "fast": {"processes": 2}}

    mine: set[int] = set()

    def room_of(kind: str) -> Room:
        if kind not in made:
            before = spawners()
            made[kind] = Room(engine_loop, kind, concurrency=8, **sizes[kind])
            mine.update(spawners() - before)
        return made[kind]

    yield room_of
    for one in made.values():
        one.call(one.engine.stop())
    for one in made.values():
        one.until(
            lambda: not mine.intersection(isolates("engine.js", "fast.js").values()),
            "every isolate is gone once the engines have stopped",
        )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs tests on each engine in the list ENGINES of their module, or on the engines that support every action."""
    if "room" in metafunc.fixturenames:
        kinds = getattr(metafunc.module, "ENGINES", ("v8", "auto"))
        metafunc.parametrize("room", kinds, indirect=True, scope="package")
    if "program" in metafunc.fixturenames:
        every = getattr(metafunc.module, "EVERY", 1)
        chosen = PROGRAMS[::every]
        metafunc.parametrize("program", chosen, ids=[f"{program.area}: {program.title}" for program in chosen])


@pytest.fixture(scope="package")
def room(request: pytest.FixtureRequest, rooms: Callable[[str], Room]) -> Room:
    """Engine on which the test runs."""
    return rooms(request.param)


@dataclasses.dataclass(frozen=True)
class Program:
    """Action of the differential suite.

    Attributes:
        area: Topic of the action, which is the name of its file.
        title: Behaviour that the action shows.
        source: JavaScript text.
    """

    area: str
    title: str
    source: str


def read_programs() -> list[Program]:
    """Returns all actions of the differential suite.

    In the files, blank lines separate the actions, and a comment above each action contains its title.
    """
    found = []
    for file in sorted(Path(__file__).with_name("differential").glob("*.js")):
        for block in re.split(r"\n\n+", file.read_text(encoding="utf-8").strip()):
            title, _, source = block.partition("\n")
            found.append(Program(file.stem, title.removeprefix("// "), source))
    return found


PROGRAMS = read_programs()


@pytest.fixture(scope="package")
def programs() -> list[Program]:
    return PROGRAMS


@dataclasses.dataclass(frozen=True)
class Pair:
    """Results of one action on two engines."""

    v8: Outcome
    other: Outcome

    @property
    def trapped(self) -> bool:
        return self.other.error_kind == "unsupported"

    @property
    def same(self) -> bool:
        return self._shown(self.v8) == self._shown(self.other)

    @staticmethod
    def _shown(outcome: Outcome) -> tuple[object, ...]:
        # repr distinguishes -0.0 from 0 and True from 1, and keeps the order of members.
        return outcome.ok, repr(outcome.response), outcome.logs, outcome.error, outcome.error_kind


@pytest.fixture(scope="package")
def on_both(rooms: Callable[[str], Room]) -> Callable[..., Pair]:
    """Runs an action on `v8` and on another engine."""

    def run(source: str, params: object = None, other: str = "fast") -> Pair:
        outcomes = [rooms(kind).submit(source, params, timeout_ms=300_000) for kind in ("v8", other)]
        return Pair(*(outcome.result(PATIENCE_S) for outcome in outcomes))

    return run


@pytest.fixture
def new_room(engine_loop: asyncio.AbstractEventLoop) -> Iterator[Callable[..., Room]]:
    """Starts additional engines, for tests that stop or damage them."""
    made: list[Room] = []

    def make(**engine: Any) -> Room:
        made.append(Room(engine_loop, **engine))
        return made[-1]

    yield make
    for one in made:
        one.call(one.engine.stop())


@pytest.fixture
def live_isolates() -> Callable[[], dict[int, int]]:
    """Starts additional engines of the kind `v8`."""
    return lambda: isolates("engine.js")


@pytest.fixture
def wallet() -> tuple[str, bytes]:
    """Wallet that actions may use: its id and secret."""
    return WALLET, WALLET_SECRET


@pytest.fixture
def running_cid() -> str:
    return CID


CHAIN = {"eth_chainId": "0x2105", "eth_blockNumber": "0x10", "eth_getBalance": "0xde0b6b3a7640000"}
PAGES: dict[str, tuple[int, bytes, str, dict[str, str]]] = {
    "/price": (200, b'{"symbol":"ETH","usd":3141.59}', "application/json", {}),
    "/bytes": (200, bytes(range(256)), "application/octet-stream", {}),
    "/away": (302, b"", "text/plain", {"location": "/price"}),
    "/around": (302, b"", "text/plain", {"location": "/around"}),
    "/cookie": (200, b"set", "text/plain", {"set-cookie": "crumb=1"}),
    "/nothing": (204, b"", "text/plain", {}),
    "/teapot": (418, b"short and stout", "text/plain", {}),
    "/large": (200, b"x" * 2_000_000, "text/plain", {}),
}


class _Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen: list[tuple[str, str, dict[str, str], bytes]]

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.seen.append((self.command, self.path, dict(self.headers), body))  # type: ignore[attr-defined]
        path = self.path.partition("?")[0]
        if path == "/echo":
            self._send(200, json.dumps({"method": self.command, "body": body.decode()}).encode(), "application/json")
        elif path == "/rpc":
            asked = json.loads(body)
            reply = {"jsonrpc": "2.0", "id": asked["id"], "result": CHAIN[asked["method"]]}
            self._send(200, json.dumps(reply).encode(), "application/json")
        elif path == "/silent":
            self.server.released.wait(PATIENCE_S)  # type: ignore[attr-defined]
            self.close_connection = True
        else:
            status, content, kind, headers = PAGES.get(path, (404, b"no such page", "text/plain", {}))
            self._send(status, content, kind, **headers)

    do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815 - http.server's names

    def _send(self, status: int, body: bytes, kind: str, **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        if status != 204:
            self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Site:
    """Web server on this machine."""

    def __init__(self) -> None:
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site)
        self.server.daemon_threads = True
        self.server.seen = []  # type: ignore[attr-defined]
        self.server.released = threading.Event()  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), name="site").start()

    @property
    def seen(self) -> list[tuple[str, str, dict[str, str], bytes]]:
        """Received requests: method, path, headers, body."""
        return self.server.seen  # type: ignore[attr-defined, no-any-return]

    def close(self) -> None:
        self.server.released.set()  # type: ignore[attr-defined]
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.close()


@pytest.fixture
def open_network(engine_loop: asyncio.AbstractEventLoop) -> Iterator[Callable[..., Network]]:
    """Creates networks for one test, which can reach the servers of the test. The fixture closes them."""
    made: list[Network] = []

    def make(*args: Any, **settings: Any) -> Network:
        addresses = AddressPolicy([AllowedAddress("localhost", None)])
        made.append(Network(*args, **({"addresses": addresses} | settings)))
        return made[-1]

    yield make
    for one in made:
        asyncio.run_coroutine_threadsafe(one.close(), engine_loop).result(PATIENCE_S)


@dataclasses.dataclass(frozen=True)
class Price:
    """Recorded response of a price service, and the action that signs it for a contract.

    Attributes:
        recording: File of the recording.
        url: Requested URL.
        source: JavaScript source with the parameters ``pkpId`` and ``url``.
    """

    recording: Path
    url: str
    source: str


@pytest.fixture
def price(tmp_path: Path) -> Price:
    """Recording of the price 3141.59 at second 1 700 000 000."""
    url = "https://prices.example/v1/eth-usd"
    exchange = {
        "request": {"method": "GET", "url": url},
        "response": {
            "status": 200,
            "headers": [["content-type", "application/json"]],
            "body": '{"price":"3141.59","at":1700000000}',
        },
    }
    recording = tmp_path / "price.json"
    recording.write_text(json.dumps({"version": 1, "exchanges": [exchange]}))
    source = """async function main({ pkpId, url }) {
      const { price, at } = await (await fetch(url)).json();
      const cents = ethers.utils.parseUnits(price, 2);
      const digest = ethers.utils.solidityKeccak256(['string', 'uint256', 'uint64'], ['ETH/USD', cents, at]);
      const signer = new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId }));
      return { cents: cents.toString(), at, signature: await signer.signMessage(ethers.utils.arrayify(digest)) };
    }"""
    return Price(recording, url, source)
