"""Bundles all that runs as JavaScript, before the wheel or the sdist is made.

Deno comes from PyPI (`build-system.requires`), so neither Node nor a compiler is needed. The npm packages are pinned by
``widgets/deno.lock``. As a script, ``python hatch_build.py`` builds again from the working copy.

Environment:
    SVCNB_BUNDLES: ``reuse`` takes the bundles that are there and downloads nothing.
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
    """The bundles could not be made; the text says what to do."""


class MetadataHook(MetadataHookInterface):
    """Adds the README and the addresses of the project to the metadata.

    ``SVCNB_REPOSITORY`` is the address of the repository, for example the one that a release is built from. With it,
    the metadata have URLs, and links and images of the README are absolute, as a package index needs them.
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
    """Markdown with links to files of the repository, and images, as addresses."""
    text = re.sub(r"!\[([^\]]*)\]\((?!https?:)([^)]+)\)", rf"![\1]({repository}/raw/main/\2)", text)
    return re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)", rf"[\1]({repository}/blob/main/\2)", text)


class BundleHook(BuildHookInterface[Any]):
    """Runs before each build of hatchling."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Makes sure that the bundles are there and fit the sources."""
        ensure(Path(self.root))


def ensure(root: Path, *, force: bool = False) -> str:
    """Builds the bundles unless they are there and fit.

    Args:
        root: The repository, or an unpacked sdist.
        force: Build in any case.

    Returns:
        What was done, in words.

    Raises:
        BundleError: Deno is missing or failed, or ``SVCNB_BUNDLES=reuse`` finds nothing to reuse.
    """
    wanted = _digest(root)
    if not force:
        if _complete(root, wanted):
            return "the bundles fit the sources"
        # An sdist carries its bundles, so installing from one needs no network.
        is_sdist = (root / "PKG-INFO").is_file()
        if (is_sdist or os.environ.get("SVCNB_BUNDLES") == "reuse") and _complete(root, None):
            return "the bundles that are there are reused"
        if os.environ.get("SVCNB_BUNDLES") == "reuse":
            raise BundleError(
                "SVCNB_BUNDLES=reuse, but bundles are missing or were changed since they were built: unset it, and "
                "build once with internet"
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
    """The binary of the ``deno`` wheel that is installed beside this build.

    The wheel's own finder looks into the scripts folder of the interpreter, which under pip's build isolation is the
    outer environment's. The list of files that the wheel installed is right everywhere.

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
    environment.setdefault("DENO_TLS_CA_STORE", "system,mozilla")  # works behind a private authority, too
    command = [find_deno(), "run", "--quiet", "--no-prompt", "--frozen", "--allow-all", "build.ts"]
    done = subprocess.run(command, cwd=root / "widgets", env=environment, timeout=BUILD_TIMEOUT_S, check=False)
    if done.returncode:
        raise BundleError(
            f"Deno could not build widgets/ (exit code {done.returncode}, see above). The first build downloads npm "
            "packages: check the network; with bundles already built, SVCNB_BUNDLES=reuse goes on without it"
        )


def _digest(root: Path) -> str:
    """One hash over everything the bundles are made of."""
    widgets = root / "widgets"
    digest = hashlib.sha256()
    for path in sorted(widgets.rglob("*")):
        inside = path.relative_to(widgets)
        if path.is_file() and "node_modules" not in inside.parts and inside.parts[0] != "tests":
            digest.update(f"{inside.as_posix()}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _complete(root: Path, wanted: str | None) -> bool:
    """Whether every bundle of the manifest is there unchanged, and made from these sources (None: from any)."""
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
        print(ensure(ROOT, force=True))  # noqa: T201 - a script's answer
    except BundleError as error:
        sys.exit(f"{error}.")
