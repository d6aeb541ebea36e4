"""The engine against a fresh `deno run` with stock ethers, interleaved.

Run: ``pytest tests/benchmarks -o python_files=bench_engine.py -s``. It prints a table and asserts only the answers,
since figures belong to the machine they were taken on; ratios are what carries over.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from svcnb import parts
from svcnb.emulator.actions.host import ActionHost
from svcnb.emulator.actions.network import Network
from svcnb.emulator.actions.v8 import V8Engine
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.randomness import Randomness
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

pytestmark = [pytest.mark.engine, pytest.mark.slow]

ROUNDS = 5
KEY = "0x" + "46" * 32
TRIVIAL = "const main = (p) => p"
SIGNING = "const main = (p) => new ethers.Wallet(p.key).signMessage(p.text)"
PARAMS = {"key": KEY, "text": "benchmark"}
WIDGETS = Path(__file__).parents[2] / "widgets"

Run = Callable[[str], Awaitable[Any]]


def stock_script() -> str:
    """What a plain `deno run` does for one execution: load stock ethers when it is used, evaluate, answer."""
    return """
    const { code, params } = JSON.parse(await new Response(Deno.stdin.readable).text());
    if (code.includes("ethers")) globalThis.ethers = (await import("./ethers.js")).ethers;
    const main = new Function(code + "; return main;")();
    console.log(JSON.stringify({ response: await main(params) }));
    """


def bundle_stock_ethers(folder: Path) -> None:
    script = """
    import * as esbuild from "esbuild";
    await esbuild.build({ stdin: { contents: `export { ethers } from "ethers";`, resolveDir: Deno.cwd() }, bundle: true,
      minify: true, format: "esm", platform: "browser", mainFields: ["module", "browser", "main"], target: "esnext",
      define: { global: "globalThis" }, outfile: Deno.args[0] });
    await esbuild.stop();
    """
    file = WIDGETS / ".bench-stock.ts"
    file.write_text(script)
    try:
        subprocess.run(
            [str(parts.deno()), "run", "-q", "-A", "--cached-only", file.name, str(folder / "ethers.js")],
            cwd=WIDGETS, check=True, timeout=60,
        )  # fmt: skip
    finally:
        file.unlink()


async def deno_run(folder: Path, source: str) -> Any:
    process = await asyncio.create_subprocess_exec(
        str(parts.deno()), "run", "-q", "--no-prompt", "--no-remote", "--no-npm", "--no-config", "--no-lock",
        f"--allow-read={folder}", str(folder / "run.js"),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=folder,
        env={"PATH": os.environ.get("PATH", ""), "DENO_DIR": str(folder / "cache"), "DENO_NO_UPDATE_CHECK": "1"},
    )  # fmt: skip
    out, _ = await process.communicate(json.dumps({"code": source, "params": PARAMS}).encode())
    return json.loads(out)["response"]


async def timed(run: Run, source: str, times: int, pause_s: float) -> list[float]:
    """Milliseconds of single runs, one at a time, with a pause in which spares are refilled."""
    seen = []
    for _ in range(times):
        await asyncio.sleep(pause_s)
        started = time.perf_counter()
        await run(source)
        seen.append((time.perf_counter() - started) * 1000)
    return seen


async def sustained(run: Run, source: str, seconds: float, outstanding: int) -> float:
    """Runs per second with several outstanding."""
    done = 0
    end = time.perf_counter() + seconds
    started = time.perf_counter()

    async def worker() -> None:
        nonlocal done
        while time.perf_counter() < end:
            await run(source)
            done += 1

    await asyncio.gather(*[worker() for _ in range(outstanding)])
    return done / (time.perf_counter() - started)


def children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


async def test_the_engine_against_a_fresh_process_per_execution():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bundle_stock_ethers(folder)
        (folder / "run.js").write_text(stock_script())
        words = Vocabulary()
        host = ActionHost(
            custody=Custody(b"\1" * 32, words, Randomness("bench")), cid="Qm", wallet_secret=_no_wallet,
            headers={}, network=Network("deny"), vocabulary=words,
        )  # fmt: skip
        engine = V8Engine(ActionLimits(), spares=3)
        started = time.perf_counter()
        await engine.start()

        async def ours(source: str) -> Any:
            outcome = await engine.run(source, PARAMS, ActionLimits(), host)
            assert outcome.ok, outcome.error
            return outcome.response

        async def theirs(source: str) -> Any:
            return await deno_run(folder, source)

        await ours(TRIVIAL)
        first_ms = (time.perf_counter() - started) * 1000
        assert await ours(SIGNING) == await theirs(SIGNING)  # same bytes out
        latency: dict[str, list[float]] = {}
        rate: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            for label, source in (("trivial", TRIVIAL), ("signing", SIGNING)):
                latency.setdefault(f"ours {label}", []).extend(await timed(ours, source, 8, 0.2))
                latency.setdefault(f"theirs {label}", []).extend(await timed(theirs, source, 4, 0.0))
        for _ in range(2):
            rate.setdefault("ours", []).append(await sustained(ours, SIGNING, 3, 4))
            rate.setdefault("theirs", []).append(await sustained(theirs, SIGNING, 3, 4))
        memory = _spare_memory(engine)
        cpu_before, starts_before = children_cpu_s(), engine.state().started
        await engine.stop()
        cpu = (children_cpu_s() - cpu_before) / max(1, starts_before)
    _print_table(first_ms, latency, rate, memory, cpu)


async def _no_wallet(_pkp_id: str) -> bytes:
    raise PermissionError


def _spare_memory(engine: V8Engine) -> list[int]:
    return [isolate.resident_bytes() or 0 for isolate in engine._pool._ready]


def _print_table(
    first_ms: float, latency: dict[str, list[float]], rate: dict[str, list[float]], memory: list[int], cpu_s: float
) -> None:
    print(f"\nfirst run after the start of the engine: {first_ms:.0f} ms")
    print(f"{'':18}{'p50 ms':>10}{'p99 ms':>10}{'ratio p50':>12}")
    for label in ("trivial", "signing"):
        base = statistics.median(latency[f"theirs {label}"])
        for who in ("theirs", "ours"):
            values = sorted(latency[f"{who} {label}"])
            middle = statistics.median(values)
            name = "deno run" if who == "theirs" else "v8 engine"
            print(
                f"{name:10}{label:8}{middle:10.2f}{values[int(len(values) * 0.99)]:10.2f}{f'1/{base / middle:.1f}':>12}"
            )
    ours, theirs = statistics.median(rate["ours"]), statistics.median(rate["theirs"])
    print(f"sustained signing: engine {ours:.1f}/s, deno run {theirs:.1f}/s, {ours / theirs:.1f} times")
    if memory:
        print(f"resident memory of a spare: {statistics.median(memory) / 2**20:.0f} MiB")
    print(f"processor time of one isolate, start to end: {cpu_s * 1000:.0f} ms")
