"""Completes JupyterLite's site with a content security policy, an offline cache and a note about keys.

The site also receives a script that starts Python while JupyterLab loads.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Final

from svcnb.extras import install_command
from svcnb.lite.precompile import AT_START, MEMORY
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
"""Content security policy of the page and of its workers. It does not permit addresses outside the site."""

_HERE: Final = Path(__file__).parent
_WORKER: Final = "service-worker.js"
_PAGE: Final = "lab/index.html"
_CONFIG: Final = "jupyter-lite.json"
_CHARSET: Final = '<meta charset="utf-8">'
_LESSON: Final = "lab/index.html?path=01-quickstart.ipynb"
_KERNEL: Final = "extensions/@jupyterlite/pyodide-kernel-extension/static/comlink.worker.*.js"
_RUNTIME: Final = "static/pyodide/pyodide.mjs"
_EARLY: Final = "static/early.js"
_COMPILE: Final = "static/compile.js"
_EXTENSIONS: Final = (
    "@jupyter-widgets/jupyterlab-manager",
    "@jupyterlite/pyodide-kernel-extension",
    "anywidget",
    "svcnb",
)
_KEPT: Final = ("index.html", "api/contents/**/*.json", "files/**/*", "static/pyodide/*", _EARLY, _KERNEL)


class SiteNotBuilt(RuntimeError):
    """Error for a failed build of the site."""


def complete(site: Path) -> None:
    """Adds a content security policy, an offline cache and a note about keys to a site, and starts Python earlier.

    Args:
        site: Folder of the site that JupyterLite built.

    Raises:
        SiteNotBuilt: A file of JupyterLite has an unexpected structure, for example in a different version.
    """
    (site / "index.html").write_text(_filled("index.html"), "utf-8")
    _start_early(site)
    (site / _COMPILE).write_text(_filled("compile.js"), "utf-8")
    listed = sorted({file for pattern in _KEPT for file in site.glob(pattern) if file.is_file()})
    (site / "offline.json").write_text(json.dumps([file.relative_to(site).as_posix() for file in listed]), "utf-8")
    page = site / _PAGE
    text = page.read_text("utf-8")
    if text.count(_CHARSET) != 1:
        raise _unexpected(_PAGE, f"expected exactly one {_CHARSET}")
    _remove_unused_parts(site)
    head = _filled("head.html").replace("@APPLICATION@", _application(site))
    page.write_text(text.replace(_CHARSET, _CHARSET + head), "utf-8")
    worker = site / _WORKER
    own = _filled("offline.js").replace("@VERSION@", _version(site))
    worker.write_text(own + worker.read_text("utf-8"), "utf-8")


def _unexpected(part: str, problem: str) -> SiteNotBuilt:
    return SiteNotBuilt(
        f"{part} of this JupyterLite has an unexpected structure: {problem}. To install the versions that this command "
        f"supports, run: {install_command('lite')}"
    )


def _remove_unused_parts(site: Path) -> None:
    """Removes parts of JupyterLite that no page uses, because they delay each start.

    They are the extensions of other packages in the environment of the build, and the settings of Jupyter Notebook.
    """
    config = json.loads((site / _CONFIG).read_text("utf-8"))
    listed = config["jupyter-config-data"].get("federated_extensions", [])
    others = [extension for extension in listed if extension["name"] not in _EXTENSIONS]
    for extension in others:
        listed.remove(extension)
        shutil.rmtree(site / "extensions" / extension["name"])
    (site / _CONFIG).write_text(json.dumps(config), "utf-8")
    for file in site.glob("build/schemas/all*.json"):
        schemas = json.loads(file.read_text("utf-8"))
        used = [schema for schema in schemas if not schema["id"].startswith("@jupyter-notebook/")]
        file.write_text(json.dumps(used), "utf-8")


def _application(site: Path) -> str:
    """Returns the version number of JupyterLite's application, from the configuration file of the site."""
    version = json.loads((site / _CONFIG).read_text("utf-8"))["jupyter-config-data"].get("appVersion")
    if not isinstance(version, str):
        raise _unexpected(_CONFIG, "appVersion is missing")
    return version


def _start_early(site: Path) -> None:
    kernels = list(site.glob(_KERNEL))
    if len(kernels) != 1:
        raise _unexpected("the extension of the kernel", f"expected exactly one file {_KERNEL}")
    (site / _RUNTIME).rename(site / "static/pyodide/pyodide-runtime.mjs")
    (site / _RUNTIME).write_text(_filled("pyodide.mjs"), "utf-8")
    (site / "static/pyodide/snapshot.mjs").write_text(_filled("snapshot.mjs"), "utf-8")
    script = _filled("early.js").replace("@KERNEL@", kernels[0].relative_to(site).as_posix())
    (site / _EARLY).write_text(script, "utf-8")


def _filled(name: str) -> str:
    text = (_HERE / name).read_text("utf-8")
    return (
        text.replace("@POLICY@", POLICY)
        .replace("@NOTE@", NOTE)
        .replace("@LESSON@", _LESSON)
        .replace("@PACKAGES@", AT_START)
        .replace("@MEMORY@", MEMORY)
    )


def _version(site: Path) -> str:
    """Returns a hash of all files of the site, so that each version of the site has its own cache."""
    found = hashlib.sha256()
    for file in sorted(each for each in site.rglob("*") if each.is_file()):
        found.update(file.relative_to(site).as_posix().encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()[:16]
