"""Files are never incomplete, and are private unless the caller sets other permissions."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from svcnb.files import create_file, replace_file


def test_of_many_writers_that_create_a_file_the_first_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "key"
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: create_file(path, b"%d" % number * 10_000), range(8)))
    first = path.read_bytes()
    assert len(first) == 10_000
    create_file(path, b"late")
    assert path.read_bytes() == first
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="Windows has other permissions")
def test_only_the_owner_reads_a_file_unless_the_mode_says_otherwise(tmp_path: Path) -> None:
    create_file(tmp_path / "created", b"")
    replace_file(tmp_path / "secret", "clé\n")
    replace_file(tmp_path / "public", "text", mode=0o644)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"created": 0o600, "secret": 0o600, "public": 0o644}
    assert (tmp_path / "secret").read_bytes() == "clé\n".encode()


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    replace_file(path, "old")
    with pytest.raises(UnicodeEncodeError):
        replace_file(path, "\ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]
