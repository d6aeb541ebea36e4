"""The distribution is complete: it contains bundles, lessons and locks, and no other files."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from svcnb.bundles import bundle_exists, read_bundle

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the wheel and the sdist from the working copy with its existing bundles, without network access."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=root,
        env=os.environ | {"SVCNB_BUNDLES": "reuse"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> set[str]:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def sdist(built: Path) -> set[str]:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def bundles(root: Path) -> set[str]:
    manifest = json.loads((root / "svcnb/tools/static/bundles.json").read_text(encoding="utf-8"))
    return set(manifest["files"])


def test_the_wheel_contains_every_bundle(wheel: set[str], root: Path) -> None:
    assert bundles(root) <= wheel
    assert "svcnb/tools/static/bundles.json" in wheel


def test_no_bundle_is_stored_larger_than_it_needs(root: Path) -> None:
    large = [root / name for name in bundles(root) if (root / name).stat().st_size >= 100_000]
    assert large, "the image of the engine is one"
    for path in large:
        assert len(gzip.compress(path.read_bytes())) > 0.75 * path.stat().st_size, path


def test_bundles_that_are_compressed_are_read_as_what_was_built(root: Path) -> None:
    packed = [root / name for name in bundles(root) if name.endswith(".gz")]
    assert packed
    for path in packed:
        assert bundle_exists(path.with_suffix(""))
        assert read_bundle(path.with_suffix("")) == gzip.decompress(path.read_bytes())


def test_the_sdist_contains_every_bundle_for_an_offline_installation(sdist: set[str], root: Path) -> None:
    assert bundles(root) <= sdist


def test_every_folder_of_the_front_end_has_a_bundle(root: Path) -> None:
    rooms = {path.parent.name for path in (root / "widgets/src").glob("*/build.ts")}
    folders = {Path(name).parent.as_posix() for name in bundles(root)}
    assert len(folders) >= len(rooms) > 0


def test_the_wheel_contains_every_module_and_lock(wheel: set[str], root: Path) -> None:
    wanted = {path.relative_to(root).as_posix() for path in (root / "svcnb").rglob("*.py")}
    wanted -= {"svcnb/emulator/chain/compile.py"}  # contributors compile the contracts
    locks = {path.relative_to(root).as_posix() for path in (root / "svcnb/tools").glob("*.lock")}
    assert locks
    assert wanted | locks <= wheel


def test_the_wheel_contains_the_lessons_but_no_checkpoints(wheel: set[str], root: Path) -> None:
    lessons = {f"svcnb/{path.relative_to(root).as_posix()}" for path in (root / "notebooks").rglob("*.ipynb")}
    lessons = {name for name in lessons if ".ipynb_checkpoints" not in name}
    assert lessons <= wheel
    assert not any(".ipynb_checkpoints" in name for name in wheel)


def test_the_wheel_puts_the_extension_where_jupyterlab_looks(wheel: set[str]) -> None:
    placed = {name.partition(".data/data/")[2] for name in wheel}
    assert "share/jupyter/labextensions/svcnb/package.json" in placed


def test_the_wheel_says_that_it_is_typed(wheel: set[str]) -> None:
    assert "svcnb/py.typed" in wheel


def test_the_wheel_contains_no_development_tools(wheel: set[str], sdist: set[str]) -> None:
    assert not any("node_modules" in name or "__pycache__" in name for name in wheel | sdist)
    assert not any(name.startswith(("tests/", "widgets/")) for name in wheel)


def test_the_wheel_contains_the_reports(wheel: set[str], root: Path) -> None:
    wanted = {
        path.relative_to(root).as_posix() for path in (root / "svcnb/reports").rglob("*.*") if path.suffix != ".pyc"
    }
    assert len([name for name in wanted if name.endswith(".ipynb")]) >= 4
    assert wanted <= wheel


def test_the_packages_are_fit_for_an_index(root: Path, tmp_path: Path) -> None:
    twine = pytest.importorskip("twine.commands.check", reason="twine comes with the extra dev")
    repository = "https://git.example.org/team/svcnb"
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)],
        cwd=root,
        env=os.environ | {"SVCNB_BUNDLES": "reuse", "SVCNB_REPOSITORY": repository},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert twine.check([str(path) for path in tmp_path.iterdir()], strict=True) is False, "False: nothing failed"
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        name = next(each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    assert f"Project-URL: Repository, {repository}" in metadata
    readme = metadata.partition("\n\n")[2]
    targets = re.findall(r"\]\(([^)]+)\)", readme)
    assert targets
    assert [target for target in targets if not target.startswith("https://")] == []


def test_without_an_address_the_metadata_name_none(wheel: set[str], built: Path) -> None:
    name = next(each for each in wheel if each.endswith(".dist-info/METADATA"))
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        assert "\nProject-URL: " not in archive.read(name).decode()
