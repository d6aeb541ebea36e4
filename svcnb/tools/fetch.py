"""Download of external tools into the user's cache, checked by hash.

Deno downloads from npm and compares every archive with a lock file in this folder. Deno downloads everything in a lock
file, so each tool has its own. If the hash of the chain node's unpacked binary is known, it is compared as well.
Otherwise the archive is downloaded again, because Deno trusts its cache without a check. A platform without a lock file
is not supported. Two processes may download at the same time: the binary appears by one atomic rename.
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
from svcnb.tools import (
    ANVIL_VERSION,
    PYODIDE_LOCK,
    PYODIDE_VERSION,
    SAFE_LOCK,
    SAFE_VERSION,
    SOLC_LOCK,
    SOLC_VERSION,
    PartMissing,
    anvil_path,
    deno,
    deno_environment,
    deno_folder,
    safe_artifacts,
    solc_fetched,
)

FETCH_TIMEOUT_S = 600

# SHA-256 of the unpacked binary. Every other platform is checked by the hash of its archive, in its lock file.
ANVIL_SHA256 = {"linux-amd64": "10c1c727d6c1de973aeb160e59875b9a9a23464d6e74149ee8abb30b3500311b"}

_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "win32"}


class PartCorrupt(SvcnbError, RuntimeError):
    """A downloaded file is not the expected one. It was not kept."""


def platform_name() -> str:
    """Returns the name of this platform in the node's packages, for example ``linux-amd64``.

    Raises:
        PartMissing: There is no package for this machine.
    """
    system = _SYSTEMS.get(sys.platform)
    machine = _MACHINES.get(platform.machine().lower())
    if system is None or machine is None:
        raise PartMissing(
            "anvil",
            f"there is no build for {sys.platform} on {platform.machine()}",
            "Install Foundry yourself and set SVC_ANVIL to its anvil, or use another chain with --chain-rpc.",
        )
    return f"{system}-{machine}"


def anvil_lock(platform: str) -> Path:
    """Returns the lock file with the hash of the chain node's archive for one platform.

    Args:
        platform: As `platform_name` returns it.

    Raises:
        PartMissing: No hash is known for that platform, so nothing is downloaded.
    """
    lock = Path(__file__).with_name(f"anvil-{platform}.lock")
    if not lock.is_file():
        raise PartMissing(
            "anvil",
            f"no hash is known for its build for {platform}, so a download could not be checked",
            "Install Foundry yourself and set SVC_ANVIL to its anvil, or use another chain with --chain-rpc.",
        )
    return lock


def fetch_anvil(report: Callable[[str], None]) -> Path:
    """Downloads the chain node unless it exists.

    Args:
        report: Called with one line for each step.

    Returns:
        The binary.

    Raises:
        PartMissing: It cannot be downloaded; the message contains Deno's output.
        PartCorrupt: It was downloaded, but is not the expected file.
    """
    target = anvil_path()
    name = platform_name()
    sha256 = ANVIL_SHA256.get(name)
    if target.is_file():
        if sha256 in {None, _sha256(target)}:
            report(f"anvil {ANVIL_VERSION} is here: {target}")
            return target
        report(f"{target} has another hash than anvil {ANVIL_VERSION} and is replaced")
    package = f"@foundry-rs/anvil-{name}"
    report(f"fetching anvil {ANVIL_VERSION} for {name} (about 15 MB) ...")
    _deno_cache(f"npm:{package}@{ANVIL_VERSION}", anvil_lock(name), again=sha256 is None)
    found = sorted(deno_folder().glob(f"npm/*/{package}/{ANVIL_VERSION}/bin/{target.name}"))
    if not found:
        raise PartMissing("anvil", f"package {package} holds no bin/{target.name}", "Report this with the line above.")
    _place(found[0], target, sha256)
    report(f"anvil {ANVIL_VERSION} is ready: {target}")
    return target


def fetch_solc(report: Callable[[str], None]) -> None:
    """Downloads the Solidity compiler into Deno's cache unless it exists. Only rebuilding the contract needs it.

    Args:
        report: Called with one line for each step.

    Raises:
        PartMissing: It cannot be downloaded; the message contains Deno's output.
    """
    if solc_fetched():
        report(f"solc {SOLC_VERSION} is here: {deno_folder()}")
        return
    report(f"fetching solc {SOLC_VERSION} (about 9 MB) ...")
    _deno_cache(f"npm:solc@{SOLC_VERSION}", SOLC_LOCK)
    report(f"solc {SOLC_VERSION} is ready: {deno_folder()}")


def fetch_safe(report: Callable[[str], None]) -> None:
    """Downloads the contracts of a multi-signature wallet into Deno's cache unless they exist, for the tests.

    Args:
        report: Called with one line for each step.

    Raises:
        PartMissing: They cannot be downloaded; the message contains Deno's output.
    """
    try:
        report(f"safe-contracts {SAFE_VERSION} are here: {safe_artifacts()}")
    except PartMissing:
        report(f"fetching safe-contracts {SAFE_VERSION} (about 5 MB) ...")
        _deno_cache(f"npm:@safe-global/safe-contracts@{SAFE_VERSION}", SAFE_LOCK)
        report(f"safe-contracts {SAFE_VERSION} are ready: {safe_artifacts()}")


def fetch_pyodide(report: Callable[[str], None]) -> Path:
    """Downloads the Python interpreter for browsers into Deno's cache unless it exists, for `svcnb lite`.

    Args:
        report: Called with one line for each step.

    Returns:
        Its folder.

    Raises:
        PartMissing: It cannot be downloaded; the message contains Deno's output.
    """
    where = f"npm/*/pyodide/{PYODIDE_VERSION}"
    if not any(deno_folder().glob(f"{where}/pyodide-lock.json")):
        report(f"fetching pyodide {PYODIDE_VERSION} (about 6 MB) ...")
        _deno_cache(f"npm:pyodide@{PYODIDE_VERSION}", PYODIDE_LOCK)
    found = sorted(deno_folder().glob(where))
    if not found:
        raise PartMissing("pyodide", f"not in {deno_folder()}", "Check the network and run again: svcnb lite build")
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
        raise PartMissing(
            specifier, f"not downloaded within {FETCH_TIMEOUT_S} s", "Check the network and run again: svcnb fetch"
        ) from None
    if done.returncode:
        said = done.stderr.strip() or f"Deno ended with {done.returncode}"
        raise PartMissing(specifier, said, "Check the network and run again: svcnb fetch")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _place(source: Path, target: Path, sha256: str | None) -> None:
    if sha256 is not None and (seen := _sha256(source)) != sha256:
        raise PartCorrupt(
            f"{source} has SHA-256 {seen}, expected {sha256}. "
            f"It was not kept; remove {deno_folder()} and run: svcnb fetch"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=target.parent, prefix=".fetching-")
    os.close(handle)
    try:
        shutil.copyfile(source, scratch)
        os.chmod(scratch, 0o755)  # noqa: PTH101, S103 - a program that its user may run; nothing secret in it
        os.replace(scratch, target)  # noqa: PTH105 - atomic, so nobody ever starts half a file
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise
