"""The engine `fast` compared with other systems, interleaved, over HTTP and in a batch. Each of many runs checks
isolation.

The other systems are a Deno worker for each execution and workerd's dynamic loader, both with the original ethers v5.
Run this command on a machine without other load:

    pytest tests/benchmarks -o python_files=bench_fast.py -s

The benchmark prints the figures, and asserts only results, isolation and memory use. Lower values of SVC_BENCH_ROUNDS,
SVC_CANARY_RUNS and SVC_MAP_RUNS shorten the benchmark.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvloop

from svcnb import tools
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.sandbox.fast import FastEngine
from svcnb.emulator.sandbox.host import ActionHost
from svcnb.emulator.sandbox.network import Network
from svcnb.launch import Emulator
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

pytestmark = [pytest.mark.engine, pytest.mark.slow]

ROUNDS = int(os.environ.get("SVC_BENCH_ROUNDS", "5"))
SUSTAINED_S = 2.0
OUTSTANDING = 4
CANARY_RUNS = int(os.environ.get("SVC_CANARY_RUNS", "100000"))
MAP_RUNS = int(os.environ.get("SVC_MAP_RUNS", "10000"))
PARAMS = {"key": "0x" + "46" * 32, "text": "benchmark"}
TRIVIAL = "const main = (p) => p"
SIGNING = "const main = (p) => new ethers.Wallet(p.key).signMessage(p.text)"
SOURCES = {"trivial": (TRIVIAL, 40), "signing": (SIGNING, 20)}
SIGNING_BY_WALLET = """async function main({ pkpId, text }) {
  return new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId })).signMessage(text);
}"""
# Data that a run can leave for the next run, and a check whether a run finds any of it.
CANARY = """
const found = [typeof globalThis.canary, typeof Array.prototype.canary, ethers.canary, Svc.Actions.canary, Math.canary]
  .filter((x) => x !== undefined && x !== "undefined").length + (JSON.stringify([1]) === "[1]" ? 0 : 1);
