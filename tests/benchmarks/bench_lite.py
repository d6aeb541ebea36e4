"""The website in a browser tab: time to the first signature, of a run and of the lessons, transferred bytes, and
memory.

The benchmark prints each figure with its goal. The goals apply to an idle machine. Select a test with ``-k``.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import SimpleHTTPRequestHandler
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from websockets.sync.client import connect

from tests.conftest import CHROMIUM_ARGUMENTS
from tests.lite.conftest import _IDLE as IDLE, _READY as READY, _RUN_ALL as RUN_ALL, _SHOWN as SHOWN, Lab, serving
from tests.lite.test_lessons_in_browser import LESSONS

ROUNDS = 5
SETTLE_S = 30
FIRST = """
import time
began = time.perf_counter()
import svcnb
emu = svcnb.Emulator(seed="bench", starter_credits=100000)
svc = emu.client()
me = svc.with_key(svc.accounts.create("bench"))
SIGN = '''async function main() {
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  return await wallet.signMessage("hello");
}'''
signature = me.run(SIGN).response
print(time.perf_counter() - began)
"""
RUNS = """
times = []
for n in range(25):
    began = time.perf_counter()
    me.run(SIGN)
    times.append(time.perf_counter() - began)
print(sorted(times[5:])[10])
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Site that the test builds, or the site in the folder SVC_SITE."""
    from svcnb.lite.site import build_site

    if find_spec("jupyterlite_core") is None:
        pytest.skip("needs the extra lite")
    folder = Path(os.environ.get("SVC_SITE") or tmp_path_factory.mktemp("lite") / "site")
    if not (folder / "jupyter-lite.json").is_file():
        build_site(folder, lambda _line: None)
    with serving(folder) as (address, _):
        yield address


@pytest.fixture(scope="module")
def playwright() -> Any:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        yield running


@pytest.fixture
def profile(playwright: Any, tmp_path: Path) -> Any:
    """Starts Chromium with a profile in a folder of the test, and waits until Chromium itself is idle.

    A new Chromium loads its own pages for about a second. A reader opens the workbook in a browser that runs already.
    """
    chromium = shutil.which("chromium") or shutil.which("google-chrome")

    def start(name: str = "profile") -> Any:
        context = playwright.chromium.launch_persistent_context(
            str(tmp_path / name), executable_path=chromium, args=CHROMIUM_ARGUMENTS
        )
        _wait_until_idle(tmp_path / name)
        return context

    return start


def told(what: str, found: list[float], goal: float, unit: str) -> None:
    """Prints a median with its goal."""
    median = statistics.median(found)
    each = ", ".join(f"{one:.1f}" for one in sorted(found))
    print(f"\n{what}: {median:.1f} {unit} (goal {goal:g}; {len(found)} rounds: {each})")


def first_signature(context: Any, site: str) -> tuple[float, Lab]:
    """Returns the seconds from the opening of the page to a signature."""
    began = time.perf_counter()
    page = Lab(context, site, "01-quickstart")
    page.run(FIRST)
    return time.perf_counter() - began, page


def test_the_first_signature_cold_and_warm(profile: Callable[..., Any], site: str) -> None:
    cold, warm, runs = [], [], []
    for number in range(ROUNDS):
        context = profile(f"profile{number}")
        seconds, page = first_signature(context, site)
        cold.append(seconds)
        page.run_all()  # Chromium stores the machine code of functions that a visitor has used
        page.tab.wait_for_function("() => document.documentElement.dataset.compiled === 'ready'")
        context.close()
        context = profile(f"profile{number}")  # a later visit, with the files and the code that the first one stored
        seconds, page = first_signature(context, site)
        warm.append(seconds)
        runs.append(float(page.run(RUNS)) * 1000)
        context.close()
    told("first signature, cold", cold, 12, "s")
    told("first signature, warm", warm, 5, "s")
    told("a run that signs, median of twenty", runs, 100, "ms")
    assert statistics.median(cold) > statistics.median(warm)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the files that the server of the site sends, in bytes."""
    sizes: list[int] = []
    copy = SimpleHTTPRequestHandler.copyfile

    def counted(self: Any, source: Any, target: Any) -> None:
        sizes.append(source.seek(0, os.SEEK_END))
        source.seek(0)
        copy(self, source, target)

    monkeypatch.setattr(SimpleHTTPRequestHandler, "copyfile", counted)
    return sizes


def test_the_bytes_of_the_first_lesson(profile: Callable[..., Any], site: str, sent: list[int]) -> None:
    transferred = []
    for number in range(ROUNDS):
        context = profile(f"profile{number}")
        sent.clear()
        page = Lab(context, site, "01-quickstart")
        page.run_all()
        page.tab.wait_for_function("() => document.documentElement.dataset.offline === 'ready'")
        transferred.append(sum(sent) / 1e6)
        context.close()
    told("transferred for lesson 1, files that the server sends", transferred, 45, "MB")


