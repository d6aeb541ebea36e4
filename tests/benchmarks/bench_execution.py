"""Duration of an execution over HTTP, and memory use after a thousand executions.

The benchmark includes all steps: the body, the CID, the key, the permission, the isolate, the wallet's key, ethers, the
charge in the ledger, and the response. Run this command on a machine without other load:

    pytest tests/benchmarks -o python_files=bench_execution.py -s
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from svcnb.emulator.sandbox.engine import _SPARES
from svcnb.emulator.sandbox.v8 import _can_copy
from svcnb.launch import Emulator

pytestmark = [pytest.mark.engine, pytest.mark.slow]

TRIVIAL = "const main = (p) => p"
SIGNING = """async function main({ pkpId, text }) {
  return new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId })).signMessage(text);
}"""
ROUNDS = 60
PAUSE_S = 0.2
MANY = 1_000
CONNECTIONS = 8
# Processes of each engine after its use, while no action runs. A template has the same command line as its copies.
IDLE = {"v8": {"image": 0, "spare": _SPARES + _can_copy()}, "auto": {"image": 0, "spare": 0}}
# Total size, in which shared pages count once. Other programs that share pages also affect it.
SHARED = "Pss:"
# Memory that only this process uses.
OWN = "Anonymous:"
MB = 2**20


class Bench:
    """Separate emulator with an account, a group with one action and one wallet, and a key that may run the action."""

    def __init__(self, emulator: Emulator, engine: str) -> None:
        self.emulator = emulator
        self.engine = engine
        account = emulator.client().accounts.create("bench")
        owner = emulator.client(api_key=account.api_key)
        self.wallet = owner.wallets.create()
        group = owner.groups.create("bench", wallets=[self.wallet], actions=[TRIVIAL, SIGNING])
        key = owner.usage_keys.create("bench", execute_in_groups=[group])
        assert key.usage_api_key is not None
        self.headers = f"x-api-key: {key.usage_api_key.reveal()}\r\n"
        self.address = emulator.base_url.removeprefix("http://").split(":")

    def body(self, source: str) -> bytes:
        params = {"pkpId": self.wallet.wallet_address, "text": "benchmark"}
        return json.dumps({"code": source, "js_params": params}).encode()


@pytest.fixture(scope="module", params=IDLE)
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SVC_ACTION_SPARES")  # the settings of a user, not of other tests
        emulator = Emulator(starter_credits=10_000, action_engine=request.param)
    with emulator:
        yield Bench(emulator, request.param)


async def run_all(
    bench: Bench, post: Callable[..., Awaitable[bytes]], source: str, times: int, pause_s: float
) -> list[float]:
    """Returns the milliseconds of sequential runs over one connection."""
    reader, writer = await asyncio.open_connection(*bench.address)
    body, seen = bench.body(source), []
    for _ in range(times):
        await asyncio.sleep(pause_s)
        started = time.perf_counter()
        await post(reader, writer, "/core/v1/svc_action", body, bench.headers)
        seen.append((time.perf_counter() - started) * 1000)
    writer.close()
    await writer.wait_closed()
    return seen


async def test_an_execution_over_http(bench: Bench, post: Callable[..., Awaitable[bytes]]) -> None:
    print(f"\n{bench.engine}, load average at the start {os.getloadavg()[0]:.2f}")
    await run_all(bench, post, SIGNING, 5, PAUSE_S)
    seen: dict[str, list[float]] = {"trivial": [], "signing": []}
    for _ in range(ROUNDS // 10):
        for name, source in (("trivial", TRIVIAL), ("signing", SIGNING)):
            seen[name] += await run_all(bench, post, source, 10, PAUSE_S)
    for name, values in seen.items():
        values.sort()
        p90 = values[int(len(values) * 0.9)]
        print(f"{name}, {PAUSE_S} s apart: p50 {statistics.median(values):.2f} ms, p90 {p90:.2f} ms")


async def test_eight_connections_at_once(bench: Bench, post: Callable[..., Awaitable[bytes]]) -> None:
    async def together(times: int) -> None:
        await asyncio.gather(*(run_all(bench, post, SIGNING, times, 0) for _ in range(CONNECTIONS)))

    await together(10)
    started = time.perf_counter()
    await together(MANY // CONNECTIONS)
    rate = MANY / (time.perf_counter() - started)
    found = processes(bench.emulator.pid, SHARED)
    sizes = {name: sum(each) for name, each in sorted(found.items())}
    print(f"\n{bench.engine}, {CONNECTIONS} connections: {rate:.0f} signing runs a second")
    print(f"right after: {sum(sizes.values()) / MB:.0f} MB: {words(sizes)}")
    print(f"processes right after: {', '.join(f'{name} {len(each)}' for name, each in found.items())}")


async def test_a_thousand_executions_leave_little_in_memory(
    bench: Bench, post: Callable[..., Awaitable[bytes]]
) -> None:
    await run_all(bench, post, SIGNING, 100, 0)
    before = largest(await settled(bench, OWN))
    seen = await run_all(bench, post, SIGNING, MANY, 0)
    after = largest(await settled(bench, OWN))
    rate = 1000 * MANY / sum(seen)
    print(f"\n{bench.engine}, signing in a loop: p50 {statistics.median(seen):.2f} ms, {rate:.0f} a second")
    print(f"largest of each: {words(before)}; after {MANY} runs: {words(after)}")
    idle = {name: sum(sizes) for name, sizes in (await settled(bench, SHARED, IDLE[bench.engine])).items()}
    print(f"idle, {sum(idle.values()) / MB:.0f} MB: {words(idle)}")
    grown = sum(after[name] - before[name] for name in before.keys() & after.keys() - {"chain"}) / MB
    print(f"server and engine have grown by {grown:.1f} MB")
    assert grown < 10


def largest(found: dict[str, list[int]]) -> dict[str, int]:
    """Returns the bytes of the largest process of each kind, because their number depends on the previous load."""
    return {name: max(sizes) for name, sizes in sorted(found.items())}


async def settled(bench: Bench, row: str, usual: dict[str, int] | None = None) -> dict[str, list[int]]:
    """Returns the bytes of every process, after the number of processes was stable (or as usual) for three seconds."""
    calm, last = 0, usual
    for _ in range(400):
        await asyncio.sleep(0.5)
        found = processes(bench.emulator.pid, row)
        counts = {name: len(found.get(name, [])) for name in ("image", "spare")}
        calm = calm + 1 if counts == last else 0
        if calm == 6:
            return found
        last = usual or counts
    raise AssertionError(f"not {usual}: {processes(bench.emulator.pid, row)}")


def processes(root: int, row: str) -> dict[str, list[int]]:
    """Returns the bytes of the emulator and of its child processes, by kind. ``row`` is a field of smaps_rollup."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found: dict[str, list[int]] = {}
    for pid in parents:
        line = [pid]
        while line[-1] in parents and line[-1] != root:
            line.append(parents[line[-1]])
        if line[-1] != root:
            continue
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        size = next(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith(row))
        found.setdefault(_kind(command), []).append(size)
    return found


def _kind(command: bytes) -> str:
    for part, kind in ((b"engine.js", "spare"), (b"fast.js", "image"), (b"anvil", "chain"), (b"spawner.py", "spawner")):
        if part in command:
            return kind
    return "server"


def words(found: dict[str, int]) -> str:
    return ", ".join(f"{name} {size / MB:.0f}" for name, size in found.items())
