"""The documentation is built with warnings as errors, and every link of every page leads somewhere."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


class Page(HTMLParser):
    """What a page links to, and what of it can be linked to."""

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
