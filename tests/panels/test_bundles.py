"""The files that a panel sends to the browser contain all their dependencies, because front ends differ."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

import svcnb.panels

STATIC = Path(svcnb.panels.__file__).parent / "static"
FILES = sorted(path for path in STATIC.rglob("*") if path.suffix in {".js", ".css", ".gz"})
IMPORT = re.compile(r"""(?:\A|[;}\n])import\b(?!\s*\()|\bimport\(\s*["']|\brequire\(|@import|url\((?!["']?data:)""")
OUTSIDE = re.compile(r"https?://(?!www\.w3\.org/)[\w.-]+")
BARE_VARIABLE = re.compile(r"var\(\s*--jp-[\w-]+\s*\)")

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(STATIC).as_posix())
def test_a_bundle_loads_no_other_files_and_has_fallbacks_for_jupyterlab(path: Path) -> None:
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    assert IMPORT.findall(text) == []
    assert OUTSIDE.findall(text) == []
    assert BARE_VARIABLE.findall(text) == []


def test_every_panel_has_a_bundle() -> None:
    names = {path.name.removesuffix(".gz") for path in FILES if path.parent == STATIC}
    panels = {name.removesuffix(".js") for name in names if name.endswith(".js")}
    assert names == {f"{panel}.{kind}" for panel in panels for kind in ("js", "css")}
    assert len(panels) == 7


def test_the_patterns_match_their_examples() -> None:
    assert IMPORT.search('import{a}from"./b.js"')
    assert IMPORT.search('var a=1;import"./b.js"')
    assert not IMPORT.search('label:"import"')
    assert IMPORT.search('await import("https://cdn.example/x.js")')
    assert not IMPORT.search("url(data:image/svg+xml,x)")
    assert OUTSIDE.search("https://cdn.example/x.js")
    assert BARE_VARIABLE.search("color: var(--jp-x)")
    assert not BARE_VARIABLE.search("color: var(--jp-x, red)")
