"""Writes measured figures to the page of benchmarks, with the machine and the versions of the compared systems."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
PEERS: Final = {
    "moto": "simulator of AWS, with the server `moto_server` (`bench_start.py`)",
    "httpx": "HTTP client (`bench_import.py`)",
    "pandas": "library for data frames (`bench_charts.py`)",
    "eth-account": "library for Ethereum signatures (`bench_typed_data.py`)",
    "coincurve": "Python interface of libsecp256k1, a C library for signatures (`bench_typed_data.py`)",
    "dbos": "library for durable workflows (`bench_triggers.py`)",
    "deno": "JavaScript runtime, with the command `deno run` and with workers (`bench_engine.py`, `bench_fast.py`)",
}
"""Distributions that benchmarks use for comparison, with their descriptions and benchmarks."""
_WORKERD: Final = (
    "JavaScript runtime of Cloudflare Workers, with its dynamic loader (`bench_engine.py`, `bench_fast.py`)"
)

_BLOCK: Final = "<!-- {name} -->\n{text}\n<!-- end -->"


def update(page: str, figures: Mapping[str, str]) -> str:
    """Replaces blocks of the page.

    Args:
        page: The page.
        figures: New text of each block, by name.

    Returns:
        The page with the new blocks. Other blocks stay unchanged. The function adds missing blocks at the end.
    """
    for name, text in figures.items():
        block = re.compile(rf"<!-- {re.escape(name)} -->\n.*?\n<!-- end -->", re.DOTALL)
        new = _BLOCK.format(name=name, text=text)
        page, times = block.subn(lambda _, new=new: new, page)  # type: ignore[misc]
        if not times:
            page += f"\n## {name}\n\n{new}\n"
    return page


def machine() -> str:
    """Returns the processor, cores, operating system and Python of this machine."""
    cpuinfo = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", cpuinfo.read_text()) if cpuinfo.exists() else []
    processor = names[0] if names else platform.processor() or platform.machine()
    system = f"{platform.system()} {platform.release()}"
    return f"{processor}, {os.cpu_count()} cores, {system}, Python {platform.python_version()}"


def peers(workerd: str, page: str = "") -> str:
    """Returns the table of the compared systems with their versions.

    Args:
        workerd: Version of workerd, which comes from npm.
        page: The current page. A system that is not installed keeps its version, because its figures also stay.
    """
    known = dict(re.findall(r"^\| ([\w-]+) \| ([\d.]+) \|", page, re.MULTILINE))
    rows = [f"| {name} | {_version(name) or known.get(name, 'not installed')} | {use} |" for name, use in PEERS.items()]
    rows.append(f"| workerd | {workerd} | {_WORKERD} |")
    return "\n".join(["| peer | version | description and benchmarks |", "|---|---|---|", *rows])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def write(printed: Mapping[str, str], workerd: str, day: str) -> None:
    """Writes the figures of a run to the page.

    Args:
        printed: Output of each benchmark, by the name of its file.
        workerd: Version of workerd.
        day: Date of the run.
    """
    figures = {
        name: f"Measured on {day} on a machine with {machine()}:\n\n```text\n{text.strip()}\n```"
        for name, text in printed.items()
    }
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(update(page, figures | {"peers": peers(workerd, page)}), encoding="utf-8")
