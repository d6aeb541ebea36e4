from __future__ import annotations

import ast
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cffi
import pytest
from Crypto.Hash import keccak
from eth_utils.crypto import keccak as eth_keccak
from hypothesis import given, strategies as st

from svcnb.protocol import _keccak_abi as keccak_abi, keccak as keccak_module
from svcnb.protocol.keccak import RATE_BYTES, keccak256, keccak256_pure


def test_both_implementations_agree_with_the_vectors(hash_vectors) -> None:
    for vector in hash_vectors["keccak256"]:
        data = vector["utf8"].encode()
        assert "0x" + keccak256(data).hex() == vector["hash"]
        assert "0x" + keccak256_pure(data).hex() == vector["hash"]


@pytest.mark.parametrize("blocks", [0, 1, 2, 5])
@pytest.mark.parametrize("around", [-1, 0, 1])
def test_plain_python_is_right_at_the_edges_of_blocks(blocks: int, around: int) -> None:
    data = bytes(max(0, blocks * RATE_BYTES + around))
    assert keccak256_pure(data) == keccak.new(digest_bits=256, data=data).digest()


@given(st.binary(max_size=600))
def test_every_way_gives_the_same_hash(data: bytes) -> None:
    wanted = eth_keccak(data)
    assert keccak256(data) == wanted
    assert keccak256_pure(data) == wanted


@given(st.binary(max_size=600))
def test_the_librarys_documented_way_gives_the_same(data: bytes) -> None:
    assert keccak_module._by_wrapper()(data) == keccak256_pure(data)


@given(st.binary(max_size=600))
def test_the_librarys_functions_alone_give_the_same(data: bytes) -> None:
    assert keccak_module._without_wrapper()(data) == keccak256_pure(data)


def test_without_the_library_everything_is_hashed_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise ImportError

    monkeypatch.setattr(keccak_module, "_native", None)
    monkeypatch.setattr(keccak_module, "_without_wrapper", missing)
    monkeypatch.setattr(keccak_module, "_by_wrapper", missing)
    assert keccak256(bytes(10_000)) == eth_keccak(bytes(10_000))


def test_another_release_of_the_library_falls_back_to_the_documented_way(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {
        "other functions": lambda: keccak_abi.ffi.dlopen(None).no_such_function,
        "other results": lambda: lambda _data: bytes(32),
    }
    for way in wrong.values():
        monkeypatch.setattr(keccak_module, "_native", None)
        monkeypatch.setattr(keccak_module, "_without_wrapper", way)
        assert keccak256(bytes(10_000)) == eth_keccak(bytes(10_000))


def test_the_parsed_declarations_are_those_of_the_declarations(tmp_path: Path) -> None:
    maker = cffi.FFI()
    maker.set_source(keccak_abi.__name__, None)
    maker.cdef(keccak_abi.DECLARATIONS)
    maker.emit_python_code(str(tmp_path / "made.py"))
    made, kept = (
        next(node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)).keywords
        for path in (tmp_path / "made.py", Path(keccak_abi.__file__))
    )
    values = {keyword.arg: ast.literal_eval(keyword.value) for keyword in kept}
    assert values == {keyword.arg: ast.literal_eval(keyword.value) for keyword in made}


def test_several_threads_can_hash_at_the_same_time() -> None:
    data = [bytes([number]) * 5_000 for number in range(64)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(keccak256, data * 4)) == [eth_keccak(item) for item in data] * 4


def test_other_buffers_are_hashed_as_bytes() -> None:
    assert keccak256(bytearray(b"abc")) == keccak256(memoryview(b"abc")) == keccak256(b"abc")


def test_the_error_for_a_text_contains_the_next_step() -> None:
    with pytest.raises(TypeError, match=r"text\.encode\(\)"):
        keccak256("abc")  # type: ignore[arg-type]


def _run(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)
    return done.stdout.split()


def test_a_few_short_hashes_load_no_library_and_many_do() -> None:
    program = """
import sys
from svcnb.protocol.keccak import keccak256
for turn in range(8):
    keccak256(bytes(64))
print("Crypto" in sys.modules)
for turn in range(100):
    keccak256(bytes(64))
print("Crypto" in sys.modules)
"""
    assert _run(program) == ["False", "True"]


def test_a_long_input_loads_the_library_at_once() -> None:
    program = """
import sys
from svcnb.protocol.keccak import keccak256
keccak256(bytes(100_000))
print("Crypto" in sys.modules)
"""
    assert _run(program) == ["True"]
