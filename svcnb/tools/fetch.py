"""Downloads external tools into the user's cache, and checks their hashes.

Deno downloads archives from npm, and compares the hash of each archive with a lock file in this folder. Deno downloads
everything that a lock file lists, so each tool has its own lock file. If `ANVIL_SHA256` contains the hash of the chain
node's unpacked binary, this module also compares that hash. Otherwise, this module downloads the archive again, because
Deno does not check the files in its cache. Platforms without a lock file are not supported. Two processes can download
at the same time, because an atomic rename moves the complete binary to its final path.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from svcnb.errors import SvcnbError
from svcnb.exit_codes import ExitCode
from svcnb.tools import (
    ANVIL_VERSION,
    PAGE_VERSIONS,
    SAFE_LOCK,
    SAFE_VERSION,
    SOLC_LOCK,
    SOLC_VERSION,
    ToolMissing,
    anvil_path,
    deno,
    deno_environment,
    deno_folder,
)

FETCH_TIMEOUT_S = 600
_OWN_NODE = "Install Foundry and set SVC_ANVIL to the path of anvil, or pass the URL of a chain node with --chain-rpc."

# SHA-256 of the unpacked binary by platform. For platforms that are not in this table, Deno checks only the hash of the
# archive in the lock file.
ANVIL_SHA256 = {"linux-amd64": "10c1c727d6c1de973aeb160e59875b9a9a23464d6e74149ee8abb30b3500311b"}

_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "win32"}


class ToolCorrupt(SvcnbError, RuntimeError):
    """Error for a downloaded file with a wrong hash. The downloader did not install the file."""

    exit_code = ExitCode.TOOL_MISSING


def platform_name() -> str:
    """Returns the name of this platform in the packages of the chain node, for example ``linux-amd64``.

    Raises:
        ToolMissing: The chain node has no package for this platform.
    """
    system = _SYSTEMS.get(sys.platform)
    machine = _MACHINES.get(platform.machine().lower())
    if system is None or machine is None:
        raise ToolMissing(
            "anvil",
            f"there is no build for {sys.platform} on {platform.machine()}",
            _OWN_NODE,
        )
    return f"{system}-{machine}"


def anvil_lock(platform: str) -> Path:
    """Returns the path of one platform's lock file. The lock file contains the hash of anvil's archive.

    Raises:
        ToolMissing: There is no lock file for the platform.
    """
    lock = Path(__file__).with_name(f"anvil-{platform}.lock")
    if not lock.is_file():
        raise ToolMissing(
            "anvil",
            f"there is no recorded hash of the build for {platform}, so the download cannot be verified",
            _OWN_NODE,
        )
    return lock


def fetch_anvil(report: Callable[[str], None]) -> Path:
    """Downloads the chain node, unless the correct version is already installed, and returns the path of the binary.

    Args:
        report: Function that receives one line for each step.

    Raises:
        ToolMissing: The download failed, or there is no build or no recorded hash for this platform.
        ToolCorrupt: The downloaded file has a wrong hash.
    """
    target = anvil_path()
    name = platform_name()
    sha256 = ANVIL_SHA256.get(name)
    if target.is_file():
        if sha256 in {None, _sha256(target)}:
            report(f"anvil {ANVIL_VERSION} is already installed: {target}")
            return target
        report(f"{target} does not have the hash of anvil {ANVIL_VERSION} and will be replaced")
    package = f"@foundry-rs/anvil-{name}"
    report(f"downloading anvil {ANVIL_VERSION} for {name} (about 15 MB) ...")
    _deno_cache(f"npm:{package}@{ANVIL_VERSION}", anvil_lock(name), again=sha256 is None)
    found = sorted(deno_folder().glob(f"npm/*/{package}/{ANVIL_VERSION}/bin/{target.name}"))
    if not found:
        raise ToolMissing(
            "anvil",
            f"the npm package {package} does not contain bin/{target.name}",
            "Report this message to the maintainers of svcnb.",
        )
    _place(found[0], target, sha256)
    report(f"anvil {ANVIL_VERSION} is ready: {target}")
    return target


def fetch_solc(report: Callable[[str], None]) -> None:
    """Downloads the Solidity compiler, unless it is already installed.

    Only a rebuild of the service's contract needs the compiler.

    Args:
        report: Function that receives one line for each step.
    """
    _fetch_package("solc", SOLC_VERSION, SOLC_LOCK, report, " (about 9 MB)")


def fetch_safe(report: Callable[[str], None]) -> None:
    """Downloads the contracts of the multi-signature wallet Safe for the tests, unless they are already installed."""
    _fetch_package("@safe-global/safe-contracts", SAFE_VERSION, SAFE_LOCK, report, " (about 5 MB)")


def fetch_for_page(package: str, report: Callable[[str], None]) -> Path:
    """Downloads a package for the browser site of `svcnb lite`, unless it is already installed.

    Args:
        package: Name of a package in `svcnb.tools.PAGE_VERSIONS`.
        report: Function that receives one line for each step.

    Returns:
        Folder of the package.
    """
    return _fetch_package(package, PAGE_VERSIONS[package], Path(__file__).with_name(f"{package}.lock"), report)


def _fetch_package(package: str, version: str, lock: Path, report: Callable[[str], None], size: str = "") -> Path:
    """Downloads an npm package into Deno's cache, unless it is already there, and returns its folder."""
    where = f"npm/*/{package}/{version}"
    if any(deno_folder().glob(f"{where}/package.json")):
        report(f"{package} {version} is already installed: {deno_folder()}")
    else:
        report(f"downloading {package} {version}{size} ...")
        _deno_cache(f"npm:{package}@{version}", lock)
        report(f"{package} {version} is ready: {deno_folder()}")
    found = sorted(deno_folder().glob(where))
    if not found:
        raise ToolMissing(package, f"not found in {deno_folder()}", "Check the network, and run the command again.")
    return found[0]


def _deno_cache(specifier: str, lock: Path, *, again: bool = False) -> None:
    checked = [f"--lock={lock}", "--frozen", *(["--reload"] if again else [])]
    try:
        done = subprocess.run(
            [deno(), "cache", "--quiet", "--no-config", *checked, specifier],
            env=deno_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=FETCH_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ToolMissing(
            specifier, f"not downloaded within {FETCH_TIMEOUT_S} s", "Check the network, and run the command again."
        ) from None
    if done.returncode:
        said = done.stderr.strip() or f"Deno stopped with exit code {done.returncode}"
        raise ToolMissing(specifier, said, "Check the network, and run the command again.")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _place(source: Path, target: Path, sha256: str | None) -> None:
    if sha256 is not None and (seen := _sha256(source)) != sha256:
        raise ToolCorrupt(
            f"the downloaded file {source} has the SHA-256 hash {seen}, but the expected hash is {sha256}",
            hint=f"Delete {deno_folder()} and run: svcnb fetch",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=target.parent, prefix=".fetching-")
    os.close(handle)
    try:
        shutil.copyfile(source, scratch)
        os.chmod(scratch, 0o755)  # noqa: PTH101, S103 - a program that all users can run; it contains no secret
        os.replace(scratch, target)  # noqa: PTH105 - atomic: no process starts an incomplete file
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise
