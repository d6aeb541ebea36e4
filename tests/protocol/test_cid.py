"""CIDs match ipfs-unixfs-importer (npm), its vectors, and a second implementation in this file."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import random
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st
from multiformats import CID, multihash

from svcnb.protocol import source_digest, unixfs
from svcnb.protocol.cid import CidHasher, cid, source_cid
from svcnb.protocol.errors import MalformedValue

CHUNK = 262_144


def _varint(number: int) -> bytes:
    out = b""
    while True:
        number, low = number >> 7, number & 127
        out += bytes([low | (128 if number else 0)])
        if not number:
            return out


def _field(tag: int, body: bytes) -> bytes:
    return bytes([tag]) + _varint(len(body)) + body


def _second_opinion(data: bytes, chunk: int = CHUNK, width: int = 174) -> str:
    """Computes a CID with a simple implementation, which keeps all blocks in memory and uses multiformats."""
    level = []
    for at in range(0, max(len(data), 1), chunk):
        piece = data[at : at + chunk]
        unixfs_file = b"\x08\x02" + (_field(0x12, piece) if piece else b"") + b"\x18" + _varint(len(piece))
        block = _field(0x0A, unixfs_file)
        level.append((hashlib.sha256(block).digest(), len(piece), len(block)))
    while len(level) > 1:
        above = []
        for at in range(0, len(level), width):
            group = level[at : at + width]
            links = b"".join(
                _field(0x12, _field(0x0A, b"\x12\x20" + digest) + b"\x12\x00" + b"\x18" + _varint(dag))
                for digest, _, dag in group
            )
            size = sum(length for _, length, _ in group)
            sizes = b"".join(b"\x20" + _varint(length) for _, length, _ in group)
            block = links + _field(0x0A, b"\x08\x02\x18" + _varint(size) + sizes)
            above.append((hashlib.sha256(block).digest(), size, len(block) + sum(dag for _, _, dag in group)))
        level = above
    return str(CID("base58btc", 0, "dag-pb", multihash.wrap(level[0][0], "sha2-256")))


class _Trickle(io.RawIOBase):
    """Binary file that returns irregular amounts of data, like a socket or a pipe."""

    def __init__(self, data: bytes, most: int) -> None:
        self._file, self._most = io.BytesIO(data), most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(min(len(buffer), self._most))
        buffer[: len(data)] = data
        return len(data)


class _ReadAlone:
    """File object that has only the method `read`."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        data: bytes = self._file.read(size)
        return data


@pytest.mark.slow
def test_every_type_of_source_has_the_cid_of_the_vector(cid_vectors, content, tmp_path: Path) -> None:
    for vector in cid_vectors:
        data, wanted = content(vector), vector["cid"]
        path = tmp_path / "source"
        path.write_bytes(data)
        assert cid(data) == wanted, vector["name"]
        assert cid(bytearray(data)) == wanted, vector["name"]
        assert cid(path) == wanted, vector["name"]
        with path.open("rb") as file:
            assert cid(file) == wanted, vector["name"]
        assert cid(_ReadAlone(io.BytesIO(data))) == wanted, vector["name"]
        assert CidHasher(data).cid() == wanted, vector["name"]


def test_a_text_has_the_cid_of_its_utf8_bytes(cid_vectors) -> None:
    texts = [vector for vector in cid_vectors if vector["generate"]["kind"] == "utf8"]
    assert len(texts) > 5
    for vector in texts:
        assert cid(vector["generate"]["text"]) == vector["cid"]
        assert source_cid(vector["generate"]["text"]) == vector["cid"]


@pytest.mark.slow
def test_the_second_implementation_agrees_with_the_vectors(cid_vectors, content) -> None:
    for vector in cid_vectors:
        assert _second_opinion(content(vector)) == vector["cid"], vector["name"]