def test_the_memory_of_the_first_lesson(tmp_path: Path, site: str) -> None:
    empty, later = [], []
    for number in range(ROUNDS):
        folder = tmp_path / f"profile{number}"
        with plain_chromium(folder) as send:
            empty.append(_memory_mb(folder))
            run_first_lesson(send, site)
            time.sleep(SETTLE_S)  # V8 collects the garbage when the page has been idle for about 20 s
            later.append(_memory_mb(folder))
    what = "memory of all processes of the browser (proportional set size)"
    told(f"{what}, {SETTLE_S} s after the last cell", later, 700, "MB")
    print(f"memory of the browser with an empty page: {statistics.median(empty):.1f} MB")


@contextmanager
def plain_chromium(folder: Path) -> Iterator[Callable[..., Any]]:
    """Starts Chromium without playwright, because playwright stores the network traffic in the browser's memory.

    Yields:
        A function that sends a command of the DevTools protocol and returns its result.
    """
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
    options = ["--headless", "--no-first-run", "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"]
    with subprocess.Popen([chromium, *CHROMIUM_ARGUMENTS, *options], stderr=subprocess.DEVNULL) as browser:
        try:
            port = folder / "DevToolsActivePort"
            _until(lambda: port.is_file() and port.read_text("ascii"))
            tabs = httpx.get(f"http://127.0.0.1:{port.read_text('ascii').split()[0]}/json/list", trust_env=False).json()
            address = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
            with connect(address, max_size=None, proxy=None) as socket:

                def send(method: str, **params: Any) -> Any:
                    socket.send(json.dumps({"id": 1, "method": method, "params": params}))
                    while True:
                        answer = json.loads(socket.recv())
                        if "id" in answer:
                            return answer["result"]

                yield send
        finally:
            browser.terminate()


def run_first_lesson(send: Callable[..., Any], site: str) -> None:
    """Opens lesson 1 and runs all its cells."""

    def evaluate(script: str) -> Any:
        found = send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        return found["result"].get("value")

    # Without the focus, JupyterLab has no current notebook.
    send("Emulation.setFocusEmulationEnabled", enabled=True)
    send("Page.navigate", url=f"{site}/lab/index.html?path=01-quickstart.ipynb")
    _until(lambda: evaluate(f"({SHOWN})('01-quickstart.ipynb')") is True)
    evaluate(f"({READY})()")
    _until(lambda: evaluate(f"({IDLE})()") is True)
    evaluate(f"({RUN_ALL})()")
    _until(lambda: evaluate("window.ran") is True)


def _until(holds: Callable[[], object], timeout_s: float = 240.0) -> None:
    end = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < end, "the page did not finish"
        time.sleep(0.2)


def _wait_until_idle(profile: Path, idle_s: float = 0.5) -> None:
    """Waits until Chromium with this profile has used almost no processor time for half a second."""
    before, used = -1.0, 0.0
    while used - before > 0.01:
        time.sleep(idle_s)
        times = [one.cpu_times() for one in _processes(profile)]
        before, used = used, sum(one.user + one.system for one in times)


def _processes(profile: Path) -> list[psutil.Process]:
    """Returns Chromium's process with this profile, and its child processes."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if f"--user-data-dir={profile}" in process.cmdline():
                return [process, *process.children(recursive=True)]
    raise AssertionError(f"no browser uses {profile}")


def _memory_mb(profile: Path) -> float:
    """Returns the proportional set size of Chromium's processes with this profile."""
    return float(sum(one.memory_full_info().pss for one in _processes(profile))) / 1024**2


def test_the_lessons_take_at_most_three_times_as_long_as_on_the_desktop(profile: Callable[..., Any], site: str) -> None:
    context = profile()
    ratios = []
    for lesson in LESSONS[:9]:
        page = Lab(context, site, lesson)
        began = time.perf_counter()
        page.run_all()
        here = time.perf_counter() - began
        page.close()
        there = _on_the_desktop(lesson)
        ratios.append(here / there)
        print(f"\n{lesson}: {here:.1f} s in the page, {there:.1f} s on the desktop, {here / there:.1f} times")
    context.close()
    told("time of a lesson, page to desktop", ratios, 3, "times")


def _on_the_desktop(lesson: str) -> float:
    """Returns the seconds of a lesson's cells in a kernel that is already running."""
    import nbformat
    from nbclient import NotebookClient

    from tests.lite.conftest import LESSONS as FOLDER

    book = nbformat.read(FOLDER / f"{lesson}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(book, timeout=600, resources={"metadata": {"path": str(FOLDER)}}, allow_errors=True)
    with client.setup_kernel():
        began = time.perf_counter()
        for number, cell in enumerate(book.cells):
            client.execute_cell(cell, number)
        return time.perf_counter() - began
