"""The engine compared with other systems, interleaved: a new `deno run` for each execution, and workerd's dynamic
loader.

Both systems load the original ethers v5, as their users do. Run this command on a machine without other load:

    pytest tests/benchmarks -o python_files=bench_engine.py -s

The benchmark prints a table and asserts only the results of the actions, because the figures depend on the machine.
Only the ratios are comparable. Deno downloads workerd from npm once. If the download fails, the rows of workerd contain
the reason.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvloop

from svcnb import tools
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.sandbox.host import ActionHost
from svcnb.emulator.sandbox.network import Network
from svcnb.emulator.sandbox.v8 import V8Engine
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

pytestmark = [pytest.mark.engine, pytest.mark.slow]

ROUNDS = 5
TRIVIAL = "const main = (p) => p"
SIGNING = "const main = (p) => new ethers.Wallet(p.key).signMessage(p.text)"
SOURCES = {"trivial": TRIVIAL, "signing": SIGNING}
PARAMS = {"key": "0x" + "46" * 32, "text": "benchmark"}
OUTSTANDING = 4
SUSTAINED_S = 3.0
SPARES = 3
# Time to start new spares, because the benchmark measures runs that find a spare.
PAUSE_S = 0.5

Run = Callable[[str], Awaitable[Any]]


@dataclass
class Seen:
    """Measured figures of one candidate."""

    latency_ms: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in SOURCES})
    per_s: list[float] = field(default_factory=list)

    def middle(self, kind: str) -> float:
        return statistics.median(self.latency_ms[kind])


@asynccontextmanager
async def our_engine() -> AsyncIterator[tuple[Run, V8Engine]]:
    """The engine as the emulator uses it, without HTTP."""
    host = ActionHost(
        custody=Custody(b"\1" * 32, Vocabulary(), Randomness("bench")), cid="Qm", wallet_secret=_no_wallet,
        headers={}, network=Network("deny"),
    )  # fmt: skip
    engine = V8Engine(ActionLimits(), spares=SPARES)
    await engine.start()

    async def run(source: str) -> Any:
        outcome = await engine.run(source, PARAMS, ActionLimits(), host)
        assert outcome.ok, outcome.error
        return outcome.response

    try:
        yield run, engine
    finally:
        await engine.stop()


async def _no_wallet(_pkp_id: str) -> bytes:
    raise PermissionError


def deno_run(stock_ethers: Path, folder: Path) -> Run:
    """A process for each execution, which loads ethers when the action names it."""
    script = folder / "run.js"
    script.write_text(f"""
    const {{ code, params }} = JSON.parse(await new Response(Deno.stdin.readable).text());
    if (code.includes("ethers")) globalThis.ethers = (await import({json.dumps(stock_ethers.as_uri())})).ethers;
    const main = new Function(code + "; return main;")();
    console.log(JSON.stringify({{ response: await main(params) }}));
    """)
    command = [
        str(tools.deno()), "run", "-q", "--no-prompt", "--no-remote", "--no-npm", "--no-config", "--no-lock",
        f"--allow-read={folder},{stock_ethers.parent}", str(script),
    ]  # fmt: skip
    environment = {"PATH": os.environ.get("PATH", ""), "DENO_DIR": str(folder / "cache"), "DENO_NO_UPDATE_CHECK": "1"}

    async def run(source: str) -> Any:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, cwd=folder, env=environment)
        out, _ = await process.communicate(json.dumps({"code": source, "params": PARAMS}).encode())
        return json.loads(out)["response"]

    return run


async def timed(run: Run, source: str, times: int, pause_s: float) -> list[float]:
    """Returns the milliseconds of single runs in sequence. After each use of all spares, the benchmark pauses."""
    seen = []
    for done in range(times):
        if done % SPARES == 0:
            await asyncio.sleep(pause_s)
        started = time.perf_counter()
        await run(source)
        seen.append((time.perf_counter() - started) * 1000)
    return seen


async def sustained(run: Run, source: str) -> float:
    """Returns the number of runs per second with several runs in progress."""
    done = 0
    started = time.perf_counter()
    end = started + SUSTAINED_S

    async def worker() -> None:
        nonlocal done
        while time.perf_counter() < end:
            await run(source)
            done += 1

    await asyncio.gather(*[worker() for _ in range(OUTSTANDING)])
    return done / (time.perf_counter() - started)


def test_the_engine_against_its_peers(stock_ethers: Path, workerd: Any, tmp_path: Path) -> None:
    uvloop.run(compare(stock_ethers, workerd, tmp_path))  # the event loop of the server


async def compare(stock_ethers: Path, workerd: Any, tmp_path: Path) -> None:
    load = os.getloadavg()[0]
    async with AsyncExitStack() as stack:
        started = time.perf_counter()
        ours, engine = await stack.enter_async_context(our_engine())
        runs: dict[str, Run] = {"deno run": deno_run(stock_ethers, tmp_path)}
        if not isinstance(workerd, str):
            runs["workerd"] = await stack.enter_async_context(workerd(stock_ethers, PARAMS))
        runs["v8 engine"] = ours
        await ours(TRIVIAL)
        first_ms = (time.perf_counter() - started) * 1000
        answers = {name: await run(SIGNING) for name, run in runs.items()}
        assert len(set(answers.values())) == 1, answers  # the same bytes
        seen = {name: Seen() for name in runs}
        for _ in range(ROUNDS):
            for kind, source in SOURCES.items():
                for name, run in runs.items():
                    times, pause_s = (9, PAUSE_S) if run is ours else (6, 0.0)
                    seen[name].latency_ms[kind] += await timed(run, source, times, pause_s)
        for _ in range(3):
            for name, run in runs.items():
                seen[name].per_s.append(await sustained(run, SIGNING))
        memory = [isolate.resident_bytes() or 0 for isolate in engine._pool._ready]
    print(
        f"\nload average at the start {load:.2f}; workerd: {workerd if isinstance(workerd, str) else workerd.version}"
    )
    _print_table(seen)
    print(f"first run after the start of the engine: {first_ms:.0f} ms")
    if memory:
        print(f"resident memory of a spare: {statistics.median(memory) / 2**20:.0f} MiB")


def _print_table(seen: dict[str, Seen]) -> None:
    print(f"{'':10}  {'trivial p50':>11} {'p99':>7}  {'signing p50':>11} {'p99':>7}  {'signing/s':>9}")
    for name, found in seen.items():
        columns = []
        for kind in SOURCES:
            values = sorted(found.latency_ms[kind])
            columns.append(f"{found.middle(kind):11.2f} {values[int(len(values) * 0.99)]:7.1f}")
        print(f"{name:10}  {'  '.join(columns)}  {statistics.median(found.per_s):9.1f}")
    ours = seen["v8 engine"]
    for name, found in seen.items():
        if found is not ours:
            shares = [f"{kind} 1/{found.middle(kind) / ours.middle(kind):.1f}" for kind in SOURCES]
            times = statistics.median(ours.per_s) / statistics.median(found.per_s)
            print(f"of {name}: {', '.join(shares)}, sustained {times:.1f} times")
