"""Builds the site from Pyodide (a package on npm), the wheels, the lessons and JupyterLite."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from svcnb import __version__
from svcnb.errors import ExtraMissing
from svcnb.extras import install_command
from svcnb.lessons import lessons_folder
from svcnb.lite.packages import LOCK, download, precompile, read_lock, run, wanted_of, write_lock, write_own_wheel
from svcnb.lite.page import SiteNotBuilt, complete
from svcnb.tools import PAGE_VERSIONS, cache_folder
from svcnb.tools.fetch import fetch_for_page

_RUNTIME: Final = ("pyodide.mjs", "pyodide.js", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
_KERNEL: Final = "@jupyterlite/pyodide-kernel-extension:kernel"
_NOTEBOOK: Final = "@jupyterlab/notebook-extension:tracker"
_KERNEL_PACKAGES: Final = ("ipykernel", "pyodide_kernel")
_INSTALLED: Final = ("svcnb", "micropip", "piplite", "ipykernel", "comm", "pyodide-kernel", "jedi", "ipython")
"""Packages that the kernel does not install, because `svcnb.lite.page` loads them earlier."""
_NEED_A_SERVER: Final = (
    "@jupyterlab/apputils-extension:subshell-settings",
    "@jupyterlab/fileeditor-extension:language-server",
    "@jupyterlab/lsp-extension",
    "@jupyterlab/notebook-extension:language-server",
    "@jupyterlab/terminal-extension",
    "@jupyterlite/application-extension:lsp-connection-manager",
)
_NOT_IN_LESSONS: Final = (
    "@jupyterlab/apputils-extension:licenses-plugin",
    "@jupyterlab/apputils-extension:move-sections",
    "@jupyterlab/apputils-extension:movable-section-registry",
    "@jupyterlab/audio-extension",
    "@jupyterlab/completer-extension:inline-completer",
    "@jupyterlab/completer-extension:inline-completer-factory",
    "@jupyterlab/completer-extension:inline-history",
    "@jupyterlab/help-extension",
    "@jupyterlab/inspector-extension",
    "@jupyterlab/json-lines-extension",
    "@jupyterlab/mermaid-extension",
    "@jupyterlab/pdf-extension",
    "@jupyterlab/video-extension",
    "@jupyterlab/workspaces-extension",
)
"""Parts of JupyterLab that the page omits, because they delay each start.

They are viewers for file types that the lessons do not contain, contextual help, saved layouts and links to other
sites. They also include inline completion, for which the page has no source of suggestions."""


def build_site(target: Path, report: Callable[[str], None], *, distribution: Path | None = None) -> int:
    """Builds the lessons and the emulator as a static site.

    Args:
        target: Folder of the site. The function creates the folder, or replaces it if it contains an earlier site.
        report: Function that receives one line for each step.
        distribution: Folder with the wheels of Pyodide's own distribution, from which the site gets pandas. None builds
            a site without pandas and charts.

    Returns:
        Total size of all files, in bytes.

    Raises:
        ExtraMissing: JupyterLite is not installed.
        SiteNotBuilt: A program of the build failed, ``target`` contains other files, or ``distribution`` lacks a
            wheel.
        ToolMissing: The runtime cannot be downloaded.
    """
    _require_own(target)
    if find_spec("jupyterlite_core") is None or find_spec("jupyterlite_pyodide_kernel") is None:
        raise ExtraMissing("building the site requires JupyterLite", "lite")
    npm = {package: fetch_for_page(package, report) for package in PAGE_VERSIONS}
    runtime = npm["pyodide"]
    wheels = cache_folder() / "lite" / "wheels"
    report("downloading the wheels of the site (about 16 MB, once) ...")
    download(wheels)
    with tempfile.TemporaryDirectory(prefix="svcnb-lite-") as scratch:
        folder = Path(scratch)
        pyodide = folder / "static" / "pyodide"
        pyodide.mkdir(parents=True)
        for name in (*_RUNTIME, LOCK):
            shutil.copyfile(runtime / name, pyodide / name)
        for wheel in wheels.glob("*.whl"):
            shutil.copyfile(wheel, pyodide / wheel.name)
        for wheel in _kernel_wheels():
            shutil.copyfile(wheel, pyodide / wheel.name)
        if distribution is not None:
            _copy_pandas(distribution, pyodide)
        write_own_wheel(pyodide, __version__, npm)
        write_lock(pyodide)
        report("compiling the wheels ...")
        precompile(pyodide)
        (folder / "jupyter-lite.json").write_text(json.dumps(_configuration()), "utf-8")
        report("building the site ...")
        shutil.rmtree(target, ignore_errors=True)
        _run_jupyterlite(folder, target)
    complete(target)
    return sum(file.stat().st_size for file in target.rglob("*") if file.is_file())


def _kernel_wheels() -> list[Path]:
    listed = files("jupyterlite-pyodide-kernel") or []
    return [
        Path(str(file.locate()))
        for file in listed
        if file.name.endswith(".whl") and file.parent.name == "pypi" and file.name.startswith(_KERNEL_PACKAGES)
    ]


def _copy_pandas(distribution: Path, target: Path) -> None:
    for name in wanted_of(read_lock(target), ["pandas"]):
        if not (distribution / name).is_file():
            raise SiteNotBuilt(
                f"{distribution} does not contain {name}: unpack the full Pyodide "
                f"{PAGE_VERSIONS['pyodide']} in this folder"
            )
        shutil.copyfile(distribution / name, target / name)


def _configuration() -> dict[str, object]:
    kernel = {"loadPyodideOptions": {"packages": list(_INSTALLED)}, "disablePyPIFallback": True}
    return {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "svcnb",
            "exposeAppInBrowser": True,
            "enableMemoryStorage": False,
            "disabledExtensions": [*_NEED_A_SERVER, *_NOT_IN_LESSONS],
            "litePluginSettings": {_KERNEL: kernel},
            # With the default, the browser needs 0.4 s more processor time to show a notebook.
            "settingsOverrides": {_NOTEBOOK: {"windowingMode": "defer"}},
        },
    }


def _require_own(target: Path) -> None:
    if target.exists() and any(target.iterdir()) and not (target / "jupyter-lite.json").is_file():
        raise SiteNotBuilt(
            f"the folder {target} contains files that are not part of a site: choose a different folder, or delete "
            "the files"
        )


def _run_jupyterlite(folder: Path, target: Path) -> None:
    command = [sys.executable, "-m", "jupyterlite_core", "build", "--no-sourcemaps", "--apps", "lab"]
    lessons = folder / "lessons"
    shutil.copytree(lessons_folder(None).resolve(), lessons, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    for picture in lessons.rglob("*.svg"):
        # JupyterLite reads image files as Latin-1, so write other characters as XML character references.
        picture.write_bytes(picture.read_text("utf-8").encode("ascii", "xmlcharrefreplace"))
    command += ["--lite-dir", str(folder), "--output-dir", str(target.resolve()), "--contents", str(lessons)]
    problem = (
        "JupyterLite could not build the site. Correct the problem that the last lines of its output describe. To "
        f"install the versions that this command supports, run: {install_command('lite')}"
    )
    run(command, problem, cwd=folder)
