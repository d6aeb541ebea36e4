"""An emulator whose processes the test kills at random times, and a check of the data afterwards."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from svcnb.launch import Emulator

API: Final = "/core/v1"
STARTER: Final = 100_000
PATIENCE_S: Final = 60
VICTIMS: Final = ("server", "chain node", "chain keeper", "spawner", "an isolate", "everything")
CODE: Final = """
async function main({ pkpId, n }) {
  return [new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId })).address.toLowerCase(), n];
}
"""
# Endpoint, and the expected state of the contract afterwards.
BILLED: Final = ("add_group", "create_wallet", "add_usage_api_key")


Find = Callable[[Emulator, str], list[int]]


@dataclass
class Worker:
    """Account, and the results of all its calls.

    Attributes:
        acknowledged: Name or value of each successful call (status 200), by endpoint.
        in_doubt: Number of calls of an endpoint without a response, or with 503.
        statuses: Number of responses with each status.
    """

    number: int
    seed: int
    key: str = ""
    wallet: str = ""
    acknowledged: dict[str, list[Any]] = field(default_factory=dict)
    in_doubt: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed * 1_000 + self.number)

    def step(self, base_url: str) -> None:
        """Makes one call, and records its result."""
        with httpx.Client(base_url=base_url, timeout=PATIENCE_S, trust_env=False) as http:
            self.count += 1
            name = f"{self.number}.{self.count}"
            kind = self.chance.choice(("add_group", "create_wallet", "add_usage_api_key", "svc_action", "pay"))
            if kind == "pay":
                self._pay(http)
            elif kind == "svc_action":
                wallet = self.chance.choice([self.wallet, *self.acknowledged.get("create_wallet", [])])
                answer = self._call(http, kind, {"code": CODE, "js_params": {"pkpId": wallet, "n": self.count}})
                if answer is not None and answer["response"] != [wallet, self.count]:
                    self.wrong.append(f"wallet {wallet} acted as {answer['response']}")
            else:
                body = {
                    "add_group": {"group_name": name, "group_description": ""},
                    "create_wallet": {},
                    "add_usage_api_key": {"name": name, "description": "", "execute_in_groups": [0]},
                }[kind]
                self._call(http, kind, body, name)

    def _call(self, http: httpx.Client, kind: str, body: Any, name: str = "") -> Any:
        try:
            answer = http.post(f"{API}/{kind}", json=body, headers={"X-Api-Key": self.key})
        except httpx.HTTPError:
            self.in_doubt[kind] += 1
            self.statuses["no answer"] += 1
            return None
        self.statuses[str(answer.status_code)] += 1
        if answer.status_code == 200:
            found = answer.json()
            value = found.get("wallet_address") or found.get("usage_api_key") or name
            self.acknowledged.setdefault(kind, []).append((name, value) if "usage_api_key" in found else value)
            return found
        self.in_doubt[kind] += 1
        if answer.status_code == 503 and "nothing was charged" in answer.text:
            return None
        if kind == "svc_action" and answer.status_code == 500 and isinstance(answer.json(), str):
            return None  # the kill ended the execution's own process
        self.wrong.append(f"{kind} answered {answer.status_code}: {answer.text[:300]}")
        return None

    def _pay(self, http: httpx.Client) -> None:
        made = self._call(http, "billing/create_payment_intent", {"amount_cents": 500})
        if made is None:
            return
        place = f"/processor/v1/payment_intents/{made['payment_intent_id']}/confirm"
        with suppress(httpx.HTTPError):
            key = http.get(f"{API}/billing/processor_config").json()["publishable_key"]
            paid = {"key": key, "client_secret": made["client_secret"], "payment_method": "card"}
            http.post(place, json=paid)
            self._confirm(http, made["payment_intent_id"])

    def _confirm(self, http: httpx.Client, intent: str) -> None:
        # Make the call twice on purpose, because the repetition must not add credit.
        for _ in range(2):
            answer = http.post(
                f"{API}/billing/confirm_payment",
                json={"payment_intent_id": intent},
                headers={"X-Api-Key": self.key},
            )
            if answer.status_code == 200 and intent not in self.acknowledged.setdefault("paid", []):
                self.acknowledged["paid"].append(intent)


class Ordeal:
    """An emulator, its users, and a thread that kills its processes."""

    def __init__(self, state: Path, find: Find, *, workers: int, seed: int) -> None:
        self.find = find
        self.state = state
        self.chance = random.Random(seed)
        self.workers = [Worker(number, seed) for number in range(workers)]
        self.recovered: dict[str, list[float]] = {}
        self.stopping = threading.Event()
        self.emulator = self._start()

    def _start(self, port: int = 0) -> Emulator:
        return Emulator(
            state=str(self.state), port=port, starter_credits=STARTER, action_spares=1, start_timeout=2 * PATIENCE_S
        )

    def run(self, kills: int) -> str:
        """Runs the complete test. Returns a sentence with the counts."""
        begun = time.monotonic()
        for worker in self.workers:
            made = self.emulator.client().accounts.create(f"worker {worker.number}")
            worker.key, worker.wallet = made.api_key.reveal(), made.wallet_address
        self.base_url = self.emulator.client().base_url
        self.probe = self.emulator.client().accounts.create("probe").api_key.reveal()
        threads = [threading.Thread(target=self._work, args=(worker,), daemon=True) for worker in self.workers]
        for thread in threads:
            thread.start()
        for number in range(kills):
            time.sleep(self.chance.uniform(0.05, 0.7))
            self._kill(VICTIMS[number % len(VICTIMS)])
        self.stopping.set()
        for thread in threads:
            thread.join(3 * PATIENCE_S)
            assert not thread.is_alive()
        for worker in self.workers:
            self._check_alive(worker)
        self.emulator.stop()
        self._check_books()
        return self._sentence(kills, time.monotonic() - begun)

    def _work(self, worker: Worker) -> None:
        while not self.stopping.is_set():
            worker.step(self.base_url)

    def _kill(self, victim: str) -> None:
        victims = self.find(self.emulator, victim)
        for pid in victims:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        begun = time.monotonic()
        if self.emulator.pid in victims:
            port = int(self.base_url.rpartition(":")[2])
            self.emulator.stop()
            self.emulator = self._start(port)
        self._wait_until_whole()
        self.recovered.setdefault(victim, []).append(time.monotonic() - begun)

    def _wait_until_whole(self) -> None:
        """Waits until a write and an execution succeed without any intervention."""
        deadline = time.monotonic() + 2 * PATIENCE_S
        calls = [("create_wallet", {}), ("svc_action", {"code": "const main = () => 1;"})]
        while calls:
            assert time.monotonic() < deadline, f"not whole again: {calls[0][0]}\n{self.emulator.log}"
            with suppress(httpx.HTTPError):
                answer = httpx.post(
                    f"{self.base_url}{API}/{calls[0][0]}",
                    json=calls[0][1],
                    headers={"X-Api-Key": self.probe},
                    timeout=PATIENCE_S,
                    trust_env=False,
                )
                if answer.status_code == 200:
                    calls.pop(0)

    def _check_alive(self, worker: Worker) -> None:
        """Checks that no acknowledged change is lost, and that every key still works."""
        assert not worker.wrong, worker.wrong
        svc = self.emulator.client(api_key=worker.key)
        groups, keys = [group.name for group in svc.groups.list()], [key.name for key in svc.usage_keys.list()]
        wallets = [wallet.address for wallet in svc.wallets.list() if wallet.name == "Wallet"]
        attached = [wallet for wallet in svc.wallets.list() if wallet.name == "API Key Wallet"]
        known = {"add_group": groups, "create_wallet": wallets, "add_usage_api_key": keys}
        for kind in BILLED:
            mine = [made[0] if isinstance(made, tuple) else made for made in worker.acknowledged.get(kind, [])]
            assert not set(mine) - set(known[kind]), f"{kind}: acknowledged and lost"
            assert len(set(known[kind])) == len(known[kind]), f"{kind}: done twice"
            assert len(known[kind]) <= len(mine) + worker.in_doubt[kind], f"{kind}: done without being asked"
        assert len(attached) == len(keys), "a usage key without its wallet, or a wallet without its key"
        for _, usage_key in worker.acknowledged.get("add_usage_api_key", [])[-3:]:
            assert svc.with_key(usage_key).run("const main = () => 7;").response == 7
        for wallet in worker.acknowledged.get("create_wallet", [])[-3:]:
            assert svc.run(CODE, {"pkpId": wallet, "n": 0}).response == [wallet, 0], "a wallet has another key now"
            worker.acknowledged.setdefault("svc_action", []).append("")
        for _ in worker.acknowledged.get("add_usage_api_key", [])[-3:]:
            worker.acknowledged.setdefault("svc_action", []).append("")
        self.effects = getattr(self, "effects", {}) | {worker.number: {kind: len(known[kind]) for kind in BILLED}}

    def _check_books(self) -> None:
        """Checks that each acknowledged call has one charge, each charge has an effect, and the sums are correct."""
        from svcnb.emulator.billing.ledger import Ledger
        from svcnb.emulator.platform.clock import Clock
        from svcnb.emulator.platform.store import Store

        place = self.state / "svcnb.db"
        store = Store(f"sqlite:///{place}")
        try:
            assert asyncio.run(Ledger(store, Clock()).verify()) == []
        finally:
            store.close()
        with closing(sqlite3.connect(place)) as database:
            assert database.execute("SELECT count(*) FROM chain_journal_cut").fetchone() == (0,)
            for worker in self.workers:
                rows = database.execute(
                    "SELECT kind, reason, cents, reference FROM ledger_entries WHERE account = ?", (worker.wallet,)
                ).fetchall()
                charged = Counter(reason for kind, reason, _, _ in rows if kind == "charge")
                for kind in BILLED:
                    made = len(worker.acknowledged.get(kind, []))
                    assert made <= charged[kind] <= self.effects[worker.number][kind], f"{kind} and its charges"
                runs = len(worker.acknowledged.get("svc_action", []))
                assert runs <= charged["svc_action"] <= runs + worker.in_doubt["svc_action"]
                paid = [reference for kind, _, _, reference in rows if kind == "payment"]
                assert len(set(paid)) == len(paid)
                assert {f"payment:{intent}" for intent in worker.acknowledged.get("paid", [])} <= set(paid)
                assert sum(cents for kind, _, cents, _ in rows if kind == "payment") == 500 * len(paid)

    def _sentence(self, kills: int, seconds: float) -> str:
        acknowledged = sum(len(made) for worker in self.workers for made in worker.acknowledged.values())
        doubtful = sum(worker.in_doubt.total() for worker in self.workers)
        slowest = {victim: f"{max(times):.1f} s" for victim, times in self.recovered.items()}
        return (
            f"{kills} kills: {acknowledged} acknowledged, none lost; {doubtful} unanswered, none charged without its "
            f"effect; slowest recovery {slowest}; {seconds:.0f} s"
        )

    def close(self) -> None:
        """Stops everything."""
        self.stopping.set()
        self.emulator.stop()


@pytest.fixture
def ordeal(tmp_path: Path, find_processes: Find) -> Iterator[Callable[..., str]]:
    """Runs the test, and returns its results: ``ordeal(workers=2, kills=6, seed=1)``."""
    made: list[Ordeal] = []

    def run(*, workers: int, kills: int, seed: int) -> str:
        made.append(Ordeal(tmp_path / "state", find_processes, workers=workers, seed=seed))
        return made[-1].run(kills)

    yield run
    for each in made:
        each.close()