_SIZES = st.one_of(
    st.integers(0, 300),
    st.integers(CHUNK - 40, CHUNK + 40),
    st.integers(0, 6 * CHUNK),
    st.integers(1, 8).map(lambda n: n * CHUNK),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(size=_SIZES, seed=st.integers(0, 2**32))
def test_random_contents_agree_with_the_second_implementation(size: int, seed: int) -> None:
    data = random.Random(seed).randbytes(size)
    wanted = _second_opinion(data)
    assert cid(data) == wanted
    assert cid(_Trickle(data, 1 + seed % 70_000)) == wanted


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(size=_SIZES, seed=st.integers(0, 2**32))
@example(size=174 * CHUNK + 1, seed=1)
def test_random_contents_agree_with_the_importer_of_ipfs(npm: Callable[[object], Any], size: int, seed: int) -> None:
    data = random.Random(seed).randbytes(size)
    assert cid(data) == npm({"cid": base64.b64encode(data).decode()})


@settings(max_examples=25, deadline=None)
@given(pieces=st.lists(st.integers(0, 2 * CHUNK), max_size=6), seed=st.integers(0, 2**32))
def test_pieces_of_any_length_give_the_cid_of_the_whole(pieces: list[int], seed: int) -> None:
    source = random.Random(seed)
    hasher, whole = CidHasher(), b""
    for length in pieces:
        data = source.randbytes(length)
        whole += data
        hasher.update(data)
        assert hasher.cid() == _second_opinion(whole)
    assert hasher.size == len(whole)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(size=st.integers(0, 4 * 5**3 + 9), seed=st.integers(0, 2**32))
def test_levels_of_the_tree_close_where_they_should(size: int, seed: int) -> None:
    # Chunks of 4 bytes and nodes of 5 links, so that a small input has four levels. Both implementations use them.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unixfs, "CID_MAX_LINKS", 5)
        tree = unixfs.Tree()
        data = random.Random(seed).randbytes(size)
        for at in range(0, max(size, 1), 4):
            piece = data[at : at + 4]
            tree.add([unixfs.leaf(piece)])
        assert tree.digest() == bytes(CID.decode(_second_opinion(data, 4, 5)).raw_digest)
        assert tree.file_bytes == size


def test_a_tree_without_leaves_has_no_root() -> None:
    with pytest.raises(ValueError, match="no root"):
        unixfs.Tree().digest()


def test_a_hasher_accepts_more_data_after_a_digest() -> None:
    hasher = CidHasher(b"hel")
    assert hasher.cid() == _second_opinion(b"hel")
    twin = hasher.copy()
    hasher.update(b"lo")
    assert hasher.cid() == _second_opinion(b"hello")
    assert twin.cid() == _second_opinion(b"hel")
    assert repr(hasher) == "CidHasher(size=5)"


def test_an_open_file_is_read_from_its_current_position(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"skip hello")
    with path.open("rb") as file:
        file.seek(5)
        assert cid(file) == _second_opinion(b"hello")


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    data = random.Random(1).randbytes(3 * CHUNK + 5)
    writer = threading.Thread(target=path.write_bytes, args=(data,))
    writer.start()
    assert cid(path) == _second_opinion(data)
    writer.join(10)


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="this system has no /proc")
def test_a_file_that_reports_no_size_is_read_to_its_end() -> None:
    path = Path("/proc/version")
    assert path.stat().st_size == 0
    assert cid(path) == _second_opinion(path.read_bytes())


def test_progress_counts_every_byte_from_the_calling_thread(tmp_path: Path) -> None:
    path = tmp_path / "large"
    size = 9 * 1024 * 1024 + 1
    path.write_bytes(bytes(size))
    for source, total in ((path, size), (bytes(size), size), (io.BytesIO(bytes(size)), size), (b"small", 5)):
        counts: list[int] = []
        threads: set[int] = set()

        def progress(done: int, counts: list[int] = counts, threads: set[int] = threads) -> None:
            counts.append(done)
            threads.add(threading.get_ident())

        cid(source, progress=progress)
        assert counts == sorted(counts)
        assert counts[-1] == total
        assert threads == {threading.get_ident()}


@pytest.mark.slow
@pytest.mark.parametrize("cores", [2, 64])
@pytest.mark.parametrize("kind", ["memory", "file", "stream", "pieces"])
def test_memory_stays_below_8_mib_at_any_size(
    kind: str, cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_digest, "cores", lambda: cores)
    size = 64 * 1024 * 1024
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(size)
    data = bytes(size) if kind == "memory" else b""
    piece = bytes(100_000)
    tracemalloc.start()
    try:
        if kind == "memory":
            found = cid(data)
        elif kind == "file":
            found = cid(path)
        elif kind == "stream":
            with path.open("rb") as file:
                found = cid(_ReadAlone(file))
        else:
            hasher = CidHasher()
            for at in range(0, size, len(piece)):
                hasher.update(piece[: size - at])
            found = hasher.cid()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 1024 * 1024
    assert found == _second_opinion(bytes(size))


