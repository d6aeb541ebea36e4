"""Tests of `svcnb.bundles`."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from svcnb.bundles import bundle_exists, read_bundle, read_stored

CONTENT = b"const answer = 42;" * 100


@pytest.fixture(params=["compressed", "plain"])
def bundle(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "bundle.js"
    if request.param == "compressed":
        (tmp_path / "bundle.js.gz").write_bytes(gzip.compress(CONTENT))
    else:
        path.write_bytes(CONTENT)
    return path


def test_a_bundle_is_decompressed(bundle: Path) -> None:
    assert bundle_exists(bundle)
    assert read_bundle(bundle) == CONTENT


def test_a_stored_bundle_has_the_bytes_of_its_file(bundle: Path) -> None:
    (file,) = bundle.parent.iterdir()
    assert read_stored(bundle) == file.read_bytes()


def test_a_missing_bundle_is_an_error(tmp_path: Path) -> None:
    assert not bundle_exists(tmp_path / "absent.js")
    with pytest.raises(FileNotFoundError):
        read_bundle(tmp_path / "absent.js")
    with pytest.raises(FileNotFoundError):
        read_stored(tmp_path / "absent.js")
