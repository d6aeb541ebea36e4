"""The engine's smaller ethers returns exactly the same results as the original ethers 5.8.0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.slow]

# These tests do not depend on the engine, or need `v8`.
ENGINES = ("v8",)

PROGRAM = Path(__file__).with_name("ethers_program.js").read_text(encoding="utf-8")
STOCK = json.loads((Path(__file__).parents[2] / "vectors" / "ethers5.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def lean(room: Any) -> dict[str, Any]:
    answer: dict[str, Any] = room.value(PROGRAM, timeout_ms=600_000)
    return answer


def test_the_namespace_is_complete(lean: dict[str, Any]):
    assert len(STOCK["names"]) > 900
    assert lean["names"] == STOCK["names"]


@pytest.mark.parametrize("part", [part for part in STOCK if part != "names"])
def test_every_part_has_the_same_result(part: str, lean: dict[str, Any]):
    assert lean[part] == STOCK[part]


def test_the_program_covers_all_vectors(lean: dict[str, Any]):
    assert set(lean) == set(STOCK)
