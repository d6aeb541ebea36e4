"""Files are never incomplete, and are private unless the caller sets other permissions."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from svcnb.files import create_file, read_file, read_text, replace_file


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


@pytest.mark.skipif(os.name != "posix", reason="Windows has no named pipes in folders")
def test_only_regular_files_below_the_limit_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(OSError, match="the file is a pipe or a device, not a regular file"):
            read_file(path)
    with pytest.raises(IsADirectoryError):
        read_file(tmp_path)
    (tmp_path / "file").write_bytes("é\r\n".encode())
    assert read_text(tmp_path / "file", limit=4) == "é\r\n"
    with pytest.raises(OSError, match="the file has 4 bytes, but at most 3 are allowed"):
        read_file(tmp_path / "file", limit=3)
    assert read_file(os.devnull) == b""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="/proc is part of Linux")
def test_a_file_that_is_larger_than_its_stated_size_is_refused() -> None:
    """The size of a file in /proc is 0, and another process can extend a file during the read."""
    with pytest.raises(OSError, match="at most 10 are allowed"):
        read_file("/proc/self/maps", limit=10)
