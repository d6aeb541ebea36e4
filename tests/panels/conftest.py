"""Fixtures with a real JupyterLab, a real kernel, a real Chromium and the real emulator.

JupyterLab starts once for the whole run. The browser starts once for each file. Its driver occupies the event loop of
the thread, so asynchronous tests must be in files without a browser.
"""

from __future__ import annotations

import ast
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

import pytest

from svcnb import LocalSigner
from tests.panels.wallet import TestWallet

LONG_MS = 60_000
"""Time limit of each wait, which is long enough for a busy machine."""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True)
class Lab:
    """Running JupyterLab or Notebook 7.

    Attributes:
        url: Address with the path of the server, without a trailing slash.
        page: Path of the page that shows one document.
        own_error: Text of an error that the pages write to the console even for an empty notebook. Empty if there is
            none.
    """

    url: str
    token: str
    folder: Path
    emulator: Any
    page: str = "doc/tree"
    own_error: str = ""

    def write(self, name: str, cells: tuple[str | Path, ...]) -> None:
        """Writes a notebook with code cells, or a copy of a given notebook."""
        if isinstance(cells[0], Path):
            shutil.copyfile(cells[0], self.folder / name)
            return
        notebook = {
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"c{n}",
                    "metadata": {},
                    "source": source,
                    "outputs": [],
                    "execution_count": None,
                }
                for n, source in enumerate(cells)
            ],
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (self.folder / name).write_text(json.dumps(notebook), encoding="utf-8")


