"""The build hook builds bundles only if this is necessary."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow

BUNDLE = "const a=1;"
# printf 'const a=1;' | sha256sum
SHA256 = "b6e224f1430ce552ba0e7f099f778f4a8968dd8b333e2f89789addceb3ac86cc"


@pytest.fixture
def hook(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(root))
    import hatch_build

    return hatch_build


@pytest.fixture
def tree(tmp_path: Path, hook: ModuleType) -> Path:
    """Small repository with one bundle that matches its sources."""
    (tmp_path / "widgets/src").mkdir(parents=True)
    (tmp_path / "widgets/src/a.ts").write_text("export const a = 1;\n")
    bundle = tmp_path / "svcnb/panels/static/a.js"
    bundle.parent.mkdir(parents=True)
    bundle.write_text(BUNDLE)
    manifest = tmp_path / hook.MANIFEST
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"sources": hook._digest(tmp_path), "files": {"svcnb/panels/static/a.js": SHA256}}))
    return tmp_path


@pytest.fixture
def no_deno(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every build fail, so that the test detects an unnecessary build."""

    def refuse() -> str:
        raise hook.BundleError("Deno was wanted")

    monkeypatch.setattr(hook, "find_deno", refuse)


@pytest.mark.usefixtures("no_deno")
def test_bundles_that_fit_the_sources_are_not_built_again(hook: ModuleType, tree: Path) -> None:
    assert hook.ensure(tree) == "the bundles are up to date"


@pytest.mark.usefixtures("no_deno")
def test_a_changed_source_is_built_again(hook: ModuleType, tree: Path) -> None:
    (tree / "widgets/src/a.ts").write_text("export const a = 2;\n")
    with pytest.raises(hook.BundleError, match="Deno was wanted"):
        hook.ensure(tree)


@pytest.mark.usefixtures("no_deno")
def test_a_missing_bundle_is_built_again(hook: ModuleType, tree: Path) -> None:
    (tree / "svcnb/panels/static/a.js").unlink()
    with pytest.raises(hook.BundleError, match="Deno was wanted"):
        hook.ensure(tree)


@pytest.mark.usefixtures("no_deno")
def test_reuse_takes_older_bundles(hook: ModuleType, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "widgets/src/a.ts").write_text("export const a = 2;\n")
    monkeypatch.setenv("SVCNB_BUNDLES", "reuse")
    assert hook.ensure(tree) == "the existing bundles are reused"


@pytest.mark.usefixtures("no_deno")
def test_a_bundle_that_was_changed_since_it_was_built_is_built_again(hook: ModuleType, tree: Path) -> None:
    (tree / "svcnb/panels/static/a.js").write_text(BUNDLE + "steal();")
    with pytest.raises(hook.BundleError, match="Deno was wanted"):
        hook.ensure(tree)


@pytest.mark.usefixtures("no_deno")
def test_a_changed_bundle_is_never_reused(hook: ModuleType, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "svcnb/panels/static/a.js").write_text(BUNDLE + "steal();")
    (tree / "PKG-INFO").write_text("Name: svcnb\n")
    with pytest.raises(hook.BundleError, match="Deno was wanted"):
        hook.ensure(tree)
    monkeypatch.setenv("SVCNB_BUNDLES", "reuse")
    with pytest.raises(hook.BundleError, match="changed since the last build"):
        hook.ensure(tree)


def test_reuse_without_bundles_says_what_to_do(hook: ModuleType, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(tree / "svcnb")
    monkeypatch.setenv("SVCNB_BUNDLES", "reuse")
    with pytest.raises(hook.BundleError, match="build once with a connection"):
        hook.ensure(tree)


@pytest.mark.usefixtures("no_deno")
def test_an_unpacked_sdist_uses_the_bundles_that_it_contains(hook: ModuleType, tree: Path) -> None:
    (tree / "widgets/src/a.ts").unlink()
    (tree / "PKG-INFO").write_text("Name: svcnb\n")
    assert hook.ensure(tree) == "the existing bundles are reused"


def test_deno_is_found_by_the_files_of_its_wheel(hook: ModuleType) -> None:
    found = Path(hook.find_deno())
    assert found.is_file()
    assert found.stem == "deno"
