"""The documentation builds without warnings, and every link of every page has a target."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from sphinx.util.inventory import InventoryFile

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


class Page(HTMLParser):
    """Links of a page, and its possible link targets."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids |= {found[name] or "" for name in ("id", "name") if name in found}
        link = found.get("href" if tag in {"a", "link"} else "src")
        if link:
            self.links.append(link)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("html")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_lesson_is_a_page_with_its_outputs(built: Path) -> None:
    for lesson in (ROOT / "notebooks").glob("*.ipynb"):
        page = (built / "generated/lessons" / lesson.with_suffix(".html").name).read_text(encoding="utf-8")
        assert "cell_output" in page, lesson.name


def test_every_link_within_the_documentation_leads_somewhere(built: Path) -> None:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in built.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                broken.append(f"{path.relative_to(built)}: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                broken.append(f"{path.relative_to(built)}: {link} (no such place on that page)")
    assert broken == []


def test_other_projects_can_link_to_every_public_name(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    reference = import_module("reference")
    with (built / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "https://docs.example.org", urljoin)
    python = {
        name: entry for kind, found in inventory.items() if kind.startswith("py:") for name, entry in found.items()
    }
    wanted = {f"{module}.{name}" for module in reference.MODULES for name in reference.public(import_module(module))}
    wanted |= {*reference.RESOURCES, *reference.RESULTS, *reference.result_models()}
    assert len(wanted) > 240
    assert wanted - python.keys() == {"svcnb.exercises"}, "a module, which is listed as svcnb.toolkit.exercises"
    assert "svcnb.client.models.runs.Run" in inventory["py:class"]
    assert "svcnb.client.models.runs.Run.response" in inventory["py:attribute"]
    assert "svcnb.Client.run" in inventory["py:method"]
    assert "svcnb.SvcnbError" in inventory["py:exception"]
    page, _, anchor = python["svcnb.Client.run"].uri.partition("#")
    path = built / urlsplit(page).path.lstrip("/")
    assert anchor in Page(path.read_text(encoding="utf-8")).ids


@pytest.mark.browser
def test_each_code_block_has_a_button_that_copies_its_text(
    built: Path, start_chromium: Callable[..., AbstractContextManager[Any]]
) -> None:
    with start_chromium() as browser:
        page = browser.new_context(permissions=["clipboard-read", "clipboard-write"]).new_page()
        page.goto((built / "generated/lessons/01-quickstart.html").as_uri())
        blocks = page.locator("div.cell_input div.highlight")
        buttons = page.locator("div.highlight").get_by_role("button", name="Copy")
        assert buttons.count() == blocks.count() > 10
        text = blocks.first.locator("pre").text_content()
        buttons.first.click()
        page.get_by_role("button", name="Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == text