@pytest.fixture(scope="session")
def lab(chromium: str, session_emulator: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:  # noqa: ARG001 - no Lab without it
    """JupyterLab for all browser tests, with separate folders. In its notebooks, `svcnb.Client()` finds the
    emulator."""
    with running_lab(tmp_path_factory, session_emulator) as running:
        yield running


@contextmanager
def running_lab(
    tmp_path_factory: pytest.TempPathFactory, emulator: Any, base_url: str = "/", app: str = "jupyterlab"
) -> Iterator[Lab]:
    """Runs JupyterLab or Notebook below a path of its server."""
    own, folder = tmp_path_factory.mktemp("jupyter"), tmp_path_factory.mktemp("notebooks")
    settings = own / "config/labconfig"
    settings.mkdir(parents=True)
    # Notebook ignores its command-line option for `window.jupyterapp`.
    disabled = {"@jupyterlab/apputils-extension:announcements": True}
    _write(settings / "page_config.json", {"disabledExtensions": disabled, "exposeAppInBrowser": True})
    # Notebooks contain the state of their widgets, in which tests search for secrets.
    _write(
        settings / "default_setting_overrides.json", {"@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True}}
    )
    port, token = _free_port(), secrets.token_urlsafe(16)
    name = {"jupyterlab": "LabApp", "notebook": "JupyterNotebookApp"}[app]
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(own / "config"),
        "JUPYTER_DATA_DIR": str(own / "data"),
        "JUPYTER_RUNTIME_DIR": str(own / "runtime"),
        "IPYTHONDIR": str(own / "ipython"),
        "JUPYTER_TOKEN": token,
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "SVC_BASE_URL": emulator.base_url,
        "SVC_TRIGGERS_URL": emulator.triggers_url,
        "SVC_RPC_URL": emulator.rpc_url,
    }
    command = [
        *(sys.executable, "-m", app, "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--allow-root"),
        *("--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}", "--log-level=ERROR"),
        # A proxy in front of the server can send a different host name than the page.
        *(f"--ServerApp.base_url={base_url}", "--ServerApp.allow_origin=*", "--ServerApp.allow_remote_access=true"),
        *(f"--{name}.extension_manager=readonly", f"--{name}.news_url=None"),
        *((f"--{name}.check_for_updates_class=jupyterlab.NeverCheckForUpdate",) if app == "jupyterlab" else ()),
        # Use the bundle from this checkout, because an installed one can be older.
        f"--{name}.extra_labextensions_path={Path(__file__).parents[2] / 'svcnb/magics/static/labextensions'}",
    ]
    log = own / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        _answers(server, f"http://127.0.0.1:{port}{base_url}api", log)
        # Notebook 7.6 does not find the schema of a setting.
        pages = ("doc/tree", "") if app == "jupyterlab" else ("notebooks", "reading 'schema'")
        yield Lab(f"http://127.0.0.1:{port}{base_url.rstrip('/')}", token, folder, emulator, *pages)
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def _answers(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    ask = build_opener(ProxyHandler({})).open
    deadline = time.monotonic() + 120
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with ask(url, timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start: {log.read_text(errors='replace')[-2000:]}")


@pytest.fixture(scope="module")
def browser(start_chromium: Callable[..., AbstractContextManager[Any]]) -> Iterator[Any]:
    """Chromium for all tests of the file."""
    with start_chromium() as running:
        yield running


class Notebook:
    """Open notebook in JupyterLab.

    Attributes:
        tab: Page of playwright.
    """

    def __init__(self, tab: Any, lab: Lab, name: str) -> None:
        self.tab = tab
        self.path = lab.folder / name

    def do(self, command: str) -> None:
        """Runs a command of JupyterLab, such as ``notebook:run-all-cells``, and waits for its end."""
        self.tab.evaluate("name => window.jupyterapp.commands.execute(name)", command)

    def begin(self, command: str) -> None:
        """Starts a command without waiting for its end."""
        self.tab.evaluate("name => { window.jupyterapp.commands.execute(name); }", command)

    def rests(self) -> None:
        """Waits until the kernel is idle."""
        self.tab.wait_for_function(KERNEL_IS_IDLE)

    def run_all(self) -> None:
        """Runs every cell, and waits until the kernel is idle."""
        self.do("notebook:run-all-cells")

    def run(self, source: str) -> None:
        """Runs Python code in the notebook's kernel, outside of its cells, and waits for its end."""
        answer = self.tab.evaluate(
            """async source => {
              const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel;
              const reply = (await kernel.requestExecute({code: source, store_history: false}).done).content;
              return reply.status === "ok" ? "" : reply.traceback.join("\\n");
            }""",
            source,
        )
        assert answer == "", answer

    def value(self, expression: str) -> Any:
        """Returns the value of a Python expression in the notebook's kernel, converted to JSON and back."""
        answer = self.tab.evaluate(
            """async expression => {
              const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel;
              const ask = {code: "import json", user_expressions: {it: `json.dumps(${expression})`}};
              return (await kernel.requestExecute({...ask, store_history: false}).done).content.user_expressions.it;
            }""",
            expression,
        )
        assert answer["status"] == "ok", answer
        return json.loads(ast.literal_eval(answer["data"]["text/plain"]))

    def go_to(self, words: str) -> int:
        """Scrolls to the first code cell that contains a text, selects the cell, and returns its number."""
        number = self.tab.evaluate(
            """async words => {
              const content = window.jupyterapp.shell.currentWidget.content;
              const number = content.widgets.findIndex(
                ({model}) => model.type === "code" && model.sharedModel.source.includes(words));
              content.activeCellIndex = number;
              await content.scrollToItem(number, "center");
              return number;
            }""",
            words,
        )
        assert number >= 0, words
        return int(number)

    def output(self, number: int) -> str:
        """Returns the text of a cell's outputs."""
        outputs = self.tab.evaluate(
            "number => window.jupyterapp.shell.currentWidget.content.widgets[number].model.sharedModel.outputs", number
        )
        return "".join(each["text"] if "text" in each else each["data"]["text/plain"] for each in outputs)

    def panel(self, name: str) -> Any:
        """Returns the panel with the given heading."""
        found = self.tab.get_by_role("region", name=name, exact=True)
        found.wait_for()
        return found

    def shut_down(self) -> None:
        """Stops the notebook's kernel, like the command in the menu. Only for notebooks with a separate kernel."""
        self.tab.evaluate("() => window.jupyterapp.shell.currentWidget.context.sessionContext.shutdown()")

    def save(self) -> str:
        """Saves the notebook with the state of its widgets, and returns the text of the file."""
        self.do("docmanager:save")
        return self.path.read_text(encoding="utf-8")


class Desk:
    """Open tabs of a test file. Tests with equal tabs share one tab and its kernel, because opening a tab takes
    seconds."""

    def __init__(self, lab: Lab, browser: Any) -> None:
        self.lab = lab
        self.browser = browser
        self.tabs: dict[str, Any] = {}
        self.wallet: Callable[[str, list[Any]], Any] | None = None
        self.troubles: list[str] = []
        self.known: tuple[str, ...] = ()
        """Parts of errors that JupyterLab itself causes in the current test."""

    def open(self, script: str | None, options: dict[str, Any], *cells: str | Path) -> Notebook:
        """Opens a notebook in a separate tab."""
        context = self.browser.new_context(**{"viewport": {"width": 1200, "height": 1000}, **options})
        context.set_default_timeout(LONG_MS)
        context.expose_function("svcnbTestWallet", self._asked)
        if script is not None:
            context.add_init_script(script)
        tab = context.new_page()
        tab.on("pageerror", lambda error: self._failed(str(error)))
        tab.on("request", lambda asked: self.troubles.extend([] if _local(asked.url) else [asked.url]))
        name = self._written(cells)
        tab.goto(f"{self.lab.url}/{self.lab.page}/{name}?token={self.lab.token}", wait_until="commit")
        tab.wait_for_function(KERNEL_IS_IDLE)
        return Notebook(tab, self.lab, name)

    def show(self, tab: Any, *cells: str | Path) -> Notebook:
        """Opens a notebook in a tab, with the kernel of the tab's previous notebook."""
        name = self._written(cells)
        tab.evaluate(OPEN, name)
        tab.wait_for_function(f"name => ({KERNEL_IS_IDLE})() && ({CURRENT}).path === name", arg=name)
        return Notebook(tab, self.lab, name)

    def _written(self, cells: tuple[str | Path, ...]) -> str:
        name = f"n{os.urandom(4).hex()}.ipynb"
        self.lab.write(name, cells)
        return name

    def _failed(self, error: str) -> None:
        if not self.lab.own_error or self.lab.own_error not in error:
            self.troubles.append(error)

    def _asked(self, method: str, params: list[Any]) -> Any:
        assert self.wallet is not None
        return self.wallet(method, params)

    def close(self, tab: Any) -> None:
        """Closes a tab and its kernel."""
        tab.evaluate(f"() => {CURRENT}.sessionContext.shutdown().catch(() => null)")
        tab.context.close()


CURRENT = "window.jupyterapp?.shell.currentWidget?.context"
KERNEL_IS_IDLE = f"() => {CURRENT}?.sessionContext?.session?.kernel?.status === 'idle'"
OPEN = f"""async name => {{
  const {{id}} = {CURRENT}.sessionContext.session.kernel;
  await window.jupyterapp.commands.execute("docmanager:open", {{path: name, factory: "Notebook", kernel: {{id}}}});
}}"""
THEME = "name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})"


@pytest.fixture(scope="module")
def desk(lab: Lab, browser: Any) -> Iterator[Desk]:
    """Open tabs of the test file."""
    made = Desk(lab, browser)
    yield made
    for tab in made.tabs.values():
        made.close(tab)


@pytest.fixture
def notebook(desk: Desk) -> Iterator[Callable[..., Notebook]]:
    """Function that opens and runs a notebook. The test fails if a script fails or a request goes to another machine.

    For example ``notebook("import svcnb", "svcnb.panels.AccountPanel(svcnb.Client())")``. The option ``theme="dark"``
    selects JupyterLab's theme, and ``script`` runs in the page before all other scripts. With ``own=True``, the test
    gets its own tab and kernel, and the notebook contains the state of the widgets. The browser's context receives all
    other options.
    """
    owned: list[Any] = []

    def opened(
        *cells: str | Path,
        script: str | None = None,
        theme: str = "light",
        own: bool = False,
        run: bool = True,
        **options: Any,
    ) -> Notebook:
        like = repr((script, sorted(options.items())))
        if not own and like in desk.tabs:
            found = desk.show(desk.tabs[like], *cells)
        else:
            found = desk.open(script, options, *cells)
            owned.append(found.tab) if own else desk.tabs.setdefault(like, found.tab)
        found.tab.evaluate(THEME, "JupyterLab Dark" if theme == "dark" else "JupyterLab Light")
        if run:
            found.run_all()
        return found

    yield opened
    for tab in owned:
        desk.close(tab)
    troubles = [trouble for trouble in desk.troubles if not any(known in trouble for known in desk.known)]
    desk.troubles, desk.known = [], ()
    assert troubles == []


@pytest.fixture
def owner(emulator: Any) -> Any:
    """Key with ether on the emulator's chain."""
    signer = LocalSigner.random()
    emulator.faucet(signer.address)
    return signer


@pytest.fixture
def wallet(desk: Desk, emulator: Any, owner: Any) -> Iterator[TestWallet]:
    """Browser wallet on the emulator's chain."""
    desk.wallet = TestWallet(owner, emulator.chain_id, emulator.rpc_url)
    yield desk.wallet
    desk.wallet = None


def _local(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "data:", "blob:", "ws://127.0.0.1:"))
