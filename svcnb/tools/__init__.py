"""External tools: their locations, and errors with instructions if one is missing.

Deno is installed as a wheel. Deno downloads the chain node and the Solidity compiler from npm once, into a cache of the
user (`svcnb fetch`). After that, this module does not use the network. Both the emulator and the launcher import this
module, so it imports only the standard library.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from svcnb.errors import SvcnbError
from svcnb.extras import install_command

ANVIL_VERSION = "1.7.1"
PYODIDE_VERSION = "314.0.7"
SOLC_VERSION = "0.8.30"
DENO_VERSION = "2.9.8"
SAFE_VERSION = "1.4.1-2"

PYODIDE_LOCK = Path(__file__).with_name("pyodide.lock")
SOLC_LOCK = Path(__file__).with_name("solc.lock")
SAFE_LOCK = Path(__file__).with_name("safe.lock")

# Environment variables for a Deno child process: only those for certificates, proxies and temporary files.
_PASSED_ON = (
    "DENO_CERT",
    "DENO_TLS_CA_STORE",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LOCALAPPDATA",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "NPM_CONFIG_REGISTRY",
    "PATH",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "USERPROFILE",
)


class PartMissing(SvcnbError, RuntimeError):
    """A tool that the emulator starts as its own process is not installed on this machine.

    Args:
        part: Its name, for example ``anvil``.
        detail: Where it was searched.
        hint: The next step, a command where possible.
    """

    def __init__(self, part: str, detail: str, hint: str) -> None:
        super().__init__(f"{part} is missing: {detail}", hint=hint)
        self.part = part
        self.detail = detail


def cache_folder() -> Path:
    """Returns the folder of downloaded tools.

    Returns:
        ``$SVC_CACHE``, else ``svcnb`` in the user's cache folder of this system. It may not exist yet.
    """
    if chosen := os.environ.get("SVC_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "svcnb"


def deno_folder() -> Path:
    """Returns Deno's cache (``DENO_DIR``) for the downloaded tools, separate from the user's."""
    return cache_folder() / "deno"


def deno_environment() -> dict[str, str]:
    """Returns a reduced environment for a Deno child process.

    Returns:
        Certificates, proxies and folders of this process, Deno's cache set to `deno_folder`, no colours, no update
        check. Nothing else is included, so no secret of the caller reaches a child process.
    """
    kept = {name: value for name in _PASSED_ON if (value := os.environ.get(name)) is not None}
    # Besides the public authorities also those of this system, so that private ones work without configuration.
    kept.setdefault("DENO_TLS_CA_STORE", "system,mozilla")
    return kept | {"DENO_DIR": str(deno_folder()), "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}


def deno() -> Path:
    """Returns the Deno binary.

    Returns:
        ``$SVC_DENO``, else the one of the ``deno`` wheel of this Python, else ``deno`` on the PATH.

    Raises:
        PartMissing: There is none; the hint names the extra that installs it.
    """
    if chosen := os.environ.get("SVC_DENO"):
        return _existing("deno", Path(chosen), "Correct SVC_DENO, or unset it to use the wheel.")
    name = "deno.exe" if sys.platform == "win32" else "deno"
    beside = Path(sys.executable).parent / name
    if beside.is_file():
        return beside
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        for file in distribution("deno").files or ():
            if file.name == name:
                return Path(str(file.locate())).resolve()
    except PackageNotFoundError:
        pass
    import shutil

    if found := shutil.which("deno"):
        return Path(found)
    raise PartMissing("deno", f"not beside {sys.executable} and not on the PATH", f"Run: {install_command('emulator')}")


def anvil() -> Path:
    """Returns the chain node.

    Returns:
        ``$SVC_ANVIL``, else the downloaded one.

    Raises:
        PartMissing: It has not been downloaded yet.
    """
    if chosen := os.environ.get("SVC_ANVIL"):
        return _existing("anvil", Path(chosen), "Correct SVC_ANVIL, or unset it and run: svcnb fetch")
    return _existing("anvil", anvil_path(), "Run once, with internet: svcnb fetch")


def anvil_path() -> Path:
    """Returns the path of the chain node for `svcnb fetch`, whether or not it exists."""
    return cache_folder() / f"anvil-{ANVIL_VERSION}" / ("anvil.exe" if sys.platform == "win32" else "anvil")


def solc_fetched() -> bool:
    """Returns whether the Solidity compiler (needed only to rebuild the contract) is in Deno's cache."""
    return any(deno_folder().glob(f"npm/*/solc/{SOLC_VERSION}/package.json"))


def safe_artifacts() -> Path:
    """Returns the folder of compiled contracts of a real multi-signature wallet (Safe), which the tests deploy.

    Raises:
        PartMissing: They have not been downloaded yet.
    """
    found = sorted(deno_folder().glob(f"npm/*/@safe-global/safe-contracts/{SAFE_VERSION}/build/artifacts/contracts"))
    if not found:
        raise PartMissing("safe-contracts", f"not in {deno_folder()}", "Run, with internet: svcnb fetch --compiler")
    return found[0]


def _existing(part: str, path: Path, hint: str) -> Path:
    if not path.is_file():
        raise PartMissing(part, f"no file {path}", hint)
    return path
