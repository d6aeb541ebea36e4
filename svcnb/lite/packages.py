"""Wheels of the site: the packages in `wheels.txt`, this package, and the lock file that lists them."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from svcnb import tools
from svcnb.lite.page import SiteNotBuilt
from svcnb.lite.precompile import AT_START, MEMORY

WHEELS: Final = Path(__file__).with_name("wheels.txt")
"""Path of the list of packages with exact versions. Each version has a wheel for WebAssembly or for any platform."""
_SUBSTITUTES: Final = Path(__file__).with_name("substitutes")
_PLATFORM: Final = (
    "--platform=pyemscripten_2026_0_wasm32",
    "--python-version=3.14",
    "--implementation=cp",
    "--abi=cp314",
    "--abi=none",
    "--only-binary=:all:",
)
_TIMEOUT_S: Final = 900
_HERE: Final = Path(__file__).parent
LOCK: Final = "pyodide-lock.json"
"""Name of Pyodide's lock file."""
_LEFT_OUT: Final = (
    "charts/static/",
    "cli/",
    "emulator/sandbox/static/bootstrap.js",
    "emulator/sandbox/static/engine.js",
    "emulator/sandbox/static/fast.js",
    "emulator/chain/static/chain_process.js",
    "emulator/static/swagger/",
    "lite/",
    "magics/static/",
    "notebooks/",
)
"""Files and folders of this package that a page cannot use."""
_EPOCH: Final = (2020, 1, 1, 0, 0, 0)
_LATER: Final[dict[str, tuple[str, ...]]] = {
    "web3": ("pyunormalize", "requests", "websockets"),
    "requests": ("charset-normalizer", "urllib3"),
}
"""Packages that the page loads only when a cell imports them, with the dependencies that load at the same time."""
_FROM_NPM: Final = {
    "tree_sitter_page/tree-sitter.js": ("web-tree-sitter", "web-tree-sitter.js"),
    "tree_sitter_page/tree-sitter.wasm": ("web-tree-sitter", "web-tree-sitter.wasm"),
    "tree_sitter_page/grammar.wasm": ("tree-sitter-javascript", "tree-sitter-javascript.wasm"),
}
"""Files of the linter's parser in the wheel of this package, with their npm package and their path in that package."""


def download(folder: Path) -> None:
    """Uses pip to download the wheels that `WHEELS` lists, unless an earlier call has downloaded the same list.

    Args:
        folder: Target folder, which also serves as a cache for later builds.

    Raises:
        SiteNotBuilt: pip failed. The message contains the end of pip's output.
    """
    stamp = folder / "complete"
    wanted = hashlib.sha256(WHEELS.read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text("ascii") == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)  # delete wheels of an earlier list
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
    command += [*_PLATFORM, "--dest", str(folder), "--requirement", str(WHEELS)]
    run(command, "pip could not download the wheels of the site. Check the network, and run the command again")
    stamp.write_text(wanted, "ascii")


