"""Adds a content security policy, an offline cache, and a note about practice keys to JupyterLite's page."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Final

from svcnb.page_storage import NOTE

_RULES: Final = (
    "default-src 'self'",
    # JupyterLab compiles validators and templates, and Pyodide evaluates its own glue code.
    "script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob:",
    "worker-src 'self' blob:",
    "connect-src 'self' blob: data:",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "frame-src 'self' blob: data:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
)
POLICY: Final = "; ".join(_RULES)
"""Content security policy of the page and of its workers. It permits no address outside the site."""

_HERE: Final = Path(__file__).parent
_WORKER: Final = "service-worker.js"
_PAGE: Final = "lab/index.html"
_CHARSET: Final = '<meta charset="utf-8">'
_KEPT: Final = ("api/contents/**/*.json", "files/**/*", "static/pyodide/*")


class SiteNotBuilt(RuntimeError):
    """Error for a failed build of the site. The message contains the end of the output."""


def complete(site: Path) -> None:
    """Completes a site.

    Args:
        site: Folder of the site that JupyterLite built.

    Raises:
        SiteNotBuilt: The page has a different format than this version of JupyterLite produces.
    """
    listed = sorted({file for pattern in _KEPT for file in site.glob(pattern) if file.is_file()})
    (site / "offline.json").write_text(json.dumps([file.relative_to(site).as_posix() for file in listed]), "utf-8")
    page = site / _PAGE
    text = page.read_text("utf-8")
    if text.count(_CHARSET) != 1:
        raise SiteNotBuilt(f"{_PAGE} of this JupyterLite has an unexpected structure: expected exactly one {_CHARSET}")
    page.write_text(text.replace(_CHARSET, _CHARSET + _filled("head.html")), "utf-8")
    worker = site / _WORKER
    own = _filled("offline.js").replace("@VERSION@", _version(site))
    worker.write_text(own + worker.read_text("utf-8"), "utf-8")


def _filled(name: str) -> str:
    return (_HERE / name).read_text("utf-8").replace("@POLICY@", POLICY).replace("@NOTE@", NOTE)


def _version(site: Path) -> str:
    """Returns a hash of all files of the site, so that each version of the site has its own cache."""
    found = hashlib.sha256()
    for file in sorted(each for each in site.rglob("*") if each.is_file()):
        found.update(file.relative_to(site).as_posix().encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()[:16]
