"""Fixtures for benchmarks: times of new processes, a simple HTTP connection, and another system for comparison.

With ``--record``, pytest writes the printed figures to ``docs/benchmarks.md``.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from svcnb import tools
from tests.benchmarks import record

_printed: dict[str, list[str]] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option ``--record``."""
    parser.addoption("--record", action="store_true", help="Write the figures into docs/benchmarks.md.")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collects the output of passed benchmarks."""
    name = Path(report.nodeid.partition("::")[0]).stem
    if report.when == "call" and report.passed and name.startswith("bench_") and report.capstdout.strip():
        _printed.setdefault(name, []).append(report.capstdout.strip())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes the page."""
    if session.config.getoption("--record", default=False) and _printed:
        printed = {name: "\n".join(texts) for name, texts in _printed.items()}
        record.write(printed, WORKERD_VERSION, f"{datetime.now(UTC):%d %B %Y}")


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Returns an environment in which every candidate stores its bytecode, like an installed package."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return environment | {"PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}


@pytest.fixture(scope="session")
def interpreter_times(compiled: dict[str, str]) -> Callable[[Mapping[str, str], int], dict[str, float]]:
    """Returns the median milliseconds of `python -c code`, for several codes in turn."""

    def measure(codes: Mapping[str, str], rounds: int) -> dict[str, float]:
        seen: dict[str, list[float]] = {name: [] for name in codes}
        for _ in range(rounds + 1):
            for name, code in codes.items():
                start = time.perf_counter()
                command = [sys.executable, "-c", code]
                subprocess.run(command, check=True, env=compiled, stdout=subprocess.DEVNULL, timeout=60)
                seen[name].append((time.perf_counter() - start) * 1000)
        # The first round fills the caches.
        return {name: statistics.median(times[1:]) for name, times in seen.items()}

    return measure


WIDGETS = Path(__file__).parents[2] / "widgets"


@pytest.fixture(scope="session")
def stock_ethers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the unchanged library as one module."""
    bundle = tmp_path_factory.mktemp("stock") / "ethers.js"
    script = WIDGETS / ".bench-stock.ts"
    script.write_text("""
    import * as esbuild from "esbuild";
    await esbuild.build({ stdin: { contents: `export { ethers } from "ethers";`, resolveDir: Deno.cwd() }, bundle: true,
      minify: true, format: "esm", platform: "browser", mainFields: ["module", "browser", "main"], target: "esnext",
      define: { global: "globalThis" }, outfile: Deno.args[0] });
    await esbuild.stop();
    """)
    try:
        command = [str(tools.deno()), "run", "-q", "-A", "--cached-only", script.name, str(bundle)]
        subprocess.run(command, cwd=WIDGETS, check=True, timeout=60)
    finally:
        script.unlink()
    return bundle


WORKERD_VERSION = "1.20261117.1"
"""Version of the npm package workerd for the comparison. Other versions result in other figures."""

_WORKERD_CONFIG = """
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "main.js", esModule = embed "main.js"), (name = "ethers.txt", text = embed "ethers.js")],
    compatibilityDate = "2026-01-01",
    compatibilityFlags = ["experimental"],
    bindings = [(name = "LOADER", workerLoader = ())],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
"""
# `load` creates a new isolate for each request. An action that contains the name ethers gets the library as a module.
_WORKERD_MAIN = """
import ethers from "ethers.txt";
const answer = "Response.json({ response: await main(await request.json()) })";
const tail = `\\nexport default { async fetch(request) { return ${answer}; } };`;
export default {
  async fetch(request, env) {
    const { code, params } = await request.json();
    const needs = code.includes("ethers");
    const modules = { "action.js": (needs ? 'import { ethers } from "./ethers.js";' : "") + code + tail };
    if (needs) modules["ethers.js"] = ethers;
    const loaded = env.LOADER.load({
      compatibilityDate: "2026-01-01", mainModule: "action.js", modules, globalOutbound: null,
    });
    const body = JSON.stringify(params);
    return await loaded.getEntrypoint().fetch(new Request("http://action/", { method: "POST", body }));
  },
};
"""


class Workerd:
    """workerd on a loopback port, with one connection for each caller."""

    version = WORKERD_VERSION

    def __init__(self, binary: Path, folder: Path) -> None:
        self._binary = binary
        self._folder = folder

    @asynccontextmanager
    async def __call__(self, ethers: Path, params: object) -> AsyncIterator[Callable[[str], Awaitable[Any]]]:
        """Runs workerd. Yields a function that executes a source."""
        (self._folder / "config.capnp").write_text(_WORKERD_CONFIG)
        (self._folder / "main.js").write_text(_WORKERD_MAIN)
        shutil.copyfile(ethers, self._folder / "ethers.js")
        command = [str(self._binary), "serve", "--experimental", "--control-fd=1", str(self._folder / "config.capnp")]
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        try:
            port = json.loads(await asyncio.wait_for(process.stdout.readline(), 30))["port"]
            idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

            async def run(source: str) -> Any:
                body = json.dumps({"code": source, "params": params}).encode()
                reader, writer = idle.pop() if idle else await asyncio.open_connection("127.0.0.1", port)
                try:
                    answer = await http_post(reader, writer, "/", body)
                except asyncio.IncompleteReadError:  # workerd closes connections that were idle for some seconds
                    writer.close()
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                    answer = await http_post(reader, writer, "/", body)
                idle.append((reader, writer))
                return json.loads(answer)["response"]

            yield run
            for _, writer in idle:
                writer.close()
        finally:
            process.kill()
            await process.wait()


async def http_post(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: bytes, headers: str = ""
) -> bytes:
    """Sends one POST request over a persistent connection, with a minimum of additional code."""
    fixed = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    head = f"{fixed}{headers}content-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    status, _, rest = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in rest.strip().split(b"\r\n"))
    if b"content-length" in fields:
        answer = await reader.readexactly(int(fields[b"content-length"]))
    else:
        answer = b""
        while size := int(await reader.readline(), 16):
            answer += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    assert b" 200 " in status + b" ", (status, answer[:500])
    return answer


@pytest.fixture(scope="session")
def post() -> Callable[..., Awaitable[bytes]]:
    return http_post


@pytest.fixture(scope="session")
def workerd(tmp_path_factory: pytest.TempPathFactory) -> Workerd | str:
    """Returns workerd from npm, or the reason why it is not available."""
    machine = {"x86_64": "64", "amd64": "64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower(), "?")
    package = f"@cloudflare/workerd-{sys.platform}-{machine}"
    binaries = f"npm/*/{package}/{WORKERD_VERSION}/bin/workerd"
    found = list(tools.deno_folder().glob(binaries))
    if not found:
        lock = Path(__file__).with_name(f"workerd-{sys.platform}-{machine}.lock")
        if not lock.is_file():
            return f"not measured, no hash of {package}@{WORKERD_VERSION} is known: there is no {lock.name}"
        checked = ["--no-config", f"--lock={lock}", "--frozen"]
        command = [str(tools.deno()), "cache", "-q", *checked, f"npm:{package}@{WORKERD_VERSION}"]
        fetched = subprocess.run(
            command, env=tools.deno_environment(), capture_output=True, text=True, timeout=300, check=False
        )
        found = list(tools.deno_folder().glob(binaries))
        if not found:
            return f"not measured, {package}@{WORKERD_VERSION} cannot be fetched: {fetched.stderr.strip()[-200:]}"
    return Workerd(found[0], tmp_path_factory.mktemp("workerd"))
