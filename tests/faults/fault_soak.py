"""Soak test of half an hour. Memory and handles stay constant, no process remains, and only expected errors occur.

Run ``pytest tests/faults -o python_files=fault_soak.py -s``. ``SVC_SOAK_MINUTES`` sets the duration.
"""

from __future__ import annotations

import itertools
import os
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from svcnb import LocalSigner
from svcnb.launch import Emulator

pytestmark = [
    pytest.mark.engine,
    pytest.mark.chain,
    pytest.mark.skipif(sys.platform != "linux", reason="memory and handles are read in /proc"),
]

API: Final = "/core/v1"
MANY: Final = 10**9
SAMPLES: Final = 60
PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
TIMEOUT_MS: Final = 15_000

SIGN: Final = """
async function main({ pkpId, n }) {
  const wallet = new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId }));
  return (await wallet.signMessage(String(n))).length;
}
"""
COUNT: Final = "const main = ({ n }) => { console.log('n', n); return n + 1; };"
FETCH: Final = "const main = async ({ url }) => (await fetch(url)).status;"
# Faulty actions and hostile actions, all of which return a 500 and cost nothing.
BROKEN: Final = (
    "async function main() { throw new Error('as asked'); }",
    "syntax error here",
    "const main = () => Svc.Actions.getPrivateKey({ pkpId: '0x' + '11'.repeat(20) });",
)
HOSTILE: Final = (
    "const main = () => { for (;;); };",
    "const main = () => { const held = []; for (;;) held.push(new Uint8Array(4e6).fill(1)); };",
    "const main = () => { for (;;) console.log('spam'.repeat(100)); };",
    "const main = () => 'x'.repeat(1048577);",
    "const main = async () => { for (;;) await fetch('http://127.0.0.1:1/').catch(() => {}); };",
)


@dataclass(frozen=True)
class Sample:
    """One measurement of an emulator."""

    server_mb: float
    node_mb: float
    others_mb: float
    handles: int
    processes: int
    state_mb: float


def resident_mb(pid: int) -> float:
    """Returns the memory of a process, or 0 if it has just ended."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES / 1e6
    return 0.0


class Load:
    """Callers of every kind, each in a separate thread and with its own interval.

    Args:
        emulator: Emulator that they call.
    """

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator
        self.stopping = threading.Event()
        self.answers: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.injected = self.shed = 0
        made = emulator.client().accounts.create("soak")
        self.key, self.wallet = made.api_key.reveal(), made.wallet_address
        svc = emulator.client(api_key=self.key)
        self.group = int(svc.groups.create("soak", wallets=[self.wallet]).id)
        self.triggers = emulator.triggers()
        at_will: dict[str, Any] = {"max_runs_per_minute": 10**6, "max_queued_runs": 10**6}
        self.hooks = [
            self.triggers.webhook("hook", COUNT.replace("{ n }", "{ event: { n } }"), self.key, **at_will),
            self.triggers.schedule("schedule", "const main = () => 1;", self.key, cron="*/30 * * * * *", **at_will),
            self.triggers.chain_event(
                "event",
                "const main = ({ event }) => event.block_number;",
                self.key,
                chain="base",
                contract=emulator.contract_address,
                event="GroupUpdated(uint256,uint256)",
                **at_will,
            ),
        ]

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Runs all callers until the end of the block, and then waits for all responses."""
        paces: dict[Callable[[httpx.Client, int], None], float] = {
            self.run: 3, self.read: 5, self.manage: 1, self.pay: 0.5, self.fire: 1,
            self.break_: 0.5, self.attack: 0.05, self.mint: 0.1, self.control: 0.2,
        }  # fmt: skip
        threads = [threading.Thread(target=self._work, args=item, daemon=True) for item in paces.items()]
        for thread in threads:
            thread.start()
        yield
        self.stopping.set()
        for thread in threads:
            thread.join(300)
            assert not thread.is_alive(), "a call was never answered"

    def _work(self, step: Callable[[httpx.Client, int], None], a_second: float) -> None:
        with httpx.Client(base_url=self.emulator.base_url, timeout=300, trust_env=False) as http:
            for number in itertools.count():
                try:
                    step(http, number)
                except Exception as error:  # noqa: BLE001 - whatever it is, the test shows it
                    self.wrong.append(f"{step.__name__} {number}: {error!r}"[:400])
                if self.stopping.wait(1 / a_second):
                    return

    def call(self, http: httpx.Client, method: str, path: str, body: Any = None, expected: int = 200) -> httpx.Response:
        answer = http.request(method, path, json=body, headers={"X-Api-Key": self.key})
        name = "webhook" if path.startswith("/webhook/") else path.partition("?")[0].removeprefix(f"{API}/")
        self.answers[f"{name} {answer.status_code}"] += 1
        if answer.status_code in {429, 503} and name == "svc_action":
            self.shed += 1
        elif answer.status_code != expected:
            self.wrong.append(f"{path}: {answer.status_code} {answer.text[:200]}")
        return answer

    def action(self, http: httpx.Client, code: str, params: Any = None, expected: int = 200) -> None:
        self.call(http, "POST", f"{API}/svc_action", {"code": code, "js_params": params}, expected)

    def run(self, http: httpx.Client, number: int) -> None:
        url = f"{self.emulator.base_url}/health"
        self.action(http, (SIGN, COUNT, FETCH)[number % 3], {"pkpId": self.wallet, "n": number, "url": url})

    def break_(self, http: httpx.Client, number: int) -> None:
        self.action(http, BROKEN[number % len(BROKEN)], None, 500)

    def attack(self, http: httpx.Client, number: int) -> None:
        self.action(http, HOSTILE[number % len(HOSTILE)], None, 500)

    def manage(self, http: httpx.Client, number: int) -> None:
        about = {"name": f"soak {number}", "description": "", "pkp_ids_permitted": [], "cid_hashes_permitted": []}
        self.call(http, "POST", f"{API}/update_group", about | {"group_id": self.group})

    def read(self, http: httpx.Client, number: int) -> None:
        names = ("list_groups", "list_wallets", "list_api_keys", "list_actions", "billing/balance", "account_exists")
        self.call(http, "GET", f"{API}/{names[number % len(names)]}?page_number={number % 3}&page_size=10")

    def pay(self, http: httpx.Client, _number: int) -> None:
        intent = self.call(http, "POST", f"{API}/billing/create_payment_intent", {"amount_cents": 500}).json()
        self.emulator.processor(intent["payment_intent_id"], "succeeded")
        paid = {"payment_intent_id": intent["payment_intent_id"]}
        self.call(http, "POST", f"{API}/billing/confirm_payment", paid)

    def fire(self, http: httpx.Client, number: int) -> None:
        self.call(http, "POST", f"/webhook/{self.hooks[0].id}", {"n": number}, 202)

    def mint(self, _http: httpx.Client, _number: int) -> None:
        owner = LocalSigner.random()
        self.emulator.faucet(owner.address)
        with self.emulator.client() as svc:
            mine = svc.chain_secured.create(owner, "soak")
            self.emulator.credit(mine.describe().billing_wallet, 100)
            mine.wallets.create("ops")
            key = mine.usage_keys.create("runner", execute_in_groups=[0])
            assert svc.with_key(key).run(COUNT, n=41, until_effective=60).response == 42
        self.answers["minted"] += 1

    def control(self, _http: httpx.Client, number: int) -> None:
        self.emulator.state()
        self.emulator.runs(limit=20)
        self.injected += 1
        self.emulator.faults.next(("runtime", "cpu")[number % 2])
        if number == 0:
            # only once, because the dump of a whole state uses memory in proportion to its size
            self.emulator.snapshot("soak")
        self.answers["control"] += 1


