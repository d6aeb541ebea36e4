"""Locations of external tools, and errors with instructions for missing tools.

Deno is installed as a wheel. `svcnb fetch` uses Deno to download the chain node from npm into the user's cache, and
with ``--compiler`` also the Solidity compiler. This module itself does not use the network. Both the emulator and the
launcher import this module, so its own imports are few and fast.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from svcnb.errors import SvcnbError
from svcnb.exit_codes import ExitCode
from svcnb.extras import install_command

ANVIL_VERSION = "1.7.1"
PAGE_VERSIONS = {"pyodide": "314.0.7", "web-tree-sitter": "0.27.1", "tree-sitter-javascript": "0.25.0"}
"""Versions of the npm packages for the browser site of `svcnb lite`: the Python interpreter, and the linter's parser
with its grammar."""
SOLC_VERSION = "0.8.30"
DENO_VERSION = "2.9.8"
SAFE_VERSION = "1.4.1-2"
OFFLINE_FLAGS = ("--quiet", "--no-prompt", "--no-npm", "--no-remote", "--cached-only", "--no-config", "--no-lock")
"""Flags with which Deno loads no external code: Deno rejects all https:, jsr: and npm: modules. Deno then needs no
lock file."""

SOLC_LOCK = Path(__file__).with_name("solc.lock")
SAFE_LOCK = Path(__file__).with_name("safe.lock")

# Environment variables for a Deno child process: only variables for certificates, proxies, npm, folders and language.
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


class ToolMissing(SvcnbError, RuntimeError):
    """Error for an external tool that is not installed, for example the chain node.

    Args:
        tool: Name of the tool, for example ``anvil``.
        detail: Cause, for example the locations that svcnb searched.
        hint: Next step, as a command where possible.
    """

    exit_code = ExitCode.TOOL_MISSING

    def __init__(self, tool: str, detail: str, hint: str) -> None:
        super().__init__(f"{tool} is missing: {detail}", hint=hint)
        self.tool = tool
        self.detail = detail


def cache_folder() -> Path:
    """Returns the folder of downloaded tools, and does not create it.

    The folder is ``$SVC_CACHE`` if it is set, otherwise ``svcnb`` in the user's cache folder.
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
    """Returns the folder of Deno's cache (``DENO_DIR``) for downloaded tools.

    The folder is separate from the cache of a Deno that the user has installed.
    """
    return cache_folder() / "deno"


def deno_environment() -> dict[str, str]:
    """Returns a reduced environment for a Deno child process.

    Returns:
        The variables of this process for certificates, proxies, npm, folders and language. In addition, the result sets
        Deno's cache to `deno_folder`, and disables colours and update checks. It contains no other variables, so
        child processes do not receive other variables of the caller, for example keys.
    """
    kept = {name: value for name in _PASSED_ON if (value := os.environ.get(name)) is not None}
    # Trust the certificate authorities of this system in addition to the public ones. Private certificate authorities
    # then need no configuration.
    kept.setdefault("DENO_TLS_CA_STORE", "system,mozilla")
    return kept | {"DENO_DIR": str(deno_folder()), "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}


def deno(extra: str = "emulator") -> Path:
    """Returns the path of the Deno binary.

    Args:
        extra: Extra that installs Deno for the caller. The hint of the error names this extra.

    Returns:
        ``$SVC_DENO`` if it is set, otherwise the binary of the ``deno`` wheel, otherwise ``deno`` on the PATH.

    Raises:
        ToolMissing: Deno is not installed, or the file in ``$SVC_DENO`` does not exist. The hint contains the fix.
    """
    if chosen := os.environ.get("SVC_DENO"):
        return _existing(
            "deno", Path(chosen), "Set SVC_DENO to the path of Deno, or unset SVC_DENO to use the Python package deno."
        )
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
    raise ToolMissing(
        "deno",
        f"not found next to {sys.executable}, in the Python package deno, or on the PATH",
        f"Run: {install_command(extra)}",
    )


def anvil() -> Path:
    """Returns the path of the chain node: ``$SVC_ANVIL`` if it is set, otherwise the downloaded binary.

    Raises:
        ToolMissing: The file does not exist. The hint contains the fix.
    """
    if chosen := os.environ.get("SVC_ANVIL"):
        return _existing(
            "anvil", Path(chosen), "Set SVC_ANVIL to the path of anvil, or unset SVC_ANVIL and run: svcnb fetch"
        )
    return _existing("anvil", anvil_path(), "Connect to the internet and run: svcnb fetch")


def anvil_path() -> Path:
    """Returns the path to which `svcnb fetch` downloads the chain node. The file can be missing."""
    return cache_folder() / f"anvil-{ANVIL_VERSION}" / ("anvil.exe" if sys.platform == "win32" else "anvil")


def solc_fetched() -> bool:
    """Returns whether the Solidity compiler is in Deno's cache.

    Only a rebuild of the service's contract needs the compiler.
    """
    return any(deno_folder().glob(f"npm/*/solc/{SOLC_VERSION}/package.json"))


def safe_artifacts() -> Path:
    """Returns the folder with compiled contracts of the multi-signature wallet Safe. The tests deploy these contracts.

    Raises:
        ToolMissing: The contracts have not been downloaded.
    """
    found = sorted(deno_folder().glob(f"npm/*/@safe-global/safe-contracts/{SAFE_VERSION}/build/artifacts/contracts"))
    if not found:
        raise ToolMissing(
            "safe-contracts", f"not found in {deno_folder()}", "Connect to the internet and run: svcnb fetch --compiler"
        )
    return found[0]


def _existing(tool: str, path: Path, hint: str) -> Path:
    if not path.is_file():
        raise ToolMissing(tool, f"the file {path} does not exist", hint)
    return path
