"""Half an hour at mixed load: memory and handles stay flat, no process stays behind, no error but those asked for.

``pytest tests/faults -o python_files=fault_soak.py -s``; `SVC_SOAK_MINUTES` chooses another length.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from svcnb.launch import Emulator

pytestmark = [
    pytest.mark.engine,
    pytest.mark.chain,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory and handles are read in /proc"),
]
SAMPLES = 60
PAGE = os.sysconf("SC_PAGE_SIZE")
RUN = """
async function main({ pkpId, n }) {
  const wallet = new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId }));
  return (await wallet.signMessage(String(n))).length;
}
"""


@dataclass(frozen=True)
class Sample:
    """One look at the emulator: megabytes, open files and processes."""

    server_mb: float
    node_mb: float
    handles: int
    processes: int


def memory_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 1e6


class Load:
    """Callers of several kinds, each in a thread, each as fast as it is answered."""

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator
        self.stopping = threading.Event()
        self.answers: Counter[str] = Counter()
        self.wrong: list[str] = []
        made = emulator.client().accounts.create("soak")
        self.key, self.wallet = made.api_key.reveal(), made.wallet_address
        svc = emulator.client(api_key=self.key)
        self.group = int(svc.groups.create("soak", wallets=[self.wallet]).id)
        with emulator.triggers() as triggers:
            self.hook = triggers.webhook("soak", "const main = () => 1;", self.key, max_runs_per_minute=10**6).id

    def call(self, http: httpx.Client, method: str, path: str, body: Any, expected: int = 200) -> None:
        answer = http.request(method, path, json=body, headers={"X-Api-Key": self.key})
        self.answers[f"{path.rpartition('/')[2] if 'webhook' not in path else 'webhook'} {answer.status_code}"] += 1
        if answer.status_code != expected:
            self.wrong.append(f"{path}: {answer.status_code} {answer.text[:200]}")

    def work(self, step: Callable[[httpx.Client, int], None]) -> None:
        with httpx.Client(base_url=self.emulator.client().base_url, timeout=120, trust_env=False) as http:
            number = 0
            while not self.stopping.is_set():
                number += 1
                step(http, number)

    def steps(self) -> list[Callable[[httpx.Client, int], None]]:
        api = "/core/v1"

        def run(http: httpx.Client, number: int) -> None:
            body = {"code": RUN, "js_params": {"pkpId": self.wallet, "n": number}}
            self.call(http, "POST", f"{api}/svc_action", body)

        def fail(http: httpx.Client, number: int) -> None:
            code = "async function main() { throw new Error('as asked'); }" if number % 2 else "syntax error here"
            self.call(http, "POST", f"{api}/svc_action", {"code": code, "js_params": None}, 500)

        def manage(http: httpx.Client, number: int) -> None:
            action = {"group_id": self.group, "action_ipfs_cid": f"Qm{number % 7:044d}".replace("0", "1")}
            self.call(http, "POST", f"{api}/add_action_to_group", action)
            body = {"group_id": self.group, "name": f"soak {number}", "description": "", "pkp_ids_permitted": []}
            self.call(http, "POST", f"{api}/update_group", body)
            time.sleep(0.2)  # writes stay in the chain's memory: a few a second are a busy account

        def read(http: httpx.Client, number: int) -> None:
            for path in ("list_groups", "list_wallets", "billing/balance", "account_exists"):
                self.call(http, "GET", f"{api}/{path}?page_number={number % 3}&page_size=10", None)
            time.sleep(0.05)

        def pay(http: httpx.Client, _number: int) -> None:
            intent = http.post(
                f"{api}/billing/create_payment_intent", json={"amount_cents": 500}, headers={"X-Api-Key": self.key}
            ).json()["payment_intent_id"]
            self.emulator.processor(intent, "succeeded")
            self.call(http, "POST", f"{api}/billing/confirm_payment", {"payment_intent_id": intent})
            time.sleep(0.2)

        def fire(http: httpx.Client, number: int) -> None:
            self.call(http, "POST", f"/webhook/{self.hook}", {"n": number}, 202)
            time.sleep(0.25)

        return [run, fail, manage, read, pay, fire]


def median(samples: list[Sample], name: str) -> float:
    return float(statistics.median(getattr(sample, name) for sample in samples))


def test_memory_and_handles_stay_flat_under_mixed_load(
    start_emulator: Callable[..., Emulator], find_processes: Callable[..., list[int]], tmp_path: Path
) -> None:
    seconds = float(os.environ.get("SVC_SOAK_MINUTES", "30")) * 60
    many = 10**9
    emulator = start_emulator(
        state=str(tmp_path / "state"),
        starter_credits=many,
        webhook_posts_per_address=many,
        webhook_posts_per_user=many,
        auto_approve_agents=True,
    )
    load = Load(emulator)
    threads = [threading.Thread(target=load.work, args=(step,), daemon=True) for step in load.steps()]
    for thread in threads:
        thread.start()
    samples, begun = [], time.monotonic()
    for _ in range(SAMPLES):
        load.stopping.wait(seconds / SAMPLES)
        everything = find_processes(emulator, "everything")
        (node,) = find_processes(emulator, "chain node")
        handles = len(list(Path(f"/proc/{emulator.pid}/fd").iterdir()))
        samples.append(Sample(memory_mb(emulator.pid), memory_mb(node), handles, len(everything)))
    load.stopping.set()
    took = time.monotonic() - begun
    for thread in threads:
        thread.join(180)
        assert not thread.is_alive(), "a call was never answered"
    left = find_processes(emulator, "everything")
    emulator.stop()
    # The first third warms up: spares, caches, the allocator's pools.
    early, late = samples[SAMPLES // 3 : 2 * SAMPLES // 3], samples[-SAMPLES // 3 :]
    for name in ("server_mb", "node_mb", "handles", "processes"):
        print(f"{name}: {median(early, name):.0f} in the middle third, {median(late, name):.0f} in the last")  # noqa: T201
    print(f"{load.answers.total()} answers in {took:.0f} s: {dict(load.answers)}")  # noqa: T201
    assert not load.wrong, load.wrong[:5]
    assert median(late, "server_mb") <= median(early, "server_mb") * 1.10 + 10
    assert median(late, "handles") <= median(early, "handles") + 5
    assert median(late, "processes") <= median(early, "processes") + 2
    assert not [pid for pid in left if Path(f"/proc/{pid}").exists()], "a process stayed behind"