def median(samples: list[Sample], name: str) -> float:
    return float(statistics.median(getattr(sample, name) for sample in samples))


def test_memory_and_handles_stay_flat_under_mixed_load(
    start_emulator: Callable[..., Emulator],
    find_processes: Callable[..., list[int]],
    tmp_path: Path,
) -> None:
    seconds = float(os.environ.get("SVC_SOAK_MINUTES", "30")) * 60
    emulator = start_emulator(
        state=str(tmp_path / "state"),
        allow_address=["127.0.0.1"],
        action_engine="auto",
        action_timeout_ms=TIMEOUT_MS,
        starter_credits=MANY,
        webhook_posts_per_address=MANY,
        webhook_posts_per_user=MANY,
        auto_approve_agents=True,
    )
    load = Load(emulator)

    def look() -> Sample:
        everything = find_processes(emulator, "everything")
        (node,) = find_processes(emulator, "chain node")
        others = sum(resident_mb(pid) for pid in everything if pid not in {emulator.pid, node})
        handles = len(list(Path(f"/proc/{emulator.pid}/fd").iterdir()))
        kept = sum(file.stat().st_size for file in (tmp_path / "state").rglob("*") if file.is_file()) / 1e6
        return Sample(resident_mb(emulator.pid), resident_mb(node), others, handles, len(everything), kept)

    samples, begun = [], time.monotonic()
    with load.under_way():
        while (elapsed := time.monotonic() - begun) < seconds and not load.wrong:
            time.sleep(min(seconds / SAMPLES, seconds - elapsed))
            samples.append(look())
            print(f"{time.monotonic() - begun:6.0f} s", *(f"{value:.0f}" for value in astuple(samples[-1])), flush=True)  # noqa: T201
    assert not load.wrong, load.wrong[:5]
    left = find_processes(emulator, "everything")
    ended = [run.status for hook in load.hooks for run in load.triggers.runs(hook, limit=None)]
    emulator.stop()

    # The first third is the warm-up for spares, caches and the allocator's pools.
    early, late = samples[len(samples) // 3 : 2 * len(samples) // 3], samples[-(len(samples) // 3) :]
    for name in (field.name for field in fields(Sample)):
        print(f"{name}: {median(early, name):.0f} in the middle third, {median(late, name):.0f} in the last")  # noqa: T201
    print(f"{sum(load.answers.values())} answers: {dict(load.answers)}; runs of triggers: {Counter(ended)}")  # noqa: T201
    assert load.shed <= load.injected
    assert median(late, "server_mb") <= median(early, "server_mb") * 1.10 + 10
    assert median(late, "others_mb") <= median(early, "others_mb") * 1.10 + 50
    assert median(late, "handles") <= median(early, "handles") + 5
    assert median(late, "processes") <= median(early, "processes") + 2
    assert not [pid for pid in left if Path(f"/proc/{pid}").exists()], "a process stayed behind"
