"""A triggers service without HTTP: a real database, the emulator's real clock, and a scripted execution."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.platform.store import Store
from svcnb.emulator.triggers import store as tables
from svcnb.emulator.triggers.admission import admit
from svcnb.emulator.triggers.encryption import UsageKeyEncryption
from svcnb.emulator.triggers.execution import RunCall
from svcnb.emulator.triggers.identity import DEFAULT_EMAIL, user_of
from svcnb.emulator.triggers.outcomes import Answer
from svcnb.emulator.triggers.queue import RetryPolicy, RunQueues

START = 1_900_000_000.0
PATIENCE_S = 300
IDLE_LOOKS = 400
"""Number of consecutive reads with a waiting run and no open queue, after which no worker will execute the run."""


class Scripted:
    """Execution with scripted responses, which records its requests and their times.

    Args:
        clock: Clock for the recorded times.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.answers: dict[str, list[Answer]] = {}
        self.calls: list[RunCall] = []
        self.times: list[float] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.running: set[str] = set()
        self.most_at_once = 0
        self._called = asyncio.Condition()

    async def __call__(self, call: RunCall) -> Answer:
        self.running.add(call.run_id)
        self.most_at_once = max(self.most_at_once, len(self.running))
        self.calls.append(call)
        self.times.append(self.clock.now())
        async with self._called:
            self._called.notify_all()
        try:
            if gate := self.gates.get(call.code):
                await gate.wait()
            else:
                await asyncio.sleep(0)
        finally:
            self.running.discard(call.run_id)
        script = self.answers.get(call.code)
        return script.pop(0) if script else Answer(200, {"response": call.params, "logs": "", "has_error": False})

    async def close(self) -> None:
        pass

    async def calls_made(self, count: int) -> list[RunCall]:
        """Waits until the execution has received this number of requests."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.calls_made_without_a_timer(count)

    async def calls_made_without_a_timer(self, count: int) -> list[RunCall]:
        """Waits like `calls_made`, but without a limit. The caller must set one."""
        async with self._called:
            await self._called.wait_for(lambda: len(self.calls) >= count)
        return self.calls


class Parts:
    """Triggers service without HTTP."""

    def __init__(self, store: Store, clock: Clock, *, policy: RetryPolicy, **options: Any) -> None:
        self.store = store
        self.clock = clock
        self.encryption = UsageKeyEncryption(bytes(range(32)), Randomness())
        self.execution = Scripted(clock)
        self.queues = RunQueues(store, clock, self.execution, encryption=self.encryption, policy=policy, **options)
        self.made = 0

    async def trigger(self, kind: str = "webhook", config: dict[str, Any] | None = None, **columns: Any) -> Any:
        """Inserts a trigger directly into its table."""
        self.made += 1
        identifier = f"00000000-0000-4000-8000-{self.made:012d}"
        user = user_of(columns.pop("email", DEFAULT_EMAIL))
        values = {
            "id": identifier,
            "user_id": user.id,
            "name": f"trigger {self.made}",
            "kind": kind,
            "action_code": f"code {self.made}",
            "action_cid": "Qm",
            "default_params": "{}",
            "sealed_usage_key": self.encryption.encrypt("usage key", identifier),
            "config": tables.to_json(config or {}),
            "enabled": True,
            "created_at": self.clock.now(),
            "updated_at": self.clock.now(),
            "watermark": self.clock.now(),
        } | columns

        def work(connection):
            from svcnb.emulator.triggers.identity import _ensure

            _ensure(connection, user)
            return tables.add_trigger(connection, values)

        return await self.store.run(work)

    async def run(self, trigger: Any, identifier: str, given: object = None) -> str:
        """Admits a run, and wakes its queue."""
        now = self.clock.now()
        text = tables.to_json({} if given is None else given)
        await self.store.run(lambda connection: admit(connection, trigger, identifier, text, now))
        self.queues.wake(trigger.id)
        return identifier

    async def runs(self, trigger: Any) -> list[tables.RunRecord]:
        """Returns a trigger's runs, oldest first."""
        found = await self.store.run(lambda connection: tables.list_runs(connection, trigger.id, 1000, 0))
        return found[::-1]

    async def until(self, trigger: Any, condition: Callable[[list[tables.RunRecord]], bool]) -> list[tables.RunRecord]:
        """Waits until the trigger's runs have the expected state."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition(found := await self.runs(trigger)):  # noqa: ASYNC110 - rows tell nobody of a change
                await asyncio.sleep(0.005)
        return found

    async def ended(self, trigger: Any) -> list[tables.RunRecord]:
        """Waits until all runs of a trigger have ended. Fails if no worker will execute the runs."""
        idle = 0

        def all_ended(found: list[tables.RunRecord]) -> bool:
            nonlocal idle
            idle = 0 if self.queues.count else idle + 1
            done = all(run.finished_at is not None for run in found)
            assert done or idle < IDLE_LOOKS, f"nobody works on {[(run.id, run.status) for run in found]}"
            return done

        return await self.until(trigger, all_ended)

    async def until_changed(self, trigger: Any, column: str, value: object) -> None:
        """Waits until a column of a trigger has a different value."""
        async with asyncio.timeout(PATIENCE_S):
            while getattr(await self._now(trigger), column) == value:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.005)

    async def _now(self, trigger: Any) -> tables.TriggerRecord:
        found = await self.store.run(lambda connection: tables.find_trigger(connection, trigger.id))
        assert found is not None
        return found

    async def change(self, trigger: Any, **columns: Any) -> None:
        """Changes columns of a trigger."""
        await self.store.run(lambda connection: tables.change_trigger(connection, trigger.id, columns))


@pytest.fixture
def clock() -> Clock:
    """Clock that is frozen until a test advances it."""
    return Clock(START)


@pytest.fixture(params=["file", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of a database of each kind."""
    if request.param == "file":
        return f"sqlite:///{tmp_path / 'state.sqlite'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    """URL of a database that stores its data."""
    opened = Store(database)
    yield opened
    opened.close()


@pytest.fixture
async def parts(store: Store, clock: Clock) -> AsyncIterator[Parts]:
    """Triggers service that executes runs."""
    made = Parts(store, clock, policy=RetryPolicy(3, retry_thrown=False))
    await made.queues.start()
    yield made
    for gate in made.execution.gates.values():
        gate.set()
    await made.queues.stop(1)


@pytest.fixture
def make_parts(store: Store, clock: Clock) -> Callable[..., Parts]:
    """Creates other triggers services on the same database, without starting them."""
    return lambda **options: Parts(store, clock, **({"policy": RetryPolicy(3, retry_thrown=False)} | options))


# --- complete emulator in the test's own event loop ------------------------------------------------------------------


class Door:
    """Raw HTTP client of an emulator in this process, independent of the project's client.

    Args:
        service: Components of the emulator.
        app: Application of the emulator.
    """

    def __init__(self, service: Any, app: Any) -> None:
        self.service = service
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=("127.0.0.1", 1))
        self.http = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=PATIENCE_S)
        self.token = "door-token-" + "x" * 32
        self.control = {"Authorization": f"Bearer {service.control_token}"}

    async def ask(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        """Sends a request with the approved token. ``body`` becomes JSON."""
        headers = {"Authorization": f"Bearer {self.token}"} | options.pop("headers", {})
        if body is not None:
            options["json"] = body
        return await self.http.request(method, path, headers=headers, **options)

    async def ok(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """Sends a request that must succeed."""
        answer = await self.ask(method, path, body)
        assert answer.status_code == status, (path, answer.status_code, answer.text)
        return answer.json() if answer.content else None

    async def core(self, path: str, key: str | None = None, body: Any = None) -> Any:
        """Sends a POST request to the core API, which must succeed."""
        headers = {} if key is None else {"X-Api-Key": key}
        answer = await self.http.post(f"/core/v1/{path}", json={} if body is None else body, headers=headers)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.json()

    async def account(self, cents: int = 100_000) -> str:
        """Creates an account with credit, and returns its key."""
        made = await self.core("new_account", body={"account_name": "triggers"})
        wallet = made["wallet_address"]
        order = {"wallet_address": wallet, "cents": cents}
        answer = await self.http.post("/_emulator/credit", json=order, headers=self.control)
        assert answer.status_code == 200, answer.text
        return str(made["api_key"])

    async def trigger(self, key: str, code: str, kind: str = "webhook", **members: Any) -> dict[str, Any]:
        """Creates a trigger."""
        body = {"name": "t", "kind": kind, "action_code": code, "usage_api_key": key, "config": {}} | members
        return dict(await self.ok("POST", "/api/triggers", body))

    async def post(self, trigger: dict[str, Any], content: bytes = b"x", **headers: str) -> str:
        """Sends a webhook post that the service must accept. Returns the run's id."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await self.http.post(f"/webhook/{trigger['id']}", content=content, headers=named)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["run_id"])

    async def runs(self, trigger: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
        """Returns a page of runs, newest first."""
        answer = await self.ask("GET", f"/api/triggers/{trigger['id']}/runs", params=query)
        assert answer.status_code == 200, answer.text
        return list(answer.json()["runs"])

    async def ended(self, trigger: dict[str, Any], count: int = 1) -> list[dict[str, Any]]:
        """Waits until this number of runs have ended, and returns these runs, oldest first."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                found = await self.runs(trigger, limit=100)
                if sum(run["finished_at"] is not None for run in found) >= count:
                    return found[::-1]
                await asyncio.sleep(0.01)


@pytest.fixture
async def make_door() -> AsyncIterator[Callable[..., Any]]:
    """Starts an emulator with other settings, which stops after the test."""
    from svcnb.emulator.main import build_app
    from svcnb.emulator.service import Service
    from svcnb.emulator.settings import Settings

    opened: list[Door] = []

    async def make(**settings: Any) -> Door:
        service = Service(Settings.load({}, **({"action_spares": 1, "auto_approve_agents": True} | settings)))
        service.address.url = "http://127.0.0.1"
        await service.start()
        door = Door(service, build_app(service))
        opened.append(door)
        return door

    yield make
    for door in opened:
        await door.http.aclose()
        await door.service.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def door() -> AsyncIterator[Door]:
    """Emulator that the tests of a module share. Its clock is frozen, so rate limits do not expire."""
    from svcnb.emulator.main import build_app
    from svcnb.emulator.service import Service
    from svcnb.emulator.settings import Settings

    knobs = {"clock": f"frozen@{int(START)}", "webhook_posts_per_address": 100_000, "webhook_posts_per_user": 100_000}
    service = Service(Settings.load({}, action_spares=1, auto_approve_agents=True, **knobs))
    service.address.url = "http://127.0.0.1"
    await service.start()
    made = Door(service, build_app(service))
    yield made
    await made.http.aclose()
    await service.stop()
