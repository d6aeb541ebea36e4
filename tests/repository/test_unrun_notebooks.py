"""A notebook shows its charts before it runs, and does not render amounts of money as formulas."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.repository.unrun import IMAGES, NOTEBOOKS

MAX_BYTES = 220_000
IGNORED = {"code", "pre", "style", "script"}
VOID = {"br", "hr", "img", "input", "wbr"}
# Elements that GitHub's pipeline for READMEs permits (html-pipeline, SanitizationFilter), and the images of notebooks.
TAGS = {
    "a", "abbr", "b", "blockquote", "br", "caption", "code", "dd", "del", "details", "div", "dl", "dt", "em",
    "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "main", "ol", "p", "pre", "q",
    "s", "samp", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "ul", "var",
}  # fmt: skip
ATTRIBUTES = {"*": ["class", "id"], "a": ["href", "title"], "img": ["src", "alt", "width", "height", "title"]}

every_notebook = pytest.mark.parametrize(
    "path", sorted(NOTEBOOKS.rglob("*.ipynb")), ids=lambda path: path.relative_to(NOTEBOOKS).as_posix()
)


class Page(HTMLParser):
    """Parser that collects the images of a page, and the texts in which MathJax searches for formulas."""

    def __init__(self) -> None:
        super().__init__()
        self.images: list[dict[str, str | None]] = []
        self.drawings = 0
        self.formulas: list[str] = []
        self._text = ""
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_text()
        values = dict(attrs)
        self.drawings += tag == "svg"
        if tag == "img":
            self.images.append(values)
        if tag not in VOID:
            ignores = tag in IGNORED or "mathjax_ignore" in (values.get("class") or "").split()
            self._open.append((tag, ignores))

    def handle_endtag(self, tag: str) -> None:
        self._end_text()
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(ignores for _, ignores in self._open):
            self._text += data

    def _end_text(self) -> None:
        self.formulas += re.findall(r"\$[^$]+\$|\\\(.+?\\\)|\\\[.+?\\\]", self._text)
        self._text = ""

    @classmethod
    def of(cls, html: str) -> Page:
        page = cls()
        page.feed(f"{html}<p>")
        return page


def cells(path: Path, kind: str) -> Iterator[dict[str, Any]]:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == kind:
            yield cell


def images_of(path: Path) -> int:
    """Returns the number of charts of a notebook. Solutions have none."""
    return IMAGES.get(path.stem, 0) if path.parent == NOTEBOOKS else 0


def bundles(path: Path) -> list[dict[str, Any]]:
    return [output["data"] for cell in cells(path, "code") for output in cell["outputs"] if "data" in output]


@every_notebook
def test_drawings_have_alternative_text_and_amounts_are_not_formulas(path: Path) -> None:
    pages = [Page.of("".join(bundle.get("text/html", ""))) for bundle in bundles(path)]
    images = [image for page in pages for image in page.images]
    assert len(images) == images_of(path)
    assert [image for image in images if len(image["alt"] or "") < len("a sentence")] == []
    assert sum(page.drawings for page in pages) == 0, "sanitisers leave only the words of a drawing inside HTML"
    assert [text for page in pages for text in page.formulas] == []


@every_notebook
def test_the_text_of_a_notebook_has_no_formula(path: Path) -> None:
    texts = ["".join(cell["source"]) for cell in cells(path, "markdown")]
    plain = [re.sub(r"```.*?```|`[^`]*`|\\\$", "", text, flags=re.DOTALL) for text in texts]
    assert [found for text in plain for found in re.findall(r"\$(?:(?!\n\n)[^$])+\$", text)] == []


@every_notebook
def test_a_chart_is_also_stored_as_an_image_alone_and_the_file_stays_small(path: Path) -> None:
    # In an untrusted folder, VS Code shows images but no HTML.
    for bundle in bundles(path):
        if "image/png" in bundle:
            assert "<img " in "".join(bundle["text/html"])
            assert b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert path.stat().st_size < MAX_BYTES


def test_the_page_sees_formulas_and_drawings() -> None:
    page = Page.of("<p>from $1.00 to $2.00</p><div class='mathjax_ignore'>$3 $4</div><code>$5 $6</code><svg></svg>")
    assert (page.formulas, page.drawings) == (["$1.00 to $"], 1)


@pytest.mark.slow
@every_notebook
def test_a_sanitised_page_of_a_notebook_shows_its_charts(path: Path) -> None:
    bleach = pytest.importorskip("bleach")
    from nbconvert import HTMLExporter

    html, _ = HTMLExporter(template_name="basic").from_filename(str(path))  # type: ignore[no-untyped-call]  # of another library
    protocols = {"data", "http", "https", "mailto"}
    page = Page.of(bleach.clean(html, tags=TAGS, attributes=ATTRIBUTES, protocols=protocols, strip=True))
    charts = [image for image in page.images if (image.get("src") or "").startswith("data:image/")]
    own = [image for image in charts if len(image["alt"] or "") > len("a sentence")]
    assert len(own) == images_of(path)
    assert page.formulas == []
