"""Vectors from other libraries. The member ``made_with`` of each file names the library."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

VECTORS = Path(__file__).parents[1] / "vectors"


def _load(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


def _pattern(length: int, seed: int) -> bytes:
    # The rule repeats after 256 * 256 bytes.
    period = bytes((i * 131 + i // 256 * 17 + seed) % 256 for i in range(min(length, 65_536)))
    return (period * (length // 65_536 + 1))[:length]


def _content(vector: dict[str, Any]) -> bytes:
    rule = vector["generate"]
    match rule["kind"]:
        case "utf8":
            made = rule["text"].encode()
        case "pattern":
            made = _pattern(rule["n"], rule["seed"])
        case "fill":
            made = bytes([rule["byte"]]) * rule["n"]
        case "repeat_utf8":
            made = rule["text"].encode() * rule["times"]
        case other:
            raise AssertionError(f"a rule without generator: {other}")
    assert hashlib.sha256(made).hexdigest() == vector["sha256"], "the generator is wrong, not the code under test"
    return bytes(made)


@pytest.fixture(scope="session")
def cid_vectors() -> list[dict[str, Any]]:
    vectors: list[dict[str, Any]] = _load("cid")["vectors"]
    assert len(vectors) == 28
    return vectors


@pytest.fixture(scope="session")
def content() -> Callable[[dict[str, Any]], bytes]:
    return _content


@pytest.fixture(scope="session")
def eip712_vectors() -> dict[str, Any]:
    found: dict[str, Any] = _load("eip712")
    assert len(found["vectors"]) == 51
    return found


@pytest.fixture(scope="session")
def hash_vectors() -> dict[str, Any]:
    found: dict[str, Any] = _load("hashes")
    return found