globalThis.canary = Array.prototype.canary = ethers.canary = Math.canary = "left behind";
JSON.stringify = () => "forged";
setTimeout(() => { globalThis.late = 1; }, 0);
const main = ({ n }) => [n, found, typeof late];
"""

Run = Callable[[str], Awaitable[Any]]
Figures = dict[tuple[str, str], list[float]]


def host() -> ActionHost:
    async def no_wallet(_pkp_id: str) -> bytes:
        raise PermissionError

    return ActionHost(
        custody=Custody(b"\1" * 32, Vocabulary(), Randomness("bench")), cid="Qm", wallet_secret=no_wallet,
        headers={}, network=Network("deny"),
    )  # fmt: skip


@asynccontextmanager
async def fast_engine() -> AsyncIterator[FastEngine]:
    engine = FastEngine(ActionLimits())
    await engine.start()
    try:
        yield engine
    finally:
        await engine.stop()


@asynccontextmanager
async def deno_workers(stock_ethers: Path, folder: Path) -> AsyncIterator[Run]:
    """One Deno process that creates a worker for each execution."""
    tail = "self.onmessage = async ({ data }) => self.postMessage(await main(data));"
    head = f'import {{ ethers }} from "{stock_ethers.as_uri()}";'
    script = folder / "workers.js"
    script.write_text(f"""
    const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
    let rest = "";
    for await (const text of lines) {{
      const whole = (rest + text).split("\\n");
      rest = whole.pop();
      for (const line of whole) {{
        const {{ id, code, params }} = JSON.parse(line);
        const text = (code.includes("ethers") ? {json.dumps(head)} : "") + code + ";" + {json.dumps(tail)};
        const url = URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }}));
        const worker = new Worker(url, {{ type: "module" }});
        worker.onmessage = ({{ data }}) => {{
          worker.terminate();
          URL.revokeObjectURL(url);
          console.log(JSON.stringify({{ id, response: data }}));
        }};
        worker.postMessage(params);
      }}
    }}
    """)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        str(tools.deno()), "run", "-q", "-A", "--no-config", str(script), stdin=pipe, stdout=pipe
    )
    assert process.stdin is not None
    assert process.stdout is not None
    waiting: dict[int, asyncio.Future[Any]] = {}
    numbers = itertools.count()

    async def listen(answers: asyncio.StreamReader) -> None:
        while line := await answers.readline():
            answer = json.loads(line)
            waiting.pop(answer["id"]).set_result(answer["response"])

    async def run(source: str) -> Any:
        number = next(numbers)
        waiting[number] = asyncio.get_running_loop().create_future()
        assert process.stdin is not None
        process.stdin.write(json.dumps({"id": number, "code": source, "params": PARAMS}).encode() + b"\n")
        return await asyncio.wait_for(waiting[number], 60)

    listener = asyncio.ensure_future(listen(process.stdout))
    try:
        yield run
    finally:
        listener.cancel()
        process.kill()
        await process.wait()


async def timed(run: Run, source: str, times: int) -> list[float]:
    """Returns the milliseconds of single runs in sequence."""
    seen = []
    for _ in range(times):
        started = time.perf_counter()
        await run(source)
        seen.append((time.perf_counter() - started) * 1000)
    return seen


async def sustained(run: Run, source: str, outstanding: int = OUTSTANDING) -> float:
    """Returns the number of runs per second with several runs in progress."""
    done, started = 0, time.perf_counter()

    async def worker() -> None:
        nonlocal done
        while time.perf_counter() < started + SUSTAINED_S:
            await run(source)
            done += 1

    await asyncio.gather(*[worker() for _ in range(outstanding)])
    return done / (time.perf_counter() - started)


def test_fast_against_its_peers(stock_ethers: Path, workerd: Any, tmp_path: Path) -> None:
    uvloop.run(compare(stock_ethers, workerd, tmp_path))


async def compare(stock_ethers: Path, workerd: Any, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        runs: dict[str, Run] = {"deno worker": await stack.enter_async_context(deno_workers(stock_ethers, tmp_path))}
        if not isinstance(workerd, str):
            runs["workerd"] = await stack.enter_async_context(workerd(stock_ethers, PARAMS))
        engine = await stack.enter_async_context(fast_engine())
        services = host()

        async def ours(source: str) -> Any:
            return (await engine.run(source, PARAMS, ActionLimits(), services)).response

        runs["fast"] = ours
        answers = {name: await run(SIGNING) for name, run in runs.items()}
        assert len(set(answers.values())) == 1, answers  # the same bytes
        latency: Figures = {}
        rate: Figures = {}
        print(f"\nload average at the start {os.getloadavg()[0]:.2f}")
        for _ in range(ROUNDS):
            for kind, (source, times) in SOURCES.items():
                for name, run in runs.items():
                    latency.setdefault((name, kind), []).append(statistics.median(await timed(run, source, times)))
        for _ in range(min(3, ROUNDS)):
            for kind, (source, _times) in SOURCES.items():
                for name, run in runs.items():
                    rate.setdefault((name, kind), []).append(await sustained(run, source))
    _print_table(list(runs), latency, rate)


def _print_table(names: list[str], latency: Figures, rate: Figures) -> None:
    for name, kind in itertools.product(names, SOURCES):
        p50, per_s = statistics.median(latency[name, kind]), statistics.median(rate[name, kind])
        slower = p50 / statistics.median(latency["fast", kind])
        quicker = statistics.median(rate["fast", kind]) / per_s
        print(f"{name:12} {kind:8} p50 {p50:8.2f} ms = {slower:5.1f} x fast; {per_s:8.1f}/s, fast {quicker:5.1f} x")


def test_over_http_and_in_a_batch(post: Callable[..., Awaitable[bytes]]) -> None:
    with Emulator(starter_credits=100_000, action_engine="fast") as emulator:
        owner = emulator.client(api_key=emulator.client().accounts.create("bench").api_key)
        wallet = owner.wallets.create()
        group = owner.groups.create("bench", wallets=[wallet], actions=[SIGNING_BY_WALLET])
        key = owner.usage_keys.create("bench", execute_in_groups=[group])
        assert key.usage_api_key is not None
        params = {"pkpId": wallet.wallet_address, "text": "benchmark"}
        body = json.dumps({"code": SIGNING_BY_WALLET, "js_params": params}).encode()
        address = emulator.base_url.removeprefix("http://").split(":")
        headers = f"x-api-key: {key.usage_api_key.reveal()}\r\n"

        async def over_http() -> None:
            idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

            async def run(_source: str) -> Any:
                reader, writer = idle.pop() if idle else await asyncio.open_connection(*address)
                answer = await post(reader, writer, "/core/v1/svc_action", body, headers)
                idle.append((reader, writer))
                return answer

            await timed(run, SIGNING_BY_WALLET, 50)
            seen = await timed(run, SIGNING_BY_WALLET, 200)
            rates = [await sustained(run, SIGNING_BY_WALLET, 8) for _ in range(3)]
            print(f"\nload average {os.getloadavg()[0]:.2f}; over HTTP, signing: p50 {statistics.median(seen):.2f} ms, "
                  f"{statistics.median(rates):.0f} a second with eight outstanding")  # fmt: skip
            for _, writer in idle:
                writer.close()

        asyncio.run(over_http())
        client = emulator.client(api_key=key.usage_api_key)
        started = time.perf_counter()
        results = client.map(SIGNING_BY_WALLET, [params] * MAP_RUNS)
        took_s = time.perf_counter() - started
        assert len({result.response for result in results}) == 1
        print(f"svc.map of {MAP_RUNS} signing runs: {took_s:.1f} s, {MAP_RUNS / took_s:.0f} a second")


def test_runs_are_isolated_and_memory_use_is_constant() -> None:
    uvloop.run(canary())


async def canary() -> None:
    async with fast_engine() as engine:
        services = host()

        async def some(numbers: range) -> None:
            for n in numbers:
                outcome = await engine.run(CANARY, {"n": n}, ActionLimits(), services)
                assert outcome.response == [n, 0, "undefined"], (n, outcome)

        await some(range(min(1000, CANARY_RUNS // 10)))  # the compilation is complete
        before = resident(engine)
        started = time.perf_counter()
        half = CANARY_RUNS // 2
        await asyncio.gather(some(range(half)), some(range(half, 2 * half)))
        took_s = time.perf_counter() - started
        after = resident(engine)
    print(f"\n{CANARY_RUNS} runs in {took_s:.0f} s; resident MB of processes before {before}, after {after}")
    assert sum(after) < sum(before) + 20 * len(before)


def resident(engine: FastEngine) -> list[int]:
    """Returns the MB of each idle process."""
    return [(isolate.resident_bytes() or 0) // 2**20 for isolate in engine._pool._ready]
