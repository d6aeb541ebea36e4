"""Builds the JavaScript bundles before hatchling builds the wheel or the sdist.

Deno comes from PyPI (`build-system.requires`), so the build needs neither Node nor a compiler. ``widgets/deno.lock``
pins the npm packages. ``python hatch_build.py`` rebuilds the bundles from the working copy.

Environment:
    SVCNB_BUNDLES: With ``reuse``, the build uses the existing bundles and downloads nothing.
    SVCNB_REPOSITORY: Address of the repository, for URLs and absolute links in the metadata.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parent
MANIFEST = Path("svcnb/tools/static/bundles.json")
BUNDLES = "svcnb/**/static/**/*"
BUILD_TIMEOUT_S = 600


class BundleError(RuntimeError):
    """Error for a failed build of the bundles. The message contains the fix."""


class MetadataHook(MetadataHookInterface):
    """Metadata hook, which adds the README and the URLs of the project to the metadata.

    ``SVCNB_REPOSITORY`` is the address of the repository, for example of a release's source. With this variable, the
    metadata contains URLs, and links and images of the README are absolute, as a package index requires.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Sets ``readme`` and ``urls``."""
        repository = os.environ.get("SVCNB_REPOSITORY", "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        if repository:
            metadata["urls"] = {
                "Repository": repository,
                "Documentation": f"{repository}/tree/main/docs",
                "Changelog": f"{repository}/blob/main/CHANGELOG.md",
                "Issues": f"{repository}/issues",
            }
            text = absolute_links(text, repository)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def absolute_links(text: str, repository: str) -> str:
    """Returns Markdown with absolute addresses for images and for links to files of the repository."""
    text = re.sub(r"!\[([^\]]*)\]\((?!https?:)([^)]+)\)", rf"![\1]({repository}/raw/main/\2)", text)
    return re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)", rf"[\1]({repository}/blob/main/\2)", text)


class BundleHook(BuildHookInterface[Any]):
    """Build hook, which hatchling runs before each build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Ensures that the bundles exist and match the sources."""
        ensure(Path(self.root))


def ensure(root: Path, *, force: bool = False) -> str:
    """Builds the bundles unless they exist and match the sources.

    Args:
        root: The repository, or an unpacked sdist.
        force: Whether to build in any case.

    Returns:
        Description of the result.

    Raises:
        BundleError: Deno is missing or failed, or ``SVCNB_BUNDLES=reuse`` is set and the bundles are incomplete.
    """
    wanted = _digest(root)
    if not force:
        if _complete(root, wanted):
            return "the bundles are up to date"
        # An sdist contains its bundles, so its installation needs no network.
        is_sdist = (root / "PKG-INFO").is_file()
        if (is_sdist or os.environ.get("SVCNB_BUNDLES") == "reuse") and _complete(root, None):
            return "the existing bundles are reused"
        if os.environ.get("SVCNB_BUNDLES") == "reuse":
            raise BundleError(
                "SVCNB_BUNDLES=reuse is set, but bundles are missing or were changed since the last build. Unset "
                "SVCNB_BUNDLES, and build once with a connection to the internet"
            )
    _run_deno(root)
    files = {
        path.relative_to(root).as_posix(): _sha256(path)
        for path in sorted(root.glob(BUNDLES))
        if path.is_file() and path != root / MANIFEST
    }
    (root / MANIFEST).parent.mkdir(parents=True, exist_ok=True)
    (root / MANIFEST).write_text(json.dumps({"sources": wanted, "files": files}, indent=1) + "\n", encoding="utf-8")
    return f"{len(files)} files built"


def find_deno() -> str:
    """Returns the path of the binary from the ``deno`` wheel that is installed for this build.

    The wheel's own function searches the scripts folder of the interpreter. With pip's build isolation, this is the
    folder of the outer environment. The wheel's list of installed files is always correct.

    Raises:
        BundleError: The wheel is not installed.
    """
    try:
        files = distribution("deno").files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        if file.name in {"deno", "deno.exe"}:
            return os.fspath(Path(str(file.locate())).resolve())
    raise BundleError("the wheel 'deno' is not installed here: pip install deno")


def _run_deno(root: Path) -> None:
    environment = dict(os.environ, NO_COLOR="1", DENO_NO_UPDATE_CHECK="1")
    environment.setdefault("DENO_TLS_CA_STORE", "system,mozilla")  # also works with a private certificate authority
    command = [find_deno(), "run", "--quiet", "--no-prompt", "--frozen", "--allow-all", "build.ts"]
    done = subprocess.run(command, cwd=root / "widgets", env=environment, timeout=BUILD_TIMEOUT_S, check=False)
    if done.returncode:
        raise BundleError(
            f"Deno could not build widgets/ (exit code {done.returncode}, see above). The first build downloads npm "
            "packages, so check the network. To use existing bundles without a network, set SVCNB_BUNDLES=reuse"
        )


def _digest(root: Path) -> str:
    """Returns one hash of all sources of the bundles."""
    widgets = root / "widgets"
    digest = hashlib.sha256()
    for path in sorted(widgets.rglob("*")):
        inside = path.relative_to(widgets)
        if path.is_file() and "node_modules" not in inside.parts and inside.parts[0] != "tests":
            digest.update(f"{inside.as_posix()}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _complete(root: Path, wanted: str | None) -> bool:
    """Returns whether all bundles of the manifest exist unchanged. Their sources must have the given hash, if any."""
    try:
        manifest = json.loads((root / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return False
    if wanted is not None and manifest["sources"] != wanted:
        return False
    return all((root / name).is_file() and _sha256(root / name) == digest for name, digest in manifest["files"].items())


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    try:
        print(ensure(ROOT, force=True))  # noqa: T201 - the output of a script
    except BundleError as error:
        sys.exit(f"{error}.")
