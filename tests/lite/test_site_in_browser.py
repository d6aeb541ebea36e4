"""The site in a real Chromium, without any network but its own server: a lesson gives the stored outputs."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from svcnb.lite.server import make_server
from svcnb.lite.site import build_site

pytestmark = pytest.mark.browser

LESSONS = Path(__file__).parents[2] / "notebooks"
PATIENCE_MS = 600_000
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]

_SHOWN = "() => window.jupyterapp?.shell?.currentWidget?.content?.model?.cells?.length > 1"
_READY = """async () => {
  const { context, sessionContext } = jupyterapp.shell.currentWidget;
  await context.ready;
  await sessionContext.ready;
}"""
_RUN = "async () => { await jupyterapp.commands.execute('notebook:run-all-cells'); }"
_CELLS = "() => jupyterapp.shell.currentWidget.content.model.toJSON().cells.filter((c) => c.cell_type === 'code')"
_DONE = f"""() => {{
  const cells = ({_CELLS})();
  const failed = cells.some((cell) => cell.outputs.some((output) => output.output_type === 'error'));
  return failed || cells.every((cell) => cell.execution_count !== null);
}}"""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a site that was just built."""
    if find_spec("jupyterlite_core") is None:
        pytest.skip("needs the extra lite")
    folder = tmp_path_factory.mktemp("lite") / "site"
    build_site(folder, lambda _line: None)
    with make_server(folder) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="needs the extra browser")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs Chromium")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield running
        running.close()


def shown(cell: dict[str, Any]) -> list[str]:
    """The outputs of a cell as text."""
    texts = []
    for output in cell["outputs"]:
        if output["output_type"] == "error":
            texts.append(f"{output['ename']}: {output['evalue']}")
        else:
            text = output["text"] if output["output_type"] == "stream" else output["data"].get("text/plain", "")
            texts.append(text if isinstance(text, str) else "".join(text))
    return texts


@pytest.mark.parametrize("lesson", ["02-actions-and-cids"])
def test_a_lesson_gives_its_stored_outputs_and_loads_nothing_from_elsewhere(site: str, browser: Any, lesson: str):
    outside: list[str] = []
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    own = (f"{site}/", "data:", "blob:")
    page.on("request", lambda request: None if request.url.startswith(own) else outside.append(request.url))
    page.goto(f"{site}/lab/index.html?path={lesson}.ipynb")
    page.wait_for_function(_SHOWN)
    page.evaluate(_READY)
    page.evaluate(_RUN)
    page.wait_for_function(_DONE)
    here = [shown(cell) for cell in page.evaluate(_CELLS)]
    context.close()
    stored = json.loads((LESSONS / f"{lesson}.ipynb").read_text("utf-8"))["cells"]
    assert here == [shown(cell) for cell in stored if cell["cell_type"] == "code"]
    assert outside == []