def test_one_core_and_many_give_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data = random.Random(7).randbytes(6 * 1024 * 1024 + 77)
    path = tmp_path / "large"
    path.write_bytes(data)
    wanted = _second_opinion(data)
    for cores in (1, 2, 5, 64):
        monkeypatch.setattr(source_digest, "cores", lambda cores=cores: cores)
        assert cid(data) == cid(path) == cid(io.BytesIO(data)) == wanted


def test_no_thread_remains_even_after_an_interruption() -> None:
    def interrupt(_done: int) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    cid(bytes(8 * 1024 * 1024))
    with pytest.raises(KeyboardInterrupt):
        cid(bytes(64 * 1024 * 1024), progress=interrupt)
    assert threading.active_count() == before


def test_a_file_is_also_read_without_positioned_reads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delattr(os, "preadv", raising=False)
    data = random.Random(8).randbytes(5 * 1024 * 1024 + 1)
    path = tmp_path / "large"
    path.write_bytes(data)
    assert cid(path) == _second_opinion(data)


@pytest.mark.parametrize("later", [5, 80 * 1024 * 1024])
def test_a_file_whose_size_changes_during_the_read_is_an_error_and_not_a_crash(later: int, tmp_path: Path) -> None:
    path = tmp_path / "changing"
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    with pytest.raises(OSError, match="changed while it was read"):
        cid(path, progress=lambda _done: os.truncate(path, later))


@pytest.mark.parametrize("name", ["action.js", "./lib/my action.mjs", "C:\\code\\a.ts", "/srv/a.js\n", "a.cjs"])
def test_a_file_name_as_a_source_is_rejected(name: str) -> None:
    with pytest.raises(MalformedValue, match=r"pathlib\.Path"):
        cid(name)
    assert source_cid(name) == _second_opinion(name.encode())


@pytest.mark.parametrize("source", ["main = () => 'a.js'", "// a.js\nfunction main() {}", "require('a.js')"])
def test_sources_that_mention_files_are_sources(source: str) -> None:
    assert cid(source) == _second_opinion(source.encode())


@pytest.mark.parametrize("wrong", [None, 3, ["x"], object()])
def test_the_error_for_another_type_lists_the_allowed_types(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"string, bytes, a pathlib\.Path or a file opened in binary mode"):
        cid(wrong)


def test_a_text_file_is_refused_because_line_ends_could_change(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("x", encoding="utf-8")
    for file in (path.open(encoding="utf-8"), io.StringIO("x")):
        with file, pytest.raises(TypeError, match="'rb'"):
            cid(file)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'rb'"):
        cid(_ReadAlone(io.StringIO("text" * 300_000)))


def test_half_a_surrogate_pair_has_no_cid() -> None:
    with pytest.raises(MalformedValue, match="character 4 is an unpaired surrogate"):
        cid("main\ud800")
    with pytest.raises(MalformedValue, match="character 10000"):
        source_cid("x" * 10_000 + "\ud800")


def test_a_missing_file_and_a_folder_are_the_systems_own_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        cid(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        cid(tmp_path)


def test_a_view_with_gaps_is_refused_and_one_of_wider_items_is_bytes() -> None:
    with pytest.raises(TypeError, match="not contiguous:"):
        cid(memoryview(bytes(10))[::2])
    assert cid(memoryview(b"hello abcd!!").cast("I")) == cid(b"hello abcd!!")


def test_pieces_are_bytes() -> None:
    with pytest.raises(TypeError, match="encode strings first"):
        CidHasher().update("text")  # type: ignore[arg-type]


def test_a_file_that_would_block_is_an_error() -> None:
    class Blocked:
        def readinto(self, _buffer: Any) -> None:
            return None

    with pytest.raises(BlockingIOError, match="blocking"):
        cid(Blocked())  # type: ignore[arg-type]
