"""Two servers that share a PostgreSQL database and a chain.

Each server can read the writes of the other. After a kill of one server, the other one continues its work.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

import svcnb
from svcnb.client.errors import OutOfCredit, SvcnbError
from svcnb.control import EmulatorError
from svcnb.launch import Emulator

pytestmark = [pytest.mark.engine, pytest.mark.chain, pytest.mark.slow]

SEED = "two servers"
MANY = 10**6


@pytest.fixture
def chain(start_emulator: Callable[..., Emulator]) -> Emulator:
    """Chain of a third emulator with the same keys, which own the contract and have ether."""
    return start_emulator(seed=SEED, action_spares=1)


@pytest.fixture
def start_server(
    chain: Emulator, postgres_url: str, start_emulator: Callable[..., Emulator]
) -> Callable[..., Emulator]:
    def start(starter_credits: int = 1_000, **more: Any) -> Emulator:
        return start_emulator(
            database=postgres_url,
            chain_rpc=chain.rpc_url,
            seed=SEED,
            starter_credits=starter_credits,
            action_spares=1,
            auto_approve_agents=True,
            webhook_posts_per_address=MANY,
            webhook_posts_per_user=MANY,
            allow_address=["127.0.0.1"],
            **more,
        )

    return start


def test_each_server_reads_the_writes_of_the_other(start_server: Callable[..., Emulator]) -> None:
    one, two = start_server(), start_server()
    account = one.client().accounts.create("shared")
    here, there = one.client(api_key=account.api_key), two.client(api_key=account.api_key)

    # Both servers send transactions for the same payers at the same time.
    with ThreadPoolExecutor(8) as callers:
        made = list(callers.map(lambda n: (here, there)[n % 2].groups.create(f"group {n}"), range(12)))
    assert len({group.id for group in made}) == 12
    assert Counter(group.name for group in here.groups.list()) == Counter(f"group {n}" for n in range(12))
    assert Counter(group.name for group in there.groups.list()) == Counter(f"group {n}" for n in range(12))

    action = svcnb.Action("const main = ({ n }) => n + 1")
    key = here.usage_keys.create("runner", execute_in_groups=[here.groups.create("adders", actions=[action])])
    ran = there.with_key(key).run(action, n=41, until_effective=300)
    assert ran.response == 42
    # Twelve groups, another group and the key cost one cent each. The run costs one cent, or more on a slow machine.
    left = 1_000 - 14 - two.run_record(ran.request_id)["cost_cents"]
    assert here.billing.balance().available_cents == there.billing.balance().available_cents == left


def test_both_servers_share_the_credit_and_a_killed_one_releases_its_holds(
    start_server: Callable[..., Emulator], outside: Any
) -> None:
    # The run must not end for lack of a second cent.
    doomed = start_server(starter_credits=10, funds_check_ms=600_000)
    staying = start_server(starter_credits=10)
    account = doomed.client().accounts.create("thrifty")
    here, there = doomed.client(api_key=account.api_key), staying.client(api_key=account.api_key)

    def spend(n: int) -> bool:
        try:
            (here, there)[n % 2].groups.create(f"group {n}")
        except OutOfCredit:
            return False
        return True

    # Each call costs one cent, and one of ten cents remains for the next step.
    with ThreadPoolExecutor(8) as callers:
        made = sum(callers.map(spend, range(9)))
        assert made == 9 == 10 - there.billing.balance().available_cents
        # The run reserves the last cent until its end, which does not happen.
        waits = "const main = async ({ url }) => { await fetch(url, { method: 'POST', body: '{}' }); for (;;) ; }"
        running = callers.submit(lambda: here.with_options(retries=0).run(svcnb.Action(waits), url=outside.url))
        until = time.monotonic() + 120
        while not outside.marks:
            assert time.monotonic() < until, "the run does not begin"
            time.sleep(0.01)
        assert not any(callers.map(spend, [1] * 8))
        os.kill(doomed.pid, signal.SIGKILL)
        with pytest.raises(SvcnbError):
            running.result()
    until = time.monotonic() + 120
    while not spend(1):  # the database detects the closed connection, and releases the hold
        assert time.monotonic() < until, "what the killed server held is not free"
        time.sleep(0.01)
    assert not spend(1)
    assert there.billing.balance().available_cents == 0
    assert len(there.groups.list()) == 10


def test_a_server_with_a_built_in_chain_does_not_share_its_database(
    postgres_url: str, start_emulator: Callable[..., Emulator]
) -> None:
    settings: dict[str, Any] = {"database": postgres_url, "seed": SEED, "action_spares": 1}
    first = start_emulator(**settings)
    with pytest.raises(EmulatorError, match="another server runs its own chain in this database"):
        start_emulator(**settings)
    account = first.client().accounts.create("kept")
    os.kill(first.pid, signal.SIGKILL)
    first.stop()

    second = start_emulator(**settings)
    assert second.client(api_key=account.api_key).accounts.exists()


def test_the_other_server_continues_the_runs_of_a_killed_one(
    start_server: Callable[..., Emulator], outside: Any, mark: str
) -> None:
    doomed, staying = start_server(), start_server()
    account = doomed.client().accounts.create("shared")
    svc = staying.client(api_key=account.api_key)
    with doomed.triggers() as made_by, staying.triggers() as triggers:
        options: dict[str, Any] = {"max_runs_per_minute": MANY, "default_params": {"url": outside.url}}
        hooks = [made_by.create_for(svc, mark, name=f"hook {n}", **options) for n in range(3)]
        accepted: list[tuple[str, str]] = []

        def post(n: int) -> None:
            hook = hooks[n % 3]
            for server in (doomed, staying)[:: 1 if n % 2 else -1]:
                body = {"n": n, "trigger": n % 3}
                try:
                    answer = httpx.post(f"{server.base_url}/webhook/{hook.id}", json=body, timeout=60, trust_env=False)
                except httpx.TransportError:
                    continue  # the server no longer exists, and a load balancer then uses the next server
                assert answer.status_code == 202, answer.text
                accepted.append((hook.id, answer.json()["run_id"]))
                return
            raise AssertionError("no server answers")

        with ThreadPoolExecutor(6) as senders:
            futures = [senders.submit(post, n) for n in range(36)]
            futures[12].result()
            os.kill(doomed.pid, signal.SIGKILL)
            for future in futures:
                future.result()

        assert len({run for _, run in accepted}) == 36
        for hook_id, run_id in accepted:
            run = triggers.wait_for_run(hook_id, run_id, timeout=600)
            assert run.status == "success", run.error
        records = {run.id: run for hook in hooks for run in triggers.runs(hook)}
        marks = Counter(mark["run"] for mark in outside.marks)
        # Every accepted run had an effect. Only runs that the kill interrupted had two.
        assert set(marks) == set(records) >= {run for _, run in accepted}
        assert sum(marks.values()) - len(marks) <= len(hooks)
        # The other server writes, because the kill released the payers of the first one.
        assert svc.groups.create("afterwards").id
