"""Fixtures with a real IPython kernel, as in a notebook."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

PATIENCE_S = 300


@dataclass
class Answer:
    """Output of a cell."""

    shown: list[dict[str, Any]] = field(default_factory=list)
    printed: str = ""
    error: str = ""
    trace: str = ""

    @property
    def value(self) -> str:
        """Text of the cell's result."""
        return str(self.shown[-1]["text/plain"]) if self.shown else ""

    @property
    def html(self) -> str:
        return str(self.shown[-1].get("text/html", ""))


class Notebook:
    """Notebook that runs cells in a kernel, and collects their outputs."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, cell: str) -> Answer:
        answer = Answer()
        self._client.execute_interactive(
            cell, timeout=PATIENCE_S, output_hook=lambda message: self._take(answer, message)
        )
        return answer

    def complete(self, text: str) -> list[str]:
        reply = self._client.complete(text, len(text), reply=True, timeout=PATIENCE_S)
        return list(reply["content"]["matches"])

    def inspect(self, text: str) -> str:
        reply = self._client.inspect(text, len(text), reply=True, timeout=PATIENCE_S)
        return str(reply["content"]["data"].get("text/plain", ""))

    @staticmethod
    def _take(answer: Answer, message: dict[str, Any]) -> None:
        content, kind = message["content"], message["msg_type"]
        if kind in {"execute_result", "display_data"}:
            answer.shown.append(content["data"])
        elif kind == "stream":
            answer.printed += content["text"]
        elif kind == "error":
            answer.error, answer.trace = content["ename"], "\n".join(content["traceback"])


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    """Kernel for the tests of a file. Each test loads the magics again."""
    from jupyter_client.manager import KernelManager

    folder = tmp_path_factory.mktemp("kernel")
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(
        cwd=str(folder), env=dict(os.environ, IPYTHONDIR=str(folder / "ipython"), JUPYTER_PLATFORM_DIRS="1")
    )
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=PATIENCE_S)
        yield Notebook(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


@pytest.fixture
def notebook(kernel: Notebook) -> Notebook:
    """Notebook in which only the magics are loaded."""
    loaded = kernel.run("%reset -f\n%reload_ext svcnb\nimport svcnb")
    assert not loaded.error, loaded.trace
    return kernel
