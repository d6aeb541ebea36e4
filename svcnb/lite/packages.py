"""Wheels of the site: the packages of `wheels.txt`, this package itself, and the lock file that names them."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, Final

WHEELS: Final = Path(__file__).with_name("wheels.txt")
"""Exact versions, all with wheels for WebAssembly or for any platform."""
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
_LEFT_OUT: Final = (
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
"""Parts of this package that a page cannot use."""
_EPOCH: Final = (2020, 1, 1, 0, 0, 0)


class PackagesMissing(RuntimeError):
    """The wheels of the site cannot be downloaded."""


def download(folder: Path) -> None:
    """Downloads the wheels of `WHEELS` with pip, unless all are there.

    Args:
        folder: Target folder; kept as a cache between builds.

    Raises:
        PackagesMissing: pip failed; the text contains the end of its output.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stamp = folder / "complete"
    wanted = hashlib.sha256(WHEELS.read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text("ascii") == wanted:
        return
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, *_PLATFORM, "--dest", str(folder), "--requirement", str(WHEELS)],
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise PackagesMissing(f"pip could not download the wheels of the site: {done.stderr.strip()[-1500:]}")
    stamp.write_text(wanted, "ascii")


def write_own_wheel(folder: Path, version: str) -> Path:
    """Builds a wheel of this package, without the parts that a page cannot use.

    The wheel contains substitutes for libraries that have no build for WebAssembly.

    Args:
        folder: Folder of the wheel.
        version: Version of the package.
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
        about = f"svcnb-{version}.dist-info"
        _add(wheel, f"{about}/METADATA", f"Metadata-Version: 2.1\nName: svcnb\nVersion: {version}\n".encode())
        _add(wheel, f"{about}/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        _add(wheel, f"{about}/RECORD", b"")
    return target


def _add(wheel: zipfile.ZipFile, name: str, content: bytes) -> None:
    # A fixed date, so that the same sources give the same wheel.
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(info, content)


def locked(lock: dict[str, Any], wheels: list[Path]) -> dict[str, Any]:
    """Returns Pyodide's lock file with the site's own wheels instead of those of the same name.

    Loading ``svcnb`` loads all of them.

    Args:
        lock: The content of ``pyodide-lock.json``.
        wheels: Wheels in the folder of the lock file.
    """
    ours = {entry["name"]: entry for entry in map(_entry, wheels)}
    ours["svcnb"]["depends"] = sorted(ours.keys() - {"svcnb"})
    names = ours.keys() | {f"{name}-tests" for name in ours}
    return lock | {"packages": {name: it for name, it in lock["packages"].items() if name not in names} | ours}


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
    """Rewrites ``pyodide-lock.json`` of a folder for the wheels in that folder."""
    file = folder / "pyodide-lock.json"
    lock = locked(json.loads(file.read_text("utf-8")), sorted(folder.glob("*.whl")))
    file.write_text(json.dumps(lock, separators=(",", ":")), "utf-8")
