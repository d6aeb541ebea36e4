"""Two servers that share a PostgreSQL database and a chain, compared with one: accepted webhooks, management writes,
runs.

    pytest tests/benchmarks -o python_files=bench_servers.py -s

The servers and the callers share one machine, so on two cores, two servers can hardly do more than one. The benchmark
measures the overhead of the shared database.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import httpx
import pytest

from svcnb.launch import Emulator

pytestmark = [pytest.mark.engine, pytest.mark.chain, pytest.mark.slow]

SEED = "servers"
CALLERS = 8
SECONDS = 4.0
ROUNDS = 3
MANY = 10**8


def rate(work: Callable[[Emulator], None], servers: list[Emulator]) -> float:
    """Returns the calls per second. Each caller uses the servers in turn."""
    end = time.perf_counter() + SECONDS

    def call(first: int) -> int:
        for done in count():
            if time.perf_counter() >= end:
                return done
            work(servers[(first + done) % len(servers)])
        raise AssertionError

    with ThreadPoolExecutor(CALLERS) as callers:
        return sum(callers.map(call, range(CALLERS))) / SECONDS


def test_two_servers_against_one(start_emulator: Callable[..., Emulator], postgres_url: str) -> None:
    chain = start_emulator(seed=SEED, action_spares=1)
    settings = {"database": postgres_url, "chain_rpc": chain.rpc_url, "seed": SEED, "starter_credits": MANY}
    limits = {"webhook_posts_per_address": MANY, "webhook_posts_per_user": MANY, "auto_approve_agents": True}
    servers = [start_emulator(**settings, **limits) for _ in range(2)]
    account = servers[0].client().accounts.create("bench")
    svc = servers[0].client(api_key=account.api_key)
    headers = {"X-Api-Key": account.api_key.reveal()}
    number = count()
    with servers[0].triggers() as triggers, httpx.Client(headers=headers, timeout=120) as http:
        # This measures the acceptance and storage of runs. The queue executes them in sequence in the background.
        hook = triggers.create_for(svc, "const main = () => 1", name="bench", max_runs_per_minute=MANY,
                                   max_queued_runs=MANY)  # fmt: skip

        def accept(server: Emulator) -> None:
            assert http.post(f"{server.base_url}/webhook/{hook.id}", json={}).status_code == 202

        def write(server: Emulator) -> None:
            body = {"group_name": f"group {next(number)}", "group_description": "",
                    "pkp_ids_permitted": [], "cid_hashes_permitted": []}  # fmt: skip
            assert http.post(f"{server.base_url}/core/v1/add_group", json=body).status_code == 200

        def run(server: Emulator) -> None:
            body = {"code": "const main = () => 1", "js_params": None}
            assert http.post(f"{server.base_url}/core/v1/svc_action", json=body).status_code == 200

        print(f"\nload average at the start {os.getloadavg()[0]:.2f}")
        for name, work in {"runs": run, "management writes": write, "webhooks accepted": accept}.items():
            seen: dict[int, list[float]] = {1: [], 2: []}
            for _ in range(ROUNDS):
                for many, found in seen.items():
                    found.append(rate(work, servers[:many]))
            one, two = (statistics.median(found) for found in seen.values())
            print(f"{name}: one server {one:.1f} a second, two {two:.1f}, ratio {two / one:.2f}")
