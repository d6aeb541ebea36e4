"""The site in a real Chromium that can reach only the site's server."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from svcnb.lite.server import make_server
from svcnb.lite.site import build_site

LESSONS = Path(__file__).parents[2] / "notebooks"
PATIENCE_MS = 240_000

_SHOWN = """(path) => {
  const shown = window.jupyterapp?.shell?.currentWidget;
  return shown?.context?.path === path && shown.content.model?.cells?.length > 1;
}"""
_READY = """async () => {
  const { context, sessionContext } = jupyterapp.shell.currentWidget;
  await context.ready;
  await sessionContext.ready;
}"""
_IDLE = "() => jupyterapp.shell.currentWidget.sessionContext.kernelDisplayStatus === 'idle'"
_RUN_ALL = """async () => {
  window.ran = false;
  // The notebook has its stored outputs, which must not pass for new ones.
  await jupyterapp.commands.execute("notebook:clear-all-cell-outputs");
  jupyterapp.commands.execute("notebook:run-all-cells").finally(() => { window.ran = true; });
}"""
_CELLS = "() => jupyterapp.shell.currentWidget.content.model.toJSON().cells.filter((c) => c.cell_type === 'code')"
_DONE = "() => window.ran"
_EXECUTE = """async (code) => {
  const kernel = jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const future = kernel.requestExecute({ code, store_history: false });
  let text = "";
  future.onIOPub = ({ header, content }) => {
    if (header.msg_type === "stream") text += content.text;
  };
  const { content } = await future.done;
  return { text, status: content.status, error: (content.traceback ?? []).join("\\n") };
}"""
_SHOW = """async (code) => {
  const { content } = jupyterapp.shell.currentWidget;
  content.activeCellIndex = content.widgets.findIndex(({ model }) => model.type === "code");
  content.activeCell.model.sharedModel.setSource(code);
  await jupyterapp.commands.execute("notebook:run-cell");
}"""


class Lab:
    """Notebook of the site, open in a tab.

    Attributes:
        tab: Page of playwright.
        outside: Requested addresses outside the site.
    """

    def __init__(self, context: Any, site: str, name: str) -> None:
        self.tab = context.new_page()
        self.tab.set_default_timeout(PATIENCE_MS)
        self.outside: list[str] = []
        own = (f"{site}/", "data:", "blob:")
        self.tab.on("request", lambda asked: None if asked.url.startswith(own) else self.outside.append(asked.url))
        self.path = f"{name}.ipynb"
        # Use a separate workspace, because JupyterLab opens the notebooks of the last visit again, each with a kernel.
        self.address = f"{site}/lab/index.html?workspace={uuid.uuid4().hex}&path={self.path}"
        self.open()

    def open(self) -> None:
        """Opens the notebook, also repeatedly, and waits for its kernel."""
        self.tab.goto(self.address)
        self.tab.wait_for_function(_SHOWN, arg=self.path)
        self.tab.evaluate(_READY)
        # JupyterLab does not execute cells that start before the kernel.
        self.tab.wait_for_function(_IDLE)

    def run_all(self) -> None:
        """Runs all cells, until the last one ends or one fails."""
        self.tab.evaluate(_RUN_ALL)
        self.tab.wait_for_function(_DONE)

    def outputs(self) -> list[list[str]]:
        """Returns the outputs of each code cell as text."""
        return [shown(cell) for cell in self.tab.evaluate(_CELLS)]

    def run(self, code: str) -> str:
        """Runs Python code outside of the cells. Returns its output."""
        done = self.tab.evaluate(_EXECUTE, code)
        assert done["status"] == "ok", done["error"] + done["text"]
        return str(done["text"])

    def show(self, code: str) -> None:
        """Inserts Python code into the first code cell and runs it, for code that shows a panel."""
        self.tab.evaluate(_SHOW, code)

    def panel(self, name: str) -> Any:
        """Waits until the panel with the given heading is ready, and returns the panel."""
        found = self.tab.get_by_role("region", name=name, exact=True)
        found.wait_for()
        return found

    def close(self) -> None:
        """Closes the tab and its kernel."""
        self.tab.close()


def shown(cell: dict[str, Any]) -> list[str]:
    """Returns the outputs of a cell as text."""
    texts = []
    for output in cell["outputs"]:
        if output["output_type"] == "error":
            texts.append(f"{output['ename']}: {output['evalue']}")
        else:
            text = output["text"] if output["output_type"] == "stream" else output["data"].get("text/plain", "")
            texts.append(text if isinstance(text, str) else "".join(text))
    return texts


def stored(lesson: str) -> list[list[str]]:
    """Returns the stored outputs of each code cell of a lesson."""
    cells = json.loads((LESSONS / f"{lesson}.ipynb").read_text("utf-8"))["cells"]
    return [shown(cell) for cell in cells if cell["cell_type"] == "code"]


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """Serves a site. Yields its address, and a function that stops the server."""
    with make_server(folder) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()

        def stop() -> None:
            server.shutdown()
            thread.join()
            server.server_close()

        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", stop
        finally:
            stop()


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Newly built site, or the site in the folder SVC_SITE."""
    if built := os.environ.get("SVC_SITE"):
        return Path(built)
    if find_spec("jupyterlite_core") is None:
        pytest.skip("needs the extra lite")
    folder = tmp_path_factory.mktemp("lite") / "site"
    build_site(folder, lambda _line: None)
    return folder


@pytest.fixture(scope="session")
def site(site_folder: Path) -> Iterator[str]:
    """Address of the site."""
    with serving(site_folder) as (address, _):
        yield address


@pytest.fixture(scope="module")
def browser(start_chromium: Callable[..., AbstractContextManager[Any]]) -> Iterator[Any]:
    """Chromium for all tests of the file."""
    with start_chromium() as running:
        yield running


@pytest.fixture(scope="module")
def visitor(browser: Any) -> Iterator[Any]:
    """Browser profile for all tests of the file, which share its cache."""
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    yield context
    context.close()


@pytest.fixture
def lab(visitor: Any, site: str) -> Iterator[Callable[[str], Lab]]:
    """Opens notebooks of the site, and closes them after the test."""
    opened: list[Lab] = []

    def open_(name: str = "01-quickstart") -> Lab:
        opened.append(Lab(visitor, site, name))
        return opened[-1]

    yield open_
    for each in opened:
        each.close()


@pytest.fixture(scope="session")
def engine_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Event loop in a thread, for an engine in this process."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="engine loop")
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