def write_own_wheel(folder: Path, version: str, npm: Mapping[str, Path]) -> Path:
    """Builds a wheel of this package, without the parts that a page cannot use.

    The wheel contains substitutes for libraries that have no build for WebAssembly.

    Args:
        folder: Folder of the wheel.
        version: Version of the package.
        npm: Folders of the packages from npm, by name.

    Returns:
        Path of the wheel.
    """
    package = Path(__file__).resolve().parents[1]
    target = folder / f"svcnb-{version}-py3-none-any.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for file in sorted(package.rglob("*")):
            name = file.relative_to(package).as_posix()
            if file.is_file() and "__pycache__" not in file.parts and not name.startswith(_LEFT_OUT):
                _add(wheel, f"svcnb/{name}", file.read_bytes())
        for file in sorted(_SUBSTITUTES.rglob("*.py")):
            _add(wheel, file.relative_to(_SUBSTITUTES).as_posix(), file.read_bytes())
        for name, (source, file_name) in _FROM_NPM.items():
            _add(wheel, name, (npm[source] / file_name).read_bytes())
        about = f"svcnb-{version}.dist-info"
        _add(wheel, f"{about}/METADATA", f"Metadata-Version: 2.1\nName: svcnb\nVersion: {version}\n".encode())
        _add(wheel, f"{about}/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        _add(wheel, f"{about}/RECORD", b"")
    return target


def _add(wheel: zipfile.ZipFile, name: str, content: bytes) -> None:
    # Use a fixed date, so that the same sources produce the same wheel.
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(info, content)


def locked(lock: dict[str, Any], wheels: list[Path]) -> dict[str, Any]:
    """Returns Pyodide's lock file for the wheels of a site.

    The result omits packages that have no wheel on the site. When a page loads ``svcnb``, the page also loads all other
    wheels, except wheels that load only when a cell imports them.

    Args:
        lock: The content of ``pyodide-lock.json``.
        wheels: Wheels in the folder of the lock file.
    """
    here = {wheel.name: hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels}
    # The package index has wheels with the same names but different content.
    theirs = {name: it for name, it in lock["packages"].items() if here.get(it["file_name"]) == it["sha256"]}
    known = {it["file_name"] for it in theirs.values()}
    ours = {entry["name"]: entry for entry in (_entry(wheel) for wheel in wheels if wheel.name not in known)}
    later = {*_LATER, *(name for names in _LATER.values() for name in names)}
    ours["svcnb"]["depends"] = sorted(ours.keys() - later - {"svcnb"})
    for name, needed in _LATER.items():
        if name in ours:
            ours[name]["depends"] = ["svcnb", *needed]
    return lock | {"packages": theirs | ours}


def wanted_of(lock: dict[str, Any], names: Iterable[str]) -> list[str]:
    """Returns the file names of packages and their dependencies, from Pyodide's lock file.

    Args:
        lock: The content of ``pyodide-lock.json``.
        names: Names of the packages.
    """
    packages, todo, found = lock["packages"], list(names), {}
    while todo:
        name = todo.pop()
        if name not in found:
            found[name] = packages[name]["file_name"]
            todo += packages[name]["depends"]
    return sorted(found.values())


def _entry(wheel: Path) -> dict[str, Any]:
    name, version = wheel.name.split("-")[:2]
    with zipfile.ZipFile(wheel) as content:
        tops = {path.partition("/")[0].removesuffix(".py") for path in content.namelist() if ".dist-info/" not in path}
    return {
        "name": name.replace("_", "-").lower(),
        "version": version,
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": sorted(top for top in tops if top.isidentifier()),
        "depends": [],
        "unvendored_tests": False,
    }


def write_lock(folder: Path) -> None:
    """Rewrites ``pyodide-lock.json`` in a folder for the wheels in that folder."""
    lock = locked(read_lock(folder), sorted(folder.glob("*.whl")))
    (folder / LOCK).write_text(json.dumps(lock, separators=(",", ":")), "utf-8")


def precompile(folder: Path) -> None:
    """Compiles the wheels in a folder, and makes the snapshot of Python's memory from which a page starts.

    Raises:
        SiteNotBuilt: Pyodide failed. The message contains the end of Pyodide's output.
    """
    program = Path(__file__).with_name("precompile.py").read_text("utf-8")
    _run_pyodide(folder, "run_pyodide.mjs", f"{program}\nprecompile(Path('/wheels'))")
    _run_pyodide(folder, "make_snapshot.mjs", AT_START, MEMORY)


def _run_pyodide(folder: Path, script: str, *arguments: str) -> None:
    allowed = ["--no-config", "--quiet", f"--allow-read={folder},{_HERE}", f"--allow-write={folder}", "--allow-env"]
    command = [str(tools.deno()), "run", *allowed, str(_HERE / script), str(folder), f"{folder.as_uri()}/", *arguments]
    problem = (
        f"Pyodide could not compile the wheels of the site. Delete {tools.cache_folder() / 'lite'}, and run the "
        "command again"
    )
    run(command, problem, env=tools.deno_environment())


def run(command: list[str], problem: str, **options: Any) -> None:
    """Runs a program that takes part in the build.

    Args:
        command: The program and its arguments.
        problem: Message for a failed program, with the next step of the user.
        **options: Options of `subprocess.run`.

    Raises:
        SiteNotBuilt: The program failed. The message contains the end of its output.
    """
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False, **options)
    if done.returncode:
        raise SiteNotBuilt(f"{problem}. The output ends with:\n{(done.stdout + done.stderr).strip()[-3000:]}")


def read_lock(folder: Path) -> dict[str, Any]:
    """Returns the parsed content of Pyodide's lock file in a folder."""
    found: dict[str, Any] = json.loads((folder / LOCK).read_text("utf-8"))
    return found
