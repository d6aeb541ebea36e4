"""Measuring how deep a text nests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies

from svcnb.protocol.nesting import deeper_than

values = strategies.recursive(
    strategies.none() | strategies.integers() | strategies.text(),
    lambda inner: strategies.lists(inner) | strategies.dictionaries(strategies.text(), inner),
)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@given(values)
def test_the_depth_of_any_json_is_measured_exactly(value: Any):
    text = json.dumps(value, ensure_ascii=False).encode(errors="replace")
    assert not deeper_than(text, depth(value))
    if depth(value):
        assert deeper_than(text, depth(value) - 1)


@pytest.mark.parametrize("text", [b"[" * 1_000_000, b'[{"a":' * 300_000, b"[" * 200 + b"]" * 200])
def test_a_text_of_openings_is_deep(text: bytes):
    assert deeper_than(text, 128)


def test_brackets_inside_of_texts_do_not_count():
    assert not deeper_than(json.dumps(["[" * 500, '"{\\' * 500]).encode(), 128)
